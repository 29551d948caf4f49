"""The events about one message, and their results at the endpoints.

Events have no index by subject: it would cost each of them. But an event is written in the unit
that changes its message, at the same time, and its key begins with that time: so it is searched
among the events of the times at which the message last changed.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.keys import find_key
from risala.engine.journal.webhooks import event_rows, history
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.webhooks import EventAbout

AFTER_MS: Final = 1000
"""Keys run ahead if the clock is set back, or a millisecond has more events than keys."""
LOOKED_MAX: Final = 5000
"""Events of one time that are read: a few milliseconds, in which nothing else runs."""


def events_about(conn: sqlite3.Connection, message: MessageView) -> tuple[EventAbout, ...]:
    """The events about a message that are still kept, in order."""
    subject = find_key(conn, message.id)
    found: set[int] = set()
    for moment in {message.sent_at, message.delivered_at, message.updated_at}:
        if moment is None:
            continue
        first = moment << KEY_COUNTER_BITS
        rows = conn.execute(
            "SELECT key FROM (SELECT key, subject FROM event WHERE key >= ? AND key < ?"
            " ORDER BY key LIMIT ?) WHERE subject = ?",
            (first, (moment + AFTER_MS) << KEY_COUNTER_BITS, LOOKED_MAX, subject),
        )
        found.update(key for (key,) in rows)
    return tuple(_about(conn, key) for key in sorted(found))


def _about(conn: sqlite3.Connection, key: int) -> EventAbout:
    row = event_rows.by_key(conn, key)
    assert row is not None, "it was found by its key"
    return EventAbout(row.event_id, row.type.value, row.at, history.of_event(conn, key))
