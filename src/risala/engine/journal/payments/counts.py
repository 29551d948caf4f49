"""Counts of payments over all organizations, for metrics: all queries are bounded."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from risala.engine.model.ids import first_id

PAYMENTS_MAX: Final = 10_000
"""Payments that are counted at most."""
DAY_MS: Final = 86_400_000


def open_payments(conn: sqlite3.Connection) -> Mapping[str, int]:
    """Undecided payments, by their state."""
    rows = conn.execute(
        "SELECT state, count(*) FROM (SELECT state FROM payments INDEXED BY payments_open"
        " WHERE state IN ('begun', 'waiting') LIMIT ?) GROUP BY state",
        (PAYMENTS_MAX,),
    )
    return dict(rows.fetchall())


def payments_of_day(conn: sqlite3.Connection, now_ms: int) -> Mapping[str, int]:
    """Payments begun in the last 24 hours, by their present state."""
    rows = conn.execute(
        "SELECT state, count(*) FROM (SELECT state FROM payments WHERE id >= ?"
        " ORDER BY id DESC LIMIT ?) GROUP BY state",
        (first_id("pay", max(0, now_ms - DAY_MS)), PAYMENTS_MAX),
    )
    return dict(rows.fetchall())
