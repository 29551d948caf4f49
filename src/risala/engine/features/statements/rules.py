"""The days of a month, what they sum up to, and how a month is written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from risala.dataclass import dataclass
from risala.engine.features.statements.records import CostSource, SourceCost

_WRITTEN: Final = re.compile(r"(20\d{2})-(0[1-9]|1[0-2])", re.ASCII)
"""A month of this century: no ledger is older, and none is of the next one."""


def month_of(text: str) -> date | None:
    """The first day of a month such as ``2026-11``; None: this is no month."""
    written = _WRITTEN.fullmatch(text)
    return None if written is None else date(int(written[1]), int(written[2]), 1)


def written(day: date) -> str:
    """The month of a day, as ``2026-11``."""
    return f"{day.year}-{day.month:02}"


def next_month(first: date) -> date:
    """The first day of the month after that of a first day."""
    return (first + timedelta(days=31)).replace(day=1)


def days_of(first: date) -> list[date]:
    """All days of the month that begins with this one."""
    after = next_month(first)
    return [first + timedelta(days=number) for number in range((after - first).days)]


def begins_at(day: date, zone: str) -> int:
    """When a day begins in a time zone, in UTC epoch milliseconds."""
    began = datetime.combine(day, datetime.min.time(), ZoneInfo(zone))
    return round(began.timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class DaySum:
    """What the entries of a day sum up to."""

    day: date
    charges: dict[tuple[CostSource, str | None], tuple[int, int]]
    """Messages and amount, by source and by the id of the key or mailing."""
    refunded: int
    credited: int
    balance_after: int


def sources_of(days: Iterable[DaySum]) -> tuple[SourceCost, ...]:
    """What each source cost on some days: those that cost anything, in the order of sources."""
    sums: dict[CostSource, tuple[int, int]] = {}
    for each in days:
        for (source, _), (messages, amount) in each.charges.items():
            sent, cost = sums.get(source, (0, 0))
            sums[source] = sent + messages, cost + amount
    return tuple(SourceCost(each, *sums[each]) for each in CostSource if each in sums)
