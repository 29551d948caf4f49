"""Small facts about the file itself."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import writable


def get(conn: sqlite3.Connection, key: str) -> str | None:
    value: str | None = value_of(conn, "SELECT value FROM meta WHERE key = ?", (key,))
    return value


def put(conn: sqlite3.Connection, key: str, value: str) -> None:
    writable(conn, "meta").upsert({"key": key, "value": value})


def remove(conn: sqlite3.Connection, key: str) -> None:
    writable(conn, "meta").delete_where("key = ?", (key,))
