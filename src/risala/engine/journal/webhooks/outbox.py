"""Event rows: written in the same unit as the change they tell of; webhooks deliver them."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from risala.engine.journal.rows import NewMessage, Stamp
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.clock import iso
from risala.engine.model.commands import Sender
from risala.engine.model.events import Event
from risala.engine.model.ids import derived_id
from risala.engine.model.money import money
from risala.engine.model.states import Status
from risala.engine.rules.webhooks.types import TEST_TYPE
from risala.sms.message import Inbound

_MESSAGE_EVENT = {
    Status.SENT: "sms.sent",
    Status.DELIVERED: "sms.delivered",
    Status.UNDELIVERED: "sms.failed",
    Status.FAILED: "sms.failed",
}


_INDEX = {Status.SENT: 0, Status.DELIVERED: 1, Status.UNDELIVERED: 1, Status.FAILED: 1}
"""Which id of the stamp an event takes: one unit may bring a message to sent and beyond."""


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
            verification_event(conn, told.verification_id, "verify.sent", stamp)
        return
    body = {
        "messageId": message_id,
        "to": told.recipient,
        "from": told.sender,
        "status": status.value,
        "providerMessageId": told.provider_message_id,
        "errorCode": told.error_code,
        "errorText": cause_text(told.error_code),
        "carrierCode": told.carrier_code,
        "metadata": json.loads(told.metadata),
    }
    _write(conn, told.organization_id, told.mode, kind, message_id, body, stamp, _INDEX[status])


class _ToldSession(NamedTuple):
    """What is told of a session."""

    organization_id: str
    mode: str
    recipient: str
    status: str
    reason: str | None


_SESSION: Final = f"SELECT {', '.join(_ToldSession._fields)} FROM verifications WHERE id = ?"  # noqa: S608


def verification_event(
    conn: sqlite3.Connection, verification_id: str, kind: str, stamp: Stamp
) -> None:
    """Tell of a session. Never a code."""
    told = _ToldSession(*conn.execute(_SESSION, (verification_id,)).fetchone())
    fields = {
        "verificationId": verification_id,
        "to": told.recipient,
        "status": told.status,
        "reason": told.reason,
    }
    # The SMS's own event and the session's end may fall into one unit: one id for each.
    event_id = stamp.event_ids[0 if kind == "verify.sent" else 1]
    organization_id, mode = told.organization_id, told.mode
    _write_row(conn, event_id, organization_id, mode, kind, verification_id, fields, stamp.now_ms)


def sender_event(conn: sqlite3.Connection, sender: Sender, stamp: Stamp) -> None:
    """Tell that a sender was approved or denied."""
    fields = {
        "senderId": sender.id,
        "name": sender.name,
        "status": sender.status,
        "reason": sender.reason,
    }
    # One unit may approve several senders, more than the stamp has ids for.
    event_id = derived_id("evt", stamp.now_ms, sender.id, sender.status)
    _write_row(
        conn,
        event_id,
        sender.organization_id,
        "live",
        f"sender.{sender.status}",
        sender.id,
        fields,
        stamp.now_ms,
    )


def balance_event(conn: sqlite3.Connection, charged: NewMessage, balance: int) -> None:
    """Tell that the charge of a message took the balance below what the organization set."""
    fields = {
        "balance": money(balance),
        "lowBalance": money(charged.low_balance),
        "currency": charged.currency,
    }
    # A message is charged once: its own number serves for the one event that may come of it.
    event_id = f"evt_{charged.id.removeprefix('sms_')}"
    _write_row(
        conn,
        event_id,
        charged.organization_id,
        charged.mode,
        "balance.low",
        charged.organization_id,
        fields,
        charged.created_at,
    )


def received_event(
    conn: sqlite3.Connection,
    organization_id: str,
    message_id: str,
    message: Inbound,
    stamp: Stamp,
) -> None:
    """Tell of a message that came in; the only event with a text."""
    fields: dict[str, Any] = {
        "messageId": message_id,
        "to": message.recipient,
        "from": message.sender,
        "status": "received",
        "providerMessageId": message.carrier_ids[0] if message.carrier_ids else None,
        "errorCode": None,
        "errorText": None,
        "carrierCode": None,
        "metadata": {},
        "text": message.text,
    }
    _write(conn, organization_id, "live", "sms.received", message_id, fields, stamp, 0)


def _write(
    conn: sqlite3.Connection,
    organization_id: str,
    mode: str,
    kind: str,
    subject: str,
    fields: dict[str, Any],
    stamp: Stamp,
    index: int,
) -> None:
    _write_row(
        conn, stamp.event_ids[index], organization_id, mode, kind, subject, fields, stamp.now_ms
    )


def _write_row(
    conn: sqlite3.Connection,
    event_id: str,
    organization_id: str,
    mode: str,
    kind: str,
    subject: str,
    fields: dict[str, Any],
    now_ms: int,
) -> None:
    body = {
        "id": event_id,
        "type": kind,
        "createdAt": iso(now_ms),
        "organizationId": organization_id,
        "test": mode == "test",
        **fields,
    }
    conn.execute(
        "INSERT INTO events (id, organization_id, mode, type, subject, body, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            event_id,
            organization_id,
            mode,
            kind,
            subject,
            json.dumps(body, ensure_ascii=False, separators=(",", ":")),
            now_ms,
        ),
    )
    webhooks.fan_out(conn, event_id, organization_id, mode, kind, now_ms)


def last_seq(conn: sqlite3.Connection) -> int:
    (seq,) = conn.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
    return int(seq)


def after(conn: sqlite3.Connection, seq: int, limit: int) -> list[Event]:
    """Events that are new since ``seq``, in order."""
    rows = conn.execute(
        "SELECT seq, id, organization_id, body FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
        (seq, limit),
    )
    return [Event(*row) for row in rows]


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


def test_event(
    conn: sqlite3.Connection, endpoint: webhooks.Endpoint, event_id: str, now_ms: int
) -> None:
    """Owe a test event to one endpoint, whatever it asked for."""
    fields = {"endpointId": endpoint.id}
    organization_id, mode = endpoint.organization_id, endpoint.mode
    _write_row(conn, event_id, organization_id, mode, TEST_TYPE, endpoint.id, fields, now_ms)
    webhooks.owe(conn, event_id, endpoint.id, now_ms)
