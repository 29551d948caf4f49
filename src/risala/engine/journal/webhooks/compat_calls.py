"""Calls that faces owe: the callbacks of messages, and each call until it is over."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

from risala.dataclass import dataclass
from risala.engine.journal.keys import find_key
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.transaction import Unit
from risala.engine.journal.webhooks import event_rows
from risala.engine.journal.webhooks.event_rows import EventRow
from risala.engine.model.events import Callback, CallToMake, DueCall, MessageEvent, OwedCall
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.rules.webhooks.schedule import AnswerVerdict

T = TypeVar("T")

ROWS_AT_ONCE: Final = 500
"""The limit of one unit of tidying."""


def _body(text: str) -> Mapping[str, Any]:
    return dict(json.loads(text))


_CALLBACKS: Final = Rows(Callback, told=_body)
_CALLBACK: Final = f"SELECT {_CALLBACKS.columns} FROM face_callback WHERE message = ?"  # noqa: S608 -- a constant


def registering(callback: Callback | None, unit: Unit[T]) -> Unit[T]:
    """The unit that accepts a message, which then also stores the callback; None: no callback."""
    if callback is None:
        return unit

    def accept(conn: sqlite3.Connection) -> T:
        accepted = unit(conn)
        message_id = getattr(accepted, "id", None)
        if message_id is not None:  # else its key was known: the callback was stored then
            _add(conn, message_id, callback)
        return accepted

    return accept


def _add(conn: sqlite3.Connection, message_id: str, callback: Callback) -> None:
    conn.execute(
        "INSERT INTO face_callback (message, credential, url, told) VALUES (?, ?, ?, ?)",
        (
            find_key(conn, message_id),
            callback.credential,
            callback.url,
            json.dumps(dict(callback.told), ensure_ascii=False, separators=(",", ":")),
        ),
    )


def callback_of(conn: sqlite3.Connection, message: int) -> Callback | None:
    """A message's callback, by its key; None: it has none."""
    row = conn.execute(_CALLBACK, (message,)).fetchone()
    return None if row is None else _CALLBACKS.of(row)


def owe(conn: sqlite3.Connection, calls: Iterable[OwedCall], now_ms: int) -> None:
    """Owe calls, each once even if its event is given again."""
    conn.executemany(
        "INSERT OR IGNORE INTO face_call (event, message, credential, state, due_at, updated_at)"
        " VALUES (?, ?, ?, 'pending', ?, ?)",
        [(each.event, each.message, each.credential, now_ms, now_ms) for each in calls],
    )


_DUE: Final = Rows(DueCall)


def first_due(
    conn: sqlite3.Connection, credential: str, in_flight: Collection[int]
) -> DueCall | None:
    """A credential's next call that is not being made."""
    rows = conn.execute(
        "SELECT event, due_at FROM face_call WHERE credential = ? AND state = 'pending'"
        " ORDER BY due_at LIMIT ?",
        (credential, len(in_flight) + 1),
    ).fetchall()
    return next((due for due in map(_DUE.of, rows) if due.event not in in_flight), None)


def waiting(conn: sqlite3.Connection) -> list[tuple[str, int]]:
    """Each credential with owed calls, and when the first of them is due."""
    return conn.execute(
        "SELECT credential, min(due_at) FROM face_call WHERE state = 'pending' GROUP BY credential"
    ).fetchall()


@dataclass(frozen=True, slots=True)
class _CallRow:
    message: int
    state: str
    tries: int


_CALLS: Final = Rows(_CallRow)
_CALL: Final = f"SELECT {_CALLS.columns} FROM face_call WHERE event = ?"  # noqa: S608 -- a constant


def begin(conn: sqlite3.Connection, event: int, now_ms: int) -> CallToMake | None:
    """Count an attempt before a byte of it leaves; None: no call is due. The call stays due:
    after a crash it is found again."""
    found = conn.execute(_CALL, (event,)).fetchone()
    if found is None or (call := _CALLS.of(found)).state != "pending":
        return None
    row, callback = event_rows.by_key(conn, event), callback_of(conn, call.message)
    told = None if row is None else _message_event(row)
    if row is None or told is None or callback is None:
        drop(conn, event, "The event is no longer kept.", now_ms)
        return None
    conn.execute("UPDATE face_call SET tries = tries + 1 WHERE event = ?", (event,))
    return CallToMake(call.message, told, row.event_id, callback, call.tries + 1)


def candidate(conn: sqlite3.Connection, event: int) -> CallToMake | None:
    """The call that an event's key may require; None: no callback."""
    row = event_rows.by_key(conn, event)
    told = None if row is None else _message_event(row)
    message = None if told is None else find_key(conn, told.subject)
    callback = None if message is None else callback_of(conn, message)
    if row is None or told is None or message is None or callback is None:
        return None
    return CallToMake(message, told, row.event_id, callback)


def _message_event(row: EventRow) -> MessageEvent | None:
    event = row.event
    return event if isinstance(event, MessageEvent) else None


def drop(conn: sqlite3.Connection, event: int, why: str, now_ms: int) -> None:
    """Drop a call."""
    conn.execute(
        "UPDATE face_call SET state = 'dropped', error = ?, updated_at = ? WHERE event = ?",
        (why, now_ms, event),
    )


def finish(conn: sqlite3.Connection, event: int, verdict: AnswerVerdict, now_ms: int) -> None:
    """Store the result of an attempt."""
    conn.execute(
        "UPDATE face_call SET state = ?, due_at = ?, status = ?, error = ?, updated_at = ?"
        " WHERE event = ? AND state = 'pending'",
        (verdict.state, verdict.due_at, verdict.status, verdict.error, now_ms, event),
    )


_TIDYING: Final = (
    "DELETE FROM face_call WHERE event IN"
    " (SELECT event FROM face_call WHERE event < ? ORDER BY event LIMIT ?)",
    "DELETE FROM face_callback WHERE message IN"
    " (SELECT message FROM face_callback WHERE message < ? ORDER BY message LIMIT ?)",
)


def tidy(conn: sqlite3.Connection, before_ms: int) -> int:
    """Delete rows about messages and events before a time; returns how many, at most
    :data:`ROWS_AT_ONCE` of each kind."""
    before, taken = before_ms << KEY_COUNTER_BITS, 0
    for statement in _TIDYING:
        taken += conn.execute(statement, (before, ROWS_AT_ONCE)).rowcount
    return taken
