"""Tables that are read and written at a person's pace, through sqlite-utils: rows are dicts.

What runs for every request and every message is prepared SQL instead: sqlite-utils asks for the
schema before it does anything, and opens a savepoint for each write.
"""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database
from sqlite_utils.db import Table


def table(conn: sqlite3.Connection, name: str) -> Table:
    """A table to read from, on any connection."""
    # Neither its plugins nor its pragma: the connection stays as whoever opened it has set it. Nor
    # by `Database.table`, which reads the whole schema to see that it is no view.
    return Table(Database(conn, recursive_triggers=False, execute_plugins=False), name)


def writable(conn: sqlite3.Connection, name: str) -> Table:
    """A table to write to, in the transaction of the unit that asks for it.

    Raises:
        RuntimeError: no transaction is open, so that sqlite-utils would commit each write by
            itself; or there is no such table, which it would make.
    """
    if not conn.in_transaction:
        raise RuntimeError(f"{name} is written in a unit of work, and no transaction is open")
    found = table(conn, name)
    if not found.exists():
        raise RuntimeError(f"there is no table {name}")
    return found
