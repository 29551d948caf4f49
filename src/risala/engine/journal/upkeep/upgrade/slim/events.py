"""Events as they were sent, with their owed deliveries and the attempts at those."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from risala.engine.journal.keys import find_key
from risala.engine.journal.store.sql import markers
from risala.engine.journal.upkeep.upgrade.slim.numbering import Numbering
from risala.engine.model.ids import key_ms, next_key
from risala.engine.model.numbers import EVENT_TYPES, MODES


class _OldEvent(NamedTuple):
    seq: int
    id: str
    organization_id: str
    mode: str
    type: str
    subject: str
    body: str
    created_at: int


_EVENT: Final = (
    "INSERT INTO event (key, type, organization, mode, subject, at, id, body)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_OF_DELIVERY: Final = (
    "endpoint_id, state, due_at, tries, attempts, status, error, excerpt, created_at, updated_at,"
    " delivered_at"
)
_DELIVERIES: Final = (
    f"INSERT INTO webhook_delivery (seq, event, {_OF_DELIVERY})"  # noqa: S608 -- constants
    f" SELECT seq, ?, {_OF_DELIVERY} FROM old_webhook_deliveries WHERE event_id = ?"
)
_OF_ATTEMPT: Final = "delivery, n, started_at, ended_at, status, error, excerpt"


def move(conn: sqlite3.Connection, rows_max: int) -> int:
    """Move the next events, in their order; their messages have been moved before."""
    rows = conn.execute(
        f"SELECT {', '.join(_OldEvent._fields)} FROM old_events ORDER BY seq LIMIT ?",  # noqa: S608 -- constants
        (rows_max,),
    )
    events = [_OldEvent(*row) for row in rows]
    if not events:
        return _move_forgotten(conn, rows_max)
    (last,) = conn.execute("SELECT coalesce(max(key), 0) FROM event").fetchone()
    numbers = Numbering(conn)
    new: list[tuple[Any, ...]] = []
    given: list[tuple[int, str]] = []
    for old in events:
        last = next_key(last, old.created_at)
        subject: int | str = old.subject
        if old.type.startswith("sms."):
            found = find_key(conn, old.subject)
            subject = old.subject if found is None else found
        at = None if key_ms(last) == old.created_at else old.created_at
        new.append(
            (
                *(last, EVENT_TYPES.number(old.type), numbers.organization(old.organization_id)),
                *(MODES.number(old.mode), subject, at, old.id, old.body),
            )
        )
        given.append((last, old.id))
    conn.executemany(_EVENT, new)
    _move_deliveries(conn, given)
    conn.execute("DELETE FROM old_events WHERE seq <= ?", (events[-1].seq,))
    return len(events)


def _move_deliveries(conn: sqlite3.Connection, given: Sequence[tuple[int, str]]) -> None:
    """Move the deliveries of events with given keys, with their attempts."""
    ids = [event_id for _, event_id in given]
    conn.executemany(_DELIVERIES, given)
    theirs = (
        "SELECT seq FROM old_webhook_deliveries"  # noqa: S608 -- places
        f" WHERE event_id IN ({markers(ids)})"
    )
    conn.execute(
        f"INSERT INTO webhook_attempts ({_OF_ATTEMPT}) SELECT {_OF_ATTEMPT}"  # noqa: S608 -- constants
        f" FROM old_webhook_attempts WHERE delivery IN ({theirs})",
        ids,
    )
    conn.execute(f"DELETE FROM old_webhook_attempts WHERE delivery IN ({theirs})", ids)  # noqa: S608 -- constants
    conn.execute(
        f"DELETE FROM old_webhook_deliveries WHERE event_id IN ({markers(ids)})",  # noqa: S608 -- constants
        ids,
    )


def _move_forgotten(conn: sqlite3.Connection, rows_max: int) -> int:
    """Deliveries of events that no longer exist, in files that were changed by hand.

    Each such event gets an unused key: nothing is deleted, nor reported.
    """
    rows = conn.execute(
        "SELECT DISTINCT event_id FROM old_webhook_deliveries ORDER BY event_id LIMIT ?",
        (rows_max,),
    ).fetchall()
    (last,) = conn.execute(
        "SELECT max(coalesce((SELECT max(key) FROM event), 0),"
        " coalesce((SELECT max(event) FROM webhook_delivery), 0))"
    ).fetchone()
    if rows:
        _move_deliveries(conn, [(last + 1 + n, event_id) for n, (event_id,) in enumerate(rows)])
    return len(rows)
