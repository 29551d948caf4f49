"""What an upgrade needs beside its move: enough space on the disk, which is checked before anything
is changed, and a note in the database itself, so that a start after a crash continues it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store import meta
from risala.engine.model.errors import StorageUnusable

GROWTH_SHARE: Final = 4
"""A moved row takes the space that others have left, but not to the byte: a quarter of the file is
several times what was measured."""
SPARE_BYTES: Final = 96 * 1024 * 1024
"""The journal beside the database (64 MiB at most between two checkpoints), and a reserve for other
writers on the disk."""


def free_bytes(directory: Path) -> int:
    """The bytes that this process may still write there."""
    free: int = shutil.disk_usage(directory).free
    return free


def need_bytes(conn: sqlite3.Connection, *, copies: bool) -> int:
    """The most that an upgrade may take; ``copies``: a backup is still to be made."""
    (pages,) = conn.execute("pragma page_count").fetchone()
    (page_bytes,) = conn.execute("pragma page_size").fetchone()
    size: int = pages * page_bytes
    return (size if copies else 0) + size // GROWTH_SHARE + SPARE_BYTES


def refuse_too_little(path: Path, need: int, free: int) -> None:
    """
    Raises:
        StorageUnusable: how much there is, how much it takes, and what to do.
    """
    if free < need:
        raise StorageUnusable(
            f"To bring {path} over to this version takes {megabytes(need)} MB of free disk, and "
            f"{path.parent} has {megabytes(free)}: make room, then start again. "
            "Nothing was changed, so that the version before this one still works."
        )


def megabytes(size: int) -> int:
    """Rounded up, so that a need is never shown as 0 MB."""
    return -(-size // 1_000_000)


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


def read_note(conn: sqlite3.Connection, key: str = UNDER_WAY) -> UpgradeNote | None:
    text = meta.get(conn, key)
    if text is None:
        return None
    members = json.loads(text)
    books = members["books"]
    if books is not None:
        members["books"] = Books(**{**books, "faults": tuple(books["faults"])})
    return UpgradeNote(**members)


def write_note(conn: sqlite3.Connection, note: UpgradeNote, key: str = UNDER_WAY) -> None:
    """Write the note in the open transaction."""
    meta.put(conn, key, json.dumps(asdict(note), ensure_ascii=False))
