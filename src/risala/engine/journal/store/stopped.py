"""The note in a database that the service which had it stopped in order."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from risala.engine.journal.store import meta
from risala.engine.journal.store.opening import open_reader
from risala.engine.model.errors import StorageUnusable

_STOPPED: Final = "stopped_in_order_at"


def runs(conn: sqlite3.Connection) -> None:
    """A unit: the service runs from now on, and may send."""
    meta.remove(conn, _STOPPED)


def stopped(conn: sqlite3.Connection, now_ms: int) -> None:
    """A unit: the service has stopped in order, and all submits are written."""
    meta.put(conn, _STOPPED, str(now_ms))


def noted(conn: sqlite3.Connection) -> int | None:
    """When the service stopped in order; None: it runs, or was killed."""
    text = meta.get(conn, _STOPPED)
    return None if text is None else int(text)


def stopped_at(database: Path) -> int | None:
    """When the service that had this database stopped in order (UTC epoch milliseconds); None: it
    runs, was killed, or that cannot be read."""
    with suppress(sqlite3.Error, OSError, StorageUnusable), closing(open_reader(database)) as conn:
        return noted(conn)
    return None
