"""The report of a mailing: a line for each row of its table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from risala.engine.features.mailings.records import MailingRow, RowState
from risala.engine.features.tables.rules.faults import FAULT_WORDS, fault_words
from risala.engine.model.money import money

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
WORDS: Final[Mapping[str, str]] = {
    **HEADINGS,
    **{each.value: each.value.replace("_", " ") for each in RowState},
    **FAULT_WORDS,
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


def _word(name: str, words: Mapping[str, str]) -> str:
    return words.get(name, WORDS.get(name, name))
