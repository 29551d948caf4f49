"""Compares a file's schema with that of the version that the file says it is of.

A database from elsewhere brings its own triggers, views and indexes, which run with every statement
from then on. So whatever is not exactly ours is refused by its name, before anything of it runs.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from typing import Final, TypeAlias

from sqlite_utils import Database

from risala.engine.journal.store.schema.migrations import known, migrations, refuse_wrong
from risala.engine.journal.store.schema.views import make_views

OBJECTS_MAX: Final = 2000
"""Tables, indexes, views and triggers of a file: eight times what this version has."""
_SQL_CHARACTERS_MAX: Final = 20_000
"""Characters of a statement that made one of these objects: seven times the longest of ours."""
_NAME_CHARACTERS_MAX: Final = 60
"""Characters of a name in a sentence."""
_OWN: Final = frozenset({"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"})
"""Tables that SQLite makes by itself."""
_PUT_ASIDE: Final = "old_"
"""How tables begin whose rows a later step moves and which are gone afterwards."""

_Objects: TypeAlias = dict[tuple[str, str], tuple[str, str | None]]
"""By type and name: the table, and the statement."""


class ForeignSchema(Exception):
    """A file has something that this program does not make; ``str()`` names it, without a dot."""


def refuse_foreign(conn: sqlite3.Connection) -> None:
    """Compare the schema of a file of any version with ours; nothing of the file's own runs.

    Raises:
        ForeignSchema: something is foreign, missing or of another kind.
        WrongSchema: another version has written the file.
        sqlite3.Error: it cannot be read.
    """
    conn.execute("pragma trusted_schema = off")
    objects = _objects(conn)
    own = tuple(known())
    whole = _expected(own, frozenset(own))
    table = ("table", migrations.migrations_table)
    if objects.get(table) != whole[table]:  # first: the names of the migrations are read from it
        raise ForeignSchema(f"it has no {_said(table)} as Risala makes it")
    db = Database(conn, execute_plugins=False)
    refuse_wrong(db)
    names = conn.execute(
        f"SELECT name FROM {table[1]} WHERE migration_set = ? LIMIT ?",  # noqa: S608 -- a name of ours
        (migrations.name, OBJECTS_MAX),
    )
    _compare(objects, _expected(own, frozenset(str(name) for (name,) in names)))


def _compare(objects: _Objects, expected: _Objects) -> None:
    """
    Raises:
        ForeignSchema: they differ.
    """
    for key, made in objects.items():
        if key not in expected:
            raise ForeignSchema(f"it has the {_said(key)}, which Risala does not make")
        # Views are made anew before anything is read by them: an older version's differ.
        if made != expected[key] and key[0] != "view":
            raise ForeignSchema(f"its {_said(key)} is not as Risala makes it")
    for key in expected:
        if key not in objects and not key[1].startswith(_PUT_ASIDE) and key[0] != "view":
            raise ForeignSchema(f"it lacks the {_said(key)}")


def _said(key: tuple[str, str]) -> str:
    """The kind and the name, whatever is in it, as one short line."""
    kind, name = key
    return f"{kind[:_NAME_CHARACTERS_MAX]} {name[:_NAME_CHARACTERS_MAX]!a}"


def _objects(conn: sqlite3.Connection) -> _Objects:
    """What is in the file, without what SQLite makes by itself."""
    query = (
        "SELECT CAST(type AS TEXT), CAST(name AS TEXT), CAST(tbl_name AS TEXT),"
        " substr(CAST(sql AS TEXT), 1, ?) FROM sqlite_schema LIMIT ?"
    )
    rows = conn.execute(query, (_SQL_CHARACTERS_MAX, OBJECTS_MAX + 1)).fetchall()
    if len(rows) > OBJECTS_MAX:
        raise ForeignSchema(f"it has more than {OBJECTS_MAX} tables, indexes, views and triggers")
    objects: _Objects = {}
    for kind, name, table, sql in rows:
        key = (str(kind), str(name))
        if key in objects:
            raise ForeignSchema(f"it has the {_said(key)} twice")
        if key[0] != "table" or key[1] not in _OWN:
            objects[key] = (str(table), sql)
    return objects


@lru_cache(maxsize=4)
def _expected(names: tuple[str, ...], applied: frozenset[str]) -> _Objects:
    """What the migrations that are applied make, of all these, and the views of this version."""
    with Database(memory=True) as db:
        migrations.apply(db, stop_before=[name for name in names if name not in applied])
        make_views(db)
        return _objects(db.conn)
