"""The note of an upgrade in the database itself, so that a start after a crash continues it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store import meta

UNDER_WAY: Final = "upgrade"
DONE: Final = "upgraded"
"""Keys of the table ``meta``. The last finished one stays, for information."""


@dataclass(frozen=True, slots=True)
class Books:
    """The result of an audit."""

    organizations: int
    messages: int
    entries: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UpgradeNote:
    migration: str
    """The name of the move."""
    backup: str | None
    """The name of the copy beside the database; None: none was requested."""
    books: Books | None = None
    """The books before the move; None: not audited yet."""
    total: int | None = None
    """The number of rows to move; None: not begun."""


def read(conn: sqlite3.Connection, key: str = UNDER_WAY) -> UpgradeNote | None:
    text = meta.get(conn, key)
    if text is None:
        return None
    members = json.loads(text)
    books = members["books"]
    if books is not None:
        members["books"] = Books(**{**books, "faults": tuple(books["faults"])})
    return UpgradeNote(**members)


def write(conn: sqlite3.Connection, note: UpgradeNote, key: str = UNDER_WAY) -> None:
    """Write the note in the open transaction."""
    meta.put(conn, key, json.dumps(asdict(note), ensure_ascii=False))
