"""Deliveries of events to endpoints: what is due, and each attempt before and after."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store.named import Rows
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.journal.webhooks import event_rows
from risala.engine.journal.webhooks.event_rows import EventRow
from risala.engine.model.feature_work import TakeReply
from risala.engine.model.records.webhooks import (
    ENDPOINT_DISABLED,
    DueCall,
    MessageArrival,
    ReceivedText,
    WebhookAttempt,
)
from risala.engine.rules.webhooks.schedule import AnswerVerdict

ATTEMPTS_KEPT: Final = 32
"""Attempts in one delivery's log: three rounds of the schedule; older ones are deleted."""
ROWS_AT_ONCE: Final = 200
"""Deliveries that one unit ends, or makes due again: a small one, between those of the sends."""


_DUE: Final = Rows(DueCall)


def first_due(
    conn: sqlite3.Connection, endpoint_id: str, in_flight: Collection[int]
) -> DueCall | None:
    """The endpoint's next pending delivery that is not being attempted."""
    rows = conn.execute(
        "SELECT seq, due_at FROM webhook_delivery WHERE endpoint_id = ? AND state = 'pending'"
        " ORDER BY due_at LIMIT ?",
        (endpoint_id, len(in_flight) + 1),
    ).fetchall()
    return next((due for due in map(_DUE.of, rows) if due.seq not in in_flight), None)


def waiting(conn: sqlite3.Connection) -> list[tuple[str, int, bool]]:
    """Each endpoint with something pending: its first due time, and whether it was failing."""
    rows = conn.execute(
        "SELECT id, (SELECT min(due_at) FROM webhook_delivery WHERE endpoint_id = e.id"
        " AND state = 'pending') AS due, failing_since IS NOT NULL FROM webhook_endpoints e"
    )
    return [(endpoint, due, bool(failing)) for endpoint, due, failing in rows if due is not None]


def last_seq(conn: sqlite3.Connection) -> int:
    """The number of the newest delivery; 0 if there is no such row."""
    (seq,) = conn.execute("SELECT coalesce(max(seq), 0) FROM webhook_delivery").fetchone()
    return int(seq)


def after(conn: sqlite3.Connection, seq: int, limit: int) -> list[tuple[int, str, int]]:
    """Deliveries that are new since ``seq``: seq, endpoint, due time."""
    return conn.execute(
        "SELECT seq, endpoint_id, due_at FROM webhook_delivery WHERE seq > ? ORDER BY seq LIMIT ?",
        (seq, limit),
    ).fetchall()


@dataclass(frozen=True, slots=True)
class _Begun:
    """A delivery with its endpoint."""

    state: str
    attempts: int
    tries: int
    event: int
    endpoint_id: str
    url: str
    headers: str
    secret: str
    previous_secret: str | None
    previous_until: int | None
    enabled: int
    signature_header: str | None
    signature_key: str
    shape: str
    template: str
    may_reply: int


_BEGUN_ROWS: Final = Rows(
    _Begun,
    {"endpoint_id": "w.id"},
)
_BEGUN: Final = (
    f"SELECT {_BEGUN_ROWS.columns} FROM webhook_delivery d"  # noqa: S608 -- constants
    " JOIN webhook_endpoints w ON w.id = d.endpoint_id WHERE d.seq = ?"
)


def begin(conn: sqlite3.Connection, seq: int, now_ms: int) -> WebhookAttempt | None:
    """Store that an attempt begins, before a byte of it leaves; None: no call is due.

    The delivery stays due: after a crash it is found again.
    """
    row = conn.execute(_BEGUN, (seq,)).fetchone()
    if row is None:
        return None
    begun = _BEGUN_ROWS.of(row)
    if begun.state != "pending":
        return None
    if not begun.enabled:
        end_pending(conn, begun.endpoint_id, now_ms)
        return None
    event = event_rows.by_key(conn, begun.event)
    if event is None:
        conn.execute(
            "UPDATE webhook_delivery SET state = 'dropped', error = ?, updated_at = ?"
            " WHERE seq = ?",
            ("The event is no longer kept.", now_ms, seq),
        )
        return None
    number = begun.attempts + 1
    conn.execute(
        "UPDATE webhook_delivery SET attempts = ?, tries = tries + 1, updated_at = ? WHERE seq = ?",
        (number, now_ms, seq),
    )
    conn.execute(
        "INSERT INTO webhook_attempts (delivery, n, started_at) VALUES (?, ?, ?)",
        (seq, number, now_ms),
    )
    if number > ATTEMPTS_KEPT:
        conn.execute(
            "DELETE FROM webhook_attempts WHERE delivery = ? AND n <= ?",
            (seq, number - ATTEMPTS_KEPT),
        )
    secrets: tuple[str, ...] = (begun.secret,)
    if begun.previous_secret is not None and (begun.previous_until or 0) > now_ms:
        secrets = (begun.secret, begun.previous_secret)
    return WebhookAttempt(
        seq,
        number,
        begun.tries + 1,
        begun.endpoint_id,
        event.event_id,
        event.sent_body,
        begun.url,
        json.loads(begun.headers),
        secrets,
        begun.signature_header,
        begun.signature_key,
        None if begun.shape == "event" else _arrival(conn, event, begun),
        _received_text(event, begun),
    )


def _arrival(conn: sqlite3.Connection, event: EventRow, begun: _Begun) -> MessageArrival:
    """How an event's message came, for an endpoint that gets it in another shape."""
    row = conn.execute(
        "SELECT carrier, received_at FROM inbound WHERE id = ?", (event.subject_id,)
    ).fetchone()
    carrier, received_at = row or (None, event.at)
    return MessageArrival(begun.shape, begun.template, carrier, received_at)


def _received_text(event: EventRow, begun: _Begun) -> ReceivedText | None:
    text_id = event.text_id
    if text_id is None:
        return None
    return ReceivedText(text_id, event.organization_id, bool(begun.may_reply))


def end_pending(conn: sqlite3.Connection, endpoint_id: str, now_ms: int) -> int:
    """End what is owed to a disabled or deleted endpoint, some hundreds; returns how many."""
    row = conn.execute(
        "SELECT deleted_at IS NULL FROM webhook_endpoints WHERE id = ? AND enabled = 0",
        (endpoint_id,),
    ).fetchone()
    if row is None:
        return 0
    (is_there,) = row
    state, error = (
        ("failed", ENDPOINT_DISABLED) if is_there else ("dropped", "The endpoint is deleted.")
    )
    ended = conn.execute(
        "UPDATE webhook_delivery SET state = ?, error = ?, updated_at = ? WHERE seq IN"
        " (SELECT seq FROM webhook_delivery WHERE endpoint_id = ? AND state = 'pending' LIMIT ?)",
        (state, error, now_ms, endpoint_id, ROWS_AT_ONCE),
    )
    return ended.rowcount


def finish(
    conn: sqlite3.Connection,
    attempt: WebhookAttempt,
    verdict: AnswerVerdict,
    now_ms: int,
    take_reply: TakeReply | None,
) -> str | None:
    """Store the result of an attempt; returns why the endpoint was disabled by it, if it was.

    Args:
        take_reply: takes the reply that the answer had.
    """
    reply = None if take_reply is None else take_reply(conn, now_ms)
    seen = (verdict.status, verdict.error, verdict.excerpt)
    conn.execute(
        "UPDATE webhook_attempts SET ended_at = ?, status = ?, error = ?, excerpt = ?, reply = ?"
        " WHERE delivery = ? AND n = ?",
        (now_ms, *seen, reply, attempt.seq, attempt.number),
    )
    delivered = verdict.state == "delivered"
    # A delivery that was ended meanwhile (its endpoint disabled) may yet have arrived.
    conn.execute(
        "UPDATE webhook_delivery SET state = ?, due_at = ?, status = ?, error = ?, excerpt = ?,"
        " updated_at = ?, delivered_at = ? WHERE seq = ? AND (state = 'pending' OR ?)",
        (
            *(verdict.state, verdict.due_at, *seen, now_ms, now_ms if delivered else None),
            *(attempt.seq, delivered),
        ),
    )
    if delivered:
        conn.execute(
            "UPDATE webhook_endpoints SET failing_since = NULL"
            " WHERE id = ? AND failing_since IS NOT NULL",
            (attempt.endpoint_id,),
        )
        return None
    return _note_failure(conn, attempt.endpoint_id, now_ms, gone=verdict.gone)


def _note_failure(
    conn: sqlite3.Connection, endpoint_id: str, now_ms: int, *, gone: bool
) -> str | None:
    conn.execute(
        "UPDATE webhook_endpoints SET failing_since = ? WHERE id = ? AND failing_since IS NULL",
        (now_ms, endpoint_id),
    )
    (since,) = conn.execute(
        "SELECT failing_since FROM webhook_endpoints WHERE id = ?", (endpoint_id,)
    ).fetchone()
    reason = "gone" if gone else "failing" if now_ms - since >= webhooks.FAILING_MS else None
    if reason is not None and webhooks.disable_broken(conn, endpoint_id, reason, now_ms):
        return reason
    return None
