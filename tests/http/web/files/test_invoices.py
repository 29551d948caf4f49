"""Invoices as PDF: the same for ever, in each language, and called by their sign."""

import pytest

from risala.engine.features.invoices.records import Invoice
from risala.engine.model.people import Language
from risala.engine.model.records.record import from_json
from risala.http.web.files import paper
from risala.http.web.invoices import file_name, paper_of
from risala.http.web.languages import load_words
from web_statements import month_invoice


def invoice(**changes):
    return from_json(Invoice, month_invoice(**changes))


def paper_in(language, **changes):
    return paper_of(invoice(**changes), load_words(Language(language)))


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_the_same_invoice_makes_the_same_octets(language):
    octets = paper.write(paper_in(language))
    assert octets == paper.write(paper_in(language))
    assert f"/Lang ({language})".encode() in octets
    assert b"20261101010000" in octets  # no time but its own


def test_its_days_and_its_sources_have_one_sum():
    made = paper_in("en")
    assert made.title == "Invoice \u2068F-0042\u2069"
    assert made.sender == ("Risala SARL", "Rue 1", "Nouakchott", "Tax number \u2068NIF 77\u2069")
    (days,) = made.tables
    assert [each.title for each in days.columns][-2:] == ["Refunds", "Total"]
    assert days.sum is not None
    assert days.sum[-1] == "\u20682,753.50\u2069"
    assert "2,753.50" in made.sums[-1][1]
    assert made.sums[0][0].startswith("Mailings · ")


def test_below_zero_it_is_a_credit_note():
    made = paper_in("fr", sources=[], days=[], charged="0.00", refunded="0.50", total="-0.50")
    assert made.title.startswith("Avoir")


@pytest.mark.parametrize(
    ("member", "moment", "label", "shown"),
    [
        ("beginsAt", "2026-09-30T09:00:00.000Z", "Since", "30 Sep 2026, 09:00:00"),
        ("endsAt", "2026-11-01T05:00:00.000Z", "Until", "1 Nov 2026, 05:00:00"),
    ],
)
def test_where_the_time_zone_changed_its_first_or_last_moment_is_told(member, moment, label, shown):
    usual = {"beginsAt": "2026-10-01T00:00:00.000Z", "endsAt": "2026-11-01T00:00:00.000Z"}
    assert not {"Since", "Until"} & {*dict(paper_in("en", **usual).facts)}
    facts = dict(paper_in("en", **{**usual, member: moment}).facts)
    assert label in facts
    assert facts[label] == shown


def test_it_names_the_customer_and_tells_what_of_the_total_is_vat():
    bare = paper_in("en")
    assert bare.parts == ()
    assert len(bare.notes) == 1
    said = {"customerAddress": ["Avenue 3", "Rosso"], "customerTaxId": "0077"}
    made = paper_in("en", **said, vatPercent="5.50", vat="143.55")
    lines = [value for _, value in made.facts]
    assert lines[1:4] == [
        "\u2068Avenue 3\u2069",
        "\u2068Rosso\u2069",
        "Tax number \u20680077\u2069",
    ]
    assert [name for name, _ in made.facts][1:4] == ["Address", "", ""]
    assert made.parts == (
        ("Including VAT at \u20685.5%\u2069", "\u2068143.55\u2069"),
        ("Without VAT", "\u20682,609.95\u2069"),
    )
    assert made.sums[-1] == bare.sums[-1], "nothing is added to the total"
    assert "rounded half up" in made.notes[1]
    assert paper_in("fr", vatPercent="16", vat="1.00").parts[0][0].endswith("\u206816\u00a0%\u2069")


def test_a_file_has_no_folder_in_its_name():
    assert file_name(invoice(number="F/2026/0042")) == "F-2026-0042.pdf"
