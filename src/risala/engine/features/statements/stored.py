"""What a month of the ledger sums up to.

Entries are numbered as they come, so that a day is a range of numbers: its two ends are found by
halving, and what lies between is read once, by the index of the organization's entries. Of each
charge one message is looked up: the first that it pays for tells what it was sent by.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.statements import rules
from risala.engine.features.statements.records import ENTRIES_MAX, PAYMENTS_MAX, CostSource
from risala.engine.features.statements.rules import DaySum
from risala.engine.journal.accounts import ledger
from risala.engine.journal.accounts.balances import first_at
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.repository import Store, scan
from risala.engine.journal.store.sql import value_of
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import NotFound
from risala.engine.model.features import features
from risala.engine.model.numbers import ENTRY_KINDS
from risala.engine.model.records.ledger import LedgerEntry
from risala.engine.model.states import PRIORITY_MAILING

_OF: Final = (
    " FROM entry INDEXED BY entry_by_organization"
    " WHERE organization = (SELECT no FROM organizations WHERE id = ?)"
)
_BALANCE_BEFORE: Final = f"SELECT balance_after{_OF} AND seq < ? ORDER BY seq DESC LIMIT 1"
_FIRST: Final = f"SELECT coalesce(at, message >> 15){_OF} ORDER BY seq LIMIT 1"
_OWN_PARTS: Final = (
    "SELECT day, parts FROM day_parts"
    " WHERE organization = (SELECT no FROM organizations WHERE id = ?) AND day BETWEEN ? AND ?"
    " ORDER BY day"
)
_FIRST_PARTS: Final = (
    "SELECT min(day) FROM day_parts"
    " WHERE organization = (SELECT no FROM organizations WHERE id = ?)"
)
_EPOCH: Final = date(1970, 1, 1)
_SUMS: Final = (
    "SELECT e.kind, CASE WHEN e.kind > 0 THEN ''"  # noqa: S608 -- constants
    " WHEN m.verification_id IS NOT NULL THEN 'codes'"
    f" WHEN m.priority = {PRIORITY_MAILING} THEN 'mailing'"
    " WHEN m.api_key IS NOT NULL THEN 'key' ELSE 'other' END AS source,"
    " CASE WHEN e.kind > 0 OR m.verification_id IS NOT NULL THEN NULL"
    f" WHEN m.priority = {PRIORITY_MAILING}"
    " THEN substr(m.client_key, 1, instr(m.client_key, ':') - 1)"
    f" ELSE {name_sql('m.api_key')} END AS of,"
    " count(*), sum(coalesce(e.messages, 1)), sum(e.amount)"
    f" FROM (SELECT kind, message, messages, amount{_OF} AND seq >= ? AND seq < ? LIMIT ?) e"
    " LEFT JOIN message m ON m.key = e.message"
    " GROUP BY 1, 2, 3"
)
_BY_HAND: Final = (
    "SELECT seq FROM entry INDEXED BY entry_by_hand"
    " WHERE organization = (SELECT no FROM organizations WHERE id = ?)"
    " AND kind >= 2 AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?"
)
_CHARGE: Final = ENTRY_KINDS.number("charge")
_REFUND: Final = ENTRY_KINDS.number("refund")


@dataclass(frozen=True, slots=True)
class MonthSum:
    """A month of the ledger."""

    opening: int
    closing: int
    days: tuple[DaySum, ...]
    payments: tuple[LedgerEntry, ...]
    first_entry_at: int | None
    """UTC epoch milliseconds; None: there is no entry."""
    counted_until: int | None
    """UTC epoch milliseconds: days from here on are not summed. None: all are."""
    own_parts: dict[date, int]
    """Parts for which nobody pays, by day."""
    first_parts: date | None
    """The first day with such parts; None: there is none."""


def month_sum(
    conn: sqlite3.Connection,
    organization_id: str,
    days: Sequence[date],
    zone: str,
    *,
    entries_max: int = ENTRIES_MAX,
    span: tuple[int, int] | None = None,
) -> MonthSum:
    """The sums of days in a row, such as those of a month, as of one moment.

    Args:
        entries_max: with more entries than so many, the days that are too many are left out.
        span: only entries from the one moment until before the other, in UTC epoch milliseconds;
            None: whole days.
    """
    times = [rules.begins_at(each, zone) for each in (*days, days[-1] + timedelta(days=1))]
    if span is not None:
        times = [min(max(each, span[0]), span[1]) for each in times]
    conn.execute("BEGIN")
    try:
        return _month_sum(conn, organization_id, days, times, entries_max)
    finally:
        conn.execute("ROLLBACK")


def _month_sum(
    conn: sqlite3.Connection,
    organization_id: str,
    days: Sequence[date],
    times: Sequence[int],
    entries_max: int,
) -> MonthSum:
    """
    Args:
        times: when each day begins, and when the last ends.
    """
    ends = [first_at(conn, at) for at in times]
    balance = opening = _balance_before(conn, organization_id, ends[0])
    summed, left, until = [], entries_max, None
    for place, day in enumerate(days):
        low, high = ends[place], ends[place + 1]
        if low == high:
            continue
        rows = conn.execute(_SUMS, (organization_id, low, high, left + 1)).fetchall()
        left -= sum(entries for _, _, _, entries, _, _ in rows)
        if left < 0:
            until, ends[-1] = times[place], low
            break
        if rows:
            balance = _balance_before(conn, organization_id, high)
            summed.append(_day(day, rows, balance))
    values = (organization_id, ends[0], ends[-1], PAYMENTS_MAX)
    by_hand = [seq for (seq,) in conn.execute(_BY_HAND, values)]
    began = value_of(conn, _FIRST_PARTS, (organization_id,))
    return MonthSum(
        opening=opening,
        closing=balance,
        days=tuple(summed),
        payments=tuple(ledger.of_numbers(conn, by_hand)),
        first_entry_at=value_of(conn, _FIRST, (organization_id,)),
        counted_until=until,
        own_parts=_own_parts(conn, organization_id, days),
        first_parts=None if began is None else _EPOCH + timedelta(days=began),
    )


def _own_parts(
    conn: sqlite3.Connection, organization_id: str, days: Sequence[date]
) -> dict[date, int]:
    ends = [(each - _EPOCH).days for each in (days[0], days[-1])]
    rows = conn.execute(_OWN_PARTS, (organization_id, *ends))
    return {_EPOCH + timedelta(days=day): parts for day, parts in rows}


def _balance_before(conn: sqlite3.Connection, organization_id: str, seq: int) -> int:
    return int(value_of(conn, _BALANCE_BEFORE, (organization_id, seq)) or 0)


def _day(
    day: date, rows: Sequence[tuple[int, str, str | None, int, int, int]], balance: int
) -> DaySum:
    charges: dict[tuple[CostSource, str | None], tuple[int, int]] = {}
    refunded = credited = 0
    for kind, source, of, _, messages, amount in rows:
        if kind == _CHARGE:
            charges[CostSource(source), of] = (messages, -amount)
        elif kind == _REFUND:
            refunded += amount
        else:
            credited += amount
    return DaySum(day, charges, refunded, credited, balance)


# -- names


_IMAGES: Final = {
    "mlg": AuditImage.MAILING,
    "hok": AuditImage.HOOK,
    "crd": AuditImage.CREDENTIAL,
}
"""What the audit trail reads of the things with ids of these prefixes: their names are there."""


def names(conn: sqlite3.Connection, ids: Sequence[str]) -> dict[str, str | None]:
    """The names of keys, credentials, hooks and mailings by their ids; None: it has none, or is
    gone."""
    return {each: _name_of(conn, each) for each in ids}


def _name_of(conn: sqlite3.Connection, of: str) -> str | None:
    image = _IMAGES.get(of.partition("_")[0])
    if image is None:
        name: str | None = value_of(conn, "SELECT name FROM api_keys WHERE id = ?", (of,))
        return name
    read = next((each.images[image] for each in features() if image in each.images), None)
    try:
        return None if read is None else getattr(read()(conn, of), "name", None)
    except NotFound:
        return None


@dataclass(frozen=True, slots=True)
class StatementRepository:
    """Months of the ledger. Both read on a thread."""

    _store: Store

    month_sum = scan(month_sum)
    names = scan(names)
