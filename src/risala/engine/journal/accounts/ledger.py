"""Money: append-only entries, each with the balance after it, written with what it pays for."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.rows import Entered
from risala.engine.model.clock import iso
from risala.engine.model.commands import LedgerEntry
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.money import money

_ENTRY: Final = (
    "SELECT seq, organization_id, kind, amount, balance_after, reference, at, note FROM ledger"
)
_SEQ_MAX: Final = (1 << 63) - 1
"""SQLite's largest: before it is every entry."""


def refund(
    conn: sqlite3.Connection, organization_id: str, amount: int, reference: str, at: int
) -> Entered | None:
    """Give ``amount`` back, once for each reference; None: it was given back before."""
    # The last term says nothing new but to the planner: with it the index `ledger_once` serves.
    done = conn.execute(
        "SELECT 1 FROM ledger WHERE reference = ? AND kind = 'refund'"
        " AND kind IN ('charge', 'refund')",
        (reference,),
    ).fetchone()
    if done is not None:
        return None
    _credit(conn, organization_id, amount)
    entry = _enter(conn, organization_id, "refund", amount, reference, at)
    return Entered(organization_id, entry.seq, entry.balance_after)


def top_up(
    conn: sqlite3.Connection,
    organization_id: str,
    amount: int,
    reference: str,
    at: int,
    *,
    note: str | None = None,
) -> LedgerEntry:
    """Credit an organization, once for each reference, in whichever case it is written.

    Raises:
        NotFound: no such organization.
        Conflict: the reference was credited already, here or to another.
    """
    known = conn.execute("SELECT 1 FROM organizations WHERE id = ?", (organization_id,)).fetchone()
    if known is None:
        raise NotFound(f"There is no organization {organization_id}.")
    credited = conn.execute(
        f"{_ENTRY} WHERE reference = ? COLLATE NOCASE AND kind = 'topup'", (reference,)
    ).fetchone()
    if credited is not None:
        first = LedgerEntry(*credited)
        raise Conflict(
            f"The reference {first.reference} was credited already: {money(first.amount)} to"
            f" {first.organization_id}, at {iso(first.at)}."
        )
    _credit(conn, organization_id, amount)
    return _enter(conn, organization_id, "topup", amount, reference, at, note)


def adjust(
    conn: sqlite3.Connection,
    organization_id: str,
    amount: int,
    reference: str,
    at: int,
    *,
    note: str | None = None,
) -> LedgerEntry:
    """Correct a balance by a signed amount.

    Raises:
        NotFound: no such organization.
        Conflict: the balance would become negative.
    """
    row = conn.execute(
        "SELECT balance FROM organizations WHERE id = ?", (organization_id,)
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no organization {organization_id}.")
    if row[0] + amount < 0:
        text = f"The balance is {money(row[0])}: the adjustment would make it negative."
        raise Conflict(text)
    _credit(conn, organization_id, amount)
    return _enter(conn, organization_id, "adjustment", amount, reference, at, note)


def entries(
    conn: sqlite3.Connection,
    organization_id: str,
    count: int,
    *,
    before: int | None = None,
    by_hand: bool = False,
) -> list[LedgerEntry]:
    """An organization's entries, the newest first.

    ``before`` is the number of an entry; ``by_hand`` leaves out what messages cost.
    """
    # The term of the partial index, word for word: the planner knows it by that.
    kinds = " AND kind IN ('topup', 'adjustment')" if by_hand else ""
    rows = conn.execute(
        f"{_ENTRY} WHERE organization_id = ? AND seq < ?{kinds} ORDER BY seq DESC LIMIT ?",
        (organization_id, _SEQ_MAX if before is None else max(0, min(before, _SEQ_MAX)), count),
    )
    return [LedgerEntry(*row) for row in rows]


def _credit(conn: sqlite3.Connection, organization_id: str, amount: int) -> None:
    conn.execute(
        "UPDATE organizations SET balance = balance + ? WHERE id = ?", (amount, organization_id)
    )


def _enter(
    conn: sqlite3.Connection,
    organization_id: str,
    kind: str,
    amount: int,
    reference: str,
    at: int,
    note: str | None = None,
) -> LedgerEntry:
    (balance,) = conn.execute(
        "SELECT balance FROM organizations WHERE id = ?", (organization_id,)
    ).fetchone()
    cursor = conn.execute(
        "INSERT INTO ledger (organization_id, kind, amount, balance_after, reference, at, note)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (organization_id, kind, amount, balance, reference, at, note),
    )
    seq = cursor.lastrowid or 0
    return LedgerEntry(seq, organization_id, kind, amount, balance, reference, at, note)
