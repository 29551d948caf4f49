"""Money: append-only entries, each with the balance after it, written with what it pays for."""

from __future__ import annotations

import sqlite3

from risala.engine.commands import LedgerEntry
from risala.engine.errors import Conflict, NotFound


def refund(
    conn: sqlite3.Connection, organization_id: str, amount: int, reference: str, at: int
) -> None:
    """Give ``amount`` back, once for each reference (a second time changes nothing)."""
    # The last term says nothing new but to the planner: with it the index `ledger_once` serves.
    done = conn.execute(
        "SELECT 1 FROM ledger WHERE reference = ? AND kind = 'refund'"
        " AND kind IN ('charge', 'refund')",
        (reference,),
    ).fetchone()
    if done is None:
        _credit(conn, organization_id, amount)
        _enter(conn, organization_id, "refund", amount, reference, at)


def top_up(
    conn: sqlite3.Connection, organization_id: str, amount: int, reference: str, at: int
) -> LedgerEntry:
    """Credit an organization.

    Raises:
        NotFound: no such organization.
    """
    known = conn.execute("SELECT 1 FROM organizations WHERE id = ?", (organization_id,)).fetchone()
    if known is None:
        raise NotFound(f"There is no organization {organization_id}.")
    _credit(conn, organization_id, amount)
    return _enter(conn, organization_id, "topup", amount, reference, at)


def adjust(
    conn: sqlite3.Connection, organization_id: str, amount: int, reference: str, at: int
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
        raise Conflict("The adjustment would make the balance negative.")
    _credit(conn, organization_id, amount)
    return _enter(conn, organization_id, "adjustment", amount, reference, at)


def _credit(conn: sqlite3.Connection, organization_id: str, amount: int) -> None:
    conn.execute(
        "UPDATE organizations SET balance = balance + ? WHERE id = ?", (amount, organization_id)
    )


def _enter(
    conn: sqlite3.Connection, organization_id: str, kind: str, amount: int, reference: str, at: int
) -> LedgerEntry:
    (balance,) = conn.execute(
        "SELECT balance FROM organizations WHERE id = ?", (organization_id,)
    ).fetchone()
    cursor = conn.execute(
        "INSERT INTO ledger (organization_id, kind, amount, balance_after, reference, at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (organization_id, kind, amount, balance, reference, at),
    )
    return LedgerEntry(cursor.lastrowid or 0, organization_id, kind, amount, balance, reference, at)
