"""Repeated submits of an attempt: what is uncertain and due, and what leaves again.

The message stays ``processing`` all the time: nothing withdraws it, refunds it or takes it to
another carrier while one of the submits may have been taken.
"""

from __future__ import annotations

import sqlite3

from risala.engine.journal.messages import parts, timeline
from risala.engine.journal.messages.endings import code_is_wanted
from risala.engine.journal.state import MessageState, change_of, load_key
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.sql import value_of
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import Kind, Line
from risala.engine.model.numbers import ACTIONS, action_number
from risala.engine.model.records.attempts import Attempt, Lease, Started, UncertainPart
from risala.engine.model.states import SegmentState, Status


def due(conn: sqlite3.Connection, now_ms: int, limit: int) -> list[UncertainPart]:
    """The uncertain segments of messages whose wait is over: one each, since one is submitted after
    the other."""
    rows = conn.execute(
        f"SELECT key, {name_sql('sender')}, resolve_action FROM message"  # noqa: S608 -- constants
        " WHERE resolve_at <= ? ORDER BY resolve_at LIMIT ?",
        (now_ms, limit),
    ).fetchall()
    due_parts = (_due(conn, load_key(conn, key), sender, number) for key, sender, number in rows)
    return [part for part in due_parts if part is not None]


def _due(
    conn: sqlite3.Connection, message: MessageState, sender: str, action: int | None
) -> UncertainPart | None:
    part = uncertain(conn, message)
    if part is None:
        return None
    return UncertainPart(
        key=message.key,
        message_id=message.id,
        action=None if action is None else ACTIONS.word(action),
        number=part.number,
        carrier=part.carrier,
        carrier_id=part.carrier_id,
        sender=sender,
        kind=message.kind,
        valid_until=message.valid_until,
        opened_at=_opened_at(conn, message) if part.attempt == message.attempts else None,
        since=part.since,
        submits=part.uncertain,
    )


def uncertain(conn: sqlite3.Connection, message: MessageState) -> parts.BegunPart | None:
    """The segment of a message whose outcome is unknown, if there is one."""
    begun = parts.of(conn, message)
    return next((part for part in begun if part.state is SegmentState.UNCERTAIN), None)


def _opened_at(conn: sqlite3.Connection, message: MessageState) -> int | None:
    """By its line, which has a row of its own since the outcome is unknown."""
    at: int | None = value_of(
        conn,
        "SELECT at FROM line WHERE message = ? AND kind = ? AND attempt = ?",
        (message.key, Kind.ATTEMPT.value, message.attempts),
    )
    return at


def postpone(conn: sqlite3.Connection, key: int, until_ms: int, action: str | None) -> None:
    """Let an uncertain message wait until then; does nothing if its wait has ended meanwhile.

    Args:
        action: what the policy does then; None: it is looked at again before the policy decides.
    """
    conn.execute(
        "UPDATE message SET resolve_at = ?, resolve_action = ? WHERE key = ?"
        " AND resolve_at IS NOT NULL",
        (until_ms, action_number(action), key),
    )


def begin(
    conn: sqlite3.Connection, message: MessageState, lease: Lease, now_ms: int, *, may_send: bool
) -> Started | None:
    """Record that a segment is about to leave again, in the same attempt; None: it must not.

    Args:
        may_send: whether its organization is active.
    """
    part, repeat = parts.one(conn, message, lease.segment), lease.repeat
    if repeat is None or part is None or part.state is not SegmentState.UNCERTAIN:
        return None
    is_same = (part.attempt, part.carrier) == (message.attempts, lease.carrier)
    is_wanted = may_send and code_is_wanted(conn, message, now_ms)
    if not (is_same and is_wanted and part.since == repeat.since and now_ms <= repeat.until_ms):
        return None
    parts.repeat(conn, message, lease.segment, now_ms)
    conn.execute(
        "UPDATE message SET resolve_at = NULL, resolve_action = NULL, updated_at = ? WHERE key = ?",
        (now_ms, message.key),
    )
    line = Line(Kind.REPEATED, values={"not_taken": 1} if repeat.is_not_taken else None)
    entry = TimelineEntry(
        now_ms, Status.PROCESSING, line, lease.carrier, part.attempt, lease.segment
    )
    timeline.append(conn, message.key, entry)
    return Started(message.attempts, (change_of(message, now_ms, line),))


def was_repeated(conn: sqlite3.Connection, message: MessageState, attempt: Attempt) -> bool:
    """Whether a segment was submitted more than once in this attempt: then a carrier's late *no*
    may be about any of the submits."""
    query = (
        "SELECT 1 FROM line WHERE message = ? AND kind = ? AND attempt = ?"
        " AND coalesce(segment, 0) = ? LIMIT 1"
    )
    values = (message.key, Kind.REPEATED.value, attempt.number, attempt.segment)
    return conn.execute(query, values).fetchone() is not None
