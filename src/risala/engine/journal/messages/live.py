"""What a reader missed, from the rows: events in their order, and the states of messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.messages import timeline
from risala.engine.journal.state import CREATED, find_key, load
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.webhooks import event_cursors, event_rows, history, outbox
from risala.engine.model.commands import LifeEvent
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.webhooks import EventAbout

# Each gives the latest rows first: a message's key and when something happened to it. Together they
# show every change except the return to the queue, which the next attempt shows.
_ACCEPTED: Final = f"SELECT key, {CREATED} FROM message ORDER BY key DESC LIMIT ?"  # noqa: S608 -- constants
_TOLD: Final = (
    "SELECT CASE typeof(subject) WHEN 'integer' THEN subject END, coalesce(at, key >> 15),"
    " CASE type WHEN 3 THEN (SELECT message_id FROM verifications WHERE id = subject) END"
    " FROM event ORDER BY key DESC LIMIT ?"
)
"""For messages the subject is a key; ``verify.sent`` is about a code's SMS."""
_REFUNDED: Final = (
    "SELECT CASE kind WHEN 1 THEN message END, coalesce(at, message >> 15)"
    " FROM entry ORDER BY seq DESC LIMIT ?"
)
_UNDER_WAY: Final = "SELECT key FROM message WHERE status = 1 LIMIT ?"


def standings(conn: sqlite3.Connection, message_ids: Iterable[str]) -> list[LifeEvent]:
    """The states of messages, each by the last entry of its timeline; unknown ids are left out."""
    events: list[LifeEvent] = []
    for message_id in message_ids:
        message = load(conn, message_id)
        if message is None:
            continue
        last = timeline.last_line(conn, message.key)
        events.append(
            LifeEvent(
                last.at,
                message.id,
                message.organization_id,
                message.recipient,
                message.status,
                last.line,
                last.carrier,
                last.attempt,
                last.segment,
                last.raw,
            )
        )
    return events


def changed_since(conn: sqlite3.Connection, since_ms: int, rows_max: int) -> list[str] | None:
    """Messages that may have changed since then; None if there are more rows than allowed."""
    keys: dict[int | None, None] = {}
    codes: list[str] = []
    for query in (_ACCEPTED, _TOLD, _REFUNDED):
        rows = conn.execute(query, (rows_max + 1,)).fetchall()
        if len(rows) > rows_max:
            _, oldest, *_ = rows[-1]
            if oldest >= since_ms:
                return None
        for key, at, *code in rows:
            if at >= since_ms:
                keys[key] = None
                codes += [message_id for message_id in code if message_id is not None]
    under_way = conn.execute(_UNDER_WAY, (rows_max + 1,)).fetchall()
    if len(under_way) > rows_max:
        return None
    keys |= dict.fromkeys(key for (key,) in under_way)
    message_ids = dict.fromkeys(_id_of(conn, key) for key in keys if key is not None)
    return list(message_ids | dict.fromkeys(codes))


def _id_of(conn: sqlite3.Connection, key: int) -> str:
    (message_id,) = conn.execute("SELECT id FROM message WHERE key = ?", (key,)).fetchone()
    return str(message_id)


# -- events about one message, and their results at the endpoints
#
# Events have no index by subject: it would cost each of them. But an event is written in the unit
# that changes its message, at the same time, and its key begins with that time: so it is searched
# among the events of the times at which the message last changed.


AFTER_MS: Final = 1000
"""Keys run ahead if the clock is set back, or a millisecond has more events than keys."""
LOOKED_MAX: Final = 5000
"""Events of one time that are read: a few milliseconds, in which nothing else runs."""


def events_about(conn: sqlite3.Connection, message: MessageView) -> tuple[EventAbout, ...]:
    """The events about a message that are still kept, in order."""
    subject = find_key(conn, message.id)
    keys: set[int] = set()
    for moment in {message.sent_at, message.delivered_at, message.updated_at}:
        if moment is None:
            continue
        first = moment << KEY_COUNTER_BITS
        rows = conn.execute(
            "SELECT key FROM (SELECT key, subject FROM event WHERE key >= ? AND key < ?"
            " ORDER BY key LIMIT ?) WHERE subject = ?",
            (first, (moment + AFTER_MS) << KEY_COUNTER_BITS, LOOKED_MAX, subject),
        )
        keys.update(key for (key,) in rows)
    return tuple(_about(conn, key) for key in sorted(keys))


def _about(conn: sqlite3.Connection, key: int) -> EventAbout:
    row = event_rows.by_key(conn, key)
    assert row is not None, "it was found by its key"
    return EventAbout(row.event_id, row.type.value, row.at, history.of_event(conn, key))


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class EventRepository:
    """Events, consumers' places among them, and the states of their messages. All reads are on the
    loop's thread: by an index, and of a bounded number of rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    last_seq = read(outbox.last_seq)
    after = read(outbox.after)
    is_far = read(outbox.is_far)
    seq_before = staticmethod(outbox.seq_before)
    position = read(outbox.position)
    about = read(events_about)
    changed_since = read(changed_since)
    standings = read(standings)
    cursor = read(event_cursors.one)
    next_events = read(event_cursors.next_events)
    next_own = read(event_cursors.next_own)
    behind = read(event_cursors.behind)

    # -- commands

    open_cursor = command(event_cursors.opened)
    move_cursor = command(event_cursors.moved)
    drop_cursor = command(event_cursors.dropped)
