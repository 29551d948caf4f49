"""One message as a unit of work holds it while it decides."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from risala.engine.journal.rows import Change, Entered
from risala.engine.model.lines import Line
from risala.engine.model.states import Status

_COLUMNS = (
    "id, organization_id, recipient, status, segments, price, priority, route, due_at, attempts,"
    " valid_until, carrier, tried, mode,"
    " verification_id"
)


@dataclass(slots=True)
class MessageState:
    id: str
    organization_id: str
    recipient: str
    status: Status
    segments: int
    price: int
    priority: int
    route: str
    due_at: int
    attempts: int
    valid_until: int
    carrier: str | None
    tried: str
    mode: str
    verification_id: str | None


def load(conn: sqlite3.Connection, message_id: str) -> MessageState | None:
    row = conn.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE id = ?",  # noqa: S608 -- a constant
        (message_id,),
    ).fetchone()
    if row is None:
        return None
    values = [*row]
    values[3] = Status(values[3])
    return MessageState(*values)


def change_of(
    message: MessageState,
    at: int,
    line: Line,
    raw: str | None = None,
    entered: Entered | None = None,
) -> Change:
    pending = message.status is Status.PENDING
    return Change(
        message.id,
        message.organization_id,
        message.recipient,
        message.status,
        line,
        at,
        carrier=message.carrier,
        attempt=message.attempts or None,
        raw=raw,
        due_at=message.due_at if pending else None,
        priority=message.priority,
        route=message.route,
        entered=entered,
    )
