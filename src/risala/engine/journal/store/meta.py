"""Small facts about the file itself."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.store.tables import writable


def get(conn: sqlite3.Connection, key: str) -> str | None:
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def put(conn: sqlite3.Connection, key: str, value: str) -> None:
    writable(conn, "meta").upsert({"key": key, "value": value})


def remove(conn: sqlite3.Connection, key: str) -> None:
    writable(conn, "meta").delete_where("key = ?", (key,))
