"""Credited references: each once for its provider, over all organizations, for ever.

A row is written in the unit that credits, for any source of the reference: an operator who enters
it by hand, or a feature by which money comes in. It stays after its organization is deleted.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts import ledger
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict
from risala.engine.model.features import features
from risala.engine.model.money import money
from risala.engine.model.records.ledger import LedgerEntry
from risala.engine.model.times import iso
from risala.engine.rules.references import comparable

BY_HAND: Final = ""
"""In place of a provider: the reference was entered by hand, and may be of any provider."""
_TABLE: Final = "credited"


def is_credited(conn: sqlite3.Connection, provider: str, key: str) -> bool:
    """Whether a provider's reference was credited, by a payment or by hand."""
    return entry_of(conn, provider, key) is not None


def entry_of(conn: sqlite3.Connection, provider: str, key: str) -> LedgerEntry | None:
    """The ledger entry that credited a provider's reference; None: not credited."""
    where, values = "key = ? AND provider IN (?, ?)", (key, provider, BY_HAND)
    for row in table(conn, _TABLE).rows_where(where, values, limit=1):
        return ledger.entry(conn, row["entry"])
    return None


def _where_credited(conn: sqlite3.Connection, first: LedgerEntry) -> str:
    """The credit of a reference, in words for an operator."""
    credited_by = (
        feature.credits()(conn, first.seq) for feature in features() if feature.credits is not None
    )
    by = "".join(f" by {each}," for each in credited_by if each is not None)
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
    where, values = "key = ?", [key]
    if provider != BY_HAND:
        where, values = f"{where} AND provider IN (?, ?)", [key, provider, BY_HAND]
    for row in table(conn, _TABLE).rows_where(where, values, limit=1):
        first = ledger.entry(conn, row["entry"])
        raise Conflict(
            f"The reference {reference} was already credited: {_where_credited(conn, first)}."
        )


def credit(
    conn: sqlite3.Connection,
    organization_id: str,
    amount: int,
    provider: str,
    reference: str,
    at: int,
    *,
    note: str | None = None,
) -> LedgerEntry:
    """Credit an organization, once for each reference of a provider.

    Raises:
        NotFound: no such organization.
        Conflict: the reference was credited already.
    """
    refuse_credited(conn, provider, reference)
    written = reference if provider == BY_HAND else f"{provider} {reference}"
    entry = ledger.top_up(conn, organization_id, amount, written, at, note=note)
    enter(conn, provider, reference, entry.seq)
    return entry


def enter(conn: sqlite3.Connection, provider: str, reference: str, entry: int) -> None:
    """Store a reference that is credited by this unit, to recognise it again."""
    key = comparable(reference)
    if key is not None:
        writable(conn, _TABLE).insert({"key": key, "provider": provider, "entry": entry})


def top_up(
    conn: sqlite3.Connection,
    organization_id: str,
    amount: int,
    reference: str,
    at: int,
    *,
    note: str | None,
) -> LedgerEntry:
    """Credit an organization by a reference that an operator enters; features are told.

    Raises:
        NotFound: no such organization.
        Conflict: the reference was credited already.
    """
    entry = credit(conn, organization_id, amount, BY_HAND, reference, at, note=note)
    key = comparable(reference)
    for feature in features():
        if feature.topped_up is not None and key is not None:
            feature.topped_up()(conn, key, at)
    return entry
