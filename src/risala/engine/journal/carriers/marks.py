"""The marks by which carriers share receipts, kept for a while after a carrier is removed.

The receipt of a message may come days after its carrier was removed from the settings, through
another carrier with the same account. It must still find its message, after a restart too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final

from risala.engine.journal.store.tables import table, writable
from risala.engine.rules.receiptgroups import Member

_TABLE: Final = "carrier_marks"
_COLUMNS: Final = ("carrier", "driver", "account", "receipt_group")
KEPT_MS: Final = 7 * 86_400_000
"""Carriers try for three days at most (``validitySeconds``); the rest is for late receipts of those
tries, and for clocks."""


def differ(conn: sqlite3.Connection, members: Iterable[Member]) -> bool:
    """Whether the stored carriers differ from these."""
    rows = table(conn, _TABLE).rows_where("gone_at IS NULL")
    return {_key_of(row) for row in rows} != _keys(members)


def take_over(conn: sqlite3.Connection, members: Iterable[Member], now_ms: int) -> None:
    """Store the present carriers; the others are gone from now on, and forgotten after
    :data:`KEPT_MS`."""
    stored = writable(conn, _TABLE)
    present = _keys(members)
    for row in list(stored.rows):
        key = _key_of(row)
        if key in present and row["gone_at"] is None:
            present.remove(key)
        elif key in present:
            stored.delete(key)
        elif row["gone_at"] is None:
            stored.update(key, {"gone_at": now_ms})
        elif row["gone_at"] < now_ms - KEPT_MS:
            stored.delete(key)
    stored.insert_all(dict(zip(_COLUMNS, each, strict=True)) for each in sorted(present))


def former(conn: sqlite3.Connection, now_ms: int) -> list[Member]:
    """The marks of carriers that are gone or have changed, for the latest days."""
    rows = table(conn, _TABLE).rows_where("gone_at >= ?", (now_ms - KEPT_MS,), order_by="carrier")
    return [
        Member(row["carrier"], row["driver"], row["account"], row["receipt_group"] or None)
        for row in rows
    ]


def _key_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in _COLUMNS)


def _keys(members: Iterable[Member]) -> set[tuple[str, ...]]:
    # A carrier without either shares no receipts, now and later.
    return {
        (each.name, each.driver, each.account, each.receipt_group or "")
        for each in members
        if each.account or each.receipt_group
    }
