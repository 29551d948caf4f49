"""How much waits in the queue: bounded looks, however long it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


def count(conn: sqlite3.Connection, routes: Iterable[str], count_max: int) -> int:
    """Pending messages of these routes, counted no further than ``count_max``."""
    total = 0
    for route in routes:
        (found,) = conn.execute(
            "SELECT count(*) FROM (SELECT 1 FROM messages"
            " WHERE status = 'pending' AND route = ? LIMIT ?)",
            (route, count_max - total),
        ).fetchone()
        total += found
    return total


def due(conn: sqlite3.Connection, now_ms: int) -> tuple[int, int | None]:
    """How many messages are due, and since when the oldest is. Reads the whole queue."""
    total, oldest = conn.execute(
        "SELECT count(*), min(due_at) FROM messages WHERE status = 'pending' AND due_at <= ?",
        (now_ms,),
    ).fetchone()
    return total, oldest
