"""Edits that somebody else's came between."""

import pytest

from risala.engine.model.errors import EditConflict, Invalid
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.forms import SentForm, amount_text, form_of

NOW = {
    "name": StoredField("Name", "Baraka"),
    "cap": StoredField("Limit", "100.00", "100.00 MRU", is_amount=True),
}


def test_a_page_that_is_looked_at_bears_the_version_of_now():
    assert edit(None, None, 9, NOW) == {"version": 9, "stands": ()}


def test_only_what_differs_stands_there():
    form = form_of("version=7&name=Mine&cap=100")
    found = edit(EditConflict("sidi"), form, 9, NOW)
    assert found["version"] == 9
    assert [(each.label, each.now) for each in found["stands"]] == [("Name", "Baraka")]
    found = edit(EditConflict("sidi"), form_of("version=7&name=Baraka&cap="), 9, NOW)
    assert [(each.label, each.now) for each in found["stands"]] == [("Limit", "100.00 MRU")]


def test_another_refusal_shows_nobody_what_stands_so_the_version_stays():
    form = form_of("version=7&name=Mine")
    assert edit(Invalid("name", "x", "No."), form, 9, NOW) == {"version": "7", "stands": ()}


@pytest.mark.parametrize(("sent", "asked"), [("7", {"version": 7}), ("", {}), ("x", {}), ("٣", {})])
def test_a_version_is_a_number(sent, asked):
    assert as_seen(SentForm({"version": (sent,)})) == asked


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("100", "100"),
        ("99,50", "99.50"),
        ("99.5", "99.5"),
        ("٩٩٫٥٠", "99.50"),
        ("۹۹٫۵۰", "99.50"),
        ("10 000,50", "10000.50"),
        ("10\u202f000", "10000"),
        ("10\u00a0000,5", "10000.5"),
        ("1,234.50", "1234.50"),
        ("1.234.567,89", "1234567.89"),
        ("١٬٢٣٤٫٥٠", "1234.50"),
        ("1,234", "1,234"),
        ("12,34,56", "12,34,56"),
        ("1.234.50", "1.234.50"),
        ("1,2345.00", "1,2345.00"),
        ("1.234,567.890,5", "1.234,567.890,5"),
        ("-5", "-5"),
        ("lots", "lots"),
        ("", ""),
    ],
)
def test_an_amount_is_read_in_every_language(typed, told):
    assert amount_text(typed) == told
