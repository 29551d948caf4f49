"""Credited references: each once for its provider, over all organizations, for ever.

A row is written in the unit that credits, for any source of the reference: a payment, an operator,
or a top-up by hand. It stays after the payment's organization is deleted.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts import ledger
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict
from risala.engine.model.money import money
from risala.engine.model.records.paying.ledger import LedgerEntry
from risala.engine.model.times import iso
from risala.engine.rules.paying.references import comparable

BY_HAND: Final = ""
"""In place of a provider: the reference was entered by hand, and may be of any provider."""
_TABLE: Final = "credited"


def is_credited(conn: sqlite3.Connection, provider: str, key: str) -> bool:
    """Whether a provider's reference was credited, by a payment or by hand."""
    return entry_of(conn, provider, key) is not None


def entry_of(conn: sqlite3.Connection, provider: str, key: str) -> LedgerEntry | None:
    """The ledger entry that credited a provider's reference; None: not credited."""
    where, given = "key = ? AND provider IN (?, ?)", (key, provider, BY_HAND)
    for row in table(conn, _TABLE).rows_where(where, given, limit=1):
        return ledger.entry(conn, row["entry"])
    return None


def _where_credited(conn: sqlite3.Connection, first: LedgerEntry) -> str:
    """Where a reference was credited, in words for an operator."""
    by = ""
    for row in table(conn, "payments").rows_where("entry = ?", (first.seq,), select="id"):
        by = f" by {row['id']},"
    return f"{money(first.amount)} to {first.organization_id},{by} at {iso(first.at)}"


def refuse_credited(conn: sqlite3.Connection, provider: str, reference: str) -> None:
    """Refuse an already credited reference.

    Args:
        provider: its owner; :data:`BY_HAND`: any provider may be meant.

    Raises:
        Conflict: it was credited.
    """
    key = comparable(reference)
    if key is None:
        return  # nothing of it can be compared: it is accepted as written
    where, given = "key = ?", [key]
    if provider != BY_HAND:
        where, given = f"{where} AND provider IN (?, ?)", [key, provider, BY_HAND]
    for row in table(conn, _TABLE).rows_where(where, given, limit=1):
        first = ledger.entry(conn, row["entry"])
        raise Conflict(
            f"The reference {reference} was already credited: {_where_credited(conn, first)}."
        )


def enter(conn: sqlite3.Connection, provider: str, reference: str, entry: int) -> None:
    """Store a reference that is credited by this unit, to recognise it again."""
    key = comparable(reference)
    if key is not None:
        writable(conn, _TABLE).insert({"key": key, "provider": provider, "entry": entry})
