"""A takeover's reads and writes in a database that is not open anywhere."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from risala.engine.journal.store.opening import open_reader, open_writer, sqlite_sentence
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.upkeep import audit_log
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import StorageUnusable


def last_entry(database: Path) -> int:
    """The number of the ledger's last entry; 0 if there is no such row.

    Raises:
        StorageUnusable: SQLite refused.
    """
    try:
        with closing(open_reader(database)) as conn:
            return last_entry_in(conn)
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(database, error)) from error


def last_entry_in(conn: sqlite3.Connection) -> int:
    """:func:`last_entry` of a database that is open.

    Raises:
        sqlite3.Error: SQLite refused.
    """
    (key,) = conn.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()
    return int(key)


def write_line(database: Path, entry: AuditEntry) -> None:
    """Write a line into the audit trail; the caller holds the lock of the data directory.

    Raises:
        StorageUnusable: SQLite refused.
    """
    try:
        with closing(open_writer(database, migrate)) as conn:
            conn.execute("begin immediate")
            audit_log.write(conn, entry)
            conn.execute("commit")
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(database, error)) from error
