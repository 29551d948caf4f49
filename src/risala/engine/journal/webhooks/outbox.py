"""Event rows: written in the same unit as their change; webhooks deliver them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.journal.session_messages import was_sent_before
from risala.engine.journal.state import MessageState, find_key
from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.sql import write_values
from risala.engine.journal.webhooks import event_rows
from risala.engine.journal.webhooks.event_rows import EventRow, frozen_session
from risala.engine.model import ids
from risala.engine.model.events import (
    BalanceEvent,
    Event,
    EventType,
    InboundEvent,
    MessageEvent,
    SenderEvent,
    VerificationEvent,
    event_body,
)
from risala.engine.model.following import EventPosition, OutboxEvent
from risala.engine.model.numbers import EVENT_TYPES, MODES
from risala.engine.model.records.messages import NewMessage, Stamp
from risala.engine.model.records.senders import Sender
from risala.engine.model.records.webhooks import Endpoint
from risala.engine.model.states import Status
from risala.sms.cause import Cause
from risala.sms.message import Inbound


class NewEvent(NamedTuple):
    """An event to write: its organization, its subject, and its values that may change later."""

    type: EventType
    at: int
    organization_id: str
    mode: str
    subject: int | str
    """A message's key, or the id of another subject."""
    frozen: str | None = None
    body: str | None = None
    """For a subject without a row."""
    organization: int | None = None
    """The organization as a number; None: it is looked up."""


_INSERT: Final = (
    "INSERT INTO event (key, type, organization, mode, subject, at, frozen, body)"
    " SELECT column1, column2, coalesce(nullif(column3, 0),"
    " (SELECT no FROM organizations WHERE id = column4)), column5, column6, nullif(column7, 0),"
    " nullif(column8, ''), nullif(column9, '') FROM ({values})"
)


class FanOut:
    """The endpoints for the events of one unit of work: looked up once for each type."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._known: dict[tuple[str, str, str], list[str]] = {}

    def endpoints(self, event: NewEvent) -> list[str]:
        """The endpoints with this type of event."""
        kind = (event.organization_id, event.mode, event.type)
        known = self._known.get(kind)
        if known is None:
            rows = self._conn.execute(
                "SELECT id FROM webhook_endpoints WHERE organization_id = ? AND mode = ?"
                " AND enabled = 1 AND instr(types, ?) > 0",
                (event.organization_id, event.mode, f'"{event.type}"'),
            )
            known = self._known[kind] = [endpoint_id for (endpoint_id,) in rows]
        return known


def owe(conn: sqlite3.Connection, owed: Iterable[tuple[str, int, int]]) -> None:
    """Owe events to endpoints: endpoint, the event's key, when it is due. Part of the unit that
    writes the events."""
    conn.executemany(
        "INSERT INTO webhook_delivery (endpoint_id, event, state, due_at, created_at, updated_at)"
        " VALUES (?1, ?2, 'pending', ?3, ?3, ?3)",
        owed,
    )


def write(conn: sqlite3.Connection, event: Event) -> str:
    """Write an event, and owe it to each endpoint with its type; returns the event's id."""
    key = write_all(conn, (_compact(conn, event),))
    return ids.event_id(key, event.subject)


def write_all(conn: sqlite3.Connection, events: Iterable[NewEvent]) -> int:
    """Write events, and owe each to the endpoints with its type; returns the last one's key."""
    last = last_seq(conn)
    rows: list[tuple[object, ...]] = []
    owed: list[tuple[str, int, int]] = []
    fan_out = FanOut(conn)
    for event in events:
        last = ids.next_key(last, event.at)
        rows.append(_row(last, event))
        owed += [(endpoint_id, last, event.at) for endpoint_id in fan_out.endpoints(event)]
    write_values(conn, _INSERT, rows)
    owe(conn, owed)
    return last


def _row(key: int, event: NewEvent) -> tuple[object, ...]:
    """Values that are null in nearly every row are given as 0 or empty: for Python's sqlite3 a None
    costs as much as ten numbers."""
    kind, at, organization_id, mode, subject, frozen, body, organization = event
    return (
        *(key, EVENT_TYPES.numbers[kind], organization or 0, organization_id, MODES.numbers[mode]),
        *(subject, 0 if ids.key_ms(key) == at else at, frozen or "", body or ""),
    )


def _compact(conn: sqlite3.Connection, event: Event) -> NewEvent:
    """An event in its row's form."""
    subject: int | str | None = event.subject
    if isinstance(event, MessageEvent):
        subject = find_key(conn, event.subject)
    elif isinstance(event, VerificationEvent) and _row_of_session(conn, event.subject) is None:
        subject = None
    body = None
    if subject is None:  # its id is not known yet: it follows from the key that it gets
        subject = event.subject
        key = ids.next_key(last_seq(conn), event.at)
        body = event_body(event, ids.event_id(key, event.subject))
    whose = (event.type, event.at, event.organization_id, event.mode)
    return NewEvent(*whose, subject, event_rows.frozen_of(event), body)


def _row_of_session(conn: sqlite3.Connection, verification_id: str) -> object:
    return conn.execute(_SESSION, (verification_id,)).fetchone()


_MESSAGE_EVENT: Final = {
    Status.SENT: EventType.SMS_SENT,
    Status.DELIVERED: EventType.SMS_DELIVERED,
    Status.UNDELIVERED: EventType.SMS_FAILED,
    Status.FAILED: EventType.SMS_FAILED,
    Status.CANCELED: EventType.SMS_CANCELED,
}
_ERRORS: Final = (
    "SELECT error_code, carrier_code, coalesce(carrier_id, carrier_key) FROM message WHERE key = ?"
)


def event_of(
    conn: sqlite3.Connection, message: MessageState, at: int, *, is_plain: bool = False
) -> NewEvent | None:
    """The event for a message's new status. Codes have no ``sms.*`` events.

    Args:
        is_plain: the message is known to have had no error, and is sent or delivered.
    """
    kind = _MESSAGE_EVENT.get(message.status)
    if kind is None:
        return None
    if message.kind == "code":
        # A hook's code has no session: its software asks for nothing.
        if message.status is not Status.SENT or message.verification_id is None:
            return None
        session = _session_facts(conn, message.verification_id)
        if session.features and was_sent_before(
            conn, message.verification_id, session.features, message
        ):
            return None
        return _session_event(session, message.verification_id, EventType.VERIFY_SENT, at)
    kept = None
    if not is_plain:
        errors = conn.execute(_ERRORS, (message.key,)).fetchone()
        kept = event_rows.frozen_message(kind, message.status.value, *errors)
    whose = (message.organization_id, message.mode, message.key)
    return NewEvent(kind, at, *whose, kept, None, message.organization)


def event_of_undelivered(
    message: MessageState, at: int, cause: Cause, code: str | None
) -> NewEvent | None:
    """The event of a message with a single part that its carrier gave up."""
    if message.kind == "code":
        return None
    provider = message.carrier_key if message.carrier_id is None else message.carrier_id
    kind = EventType.SMS_FAILED
    kept = event_rows.frozen_message(kind, message.status.value, cause.value, code, provider)
    whose = (message.organization_id, message.mode, message.key)
    return NewEvent(kind, at, *whose, kept, None, message.organization)


def message_event(conn: sqlite3.Connection, message: MessageState, stamp: Stamp) -> None:
    """Write the event for a new status, if any."""
    event = event_of(conn, message, stamp.now_ms)
    if event is not None:
        write_all(conn, (event,))


@dataclass(frozen=True, slots=True)
class _SessionFacts:
    """A session's values for its event."""

    organization_id: str
    mode: str
    status: str
    reason: str | None
    features: str | None


_SESSIONS: Final = Rows(_SessionFacts)
_SESSION: Final = f"SELECT {_SESSIONS.columns} FROM verifications WHERE id = ?"  # noqa: S608 -- constants


def _session_facts(conn: sqlite3.Connection, verification_id: str) -> _SessionFacts:
    return _SESSIONS.of(conn.execute(_SESSION, (verification_id,)).fetchone())


def _session_event(
    session: _SessionFacts, verification_id: str, kind: EventType, at: int
) -> NewEvent:
    kept = frozen_session(kind, session.status, session.reason)
    return NewEvent(kind, at, session.organization_id, session.mode, verification_id, kept)


def verification_event(
    conn: sqlite3.Connection, verification_id: str, kind: EventType, stamp: Stamp
) -> None:
    """Write the event of a session."""
    session = _session_facts(conn, verification_id)
    write_all(conn, (_session_event(session, verification_id, kind, stamp.now_ms),))


def sender_event(conn: sqlite3.Connection, sender: Sender, stamp: Stamp) -> None:
    """Write the event that a sender was approved or denied."""
    kind = EventType(f"sender.{sender.status}")
    whose = (sender.organization_id, "live", sender.id)
    what = (sender.name, sender.status, sender.reason)
    write(conn, SenderEvent(kind, stamp.now_ms, *whose, *what))


def balance_event(conn: sqlite3.Connection, charged: NewMessage, balance: int) -> None:
    """Write the event that a message's charge took the balance below the organization's limit."""
    whose = (charged.organization_id, charged.mode, charged.organization_id)
    what = (balance, charged.low_balance, charged.currency)
    write(conn, BalanceEvent(EventType.BALANCE_LOW, charged.created_at, *whose, *what))


def received_event(
    conn: sqlite3.Connection,
    organization_id: str,
    message_id: str,
    message: Inbound,
    stamp: Stamp,
) -> None:
    """Write the event of an incoming message."""
    event = InboundEvent(
        EventType.SMS_RECEIVED,
        stamp.now_ms,
        organization_id,
        "live",
        message_id,
        message.recipient,
        message.sender,
        message.carrier_ids[0] if message.carrier_ids else None,
        message.text,
        message.believed_sent_ms,
    )
    write(conn, event)


def trial_event(conn: sqlite3.Connection, endpoint: Endpoint, now_ms: int) -> str:
    """Owe a test event to one endpoint, whatever its types; returns the event's id."""
    whose = (endpoint.organization_id, endpoint.mode, endpoint.id)
    key = ids.next_key(last_seq(conn), now_ms)
    write_values(conn, _INSERT, [_row(key, NewEvent(EventType.WEBHOOK_TEST, now_ms, *whose))])
    owe(conn, [(endpoint.id, key, now_ms)])
    return ids.event_id(key, endpoint.id)


_LAST: Final = (
    "SELECT max(coalesce((SELECT max(key) FROM event), 0),"
    " coalesce((SELECT max(seq) FROM event_cursors), 0))"
)


def last_seq(conn: sqlite3.Connection) -> int:
    """The key of the latest event; 0: there was no event.

    If all events are deleted, their consumers still remember it: a later one must not get a key
    that they have passed, even if the clock was set back.
    """
    (key,) = conn.execute(_LAST).fetchone()
    return key or 0


def after(
    conn: sqlite3.Connection, seq: int, limit: int, broken: BrokenRow | None = None
) -> list[OutboxEvent]:
    """Events that are new since ``seq``, in order; ``broken`` as :func:`event_rows.after` has
    it."""
    return event_rows.after(conn, seq, limit, _outbox_event, broken)


def _outbox_event(row: EventRow) -> OutboxEvent:
    return OutboxEvent(row.key, row.event_id, row.organization_id, row.sent_body)


def is_far(conn: sqlite3.Connection, seq: int, count_max: int) -> bool:
    """Whether more events than so many are newer than ``seq``."""
    row = conn.execute(
        "SELECT 1 FROM event WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?", (seq, count_max)
    ).fetchone()
    return row is not None


def seq_before(at_ms: int) -> int:
    """A place in the outbox before all events since a time."""
    return max(0, (at_ms << ids.KEY_COUNTER_BITS) - 1)


def position(conn: sqlite3.Connection, event_id: str) -> EventPosition | None:
    """An event's place; None if it is unknown, or no longer kept."""
    row = event_rows.by_id(conn, event_id)
    return None if row is None else EventPosition(row.key, row.organization_id, row.at)
