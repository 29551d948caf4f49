"""The results of events: an endpoint's deliveries, each one's attempts, and replays."""

from __future__ import annotations

import sqlite3
import statistics
from dataclasses import field, replace
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.actors.broadcast import Broadcast
from risala.engine.journal.sealed.columns import header_of
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.webhooks import deliveries, event_rows, health
from risala.engine.journal.webhooks import deliveries as webhook_log
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.model import ids
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.events import EventType
from risala.engine.model.feature_work import Duty, TakeReply
from risala.engine.model.features import duty
from risala.engine.model.records.asks import CursorPage, Place, Steps
from risala.engine.model.records.webhooks import (
    BEHIND_COUNTED_MAX,
    Behind,
    DeliveryAttempt,
    DeliverySum,
    WebhookAttempt,
    WebhookDelivery,
)
from risala.engine.rules.sealing import SecretPurpose
from risala.engine.rules.webhooks.schedule import AnswerVerdict

COUNT_MAX: Final = 100_000
"""A count stops here: it must not block the loop."""


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery as it is stored."""

    seq: int
    endpoint_id: str
    event: int
    state: str
    attempts: int
    due_at: int
    status: int | None
    error: str | None
    excerpt: str | None
    created_at: int
    updated_at: int
    delivered_at: int | None


DELIVERIES: Final = Rows(DeliveryRow)
_ATTEMPTS: Final = Rows(DeliveryAttempt, {"number": "n"})
_SELECT: Final = f"SELECT {DELIVERIES.columns} FROM webhook_delivery"  # noqa: S608 -- a constant


def shown(conn: sqlite3.Connection, row: DeliveryRow) -> WebhookDelivery:
    """A delivery with the known facts of its event."""
    event = event_rows.by_key(conn, row.event)
    return WebhookDelivery(
        endpoint_id=row.endpoint_id,
        event_id=ids.event_id(row.event, health.GONE) if event is None else event.event_id,
        type=None if event is None else event.type.value,
        state=row.state,
        attempts=row.attempts,
        next_attempt_at=row.due_at if row.state == "pending" else None,
        status=row.status,
        error=row.error,
        excerpt=row.excerpt,
        created_at=row.created_at,
        updated_at=row.updated_at,
        delivered_at=row.delivered_at,
    )


def of_event(conn: sqlite3.Connection, event: int) -> tuple[WebhookDelivery, ...]:
    """The results of an event, by its key, at each of its endpoints."""
    rows = conn.execute(f"{_SELECT} WHERE event = ? ORDER BY seq", (event,)).fetchall()
    return tuple(shown(conn, DELIVERIES.of(row)) for row in rows)


def delivery(conn: sqlite3.Connection, endpoint_id: str, event_id: str) -> WebhookDelivery:
    """One delivery.

    Raises:
        NotFound: this event is not owed to this endpoint.
    """
    return shown(conn, _row(conn, endpoint_id, event_id))


def _row(conn: sqlite3.Connection, endpoint_id: str, event_id: str) -> DeliveryRow:
    event = event_rows.by_id(conn, event_id)
    row = None
    if event is not None:
        row = conn.execute(
            f"{_SELECT} WHERE event = ? AND endpoint_id = ?", (event.key, endpoint_id)
        ).fetchone()
    if row is None:
        raise NotFound(f"The event {event_id} has no delivery to {endpoint_id}.")
    return DELIVERIES.of(row)


def body(conn: sqlite3.Connection, event_id: str) -> str | None:
    """The body sent for an event; None if it is no longer kept, or contains a person's text."""
    event = event_rows.by_id(conn, event_id)
    if event is None or event.type is EventType.SMS_RECEIVED:
        return None
    return event.sent_body


def attempts(
    conn: sqlite3.Connection, endpoint_id: str, event_id: str
) -> tuple[DeliveryAttempt, ...]:
    """The log of a delivery.

    Raises:
        NotFound: this event is not owed to this endpoint.
    """
    rows = conn.execute(
        f"SELECT {_ATTEMPTS.columns} FROM webhook_attempts WHERE delivery = ? ORDER BY n",  # noqa: S608 -- a constant
        (_row(conn, endpoint_id, event_id).seq,),
    )
    return tuple(map(_ATTEMPTS.of, rows))


def reply_refused(conn: sqlite3.Connection, event_id: str) -> str | None:
    """Why the reply that was taken from an answer to an event does not leave, as a sentence; None:
    it left, waits, or there is none."""
    event, notes_of = event_rows.by_id(conn, event_id), duty(Duty.ANSWERS)
    if event is None or event.text_id is None or notes_of is None:
        return None
    note = notes_of(conn, [event.text_id]).get(event.text_id)
    return note.refused if note is not None and note.kind == "webhook" else None


def _refuse_disabled(conn: sqlite3.Connection, endpoint_id: str) -> None:
    if not webhooks.endpoint(conn, endpoint_id).enabled:
        raise Conflict("The endpoint is disabled. Enable it first.", "ENDPOINT_DISABLED")


def replay(
    conn: sqlite3.Connection, endpoint_id: str, event_id: str, now_ms: int
) -> WebhookDelivery:
    """Make one delivery due again, even a delivered one.

    Raises:
        NotFound: no such endpoint or delivery.
        Conflict: the endpoint is disabled, or the delivery is already under way.
    """
    _refuse_disabled(conn, endpoint_id)
    row = _row(conn, endpoint_id, event_id)
    if event_rows.by_key(conn, row.event) is None:
        raise Conflict("The event is no longer kept.", "EVENT_NOT_KEPT")
    if row.state == "pending":
        text = "The delivery is pending. It is attempted automatically."
        raise Conflict(text, "DELIVERY_PENDING")
    conn.execute(
        "UPDATE webhook_delivery SET state = 'pending', due_at = ?, tries = 0, updated_at = ?"
        " WHERE seq = ?",
        (now_ms, now_ms, row.seq),
    )
    return delivery(conn, endpoint_id, event_id)


_FAILED: Final = (
    " FROM webhook_delivery WHERE endpoint_id = ? AND state = 'failed' AND created_at >= ?"
)


def failed_since(conn: sqlite3.Connection, endpoint_id: str, since_ms: int) -> int:
    """How many deliveries of events since then have failed."""
    (count,) = conn.execute(
        f"SELECT count(*) FROM (SELECT 1{_FAILED} LIMIT ?)",  # noqa: S608 -- constants
        (endpoint_id, since_ms, COUNT_MAX),
    ).fetchone()
    return int(count)


def pending(conn: sqlite3.Connection, endpoint_id: str) -> int:
    """Pending deliveries, counted up to a limit."""
    (count,) = conn.execute(
        "SELECT count(*) FROM (SELECT 1 FROM webhook_delivery WHERE endpoint_id = ?"
        " AND state = 'pending' LIMIT ?)",
        (endpoint_id, COUNT_MAX),
    ).fetchone()
    return int(count)


def replay_failed(
    conn: sqlite3.Connection, endpoint_id: str, since_ms: int, until_ms: int, now_ms: int
) -> tuple[int, bool]:
    """Make the next failed deliveries of events since then due again; how many, and whether that
    was all.

    Those that failed after ``until_ms``, when the replay began, are left: it ends.

    Raises:
        NotFound, Conflict: no such endpoint, or it is disabled.
    """
    _refuse_disabled(conn, endpoint_id)
    done = conn.execute(
        "UPDATE webhook_delivery SET state = 'pending', due_at = ?, tries = 0, updated_at = ?"  # noqa: S608 -- constants
        f" WHERE seq IN (SELECT seq{_FAILED} AND updated_at <= ? ORDER BY created_at LIMIT ?)",
        (now_ms, now_ms, endpoint_id, since_ms, until_ms, webhook_log.ROWS_AT_ONCE),
    )
    return done.rowcount, done.rowcount < webhook_log.ROWS_AT_ONCE


# -- pages, the newest first, and sums


SUMMED_MAX: Final = 2000
"""Deliveries in one sum, the latest: a few milliseconds."""
_DAY_MS: Final = 86_400_000


def page(
    conn: sqlite3.Connection, endpoint_id: str, state: str | None, steps: Steps
) -> CursorPage[DeliveryRow]:
    """One page of them; in one state, or in any."""

    walk = Walk(
        "webhook_delivery INDEXED BY webhook_delivery_log",
        "endpoint_id = ?",
        (endpoint_id,),
        "1" if state is None else "state = ?",
        () if state is None else (state,),
        ("seq",),
    )
    return page_by_time(conn, DELIVERIES, walk, steps, _place_of)


def _place_of(row: DeliveryRow) -> Place:
    return (row.seq,)


def summed(
    conn: sqlite3.Connection,
    endpoint_id: str,
    days: int,
    now_ms: int,
    *,
    summed_max: int = SUMMED_MAX,
) -> DeliverySum:
    """The finished deliveries of the last days' events."""
    delivered, failed, looked, took = 0, 0, 0, []
    for state, created_at, delivered_at in conn.execute(
        "SELECT state, created_at, delivered_at FROM webhook_delivery"
        " INDEXED BY webhook_delivery_log WHERE endpoint_id = ? ORDER BY seq DESC LIMIT ?",
        (endpoint_id, summed_max),
    ):
        if created_at < now_ms - days * _DAY_MS:
            break
        looked += 1
        failed += state == "failed"
        if state == "delivered":
            delivered += 1
            took.append(max(0, (delivered_at or created_at) - created_at))
    middle = round(statistics.median(took)) if took else None
    return DeliverySum(days, delivered, failed, middle, is_cut=looked == summed_max)


BEHIND_MS: Final = 60_000
"""A delivery that is still owed after a minute has failed at least once, or waits for others."""


def behind(conn: sqlite3.Connection, now_ms: int) -> Behind:
    """Deliveries that have been owed for longer than :data:`BEHIND_MS`."""
    count, oldest, endpoints = conn.execute(
        "SELECT count(*), min(created_at), count(DISTINCT endpoint_id) FROM"
        " (SELECT created_at, endpoint_id FROM webhook_delivery INDEXED BY webhook_delivery_due"
        " WHERE state = 'pending' AND created_at <= ? LIMIT ?)",
        (now_ms - BEHIND_MS, BEHIND_COUNTED_MAX),
    ).fetchone()
    return Behind(count, endpoints, oldest)


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class DeliveryRepository:
    """Deliveries of events to endpoints, and each one's attempts. All reads are by an index, on
    the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store
    replied: Broadcast[str] = field(default_factory=Broadcast)
    """The ids of events that a receiver answered with a reply, once that is on disk."""

    # -- reads

    delivery = read(delivery)
    attempts = read(attempts)
    body = read(body)
    reply_refused = read(reply_refused)

    def page(
        self, endpoint_id: str, state: str | None, steps: Steps
    ) -> CursorPage[WebhookDelivery]:
        """An endpoint's deliveries, the newest first; of one state, or of all."""
        reader = self._store.reader
        rows = page(reader, endpoint_id, state, steps)
        end = None if rows.looked_to is None else shown(reader, rows.looked_to)
        deliveries = tuple(shown(reader, row) for row in rows.items)
        return CursorPage(deliveries, rows.newer, rows.older, end)

    summed = read(summed)
    health = read(health.health)
    pending_count = read(pending)
    failed_count = read(failed_since)
    waiting = read(deliveries.waiting)
    behind = read(behind)
    last_seq = read(deliveries.last_seq)
    after = read(deliveries.after)
    first_due = read(deliveries.first_due)

    def opened(self, attempt: WebhookAttempt) -> WebhookAttempt:
        """The attempt with its secrets and headers in the clear, as :meth:`begin` does not give it.

        Raises:
            SecretLost: a secret of the endpoint cannot be opened.
        """
        unseal, endpoint_id = self._store.sealing.unseal, attempt.endpoint_id
        return replace(
            attempt,
            secrets=tuple(
                unseal(SecretPurpose.WEBHOOK_SECRET, endpoint_id, each).decode()
                for each in attempt.secrets
            ),
            headers={
                name: unseal(
                    SecretPurpose.WEBHOOK_HEADER, header_of(endpoint_id, name), value
                ).decode()
                for name, value in attempt.headers.items()
            },
        )

    # -- commands

    begin = command(deliveries.begin)

    async def finish(
        self,
        attempt: WebhookAttempt,
        verdict: AnswerVerdict,
        now_ms: int,
        take_reply: TakeReply | None,
    ) -> str | None:
        """Store the result of an attempt, and take the reply that the answer had; returns why the
        endpoint was disabled by it, if it was."""
        reason = await self._store.commit(
            lambda conn: deliveries.finish(conn, attempt, verdict, now_ms, take_reply)
        )
        if take_reply is not None:
            self.replied.publish(attempt.event_id)
        return reason

    async def end_pending(self, endpoint_id: str, now_ms: int) -> None:
        """End all that is owed to an endpoint that is disabled or deleted, some hundreds at a time.

        Deliveries that a crash or a full disk leaves over end when their turn comes.
        """
        unit = partial(deliveries.end_pending, endpoint_id=endpoint_id, now_ms=now_ms)
        while await self._store.commit(unit):
            pass

    replay = audited_command(replay)
    replay_failed = audited_command(replay_failed)
