"""Cursors over the events: each consumer's place, which moves only after it has stored the events.

A cursor is a row, so that a consumer continues after a restart. Retention does not wait: events
deleted before a consumer has them are counted in its row, in the same transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Final

from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.webhooks import event_rows, outbox
from risala.engine.journal.webhooks.event_rows import EventRow
from risala.engine.model.errors import NotFound
from risala.engine.model.events import EventType
from risala.engine.model.following import (
    EventPage,
    FollowedEvent,
    Owner,
    OwnEvent,
    StoredCursor,
)
from risala.engine.model.numbers import EVENT_TYPES

_CURSORS: Final = Rows(StoredCursor)
_CURSOR: Final = f"SELECT {_CURSORS.columns} FROM event_cursors WHERE consumer = ?"  # noqa: S608 -- constants


def bits(types: Collection[EventType]) -> int:
    """Types in the row's form."""
    return sum(1 << EVENT_TYPES.numbers[each] for each in types)


def opened(
    conn: sqlite3.Connection,
    consumer: str,
    organization_id: str | None,
    types: Collection[EventType],
    now_ms: int,
    *,
    from_start: bool,
) -> StoredCursor:
    """A consumer's cursor; made if it has none, before the first event or after the last.

    An existing one stays in its place, and follows the given types from now on.

    Raises:
        NotFound: the organization does not exist.
    """
    organization = None
    if organization_id is not None:
        statement = "SELECT no FROM organizations WHERE id = ?"
        organization = value_of(conn, statement, (organization_id,))
        if organization is None:  # it must not get the events of all
            raise NotFound(f"There is no organization {organization_id}.")
    seq = 0 if from_start else outbox.last_seq(conn)
    conn.execute(
        "INSERT INTO event_cursors (consumer, seq, organization, types, moved_at)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (consumer)"
        " DO UPDATE SET organization = excluded.organization, types = excluded.types",
        (consumer, seq, organization, bits(types), now_ms),
    )
    cursor = one(conn, consumer)
    assert cursor is not None
    return cursor


def one(conn: sqlite3.Connection, consumer: str) -> StoredCursor | None:
    """A consumer's place."""
    row = conn.execute(_CURSOR, (consumer,)).fetchone()
    return None if row is None else _CURSORS.of(row)


def moved(conn: sqlite3.Connection, consumer: str, seq: int, now_ms: int) -> None:
    """A consumer has everything up to an event."""
    conn.execute(
        "UPDATE event_cursors SET seq = ?, moved_at = ? WHERE consumer = ? AND seq < ?",
        (seq, now_ms, consumer, seq),
    )


def dropped(conn: sqlite3.Connection, consumer: str) -> None:
    """End a consumer: nothing is owed to it."""
    conn.execute("DELETE FROM event_cursors WHERE consumer = ?", (consumer,))


def missed(conn: sqlite3.Connection, key: int, now_ms: int) -> None:
    """Count an event that is about to be deleted, for the consumers that still lack it."""
    conn.execute(
        "UPDATE event_cursors SET missed = missed + 1, missed_at = ? WHERE seq < ? AND EXISTS"
        " (SELECT 1 FROM event e WHERE e.key = ? AND (event_cursors.types >> e.type) & 1"
        " AND coalesce(event_cursors.organization, e.organization) = e.organization)",
        (now_ms, key, key),
    )


def next_events(
    conn: sqlite3.Connection,
    row: StoredCursor,
    after: int,
    limit: int,
    scan_max: int,
    broken: BrokenRow | None = None,
) -> EventPage[FollowedEvent]:
    """The next events that a consumer follows, after a key.

    Args:
        limit: events at most.
        scan_max: events that are skipped at most.
        broken: told of events that cannot be read, by their keys: they are skipped. None: such a
            one is raised.
    """
    end, is_whole = _end(conn, after, scan_max)
    whose = (row.types, row.organization)
    events = tuple(event_rows.followed(conn, (after, end), whose, limit, _followed_event, broken))
    if len(events) == limit:
        return EventPage(events, events[-1].seq, is_whole=False)
    return EventPage(events, end, is_whole)


def next_own(
    conn: sqlite3.Connection,
    owner: Owner,
    row: StoredCursor,
    after: int,
    limit: int,
    scan_max: int,
    broken: BrokenRow | None = None,
) -> EventPage[OwnEvent]:
    """As :func:`next_events`, of somebody's own messages, and of texts from phones."""
    end, is_whole = _end(conn, after, scan_max)
    span, whose = (after, end), (row.types, row.organization)
    events, last = event_rows.own(conn, span, whose, owner, limit, broken)
    return EventPage(events, end if last is None else last, is_whole and last is None)


def _end(conn: sqlite3.Connection, after: int, scan_max: int) -> tuple[int, bool]:
    """The key up to which one look goes, and whether there is no event behind it."""
    end = value_of(
        conn,
        "SELECT key FROM event WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?",
        (after, scan_max - 1),
    )
    return (max(after, outbox.last_seq(conn)), True) if end is None else (end, False)


def _followed_event(row: EventRow) -> FollowedEvent:
    return FollowedEvent(
        row.key,
        row.event_id,
        row.type,
        row.at,
        row.organization_id,
        row.mode == "test",
        row.sent_body,
    )


def behind(conn: sqlite3.Connection, row: StoredCursor, count_max: int) -> tuple[int, int | None]:
    """How many events a consumer still lacks, up to ``count_max``; when the oldest was.

    At most ``count_max`` events are read: beyond that many, the count is too low if the consumer
    follows few of them.
    """
    count, oldest = conn.execute(
        "SELECT count(*), min(at) FROM (SELECT coalesce(at, key >> 15) AS at, type, organization"
        " FROM event WHERE key > ? ORDER BY key LIMIT ?)"
        " WHERE (? >> type) & 1 AND coalesce(?, organization) = organization",
        (row.seq, count_max, row.types, row.organization),
    ).fetchone()
    return count, oldest
