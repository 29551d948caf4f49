"""Finds the row of a message's id."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store.sql import value_of
from risala.engine.model.ids import key_of

_IS: Final = "SELECT 1 FROM message WHERE key = ? AND id = ?"


def find_key(conn: sqlite3.Connection, message_id: str) -> int | None:
    """The key of a message, which is the id's first bits; None: the id is unknown."""
    key = key_of(message_id)
    if key is None or conn.execute(_IS, (key, message_id)).fetchone() is None:
        return None
    return key


START_CHARACTERS: Final = 29
"""Length of an id's start that identifies it: its prefix, and 125 bits."""


def whole_id(conn: sqlite3.Connection, start: str) -> str | None:
    """The message's id with this start; None: unknown, or the start is too short."""
    key = key_of(start.ljust(36, "0")) if len(start) >= START_CHARACTERS else None
    message_id: str | None = value_of(conn, "SELECT id FROM message WHERE key = ?", (key,))
    return message_id if message_id is not None and message_id.startswith(start) else None


def last_key(conn: sqlite3.Connection) -> int:
    """The highest of all; 0: there is no message."""
    (key,) = conn.execute("SELECT max(key) FROM message").fetchone()
    return key or 0
