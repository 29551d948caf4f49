"""The move into the slim tables (``schema/slim.py``): sessions, messages, money, events."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.inbound.opt_outs import LOOK_BACK_ROWS_MAX
from risala.engine.journal.keys import last_key
from risala.engine.journal.store import meta
from risala.engine.journal.store.schema.slim import MOVED
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import writable
from risala.engine.journal.upkeep.upgrade.slim import events, messages, rest
from risala.engine.journal.upkeep.upgrade.slim.keys import WAITING_PLACE

_PHASES: Final = (
    rest.move_sessions,
    messages.move,
    rest.move_entries,
    events.move,
    rest.drop_hours,
)
_COUNTED: Final = ("verifications", "messages", "events")
"""The large tables; the data of a message counts as a part of it."""
_LOOK_BACK: Final = "opt_outs.look_back"


class SlimMove:
    migration = "m024_slim"

    def concerns(self, conn: sqlite3.Connection) -> bool:
        there = [name for name in MOVED if _exists(conn, name)]
        return any(_has_rows(conn, name) for name in there)

    def is_unfinished(self, conn: sqlite3.Connection) -> bool:
        return _exists(conn, _old(MOVED[0]))

    def remaining(self, conn: sqlite3.Connection) -> int:
        count = "SELECT count(*) FROM "
        return sum(int(value_of(conn, count + _old(name))) for name in _COUNTED)

    def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
        for phase in _PHASES:
            moved = phase(conn, rows_max)
            if moved:
                return moved
        return 0

    def finish(self, conn: sqlite3.Connection) -> None:
        left = [name for name in MOVED if _has_rows(conn, _old(name))]
        assert not left, f"rows are left in {left}"
        for name in MOVED:
            conn.execute(f"DROP TABLE {_old(name)}")
        meta.remove(conn, WAITING_PLACE)
        _restart_walks(conn)


def _restart_walks(conn: sqlite3.Connection) -> None:
    """Notes of walks' progress name rows by their old numbers; walking twice does no harm."""
    writable(conn, "meta").delete_where("key LIKE 'retention.%'")
    if meta.get(conn, _LOOK_BACK) is not None:
        meta.put(conn, _LOOK_BACK, f"{last_key(conn) + 1} {LOOK_BACK_ROWS_MAX}")


def _old(name: str) -> str:
    return f"old_{name}"


def _exists(conn: sqlite3.Connection, name: str) -> bool:
    found = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return conn.execute(found, (name,)).fetchone() is not None


def _has_rows(conn: sqlite3.Connection, name: str) -> bool:
    return conn.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() is not None  # noqa: S608 -- constants
