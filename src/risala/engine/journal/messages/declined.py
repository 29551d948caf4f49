"""A message that a carrier would not take now continues to wait; no attempt was made."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.endings import code_is_wanted, withdraw_code
from risala.engine.journal.state import change_of, load
from risala.engine.journal.store import names
from risala.engine.journal.store.names import name_sql
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import Kind, Line, note
from risala.engine.model.records.attempts import Declining
from risala.engine.model.records.messages import Change, Stamp
from risala.engine.model.states import Status
from risala.sms.cause import Cause


def decline(conn: sqlite3.Connection, declining: Declining, stamp: Stamp) -> tuple[Change, ...]:
    """Set another due time or route. The timeline gets only the wait and its reason, once."""
    message = load(conn, declining.message_id)
    if message is None or message.status is not Status.PENDING:
        return ()
    if not code_is_wanted(conn, message, stamp.now_ms):
        return withdraw_code(conn, message, "ended", stamp)
    message.due_at = declining.due_at
    message.route = declining.route or message.route
    conn.execute(
        "UPDATE message SET due_at = ?, route = ?, updated_at = ? WHERE key = ?",
        (message.due_at, names.number(conn, message.route), stamp.now_ms, message.key),
    )
    line = Line(Kind.HELD_BACK, Cause.QUOTA_USED, note(declining.reason))
    if declining.route is None and not _has_event(conn, message.key, declining.carrier, line):
        entry = TimelineEntry(stamp.now_ms, Status.PENDING, line, declining.carrier)
        timeline.append(conn, message.key, entry)
    return (change_of(message, stamp.now_ms, line),)


def _has_event(conn: sqlite3.Connection, key: int, carrier: str, line: Line) -> bool:
    last = conn.execute(
        f"SELECT {name_sql('carrier')}, kind, details FROM line WHERE message = ?"  # noqa: S608 -- constants
        " ORDER BY n DESC LIMIT 1",
        (key,),
    ).fetchone()
    return last is not None and tuple(last) == (carrier, line.kind.value, line.details)
