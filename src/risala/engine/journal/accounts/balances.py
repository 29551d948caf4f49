"""Balances and statements, read from the ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.journal.accounts import ledger, references
from risala.engine.journal.audit import books as audit
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.model.errors import NotFound
from risala.engine.model.numbers import ENTRY_KINDS
from risala.engine.model.records.accounts import BalanceState, StatementFilter
from risala.engine.model.records.ledger import LedgerEntry
from risala.engine.model.records.upkeep.trail import AuditReport
from risala.engine.rules.trail.heads import Head


def balance_state(conn: sqlite3.Connection, organization_id: str, day: int) -> BalanceState:
    """The balance of an organization, its entry, and its spending on a day of its own calendar.

    One statement, so that all of it is of one time.

    Raises:
        NotFound: the id is unknown.
    """
    row = conn.execute(
        "SELECT (SELECT max(seq) FROM entry WHERE organization = o.no), balance,"
        " (SELECT amount FROM spending WHERE organization_id = o.id AND day = ?)"
        " FROM organizations o WHERE id = ?",
        (day, organization_id),
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no organization {organization_id}.")
    seq, balance, spent = row
    return BalanceState(seq or 0, balance, day, spent or 0)


# -- statements: pages of the ledger by kind and time, each of a bounded number of entries


LOOKED_MAX: Final = 10_000
"""Entries that one page reads at most: some ten milliseconds of the loop."""
_BY_HAND: Final = frozenset({ENTRY_KINDS.number("topup"), ENTRY_KINDS.number("adjustment")})
_END: Final = (1 << 63) - 1
"""SQLite's largest: before it is every entry."""
_AT: Final = "SELECT coalesce(at, message >> 15) FROM entry WHERE seq >= ? ORDER BY seq LIMIT 1"


@dataclass(frozen=True, slots=True)
class StatementPage:
    """A page, and where the next ones begin; None: no further page."""

    entries: tuple[LedgerEntry, ...]
    newer: int | None
    older: int | None
    looked_to: int | None
    """UTC epoch milliseconds: the search came this far; the rest is on the next page."""


def page(
    conn: sqlite3.Connection,
    filters: StatementFilter,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int,
    looked_max: int = LOOKED_MAX,
) -> StatementPage:
    """The newest entries, or those older than the entry ``before``, or newer than ``after``.

    If less than a page is newer than ``after``, it is the first page.
    """
    low = 0 if filters.since is None else first_at(conn, filters.since)
    high = _END if filters.until is None else first_at(conn, filters.until)
    if after is not None:
        seqs, reached = _walk(conn, filters, max(low, after + 1), high, limit + 1, looked_max)
        if len(seqs) > limit or reached is not None:
            shown = _shown(conn, seqs[:limit][::-1])
            onward = seqs[limit - 1] if len(seqs) > limit else reached
            return StatementPage(shown, onward, seqs[0] if seqs else after + 1, None)
        before = None
    if before is not None:
        high = min(high, before)
    seqs, reached = _walk(conn, filters, low, high, limit + 1, looked_max, downward=True)
    more = len(seqs) > limit
    shown = _shown(conn, seqs[:limit])
    older = seqs[limit - 1] if more else reached
    looked_to = None if more or reached is None else value_of(conn, _AT, (reached,))
    newer = None if before is None else (seqs[0] if seqs else before - 1)
    return StatementPage(shown, newer, older, looked_to)


def _walk(
    conn: sqlite3.Connection,
    filters: StatementFilter,
    low: int,
    high: int,
    limit: int,
    looked_max: int,
    *,
    downward: bool = False,
) -> tuple[list[int], int | None]:
    """The numbers of wanted entries from ``low`` to below ``high``; and the one at which the search
    stopped, None if it came to the end."""
    by_hand = bool(filters.kinds) and filters.kinds <= _BY_HAND
    # The term of the partial index, word for word: the planner recognises it by that.
    index, term = ("entry_by_hand", " AND kind >= 2") if by_hand else ("entry_by_organization", "")
    order = "DESC" if downward else "ASC"
    looked = conn.execute(
        f"SELECT seq, kind FROM entry INDEXED BY {index}"  # noqa: S608 -- constants
        " WHERE organization = (SELECT no FROM organizations WHERE id = ?)"
        f" AND seq >= ? AND seq < ?{term} ORDER BY seq {order} LIMIT ?",
        (filters.organization_id, low, high, looked_max),
    )
    seqs: list[int] = []
    count, seq = 0, 0
    for seq, kind in looked:
        count += 1
        if not filters.kinds or kind in filters.kinds:
            seqs.append(seq)
            if len(seqs) == limit:
                return seqs, None
    return seqs, seq if count == looked_max else None


def first_at(conn: sqlite3.Connection, at: int) -> int:
    """The number of the first entry of that time or later, of any organization.

    Entries are numbered as they come: their times are in order, unless a clock was set back.
    """
    low, high = 1, (value_of(conn, "SELECT max(seq) FROM entry") or 0) + 1
    while low < high:
        middle = (low + high) // 2
        then = value_of(conn, _AT, (middle,))
        if then is None or then >= at:
            high = middle
        else:
            low = middle + 1
    return low


def _shown(conn: sqlite3.Connection, seqs: list[int]) -> tuple[LedgerEntry, ...]:
    return tuple(ledger.of_numbers(conn, seqs))


# -- for the rest of the engine


def spent(conn: sqlite3.Connection, organization_id: str, since: int, until: int) -> int:
    """Charged on the days from ``since`` until before ``until``, in minor units."""
    statement = (
        "SELECT coalesce(sum(amount), 0) FROM spending"
        " WHERE organization_id = ? AND day >= ? AND day < ?"
    )
    return int(value_of(conn, statement, (organization_id, since, until)))


@dataclass(frozen=True, slots=True)
class LedgerRepository:
    """Balances and what changes them. All reads are by an index, on the loop's thread;
    ``audit`` reads every row, on a thread of its own.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    balance_on = read(balance_state)
    statement = read(page)
    spent = read(spent)

    async def audit(self, heads: Sequence[Head] = ()) -> AuditReport:
        """Check all books against each other, and the audit trail.

        Args:
            heads: signed heads of the trail that went out, besides those of the data directory.

        Raises:
            StorageUnusable: the database is halfway to this version.
        """
        return await trio.to_thread.run_sync(audit.audit_file, self._store.journal.path, heads)

    top_up = audited_command(references.top_up)
    adjust = audited_command(ledger.adjust)
