"""Mailings: when one may send, what a refused message means for it, its report. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from risala.dataclass import dataclass
from risala.engine.features.mailings.records import MailingRow, MailingWait, RowState
from risala.engine.features.tables.records import RowFault
from risala.engine.features.tables.rules.faults import FAULT_WORDS, fault_words
from risala.engine.model.errors import (
    CountryNotOpen,
    EngineError,
    Forbidden,
    InsufficientBalance,
    PolicyFailed,
    PolicyRefused,
    RateLimited,
    RecipientOptedOut,
    SenderNotApproved,
    SpendCapReached,
    Unavailable,
)
from risala.engine.model.money import money

HOURS: Final = 24
_MINUTE_S: Final = 60
_MS: Final = 1000


def opens_at(zone: str, from_hour: int, to_hour: int, now_ms: int) -> int | None:
    """When the hours of a mailing begin next, in UTC epoch milliseconds; None: it is within them.

    Args:
        zone: the organization's time zone.
        from_hour: it sends from this hour of the day on …
        to_hour: … until this one begins; 24 is the end of the day.
    """
    there = datetime.fromtimestamp(now_ms / _MS, ZoneInfo(zone))
    if from_hour <= there.hour < to_hour:
        return None
    day = there.date() if there.hour < from_hour else there.date() + timedelta(days=1)
    opening = datetime(day.year, day.month, day.day, from_hour, tzinfo=ZoneInfo(zone))
    # At an hour that the clocks skip, the moment may be past: it is within the hours then.
    return max(now_ms + 1, round(opening.timestamp() * _MS))


def next_midnight(zone: str, now_ms: int) -> int:
    """When the next day begins in that time zone, in UTC epoch milliseconds."""
    day = datetime.fromtimestamp(now_ms / _MS, ZoneInfo(zone)).date() + timedelta(days=1)
    begins = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
    return round(begins.timestamp() * _MS)


@dataclass(frozen=True, slots=True)
class MailingPace:
    """Messages that leave together, and the time from one such group to the next: in any minute
    there are never more than the pace allows."""

    messages: int
    period_ms: int


def pace_of(per_minute: int, messages_max: int) -> MailingPace:
    """Groups for so many messages a minute: one each second, or a single message at a time.

    Args:
        messages_max: a group has no more; then there are several in a second.
    """
    messages = max(1, min(messages_max, -(-per_minute // _MINUTE_S)))
    groups = max(1, per_minute // messages)
    return MailingPace(messages, -(-_MINUTE_S * _MS // groups))


def seconds_for(messages: int, per_minute: int) -> int:
    """How long so many messages take at a pace, in seconds."""
    return -(-messages * _MINUTE_S // per_minute)


# The report of a mailing: a line for each row of its table. Pure.

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


# What a refused message means for its mailing: it is a matter of this row, or of all. Pure.

_OF_ROWS: Final[tuple[tuple[type[EngineError], RowFault], ...]] = (
    (RecipientOptedOut, RowFault.OPTED_OUT),
    (CountryNotOpen, RowFault.COUNTRY),
    (PolicyRefused, RowFault.POLICY),
)
_OF_MAILINGS: Final[tuple[tuple[type[EngineError], MailingWait], ...]] = (
    (InsufficientBalance, MailingWait.BALANCE),
    (SpendCapReached, MailingWait.SPEND_CAP),
    (RateLimited, MailingWait.LIMIT),
    (SenderNotApproved, MailingWait.SENDER),
    (Forbidden, MailingWait.SUSPENDED),
    (PolicyFailed, MailingWait.POLICY),
    (Unavailable, MailingWait.SERVICE),
)


def meaning_of(error: EngineError) -> RowFault | MailingWait:
    """Why a row is never sent, or what its mailing waits for."""
    for kind, fault in _OF_ROWS:
        if isinstance(error, kind):
            return fault
    for of_all, wait in _OF_MAILINGS:
        if isinstance(error, of_all):
            return wait
    return RowFault.OTHER
