"""The text of each person."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.tables.rules.rendering import (
    folded,
    placeholders,
    render,
    unknown_placeholders,
)

COLUMNS = ("Nom", "Frais dus", "القسم", "1")


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("Bonjour {{Nom}}", "Bonjour Sidi"),
        ("{{nom}} {{ NOM }}{{Nom}}", "Sidi SidiSidi"),
        ("{{frais  dus}} MRU", "1500 MRU"),
        ("{{القسم}}", "السادس"),
        # A right-to-left mark that came with the copied name.
        ("{{\u200fالقسم\u200f}}", "السادس"),
        ("{{١}}", "x"),
        ("{{Prénom}}", "{{Prénom}}"),
        ("{{}} {{ }} {Nom} {{Nom} }}", "{{}} {{ }} {Nom} {{Nom} }}"),
        ("{{{Nom}}}", "{Sidi}"),
        ("", ""),
    ],
)
def test_placeholders_are_filled(text, rendered):
    assert render(text, COLUMNS, ("Sidi", " 1500 ", "السادس", "x")) == rendered


def test_a_row_that_is_too_short_has_empty_cells():
    assert render("a{{القسم}}b", COLUMNS, ("Sidi",)) == "ab"


def test_a_value_is_never_taken_for_a_placeholder():
    assert render("{{Nom}}", COLUMNS, ("{{Frais dus}}", "5")) == "{{Frais dus}}"


def test_names_in_a_text():
    text = "{{ Nom }} {{nom}} {{Classe}} {{القسم}} {{classe}}"
    assert placeholders(text) == ("Nom", "Classe", "القسم")
    assert unknown_placeholders(text, COLUMNS) == ("Classe",)


def test_of_columns_with_the_same_name_the_first_counts():
    assert render("{{a}}", ("A", "a"), ("1", "2")) == "1"


names = st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(names, min_size=1, unique_by=folded), st.data())
def test_each_column_can_be_named(columns, data):
    place = data.draw(st.integers(0, len(columns) - 1))
    cells = [f"value {each}" for each in range(len(columns))]
    written = "{{" + columns[place].upper().lower() + "}}"
    known = {folded(each) for each in columns}
    if folded(written[2:-2]) in known and folded(columns[place]):
        assert render(written, columns, cells) in cells


@given(st.text())
def test_any_text_can_be_rendered(text):
    if not placeholders(text):
        assert render(text, (), ()) == text
    assert render(text, (), ()) == text
