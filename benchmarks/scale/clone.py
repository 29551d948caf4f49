"""Millions of old messages from a few thousand real ones.

The service itself accepts and delivers the templates; then each row that came of them is copied
under other identities, further back in time. Nothing here knows the schema: which tables grow with
messages is seen by what grew, which columns are identities by their keys and by whose values they
hold, which are times by their values. So it works on every version of the file, and says so where
it would not.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_HOUR_MS = 3_600_000
_STEP_MS = 60_000
"""So much older each copy is: a thousand copies of ten thousand are most of a day."""


class Unclear(Exception):
    """``str()`` names a table whose copies would not be told apart."""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    kind: str
    """``shifted`` by ``span`` a copy, ``marked`` with the copy's number, ``earlier``, ``same``."""
    span: int = 0

    def sql(self) -> str:
        """What a copy has in it; ``:n`` is the copy's number, from 1 on."""
        quoted = f'"{self.name}"'
        return {
            "shifted": f"{quoted} - :n * {self.span}",
            "marked": f"{quoted} || '~' || :n",
            "earlier": f"{quoted} - :n * {_STEP_MS}",
            "same": quoted,
        }[self.kind]


@dataclass(frozen=True, slots=True)
class Growth:
    """A table that grows with messages."""

    table: str
    columns: tuple[_Column, ...]

    @property
    def kept(self) -> str:
        """The templates' rows, aside: copies are not copied again."""
        return f'CREATE TEMP TABLE "template_{self.table}" AS SELECT * FROM main."{self.table}"'

    @property
    def copied(self) -> str:
        names = ", ".join(f'"{each.name}"' for each in self.columns)
        values = ", ".join(each.sql() for each in self.columns)
        return (
            f'INSERT INTO main."{self.table}" ({names})'
            f' SELECT {values} FROM temp."template_{self.table}"'
        )


def counts(path: Path) -> dict[str, int]:
    """Rows of each table; nobody else has the file open."""
    with closing(sqlite3.connect(path)) as database:
        return {
            name: _one(database, f'SELECT count(*) FROM "{name}"') for name in _tables(database)
        }


def multiply(
    path: Path, before: dict[str, int], templates: int, messages: int, done: Callable[[int], None]
) -> None:
    """Copy what ``templates`` messages left in the file since ``before`` until there are so many.

    Raises:
        Unclear: the schema has something that this module cannot copy.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous=OFF")
        database.execute("PRAGMA cache_size=-400000")
        grown = tuple(growths(database, before, templates))
        for each in grown:
            database.execute(each.kept)
        for copy in range(1, messages // templates):
            database.execute("BEGIN")
            for each in grown:
                database.execute(each.copied, {"n": copy})
            database.execute("COMMIT")
            done((copy + 1) * templates)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def growths(
    database: sqlite3.Connection, before: dict[str, int], templates: int
) -> Iterator[Growth]:
    names = [
        name
        for name in _tables(database)
        if _one(database, f'SELECT count(*) FROM "{name}"') - before.get(name, 0) >= templates // 2
    ]
    keys = {name: _key(database, name) for name in names}
    identities = [(table, column) for table, column in keys.items() if column is not None]
    for name in names:
        columns = tuple(
            _column(database, name, column, type_, identities, templates)
            for column, type_ in _columns(database, name)
        )
        distinct = {each.name for each in columns if each.kind in ("shifted", "marked")}
        for index in _unique(database, name):
            if not distinct & set(index):
                raise Unclear(f"{name} is unique by {', '.join(index)}, which no copy would change")
        yield Growth(name, columns)


def _column(
    database: sqlite3.Connection,
    table: str,
    column: str,
    type_: str,
    identities: list[tuple[str, str]],
    templates: int,
) -> _Column:
    quoted = f'"{column}"'
    distinct, low, high = database.execute(
        f'SELECT count(DISTINCT {quoted}), min({quoted}), max({quoted}) FROM "{table}"'
    ).fetchone()
    if type_ == "INTEGER":
        for owner, key in identities:
            own = (owner, key) == (table, column)
            if own or (distinct >= templates // 2 and _within(database, table, column, owner, key)):
                span = _one(database, f'SELECT max("{key}") - min("{key}") + 1 FROM "{owner}"')
                return _Column(column, "shifted", span)
        now_ms = time.time() * 1000
        if low is not None and now_ms - _HOUR_MS < low <= high < now_ms + 100 * _HOUR_MS:
            return _Column(column, "earlier")
        return _Column(column, "same")
    if type_ == "TEXT" and distinct >= templates // 2:
        return _Column(column, "marked")
    return _Column(column, "same")


def _within(database: sqlite3.Connection, table: str, column: str, owner: str, key: str) -> bool:
    """Whether a column's values are all another table's keys."""
    query = (
        f'SELECT count(*) FROM "{table}" t WHERE t."{column}" IS NOT NULL AND NOT EXISTS'
        f' (SELECT 1 FROM "{owner}" o WHERE o."{key}" = t."{column}")'
    )
    return _one(database, query) == 0


def _key(database: sqlite3.Connection, table: str) -> str | None:
    """The integer that is a table's whole primary key."""
    parts = [
        (name, type_)
        for _, name, type_, _, _, part in database.execute(f'PRAGMA table_info("{table}")')
        if part
    ]
    return parts[0][0] if len(parts) == 1 and parts[0][1] == "INTEGER" else None


def _tables(database: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return [name for (name,) in database.execute(query)]


def _columns(database: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    return [(row[1], row[2]) for row in database.execute(f'PRAGMA table_info("{table}")')]


def _unique(database: sqlite3.Connection, table: str) -> list[list[str]]:
    """The columns of each unique index, but of those in which no row of ours is: rows with a null
    are never the same."""
    found = []
    for _, index, unique, _, _ in database.execute(f'PRAGMA index_list("{table}")').fetchall():
        columns = [row[2] for row in database.execute(f'PRAGMA index_info("{index}")')]
        if unique and None not in columns:
            whole = " AND ".join(f'"{column}" IS NOT NULL' for column in columns)
            if _one(database, f'SELECT EXISTS (SELECT 1 FROM "{table}" WHERE {whole})'):
                found.append(columns)
    return found


def _one(database: sqlite3.Connection, query: str) -> int:
    (value,) = database.execute(query).fetchone()
    return int(value or 0)
