"""What became of events: an endpoint's deliveries, each one's attempts, and doing them again."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Final

from risala.engine.journal.webhooks import deliveries as webhook_log
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.model.errors import Conflict, NotFound

COUNT_MAX: Final = 100_000
"""A count stops here: it must not hold the loop."""
SEQ_MAX: Final = 2**62

_SHOWN: Final = (
    "SELECT d.seq, d.endpoint_id, d.event_id, v.type, d.state, d.attempts, d.due_at, d.status,"
    " d.error, d.excerpt, d.created_at, d.updated_at, d.delivered_at"
    " FROM webhook_deliveries d LEFT JOIN events v ON v.id = d.event_id"
)


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    seq: int
    endpoint_id: str
    event_id: str
    type: str | None
    state: str
    attempts: int
    due_at: int
    status: int | None
    error: str | None
    excerpt: str | None
    created_at: int
    updated_at: int
    delivered_at: int | None


def deliveries(
    conn: sqlite3.Connection, endpoint_id: str, state: str | None, before: int | None, limit: int
) -> list[WebhookDelivery]:
    """An endpoint's deliveries, the latest first; ``before`` is the seq to go on from."""
    where = "" if state is None else " AND d.state = ?"
    arguments: list[Any] = [endpoint_id, SEQ_MAX if before is None else before]
    arguments += [] if state is None else [state]
    rows = conn.execute(
        f"{_SHOWN} WHERE d.endpoint_id = ? AND d.seq < ?{where} ORDER BY d.seq DESC LIMIT ?",
        (*arguments, limit),
    )
    return [WebhookDelivery(*row) for row in rows]


def delivery(conn: sqlite3.Connection, endpoint_id: str, event_id: str) -> WebhookDelivery:
    """One delivery.

    Raises:
        NotFound: this event is not owed to this endpoint.
    """
    row = conn.execute(
        f"{_SHOWN} WHERE d.event_id = ? AND d.endpoint_id = ?", (event_id, endpoint_id)
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no delivery of {event_id} to {endpoint_id}.")
    return WebhookDelivery(*row)


def attempts(conn: sqlite3.Connection, seq: int) -> list[tuple[Any, ...]]:
    """The log of a delivery: number, started, ended, status, error, excerpt."""
    return conn.execute(
        "SELECT n, started_at, ended_at, status, error, excerpt FROM webhook_attempts"
        " WHERE delivery = ? ORDER BY n",
        (seq,),
    ).fetchall()


def _refuse_disabled(conn: sqlite3.Connection, endpoint_id: str) -> None:
    if not webhooks.endpoint(conn, endpoint_id).enabled:
        raise Conflict("The endpoint is disabled; enable it first.")


def replay(
    conn: sqlite3.Connection, endpoint_id: str, event_id: str, now_ms: int
) -> WebhookDelivery:
    """Make one delivery due again, also one that was delivered.

    Raises:
        NotFound: no such endpoint or delivery.
        Conflict: the endpoint is disabled, or the delivery is under way by itself.
    """
    _refuse_disabled(conn, endpoint_id)
    found = delivery(conn, endpoint_id, event_id)
    if found.type is None:
        raise Conflict("The event is no longer kept.")
    if found.state == "pending":
        raise Conflict("The delivery is pending: it is attempted by itself.")
    conn.execute(
        "UPDATE webhook_deliveries SET state = 'pending', due_at = ?, tries = 0, updated_at = ?"
        " WHERE seq = ?",
        (now_ms, now_ms, found.seq),
    )
    return delivery(conn, endpoint_id, event_id)


_FAILED: Final = (
    " FROM webhook_deliveries WHERE endpoint_id = ? AND state = 'failed' AND created_at >= ?"
)


def failed_since(conn: sqlite3.Connection, endpoint_id: str, since_ms: int) -> int:
    """How many deliveries of events since then have failed."""
    (count,) = conn.execute(
        f"SELECT count(*) FROM (SELECT 1{_FAILED} LIMIT ?)",  # noqa: S608 -- constants
        (endpoint_id, since_ms, COUNT_MAX),
    ).fetchone()
    return int(count)


def pending(conn: sqlite3.Connection, endpoint_id: str) -> int:
    (count,) = conn.execute(
        "SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE endpoint_id = ?"
        " AND state = 'pending' LIMIT ?)",
        (endpoint_id, COUNT_MAX),
    ).fetchone()
    return int(count)


def replay_failed(
    conn: sqlite3.Connection, endpoint_id: str, since_ms: int, until_ms: int, now_ms: int
) -> int:
    """Make the next failed deliveries of events since then due again; how many.

    Those that failed after ``until_ms``, when the replay began, are left: it ends.

    Raises:
        NotFound, Conflict: no such endpoint, or it is disabled.
    """
    _refuse_disabled(conn, endpoint_id)
    done = conn.execute(
        "UPDATE webhook_deliveries SET state = 'pending', due_at = ?, tries = 0, updated_at = ?"  # noqa: S608 -- constants
        f" WHERE seq IN (SELECT seq{_FAILED} AND updated_at <= ? ORDER BY created_at LIMIT ?)",
        (now_ms, now_ms, endpoint_id, since_ms, until_ms, webhook_log.ROWS_AT_ONCE),
    )
    return done.rowcount
