"""Why a file is no table of people: one sentence for each reason; and what is wrong with
a row. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from risala.engine.features.tables.records import (
    CELL_CHARACTERS_MAX,
    COLUMNS_MAX,
    EMPTY_ROWS_MAX,
    ROWS_MAX,
    RowFault,
)
from risala.sms.numbering.country import english_name


class TableFault(StrEnum):
    """Stable: clients may depend on it, and pages have a sentence of theirs for each."""

    EMPTY_FILE = "empty_file"
    """The table has no row with anything in it."""
    NO_ROWS = "no_rows"
    """The table's only row has the columns' names."""
    ALL_HIDDEN = "all_hidden"
    """The table shows no phone number, and hides rows, columns or sheets."""
    NOT_A_TABLE = "not_a_table"
    """A picture, a PDF, an archive, a web page."""
    OLD_WORKBOOK = "old_workbook"
    OTHER_WORKBOOK = "other_workbook"
    PROTECTED_WORKBOOK = "protected_workbook"
    BROKEN_WORKBOOK = "broken_workbook"
    FORMULA_WITHOUT_VALUE = "formula_without_value"
    BROKEN_ENCODING = "broken_encoding"
    NUL_CHARACTERS = "nul_characters"
    TWO_HEADINGS = "two_headings"
    NO_NUMBERS = "no_numbers"
    TOO_MANY_ROWS = "too_many_rows"
    TOO_MANY_EMPTY_ROWS = "too_many_empty_rows"
    """The table has too many empty rows; hidden ones, which are passed over too, count."""
    TOO_MANY_COLUMNS = "too_many_columns"
    CELL_TOO_LONG = "cell_too_long"
    TOO_BIG = "too_big"
    """The file is small and takes too much memory or time to read."""
    UNKNOWN_SHEET = "unknown_sheet"
    UNKNOWN_COLUMN = "unknown_column"


_SAVE: Final = "save the list as CSV or as an Excel workbook (.xlsx)"
SENTENCES: Final = {
    TableFault.EMPTY_FILE: "The file has no row with anything in it.",
    TableFault.NO_ROWS: "The file has the names of its columns, and no row below them.",
    TableFault.ALL_HIDDEN: (
        "What the workbook shows has no phone numbers, and it hides rows, columns or sheets: show"
        " them in your spreadsheet program and save it again."
    ),
    TableFault.NOT_A_TABLE: f"The file is no table: {_SAVE}.",
    TableFault.OLD_WORKBOOK: "The file is a workbook of an old form (.xls): save it as .xlsx.",
    TableFault.OTHER_WORKBOOK: f"This kind of workbook cannot be read: {_SAVE}.",
    TableFault.PROTECTED_WORKBOOK: (
        "The workbook is protected by a password: save it without one, then upload it again."
    ),
    TableFault.BROKEN_WORKBOOK: (
        "The workbook is damaged: open it in your spreadsheet program and save it again."
    ),
    TableFault.FORMULA_WITHOUT_VALUE: (
        "A cell has a formula without its value: open the file in your spreadsheet program and"
        " save it again."
    ),
    TableFault.BROKEN_ENCODING: (
        "Some characters of the file cannot be read: choose another encoding, or save it as UTF-8."
    ),
    TableFault.NUL_CHARACTERS: f"The file has NUL characters, which no text has: {_SAVE}.",
    TableFault.TWO_HEADINGS: (
        "The file has two rows of headings: delete one of them, then upload it again."
    ),
    TableFault.NO_NUMBERS: "No column of the file has phone numbers that this service reaches.",
    TableFault.TOO_MANY_ROWS: f"The file has more than {ROWS_MAX:,} rows: divide it.",
    TableFault.TOO_MANY_EMPTY_ROWS: (
        f"The file has more than {EMPTY_ROWS_MAX:,} empty or hidden rows: delete them."
    ),
    TableFault.TOO_MANY_COLUMNS: f"The file has more than {COLUMNS_MAX} columns.",
    TableFault.CELL_TOO_LONG: f"A cell has more than {CELL_CHARACTERS_MAX:,} characters.",
    TableFault.TOO_BIG: "The file takes too much memory or time to read: divide it.",
    TableFault.UNKNOWN_SHEET: "The workbook has no such sheet.",
    TableFault.UNKNOWN_COLUMN: "The file has no such column.",
}


class UnreadableTable(Exception):
    """The file is no table of people; ``str()`` is one sentence."""

    def __init__(self, fault: TableFault, row: int | None = None) -> None:
        sentence = SENTENCES[fault]
        super().__init__(sentence if row is None else f"Row {row}: {_run_on(sentence)}")
        self.fault = fault
        self.row = row
        """The row with the fault, as the file counts its rows; None: the fault is in the whole
        file."""


def _run_on(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


ABROAD: Final = "abroad"
"""The word that says, with a hole for its name, which country is not served."""
FAULT_WORDS: Final[Mapping[str, str]] = {
    RowFault.NUMBER.value: "not a phone number",
    RowFault.NUMBER_MISSING.value: "the number is missing",
    RowFault.NUMBER_UNSERVED.value: "not a number that is served here",
    RowFault.NUMBER_SHORTENED.value: "the spreadsheet has shortened the number: format it as text",
    RowFault.TWO_NUMBERS.value: "two numbers: leave one",
    RowFault.EXTENSION.value: "a number with an extension: leave the number alone",
    RowFault.OTHER_COLUMN.value: "the number is in another column: move it, or choose that column",
    RowFault.NOT_SERVED.value: "a number of a country that the service does not serve",
    RowFault.COUNTRY.value: "a country that is not open",
    RowFault.OPTED_OUT.value: "opted out",
    RowFault.DOUBLE.value: "the same number as an earlier row",
    RowFault.VALUE_MISSING.value: "a value is missing",
    RowFault.CHARACTERS.value: "characters that no carrier takes",
    RowFault.TOO_LONG.value: "the text is too long",
    RowFault.EMPTY.value: "the text is empty",
    RowFault.CELLS.value: "more cells than columns",
    RowFault.POLICY.value: "refused by a policy",
    RowFault.SENDER.value: "the sender is not allowed",
    RowFault.OTHER.value: "refused",
    ABROAD: "a number of {country}, which is not open here",
}
"""What is wrong with a row, in English: each can be said in another language."""


def fault_words(fault: RowFault, country: str | None, words: Mapping[str, str]) -> str:
    """What is wrong, with the country if the number is of one that is not served.

    Args:
        country: its ISO 3166-1 letters.
    """
    if country is None:
        return words.get(fault.value, FAULT_WORDS[fault.value])
    name = words.get(country) or f"{english_name(country)} ({country})"
    return words.get(ABROAD, FAULT_WORDS[ABROAD]).replace("{country}", name)
