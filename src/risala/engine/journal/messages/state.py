"""One message as a unit of work holds it while it decides."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.rows import Change, Entered
from risala.engine.journal.store.named import Rows
from risala.engine.model.lines import Line
from risala.engine.model.states import Status


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


_ROWS: Final = Rows(MessageState, status=Status)
_LOAD: Final = f"SELECT {_ROWS.columns} FROM messages WHERE id = ?"  # noqa: S608 -- a constant


def load(conn: sqlite3.Connection, message_id: str) -> MessageState | None:
    row = conn.execute(_LOAD, (message_id,)).fetchone()
    return None if row is None else _ROWS.of(row)


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
