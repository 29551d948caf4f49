"""Names that rows carry as small numbers: of carriers, routes and senders, and ids of API keys.

There are few, and they are never removed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from typing import Final

from risala.engine.journal.store.sql import value_of

_FIND: Final = "SELECT no FROM names WHERE name = ?"
_FIND_ALL: Final = "SELECT name, no FROM names WHERE name IN (SELECT value FROM json_each(?))"


def name_sql(column: str) -> str:
    """The name of a row's number, as an expression."""
    return f"(SELECT name FROM names WHERE no = {column})"  # noqa: S608 -- constants


def known_name(name: str | None) -> str:
    """What :func:`name_sql` gives, where every row has one.

    Raises:
        LookupError: nothing goes by the row's number.
    """
    if name is None:
        raise LookupError
    return name


NUMBER: Final = "(SELECT no FROM names WHERE name = ?)"
"""The number of a name, as an expression; null if no row ever carried it."""


def number(conn: sqlite3.Connection, name: str) -> int:
    """The number of a name, which gets one if it has none. Part of a unit of work."""
    stored = known(conn, name)
    if stored is not None:
        return stored
    return _give(conn, name)


def known(conn: sqlite3.Connection, name: str) -> int | None:
    """The number of a name, if it has one."""
    number: int | None = value_of(conn, _FIND, (name,))
    return number


def numbers(conn: sqlite3.Connection, names: Collection[str]) -> dict[str, int]:
    """The numbers of many names, by name; new names get one.

    Part of a unit of work, as :func:`number` is; one statement if all are known.
    """
    by_name = dict(conn.execute(_FIND_ALL, (json.dumps(list(names)),)).fetchall())
    for name in names:
        if name not in by_name:
            by_name[name] = _give(conn, name)
    return by_name


def _give(conn: sqlite3.Connection, name: str) -> int:
    return conn.execute("INSERT INTO names (name) VALUES (?)", (name,)).lastrowid or 0
