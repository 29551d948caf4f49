"""What is remembered of an upgrade in the database itself, so that a start after a kill goes on."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from typing import Final

from risala.engine.journal.store import meta

UNDER_WAY: Final = "upgrade"
DONE: Final = "upgraded"
"""Keys of the table ``meta``. The last one that ended stays, for those who ask what happened."""


@dataclass(frozen=True, slots=True)
class Books:
    """What an audit found."""

    organizations: int
    messages: int
    entries: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UpgradeNote:
    migration: str
    """Of the move."""
    backup: str | None
    """The name of the copy beside the database; None: none was asked for."""
    books: Books | None = None
    """As they were before; None: not audited yet."""
    total: int | None = None
    """Rows that there were to be moved; None: not begun."""


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
    """In the transaction that is open."""
    meta.put(conn, key, json.dumps(asdict(note), ensure_ascii=False))


def strike(conn: sqlite3.Connection, key: str = UNDER_WAY) -> None:
    """In the transaction that is open."""
    meta.remove(conn, key)
