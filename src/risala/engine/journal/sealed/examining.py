"""The sealed secrets of a database, as somebody finds them who changes nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from risala.dataclass import dataclass
from risala.engine.journal.sealed import resealing
from risala.engine.journal.store import meta
from risala.engine.journal.store.opening import open_reader, sqlite_sentence
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.model.errors import StorageUnusable


@dataclass(frozen=True, slots=True)
class SealedFacts:
    total: int
    """Stored secrets."""
    lost: int
    """Secrets that no key here opens."""
    has_key: bool
    is_exported: bool
    """The newest key was exported."""


def examine(database: Path) -> SealedFacts:
    """Look at all sealed secrets, and at the keys beside them.

    Raises:
        StorageUnusable: the database or the keys cannot be read.
    """
    keys = SealingKeys(database.parent)
    try:
        with closing(open_reader(database)) as conn:
            total = sum(resealing.counted(conn).values())
            if not total or not keys.are_there:
                return SealedFacts(total, total, keys.are_there, False)
            lost = sum(1 for _ in resealing.lost(conn, keys))
            exported = (meta.get(conn, resealing.EXPORTED) or "").partition(" ")[0]
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(database, error)) from error
    return SealedFacts(total, lost, True, exported == keys.ring().newest.id)
