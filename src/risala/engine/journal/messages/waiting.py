"""How much waits in the queue: bounded looks, however long it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from risala.engine.rules.router import NETWORK_EXACTNESS, UNSERVED


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


@dataclass(frozen=True, slots=True)
class Unserved:
    """Messages that wait because no enabled carrier serves their numbers."""

    count: int
    """No further than was asked for."""
    prefixes: tuple[str, ...]
    """Beginnings of their numbers, as long as tells the network and whether it is mobile."""


def unserved(conn: sqlite3.Connection, count_max: int) -> Unserved:
    """How many there are, counted no further than ``count_max``."""
    rows = conn.execute(
        "SELECT substr(recipient, 1, ?) AS prefix, count(*) FROM (SELECT recipient FROM messages"
        " WHERE status = 'pending' AND route = ? LIMIT ?) GROUP BY prefix ORDER BY prefix",
        (NETWORK_EXACTNESS + 1, UNSERVED, count_max),
    ).fetchall()
    return Unserved(sum(count for _, count in rows), tuple(prefix for prefix, _ in rows))


def is_unserved(conn: sqlite3.Connection, message_id: str) -> bool:
    """Whether this message waits because no enabled carrier serves its number."""
    row = conn.execute(
        "SELECT 1 FROM messages WHERE id = ? AND status = 'pending' AND route = ?",
        (message_id, UNSERVED),
    ).fetchone()
    return row is not None


def due(conn: sqlite3.Connection, now_ms: int) -> tuple[int, int | None]:
    """How many messages are due, and since when the oldest is. Reads the whole queue."""
    total, oldest = conn.execute(
        "SELECT count(*), min(due_at) FROM messages WHERE status = 'pending' AND due_at <= ?",
        (now_ms,),
    ).fetchone()
    return total, oldest
