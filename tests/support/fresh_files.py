"""A new database is a copy of one that the migrations made.

Some thousand tests begin with a new file, and all migrations take a hundred times as long as a copy
of what they come to. Where there is anything in the file, or only some of them are asked for, they
run as ever.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from functools import cache

import pytest
from sqlite_utils import Database

from risala.engine.journal.store.schema.migrations import known, migrations

_apply = migrations.apply


@cache
def _made(names: tuple[str, ...]) -> sqlite3.Connection:
    """A file with all migrations; these are their names, of which a test may make up some."""
    conn = sqlite3.connect(":memory:", check_same_thread=False)
    _apply(Database(conn, execute_plugins=False))
    return conn


def _copy_or_apply(db: Database, *, stop_before: str | Iterable[str] | None = None) -> None:
    is_new = not db.execute("select 1 from sqlite_schema limit 1").fetchone()
    if is_new and not stop_before:
        _made(tuple(known())).backup(db.conn)
    else:
        _apply(db, stop_before=stop_before)


@pytest.fixture(autouse=True, scope="session")
def fresh_files() -> Iterator[None]:
    """Import it into a conftest: what is opened below starts from the copy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "apply", _copy_or_apply)
        yield
