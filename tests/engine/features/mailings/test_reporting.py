"""The report's words and cells."""

from dataclasses import replace
from decimal import Decimal

from risala.engine.features.mailings.records import MailingRow, RowState
from risala.engine.features.mailings.rules import (
    HEADINGS,
    WORDS,
    report_cells,
    report_heading,
)
from risala.engine.features.tables.records import RowFault
from risala.engine.features.tables.rules.faults import ABROAD, FAULT_WORDS

COLUMNS = ("name", "phone")
ROW = MailingRow(
    3, "+22236123456", ("Aïcha", "36"), RowState.ACCEPTED, None, None, 2, 150, "sms_1", "delivered"
)


def test_a_row_has_its_cells_and_what_became_of_it():
    expected = [3, "+22236123456", "Aïcha", "36", "delivered", None, 2, Decimal("1.50"), "sms_1"]
    assert report_cells(ROW, COLUMNS, {}) == expected
    assert len(report_heading(COLUMNS, {})) == len(expected)


def test_a_bad_row_says_why_and_where():
    bad = replace(ROW, state=RowState.BAD, status=None, fault=RowFault.VALUE_MISSING, column="name")
    assert report_cells(bad, COLUMNS, {})[4:6] == ["bad", "a value is missing (name)"]


def test_a_row_has_a_cell_for_each_column():
    assert report_cells(replace(ROW, cells=("x",)), COLUMNS, {})[2:4] == ["x", ""]
    more = replace(ROW, cells=("x", "y", "z"))
    assert report_cells(more, COLUMNS, {})[2:5] == ["x", "y", "delivered"]


def test_each_word_can_be_said_in_another_language():
    words = {"row": "Ligne", "delivered": "remis", "double": "en double"}
    assert report_heading((), words)[0] == "Ligne"
    assert report_cells(ROW, (), words)[2] == "remis"
    double = replace(ROW, fault=RowFault.DOUBLE)
    assert report_cells(double, (), words)[3] == "en double"


def test_a_country_that_is_not_open_is_named():
    """In English with its letters, which the settings take; else as the words name it."""
    abroad = replace(ROW, fault=RowFault.NOT_SERVED, column="phone", country="FR")
    told = "a number of France (FR), which is not open here (phone)"
    assert report_cells(abroad, (), {})[3] == told
    words = {"abroad": "pays non ouvert : {country}", "FR": "France", "DE": "Allemagne"}
    found = report_cells(replace(abroad, country="DE"), (), words)[3]
    assert found == "pays non ouvert : Allemagne (phone)"
    assert report_cells(replace(abroad, country=None), (), {})[3].startswith(
        "a number of a country"
    )


def test_every_fault_and_heading_has_words_of_its_own():
    assert FAULT_WORDS.keys() == {*RowFault, ABROAD}
    assert len(WORDS) == len(HEADINGS) + len(RowFault) + len(RowState) + 1
