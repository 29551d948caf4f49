"""Events as rows: permanent values of their subject's rows are not stored again.

Values that may change later are *frozen* in the event's own row; its body is built from both at
each use, always with the same bytes. Only an event whose subject has no row has its body stored.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, Final, TypeVar

from risala.dataclass import dataclass
from risala.engine.journal.state import MESSAGE_CLASS
from risala.engine.journal.store.named import BrokenRow, Rows, readable
from risala.engine.journal.store.names import NUMBER, known_name, name_sql
from risala.engine.model import ids
from risala.engine.model.events import (
    FAMILIES,
    BalanceEvent,
    ConversationEvent,
    Event,
    EventType,
    InboundEvent,
    MessageEvent,
    RepeatEvent,
    SenderEvent,
    TrialEvent,
    VerificationEvent,
    event_body,
)
from risala.engine.model.following import Owner, OwnEvent
from risala.engine.model.numbers import EVENT_TYPES, MODES, recipient_text
from risala.sms.values import quickly

T = TypeVar("T")

_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

STATUS_OF: Final = {
    EventType.SMS_SENT: "sent",
    EventType.SMS_DELIVERED: "delivered",
    EventType.SMS_CANCELED: "canceled",
}
"""The values of a message's event if nothing is frozen; it then has no error."""
STATE_OF: Final = {EventType.VERIFY_SENT: "pending", EventType.VERIFY_APPROVED: "approved"}
"""The values of a session's event if nothing is frozen; it then has no reason."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event, with the values of its subject's rows."""

    key: int
    type: EventType
    organization_id: str
    mode: str
    subject: int | str
    at: int
    frozen: list[Any] | None
    body: str | None
    message_id: str | None
    recipient: int | str | None
    sender: str | None
    provider_message_id: str | None
    metadata: str | None
    price: int | None
    currency: str | None
    message_class: int | None
    phone: str | None
    """The recipient of a session's code."""

    @property
    def event_id(self) -> str:
        return ids.event_id(self.key, self.subject_id)

    @property
    def subject_id(self) -> str:
        return self.message_id or str(self.subject)

    @property
    def text_id(self) -> str | None:
        """The received text that it tells of; None: it tells of none."""
        if self.type is EventType.CONVERSATION_RECEIVED and self.frozen:
            return str(self.frozen[0])
        return self.subject_id if self.type is EventType.SMS_RECEIVED else None

    @property
    def sent_body(self) -> str:
        """The body, as webhooks carry it."""
        return self.body or event_body(self.event, self.event_id)

    @property
    def event(self) -> Event:
        return _FAMILY[FAMILIES[self.type]](self)


def _type(number: int) -> EventType:
    return _TYPES[number]


def _frozen(text: str | None) -> list[Any] | None:
    return None if text is None else json.loads(text)


_TYPES: Final = tuple(EventType(word) for word in EVENT_TYPES.words)
_ROWS: Final = Rows(
    EventRow,
    {
        "key": "e.key",
        "type": "e.type",
        "organization_id": "(SELECT id FROM organizations WHERE no = e.organization)",
        "mode": "e.mode",
        "subject": "e.subject",
        "at": "coalesce(e.at, e.key >> 15)",
        "frozen": "e.frozen",
        "body": "e.body",
        "message_id": "m.id",
        "recipient": "m.recipient",
        "sender": "(SELECT name FROM names WHERE no = m.sender)",
        "provider_message_id": "coalesce(m.carrier_id, m.carrier_key)",
        "metadata": "m.metadata",
        "price": "m.price",
        "currency": "m.currency",
        "message_class": MESSAGE_CLASS,
        "phone": "v.recipient",
    },
    type=_type,
    mode=MODES.word,
    frozen=_frozen,
)
_KEY: Final = 0
"""The place of the key in a row."""
_SELECT: Final = (
    f"SELECT {_ROWS.columns} FROM event e"  # noqa: S608 -- constants
    " LEFT JOIN message m ON m.key = e.subject AND typeof(e.subject) = 'integer'"
    " LEFT JOIN verifications v ON v.id = e.subject"
)


def after(
    conn: sqlite3.Connection,
    key: int,
    limit: int,
    make: Callable[[EventRow], T],
    broken: BrokenRow | None = None,
) -> list[T]:
    """What is made of the events that are new since a key, in order.

    Args:
        broken: told of events that cannot be read, by their keys: they are left out, and count for
            no limit. None: such a one is raised.
    """
    return _made(
        conn.execute(f"{_SELECT} WHERE e.key > ? ORDER BY e.key", (key,)), limit, make, broken
    )


def followed(
    conn: sqlite3.Connection,
    span: tuple[int, int],
    whose: tuple[int, int | None],
    limit: int,
    make: Callable[[EventRow], T],
    broken: BrokenRow | None = None,
) -> list[T]:
    """What is made of the events that somebody follows, in order.

    Args:
        span: events after this key, up to that one.
        whose: their types as bits, and the organization's number; None: of any organization.
        broken: as :func:`after` takes it.
    """
    rows = conn.execute(
        f"{_SELECT} WHERE e.key > ? AND e.key <= ? AND (? >> e.type) & 1"
        " AND coalesce(?, e.organization) = e.organization ORDER BY e.key",
        (*span, *whose),
    )
    return _made(rows, limit, make, broken)


def _made(
    rows: sqlite3.Cursor, limit: int, make: Callable[[EventRow], T], broken: BrokenRow | None
) -> list[T]:
    with closing(rows):
        return [*islice(readable(rows, lambda row: make(_ROWS.of(row)), _KEY, broken), limit)]


_OWN: Final = (
    "SELECT e.key, e.type, coalesce(e.at, e.key >> 15), e.frozen, coalesce(m.id, e.subject),"  # noqa: S608 -- constants
    f" m.recipient, {name_sql('m.sender')}, m.metadata, coalesce(m.created_at, m.key >> 15)"
    " FROM event e LEFT JOIN message m ON m.key = e.subject AND typeof(e.subject) = 'integer'"
    " WHERE e.key > ? AND e.key <= ? AND (? >> e.type) & 1 AND e.organization = ? AND e.mode = ?"
    f" AND (e.type = {EVENT_TYPES.numbers[EventType.SMS_RECEIVED]} OR m.api_key = {NUMBER}"
    f" AND (e.type <> {EVENT_TYPES.numbers[EventType.SMS_SENT]} OR instr(m.metadata, ?)))"
    " ORDER BY e.key LIMIT ?"
)
"""As :data:`_SELECT`, with only what is needed of a message, and only of one's own: for a busy
customer at the SMPP server this is read for each message."""


def own(
    conn: sqlite3.Connection,
    span: tuple[int, int],
    whose: tuple[int, int | None],
    owner: Owner,
    limit: int,
    broken: BrokenRow | None = None,
) -> tuple[tuple[OwnEvent, ...], int | None]:
    """The events of somebody's own messages, and of texts, in order; and the key of the last that
    was looked at, None where that is the end of the span.

    Args:
        span, whose: as :func:`followed` takes them.
        limit: events at most, those that cannot be read among them.
        broken: as :func:`after` takes it.
    """
    values = (MODES.number(owner.mode.value), owner.api_key, f'"{owner.sent_with}"', limit)
    rows = conn.execute(_OWN, (*span, *whose, *values)).fetchall()
    last = rows[-1][_KEY] if len(rows) == limit else None
    return tuple(readable(rows, _own_event, _KEY, broken)), last


_new_own: Final = quickly(OwnEvent)


def _own_event(row: Sequence[Any]) -> OwnEvent:
    key, number, at, frozen, message_id, recipient, sender, metadata, accepted_at = row
    kind = _TYPES[number]
    if kind is EventType.SMS_RECEIVED:
        to, phone, _, text, *_ = json.loads(frozen)
        return _new_own(key, kind, at, message_id, to, phone, "received", None, None, {}, at, text)
    status, error, code, _ = json.loads(frozen) if frozen else (STATUS_OF[kind], None, None, None)
    own = (recipient_text(recipient), known_name(sender), status, error, code)
    return _new_own(key, kind, at, message_id, *own, json.loads(metadata or "{}"), accepted_at)


def by_key(conn: sqlite3.Connection, key: int) -> EventRow | None:
    row = conn.execute(f"{_SELECT} WHERE e.key = ?", (key,)).fetchone()
    return None if row is None else _ROWS.of(row)


def by_id(conn: sqlite3.Connection, event_id: str) -> EventRow | None:
    """The event of an id; None: unknown, or no longer kept."""
    key = ids.key_of(event_id)
    row = None if key is None else by_key(conn, key)
    return row if row is not None and row.event_id == event_id else None


# -- freezing and building again: each family has both -------------------------------------------


def frozen_message(
    kind: EventType,
    status: str,
    error_code: str | None,
    carrier_code: str | None,
    provider_message_id: str | None,
) -> str | None:
    """Null if it equals :data:`STATUS_OF`: the carrier's id stays in the message's row."""
    if error_code is None and carrier_code is None and STATUS_OF.get(kind) == status:
        return None
    return _json([status, error_code, carrier_code, provider_message_id])


def frozen_session(kind: EventType, status: str, reason: str | None) -> str | None:
    if reason is None and STATE_OF.get(kind) == status:
        return None
    return _json([status, reason])


def frozen_of(event: Event) -> str | None:
    """The values of an event that its subject's rows may lose; null if there are none."""
    match event:
        case MessageEvent():
            return frozen_message(
                event.type,
                event.status,
                event.error_code,
                event.carrier_code,
                event.provider_message_id,
            )
        case VerificationEvent():
            return frozen_session(event.type, event.status, event.reason)
        case InboundEvent():
            values = [event.recipient, event.sender, event.provider_message_id, event.text]
            return _json(values if event.sent_at is None else [*values, event.sent_at])
        case SenderEvent():
            return _json([event.name, event.status, event.reason])
        case BalanceEvent():
            return _json([event.balance, event.low_balance, event.currency])
        case ConversationEvent():
            return _json([event.message_id, event.number, event.assigned_to])
        case RepeatEvent():
            return _json([event.name, event.due_at, event.mailing_id, event.reason])
    return None


def _whose(row: EventRow) -> tuple[EventType, int, str, str, str]:
    return row.type, row.at, row.organization_id, row.mode, row.subject_id


def _message(row: EventRow) -> Event:
    plain: list[Any] = [STATUS_OF.get(row.type), None, None, row.provider_message_id]
    status, error, code, provider = row.frozen or plain
    assert row.recipient is not None
    assert row.sender is not None
    assert row.price is not None
    assert row.currency is not None
    recipient, metadata = recipient_text(row.recipient), json.loads(row.metadata or "{}")
    values = (recipient, row.sender, status, provider, error, code, metadata)
    money = (row.price, row.currency)
    return MessageEvent(*_whose(row), *values, *money, row.message_class)


def _session(row: EventRow) -> Event:
    status, reason = row.frozen or (STATE_OF.get(row.type, "canceled"), None)
    return VerificationEvent(*_whose(row), row.phone or "", status, reason)


def _inbound(row: EventRow) -> Event:
    recipient, sender, provider, text, *sent_at = row.frozen or (None, "", None, "")
    return InboundEvent(*_whose(row), recipient, sender, provider, text, *sent_at)


def _sender(row: EventRow) -> Event:
    name, status, reason = row.frozen or ("", "", None)
    return SenderEvent(*_whose(row), name, status, reason)


def _balance(row: EventRow) -> Event:
    balance, low_balance, currency = row.frozen or (0, 0, "")
    return BalanceEvent(*_whose(row), balance, low_balance, currency)


def _conversation(row: EventRow) -> Event:
    message_id, number, assigned_to, *_ = row.frozen or (None, "", None)
    return ConversationEvent(*_whose(row), number, message_id, assigned_to)


def _repeat(row: EventRow) -> Event:
    name, due_at, mailing_id, reason, *_ = row.frozen or ("", None, None, None)
    return RepeatEvent(*_whose(row), name, due_at, mailing_id, reason)


def _trial(row: EventRow) -> Event:
    return TrialEvent(*_whose(row))


_FAMILY: Final = {
    MessageEvent: _message,
    VerificationEvent: _session,
    InboundEvent: _inbound,
    SenderEvent: _sender,
    BalanceEvent: _balance,
    ConversationEvent: _conversation,
    RepeatEvent: _repeat,
    TrialEvent: _trial,
}
