"""Which row a message's id names."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store.sql import value_of
from risala.engine.model.ids import key_of

_IS: Final = "SELECT 1 FROM message WHERE key = ? AND id = ?"
_REMAPPED: Final = "SELECT key FROM remapped WHERE id = ?"


def find_key(conn: sqlite3.Connection, message_id: str) -> int | None:
    """The key of a message; None: there is none of this id.

    An id's own first bits; or, where another message had those before keys were unique, the key
    that it was given instead.
    """
    key = key_of(message_id)
    if key is not None and conn.execute(_IS, (key, message_id)).fetchone() is not None:
        return key
    return remapped_key(conn, message_id)


def remapped_key(conn: sqlite3.Connection, message_id: str) -> int | None:
    """The key that a message was given because another had its first bits; None: it was not."""
    key: int | None = value_of(conn, _REMAPPED, (message_id,))
    return key


START_CHARACTERS: Final = 29
"""Of an id, which are enough to name it: its prefix, and 125 bits."""


def whole_id(conn: sqlite3.Connection, start: str) -> str | None:
    """The message's id that begins so; None: there is none, or the start is too short to tell."""
    key = key_of(start.ljust(36, "0")) if len(start) >= START_CHARACTERS else None
    found: str | None = value_of(conn, "SELECT id FROM message WHERE key = ?", (key,))
    return found if found is not None and found.startswith(start) else None


def last_key(conn: sqlite3.Connection) -> int:
    """The highest of all; 0: there is no message."""
    (key,) = conn.execute("SELECT max(key) FROM message").fetchone()
    return key or 0
