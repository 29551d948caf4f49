"""A message's row, found by its id, and the state of one message while a unit of work decides."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.sql import rows_of_values, value_of
from risala.engine.model.ids import key_of
from risala.engine.model.lines import Line
from risala.engine.model.numbers import (
    KINDS,
    MODES,
    STATUSES,
    recipient_number,
    recipient_text,
)
from risala.engine.model.records.accounts import Entered
from risala.engine.model.records.messages import Change
from risala.engine.model.states import Status
from risala.engine.rules.router import FLASH_MARK


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
    """The state of the only part, as a number; None: not begun, or there are several parts."""
    carrier_key: str | None
    carrier_id: str | None
    told: int | None
    """How many of the last lines of its timeline are in its row: 2 the attempt, 3 the acceptance, 4
    the receipt; None: all lines except the first have separate rows."""
    counted_in: tuple[int, int, int, str] | None = field(init=False, default=None, compare=False)
    """Hour, mode, kind and network for counting its results, after the first use."""

    @property
    def counted_from(self) -> int:
        """The time from which on it could have been sent."""
        return max(self.created_at, self.send_at or 0)


CREATED: Final = "coalesce(created_at, key >> 15)"
"""When a message was accepted, as an expression."""
MESSAGE_CLASS: Final = (
    f"(SELECT 0 FROM names WHERE no = route AND substr(name, 1, 1) = '{FLASH_MARK}')"  # noqa: S608 -- a constant
)
"""A message's class, which its route says, as an expression: 0, or null."""


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
    later_key = find_key(conn, message_id)
    return None if later_key is None else load_key(conn, later_key)


def load_key(conn: sqlite3.Connection, key: int) -> MessageState:
    """The message of a key that is known to exist."""
    return _ROWS.of(conn.execute(_LOAD, (key,)).fetchone())


_CHANGED: Final = (
    "SELECT column1 FROM ({values}) WHERE NOT EXISTS (SELECT 1 FROM message WHERE key = column1"
    " AND status = column2 AND attempts = column3 AND coalesce(part_state, -1) = column4"
    " AND coalesce(told, 0) = column5 AND coalesce(carrier_key, '') = column6"
    " AND recipient = column7)"
)


def changed_since(conn: sqlite3.Connection, messages: Iterable[MessageState]) -> set[int]:
    """The keys of messages whose rows differ, in any column that may change before the end.

    One statement for all. Null is compared as a value that the column never has: for Python's
    sqlite3 a None costs as much as ten numbers.
    """
    rows = [
        (
            *(message.key, STATUSES.numbers[message.status], message.attempts),
            -1 if message.part_state is None else message.part_state,
            *(message.told or 0, message.carrier_key or ""),
            recipient_number(message.recipient),
        )
        for message in messages
    ]
    return {key for (key,) in rows_of_values(conn, _CHANGED, len(rows[0]), rows)} if rows else set()


def change_of(
    message: MessageState,
    at: int,
    line: Line,
    raw: str | None = None,
    entered: Entered | None = None,
) -> Change:
    pending = message.status is Status.PENDING
    return Change(
        *(message.id, message.organization_id, message.recipient, message.status, line, at),
        *(message.carrier, message.attempts or None, raw, message.due_at if pending else None),
        *(message.priority, message.route, entered),
    )


_IS: Final = "SELECT 1 FROM message WHERE key = ? AND id = ?"


def find_key(conn: sqlite3.Connection, message_id: str) -> int | None:
    """The key of a message, which is the id's first bits; None: the id is unknown."""
    key = key_of(message_id)
    if key is None or conn.execute(_IS, (key, message_id)).fetchone() is None:
        return None
    return key


START_CHARACTERS: Final = 29
"""Length of an id's start that identifies it: its prefix, and 125 bits."""


def whole_id(conn: sqlite3.Connection, start: str) -> str | None:
    """The message's id with this start; None: unknown, or the start is too short."""
    key = key_of(start.ljust(36, "0")) if len(start) >= START_CHARACTERS else None
    message_id: str | None = value_of(conn, "SELECT id FROM message WHERE key = ?", (key,))
    return message_id if message_id is not None and message_id.startswith(start) else None


def last_key(conn: sqlite3.Connection) -> int:
    """The highest of all; 0: there is no message."""
    (key,) = conn.execute("SELECT max(key) FROM message").fetchone()
    return key or 0
