"""Tables that are read and written seldom, through sqlite-utils: rows are dicts.

Code for every request and every message is prepared SQL instead: sqlite-utils reads the schema
before each operation, and opens a savepoint for each write.
"""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database
from sqlite_utils.db import Table


class _Connected(Database):
    """A connection of ours, whose SQLite knows ``ON CONFLICT``.

    Else each one tries that out before its first upsert, on a table that it makes and drops: the
    schema changes, so that every statement is prepared anew, and every connection reads the whole
    schema again.
    """

    @property
    def supports_on_conflict(self) -> bool:
        return True


class _OneTable(Table):
    """A table that is looked for by its name, not among the names of all of them.

    sqlite-utils asks several times for each write. SQLite has its columns in memory; a look into
    its schema reads the text of each table, which takes fifteen times as long.
    """

    def exists(self) -> bool:
        query = "SELECT 1 FROM pragma_table_info(?)"
        return self.db.conn.execute(query, (self.name,)).fetchone() is not None


def table(conn: sqlite3.Connection, name: str) -> Table:
    """A table to read from, on any connection."""
    # Without its plugins and its pragma: the connection stays as it was opened. Not with
    # `Database.table`, which reads the whole schema to check that it is no view.
    return _OneTable(_Connected(conn, recursive_triggers=False, execute_plugins=False), name)


def writable(conn: sqlite3.Connection, name: str) -> Table:
    """A table to write to, in the open transaction of the unit.

    Raises:
        RuntimeError: no transaction is open, so that sqlite-utils would commit each write itself;
            or the table does not exist, and it would make it.
    """
    if not conn.in_transaction:
        raise RuntimeError(f"{name} is written in a unit of work, and no transaction is open")
    stored = table(conn, name)
    if not stored.exists():
        raise RuntimeError(f"there is no table {name}")
    return stored
