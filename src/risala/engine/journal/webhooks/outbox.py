"""Event rows: written in the same unit as the change they tell of; webhooks deliver them."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Final, NamedTuple

from risala.engine.journal.rows import NewMessage, Stamp
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.model.commands import Sender
from risala.engine.model.events import (
    BalanceEvent,
    Event,
    EventType,
    InboundEvent,
    MessageEvent,
    SenderEvent,
    TrialEvent,
    VerificationEvent,
    event_body,
    event_id,
)
from risala.engine.model.states import Status
from risala.engine.model.told import OutboxEvent
from risala.sms.message import Inbound


def write(conn: sqlite3.Connection, event: Event) -> str:
    """Write an event, and owe it to each endpoint that asked for its type; the event's id."""
    identity = _insert(conn, event)
    webhooks.fan_out(conn, identity, event.organization_id, event.mode, event.type, event.at)
    return identity


def _insert(conn: sqlite3.Connection, event: Event) -> str:
    identity = event_id(event, last_seq(conn))
    conn.execute(
        "INSERT INTO events (id, organization_id, mode, type, subject, body, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            identity,
            event.organization_id,
            event.mode,
            event.type.value,
            event.subject,
            event_body(event, identity),
            event.at,
        ),
    )
    return identity


_MESSAGE_EVENT: Final = {
    Status.SENT: EventType.SMS_SENT,
    Status.DELIVERED: EventType.SMS_DELIVERED,
    Status.UNDELIVERED: EventType.SMS_FAILED,
    Status.FAILED: EventType.SMS_FAILED,
}


class _ToldMessage(NamedTuple):
    """What an event says of a message."""

    organization_id: str
    mode: str
    kind: str
    recipient: str
    sender: str
    provider_message_id: str | None
    error_code: str | None
    carrier_code: str | None
    metadata: str
    verification_id: str | None


_TOLD: Final = f"SELECT {', '.join(_ToldMessage._fields)} FROM messages WHERE id = ?"  # noqa: S608


def message_event(conn: sqlite3.Connection, message_id: str, status: Status, stamp: Stamp) -> None:
    """Write the event that ``status`` calls for, if any. Codes have no ``sms.*`` events."""
    kind = _MESSAGE_EVENT.get(status)
    if kind is None:
        return
    row = conn.execute(_TOLD, (message_id,)).fetchone()
    told = _ToldMessage(*row)
    if told.kind == "code":
        if status is Status.SENT:
            assert told.verification_id is not None
            verification_event(conn, told.verification_id, EventType.VERIFY_SENT, stamp)
        return
    event = MessageEvent(
        kind,
        stamp.now_ms,
        told.organization_id,
        told.mode,
        message_id,
        told.recipient,
        told.sender,
        status.value,
        told.provider_message_id,
        told.error_code,
        told.carrier_code,
        json.loads(told.metadata),
    )
    write(conn, event)


class _ToldSession(NamedTuple):
    """What is told of a session."""

    organization_id: str
    mode: str
    recipient: str
    status: str
    reason: str | None


_SESSION: Final = f"SELECT {', '.join(_ToldSession._fields)} FROM verifications WHERE id = ?"  # noqa: S608


def verification_event(
    conn: sqlite3.Connection, verification_id: str, kind: EventType, stamp: Stamp
) -> None:
    """Tell of a session."""
    told = _ToldSession(*conn.execute(_SESSION, (verification_id,)).fetchone())
    whose = (told.organization_id, told.mode, verification_id)
    what = (told.recipient, told.status, told.reason)
    write(conn, VerificationEvent(kind, stamp.now_ms, *whose, *what))


def sender_event(conn: sqlite3.Connection, sender: Sender, stamp: Stamp) -> None:
    """Tell that a sender was approved or denied."""
    kind = EventType(f"sender.{sender.status}")
    whose = (sender.organization_id, "live", sender.id)
    what = (sender.name, sender.status, sender.reason)
    write(conn, SenderEvent(kind, stamp.now_ms, *whose, *what))


def balance_event(conn: sqlite3.Connection, charged: NewMessage, balance: int) -> None:
    """Tell that the charge of a message took the balance below what the organization set."""
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
    """Tell of a message that came in."""
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
    )
    write(conn, event)


def trial_event(conn: sqlite3.Connection, endpoint: webhooks.Endpoint, now_ms: int) -> str:
    """Owe a test event to one endpoint, whatever it asked for; the event's id."""
    whose = (endpoint.organization_id, endpoint.mode, endpoint.id)
    identity = _insert(conn, TrialEvent(EventType.WEBHOOK_TEST, now_ms, *whose))
    webhooks.owe(conn, identity, endpoint.id, now_ms)
    return identity


def last_seq(conn: sqlite3.Connection) -> int:
    (seq,) = conn.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
    return int(seq)


def after(conn: sqlite3.Connection, seq: int, limit: int) -> list[OutboxEvent]:
    """Events that are new since ``seq``, in order."""
    rows = conn.execute(
        "SELECT seq, id, organization_id, body FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
        (seq, limit),
    )
    return [OutboxEvent(*row) for row in rows]


def seq_before(conn: sqlite3.Connection, at_ms: int) -> int:
    """The last event that is older than a time; 0 where there is none.

    By halves, because the time has no index: it grows with ``seq``, but for some milliseconds.
    """
    row = conn.execute("SELECT min(seq), max(seq) FROM events").fetchone()
    if row[0] is None:
        return 0
    below, above = row[0] - 1, row[1] + 1  # the one sought is not under the first, under the other
    while above - below > 1:
        middle = (below + above) // 2
        seq, created_at = conn.execute(
            "SELECT seq, created_at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1", (middle,)
        ).fetchone()
        if created_at < at_ms:
            below = seq
        else:
            above = middle
    return int(below)


@dataclass(frozen=True, slots=True)
class Position:
    """Where an event stands."""

    seq: int
    organization_id: str
    created_at: int


def position(conn: sqlite3.Connection, event_id: str) -> Position | None:
    """Where an event stands; None for one that is unknown, or no longer kept."""
    row = conn.execute(
        "SELECT seq, organization_id, created_at FROM events WHERE id = ?", (event_id,)
    ).fetchone()
    return None if row is None else Position(*row)
