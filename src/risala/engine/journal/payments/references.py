"""References that were credited: each once for its provider, over all organizations, for ever.

A row here is written in the unit that credits, whichever face brings the reference: a payment, the
operator's word, or a top-up by hand. It outlives the payment's organization.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts import ledger
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.commands import LedgerEntry
from risala.engine.model.errors import Conflict
from risala.engine.model.money import money
from risala.engine.model.times import iso
from risala.engine.rules.paying.references import comparable

BY_HAND: Final = ""
"""In place of a provider: the reference was entered by hand, and may be anybody's."""
_TABLE: Final = "credited"


def is_credited(conn: sqlite3.Connection, provider: str, key: str) -> bool:
    """Whether a provider's reference was credited, by a payment or by hand."""
    return entry_of(conn, provider, key) is not None


def entry_of(conn: sqlite3.Connection, provider: str, key: str) -> LedgerEntry | None:
    """The ledger entry that credited a provider's reference; None: there is none."""
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
    """Refuse what was credited already.

    Args:
        provider: whose reference it is; :data:`BY_HAND`: any provider's may be meant.

    Raises:
        Conflict: it was credited.
    """
    key = comparable(reference)
    if key is None:
        return  # nothing of it could be compared: it is taken as it is written
    where, given = "key = ?", [key]
    if provider != BY_HAND:
        where, given = f"{where} AND provider IN (?, ?)", [key, provider, BY_HAND]
    for row in table(conn, _TABLE).rows_where(where, given, limit=1):
        first = ledger.entry(conn, row["entry"])
        raise Conflict(
            f"The reference {reference} was credited already: {_where_credited(conn, first)}."
        )


def enter(conn: sqlite3.Connection, provider: str, reference: str, entry: int) -> None:
    """Know a reference again that is credited by this unit."""
    key = comparable(reference)
    if key is not None:
        writable(conn, _TABLE).insert({"key": key, "provider": provider, "entry": entry})
