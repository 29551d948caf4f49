"""One message as a unit of work holds it while it decides."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.keys import find_key
from risala.engine.journal.rows import Change, Entered
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import name_sql
from risala.engine.model.ids import key_of
from risala.engine.model.lines import Line
from risala.engine.model.numbers import KINDS, MODES, STATUSES, recipient_text
from risala.engine.model.states import Status


@dataclass(slots=True)
class MessageState:
    key: int
    id: str
    organization: int
    """The organization as a number."""
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
    kind: str
    verification_id: str | None
    send_at: int | None
    created_at: int
    part_state: int | None
    """Of the only part, as a number; None: not begun, or there are several parts."""
    carrier_key: str | None
    carrier_id: str | None
    told: int | None
    """How far its row tells the last lines of its timeline: 2 the attempt, 3 the yes, 4 the
    receipt; None: all lines but the first stand by themselves."""

    @property
    def counted_from(self) -> int:
        """From when on it could have been sent."""
        return max(self.created_at, self.send_at or 0)


CREATED: Final = "coalesce(created_at, key >> 15)"
"""When a message was accepted, as an expression."""


def _status(number: int) -> Status:
    return _STATUSES[number]


_STATUSES: Final = tuple(Status(word) for word in STATUSES.words)
_ROWS: Final = Rows(
    MessageState,
    {
        "organization_id": "(SELECT id FROM organizations WHERE no = organization)",
        "route": name_sql("route"),
        "due_at": f"coalesce(due_at, {CREATED})",
        "carrier": name_sql("carrier"),
        "tried": "coalesce(tried, '')",
        "created_at": CREATED,
    },
    recipient=recipient_text,
    status=_status,
    mode=MODES.word,
    kind=KINDS.word,
)
_LOAD: Final = f"SELECT {_ROWS.columns} FROM message WHERE key = ?"  # noqa: S608 -- a constant


def load(conn: sqlite3.Connection, message_id: str) -> MessageState | None:
    key = key_of(message_id)
    if key is not None:
        row = conn.execute(_LOAD, (key,)).fetchone()
        message = None if row is None else _ROWS.of(row)
        if message is not None and message.id == message_id:
            return message
    found = find_key(conn, message_id)
    return None if found is None else load_key(conn, found)


def load_key(conn: sqlite3.Connection, key: int) -> MessageState:
    """The message of a key that is known to be one's."""
    return _ROWS.of(conn.execute(_LOAD, (key,)).fetchone())


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
