"""Messages that a restore holds: scheduled for later, and perhaps canceled or sent since the
backup. They wait until the operator releases or ends them; validity runs on."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.backup.feature import HeldMessage
from risala.engine.journal.messages import timeline, waiting
from risala.engine.journal.messages.endings import fail
from risala.engine.journal.state import MessageState, change_of, load_key
from risala.engine.journal.store.repository import Store, command, scan
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import Kind, Line
from risala.engine.model.numbers import recipient_text
from risala.engine.model.records.messages import HELD_DUE_AT, Change, Stamp
from risala.sms.cause import Cause

SHOWN_MAX: Final = 10_000
"""Held messages that are listed: more than anybody reads, in a few megabytes."""
_HELD: Final = "status = 0 AND due_at >= ?"
_LINE: Final = Line(Kind.RESTORED_HELD)
_IN_TIME: Final = Line(Kind.RESTORED_WAITS)
_LATE: Final = Line(Kind.RESTORED_SENDS)


def hold(conn: sqlite3.Connection, message: MessageState, stamp: Stamp) -> None:
    """Keep a message from being sent until :func:`release` or :func:`end`."""
    conn.execute("UPDATE message SET due_at = ? WHERE key = ?", (HELD_DUE_AT, message.key))
    timeline.append(conn, message.key, TimelineEntry(stamp.now_ms, message.status, _LINE))


def held(conn: sqlite3.Connection) -> list[HeldMessage]:
    """The held messages, the earliest first; :data:`SHOWN_MAX` at most."""
    rows = conn.execute(
        "SELECT id, (SELECT id FROM organizations WHERE no = organization), recipient, send_at"  # noqa: S608 -- constants
        f" FROM message WHERE {_HELD} ORDER BY send_at, key LIMIT ?",
        (HELD_DUE_AT, SHOWN_MAX),
    )
    return [
        HeldMessage(message_id, organization, recipient_text(recipient), send_at)
        for message_id, organization, recipient, send_at in rows
    ]


def release(conn: sqlite3.Connection, stamps: Sequence[Stamp]) -> tuple[Change, ...]:
    """A unit: let as many as there are stamps go on, due at their scheduled time."""
    changes = []
    for message, stamp in zip(_next(conn, len(stamps)), stamps, strict=False):
        assert message.send_at is not None
        message.due_at = message.send_at
        conn.execute("UPDATE message SET due_at = ? WHERE key = ?", (message.due_at, message.key))
        line = _IN_TIME if message.send_at > stamp.now_ms else _LATE
        timeline.append(conn, message.key, TimelineEntry(stamp.now_ms, message.status, line))
        changes.append(change_of(message, stamp.now_ms, line))
    return tuple(changes)


def end(conn: sqlite3.Connection, stamps: Sequence[Stamp]) -> tuple[Change, ...]:
    """A unit: end as many as there are stamps as ``RESTORED``, refunded."""
    changes: list[Change] = []
    for message, stamp in zip(_next(conn, len(stamps)), stamps, strict=False):
        changes += fail(conn, message, Cause.RESTORED, stamp)
    return tuple(changes)


def _next(conn: sqlite3.Connection, limit: int) -> list[MessageState]:
    rows = conn.execute(
        f"SELECT key FROM message WHERE {_HELD} ORDER BY key LIMIT ?",  # noqa: S608 -- constants
        (HELD_DUE_AT, limit),
    ).fetchall()
    return [load_key(conn, key) for (key,) in rows]


@dataclass(frozen=True, slots=True)
class HeldRepository:
    """What a restore holds; it is counted and sorted on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    count = scan(waiting.held)
    held = scan(held)
    release = command(release)
    end = command(end)
