"""A made-up change of the tables whose rows move in steps: stones from one heap to another.

The move has a migration, one before it and one after it, as a real one has. Run as a program, it is
``risala`` of a version that has them::

    python stones.py serve --data DIR
"""

from __future__ import annotations

import gzip
import runpy
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlite_utils import Database

from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema import migrations as schema
from risala.engine.journal.upkeep.upgrade import upgrade as moves

FIXTURES = Path(__file__).parents[1] / "engine/journal/fixtures"
RELEASED = FIXTURES / "v1.0.db.gz"
EARLIER, MIGRATION, LATER = "v9.0_polish", "v9.1_polished", "v9.2_glue"
STEP_S = 0.1
"""What a step takes in a program: many instants at which it can be killed."""


def _there(conn: sqlite3.Connection, table: str) -> bool:
    found = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return conn.execute(found, (table,)).fetchone() is not None


def _earlier(db: Database) -> None:
    db.execute("CREATE TABLE polish (made_by TEXT)")


def _polished(db: Database) -> None:
    if _there(db.conn, "heap"):
        db.execute("ALTER TABLE heap RENAME TO old_heap")
    db.execute("CREATE TABLE polished (n INTEGER PRIMARY KEY, stone TEXT)")


def _later(db: Database) -> None:
    db.execute("CREATE TABLE glue (made_by TEXT)")


@dataclass
class StonesMove:
    """Stones move from one heap to another, each polished on its way."""

    migration: str = MIGRATION
    statements: Callable[[], None] = field(default=lambda: None)
    """Called before each statement."""
    step_s: float = 0

    def concerns(self, conn: sqlite3.Connection) -> bool:
        return _there(conn, "heap")

    def is_unfinished(self, conn: sqlite3.Connection) -> bool:
        return _there(conn, "old_heap")

    def remaining(self, conn: sqlite3.Connection) -> int:
        return conn.execute("SELECT count(*) FROM old_heap").fetchone()[0]

    def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
        time.sleep(self.step_s)
        query = "SELECT n, stone FROM old_heap ORDER BY n LIMIT ?"
        rows = conn.execute(query, (rows_max,)).fetchall()
        for n, stone in rows:
            self.statements()
            conn.execute("INSERT INTO polished VALUES (?, ?)", (n, f"polished {stone}"))
            self.statements()
            conn.execute("DELETE FROM old_heap WHERE n = ?", (n,))
        return len(rows)

    def finish(self, conn: sqlite3.Connection) -> None:
        self.statements()
        conn.execute("DROP TABLE old_heap")


def _register() -> None:
    for name, make in ((EARLIER, _earlier), (MIGRATION, _polished), (LATER, _later)):
        schema.migrations(name=name)(make)


@contextmanager
def migrations() -> Iterator[None]:
    """This version has the three migrations."""
    _register()
    try:
        yield
    finally:
        del schema.migrations._migrations[-3:]


def write_stones(path: Path, stones: int) -> None:
    """Make a database of the first release, with what a day brings and so many stones."""
    path.write_bytes(gzip.decompress(RELEASED.read_bytes()))
    before = EARLIER if EARLIER in schema.known() else None
    open_writer(path, lambda db: schema.migrate(db, before=before)).close()
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("PRAGMA journal_mode = delete")
        conn.execute("CREATE TABLE heap (n INTEGER PRIMARY KEY, stone TEXT)")
        rows = [(n, f"stone {n}") for n in range(1, stones + 1)]
        conn.executemany("INSERT INTO heap VALUES (?, ?)", rows)


if __name__ == "__main__":
    _register()
    moves.MOVES = (StonesMove(step_s=STEP_S),)  # before anything else of it is imported
    runpy.run_module("risala", run_name="__main__", alter_sys=True)
