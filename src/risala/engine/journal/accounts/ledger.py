"""Money: append-only entries, each with the balance after it, written with what it pays for."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, replace
from typing import Final

from risala.engine.journal.rows import Entered
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.clock import iso
from risala.engine.model.commands import LedgerEntry
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.money import money

_ENTRIES: Final = Rows(LedgerEntry)
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
    conn.execute(
        "UPDATE organizations SET balance = balance + ? WHERE id = ?", (amount, organization_id)
    )
    (balance,) = conn.execute(
        "SELECT balance FROM organizations WHERE id = ?", (organization_id,)
    ).fetchone()
    entered = conn.execute(
        "INSERT INTO ledger (organization_id, kind, amount, balance_after, reference, at)"
        " VALUES (?, 'refund', ?, ?, ?, ?)",
        (organization_id, amount, balance, reference, at),
    )
    return Entered(organization_id, entered.lastrowid or 0, balance)


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
    balance = _balance(conn, organization_id)
    credited = "reference = ? COLLATE NOCASE AND kind = 'topup'"
    for first in _ENTRIES.find(table(conn, "ledger"), credited, (reference,)):
        raise Conflict(
            f"The reference {first.reference} was credited already: {money(first.amount)} to"
            f" {first.organization_id}, at {iso(first.at)}."
        )
    new = LedgerEntry(0, organization_id, "topup", amount, balance + amount, reference, at, note)
    return _enter_by_hand(conn, new)


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
    balance = _balance(conn, organization_id)
    after = balance + amount
    if after < 0:
        text = f"The balance is {money(balance)}: the adjustment would make it negative."
        raise Conflict(text)
    new = LedgerEntry(0, organization_id, "adjustment", amount, after, reference, at, note)
    return _enter_by_hand(conn, new)


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
        f"SELECT {_ENTRIES.columns} FROM ledger"  # noqa: S608 -- constants
        f" WHERE organization_id = ? AND seq < ?{kinds} ORDER BY seq DESC LIMIT ?",
        (organization_id, _SEQ_MAX if before is None else max(0, min(before, _SEQ_MAX)), count),
    )
    return [_ENTRIES.of(row) for row in rows]


def _balance(conn: sqlite3.Connection, organization_id: str) -> int:
    for row in table(conn, "organizations").rows_where(
        "id = ?", (organization_id,), select="balance"
    ):
        return int(row["balance"])
    raise NotFound(f"There is no organization {organization_id}.")


def _enter_by_hand(conn: sqlite3.Connection, new: LedgerEntry) -> LedgerEntry:
    """Write an entry, and the balance after it; with its number."""
    after = {"balance": new.balance_after}
    writable(conn, "organizations").update(new.organization_id, after)
    values = asdict(new)
    del values["seq"]
    seq = writable(conn, "ledger").insert(values).last_rowid
    assert seq is not None
    return replace(new, seq=seq)
