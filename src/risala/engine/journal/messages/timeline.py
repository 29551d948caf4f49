"""The timeline of a message: what happened to it, as lines, and the carrier's own words."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import line_of
from risala.engine.model.states import Status

ENTRIES_MAX: Final = 200
"""A message throttled for two days must not grow a book; its end is always written."""

_FINAL = (Status.DELIVERED, Status.UNDELIVERED, Status.FAILED, Status.CANCELED, Status.SENT)


def append(conn: sqlite3.Connection, message_id: str, entry: TimelineEntry) -> None:
    """Add one entry; beyond :data:`ENTRIES_MAX` only entries of a final state."""
    (last,) = conn.execute(
        "SELECT coalesce(max(n), 0) FROM timeline WHERE message_id = ?", (message_id,)
    ).fetchone()
    if last >= ENTRIES_MAX and entry.status not in _FINAL:
        return
    line = entry.line
    conn.execute(
        "INSERT INTO timeline (message_id, n, at, status, text, carrier, attempt, segment, raw,"
        " kind, details) VALUES (?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?)",
        (
            *(message_id, last + 1, entry.at, entry.status),
            *(entry.carrier, entry.attempt, entry.segment, entry.raw or None),
            *(line.kind.value, line.details),
        ),
    )


def read(conn: sqlite3.Connection, message_id: str) -> tuple[TimelineEntry, ...]:
    rows = conn.execute(
        "SELECT kind, details, text, at, status, carrier, attempt, segment, raw FROM timeline"
        " WHERE message_id = ? ORDER BY n",
        (message_id,),
    )
    return tuple(
        TimelineEntry(at, status, line_of(kind, details, text), *rest)
        for kind, details, text, at, status, *rest in rows
    )
