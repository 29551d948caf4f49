"""Names that rows carry as small numbers: of carriers, routes and senders, and ids of API keys.

Few, and never taken back.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store.sql import value_of

_FIND: Final = "SELECT no FROM names WHERE name = ?"


def name_sql(column: str) -> str:
    """The name of a number that a row carries, as an expression."""
    return f"(SELECT name FROM names WHERE no = {column})"  # noqa: S608 -- constants


NUMBER: Final = "(SELECT no FROM names WHERE name = ?)"
"""The number of a name, as an expression; null where nobody ever carried it."""


def number(conn: sqlite3.Connection, name: str) -> int:
    """The number of a name, which is given one where it has none. Part of a unit of work."""
    found = known(conn, name)
    if found is not None:
        return found
    return conn.execute("INSERT INTO names (name) VALUES (?)", (name,)).lastrowid or 0


def known(conn: sqlite3.Connection, name: str) -> int | None:
    """The number of a name, where it has one."""
    found: int | None = value_of(conn, _FIND, (name,))
    return found
