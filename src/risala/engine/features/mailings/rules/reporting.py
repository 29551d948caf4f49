"""The report of a mailing: a line for each row of its table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from risala.engine.features.mailings.records import MailingRow, RowState
from risala.engine.features.tables.records import RowFault
from risala.engine.model.money import money
from risala.sms.numbering.calling_codes import english_name

ReportCell = str | int | Decimal | None

HEADINGS: Final = {
    "row": "Row",
    "recipient": "Recipient",
    "result": "Result",
    "wrong": "What is wrong",
    "parts": "Parts",
    "price": "Price",
    "message": "Message",
}
"""What the report says beside the table's own columns, in English."""
FAULTS: Final = {
    RowFault.NUMBER: "not a phone number",
    RowFault.NUMBER_MISSING: "the number is missing",
    RowFault.NUMBER_UNSERVED: "not a number that is served here",
    RowFault.NUMBER_SHORTENED: "the spreadsheet has shortened the number: format it as text",
    RowFault.TWO_NUMBERS: "two numbers: leave one",
    RowFault.EXTENSION: "a number with an extension: leave the number alone",
    RowFault.OTHER_COLUMN: "the number is in another column: move it, or choose that column",
    RowFault.NOT_SERVED: "a number of a country that the service does not serve",
    RowFault.COUNTRY: "a country that is not open",
    RowFault.OPTED_OUT: "opted out",
    RowFault.DOUBLE: "the same number as an earlier row",
    RowFault.VALUE_MISSING: "a value is missing",
    RowFault.CHARACTERS: "characters that no carrier takes",
    RowFault.TOO_LONG: "the text is too long",
    RowFault.EMPTY: "the text is empty",
    RowFault.CELLS: "more cells than columns",
    RowFault.POLICY: "refused by a policy",
    RowFault.SENDER: "the sender is not allowed",
    RowFault.OTHER: "refused",
}
"""What is wrong with a row, in English."""
ABROAD: Final = "abroad"
"""The word that says, with a hole for its name, which country is not served."""
WORDS: Final[Mapping[str, str]] = {
    **HEADINGS,
    **{each.value: each.value.replace("_", " ") for each in RowState},
    **{each.value: text for each, text in FAULTS.items()},
    ABROAD: "a number of {country}, which is not open here",
}
"""Each word of a report that can be said in another language, as can names of countries, by their
ISO 3166-1 letters. Statuses of messages stay as they are where no translation is given."""


def report_heading(columns: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """The names of the report's columns: the number as it was read, the table's own columns, and
    what became of it."""
    first, second, *more = (_word(each, words) for each in HEADINGS)
    return [first, second, *columns, *more]


def report_cells(
    row: MailingRow, columns: Sequence[str], words: Mapping[str, str]
) -> list[ReportCell]:
    """A row's line."""
    cells = [*row.cells[: len(columns)], *[""] * (len(columns) - len(row.cells))]
    result, wrong = _word(result_of(row), words), wrong_of(row, words)
    price = Decimal(money(row.price))
    return [row.row, row.number, *cells, result, wrong, row.segments, price, row.message_id]


def result_of(row: MailingRow) -> str:
    """What became of a row: its message's status, or its own state."""
    return row.state.value if row.status is None else row.status


def wrong_of(row: MailingRow, words: Mapping[str, str]) -> str | None:
    """What is wrong with a row, with the column that it is about; None: nothing."""
    if row.fault is None:
        return None
    sentence = fault_words(row.fault, row.country, words)
    return sentence if row.column is None else f"{sentence} ({row.column})"


def fault_words(fault: RowFault, country: str | None, words: Mapping[str, str]) -> str:
    """What is wrong, with the country if the number is of one that is not served.

    Args:
        country: its ISO 3166-1 letters.
    """
    if country is None:
        return _word(fault.value, words)
    name = words.get(country) or f"{english_name(country)} ({country})"
    return _word(ABROAD, words).replace("{country}", name)


def _word(name: str, words: Mapping[str, str]) -> str:
    return words.get(name, WORDS.get(name, name))
