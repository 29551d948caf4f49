"""Deliveries of events to endpoints: what is due, each attempt before and after, replays."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from risala.engine.errors import Conflict, NotFound
from risala.engine.journal import webhooks
from risala.engine.webhook_schedule import Verdict

ATTEMPTS_KEPT: Final = 32
"""Of one delivery in its log: three rounds of the schedule; older ones go."""
ROWS_AT_ONCE: Final = 200
"""Deliveries that one unit ends, or makes due again: a small one, between those of the sends."""
COUNT_MAX: Final = 100_000
"""A count stops here: it must not hold the loop."""
SEQ_MAX: Final = 2**62


@dataclass(frozen=True, slots=True)
class Due:
    seq: int
    due_at: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """Everything that one attempt needs, as it was when it began."""

    seq: int
    number: int
    tries: int
    endpoint_id: str
    event_id: str
    body: str
    url: str
    headers: Mapping[str, str]
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Attempt({self.event_id} to {self.endpoint_id}, {self.number})"


def first_due(conn: sqlite3.Connection, endpoint_id: str, in_flight: Collection[int]) -> Due | None:
    """The endpoint's next pending delivery that is not being attempted."""
    rows = conn.execute(
        "SELECT seq, due_at FROM webhook_deliveries WHERE endpoint_id = ? AND state = 'pending'"
        " ORDER BY due_at LIMIT ?",
        (endpoint_id, len(in_flight) + 1),
    ).fetchall()
    return next((Due(*row) for row in rows if row[0] not in in_flight), None)


def waiting(conn: sqlite3.Connection) -> list[tuple[str, int, bool]]:
    """Each endpoint with something pending: its first due time, and whether it was failing."""
    rows = conn.execute(
        "SELECT id, (SELECT min(due_at) FROM webhook_deliveries WHERE endpoint_id = e.id"
        " AND state = 'pending') AS due, failing_since IS NOT NULL FROM webhook_endpoints e"
    )
    return [(row[0], row[1], bool(row[2])) for row in rows if row[1] is not None]


def last_seq(conn: sqlite3.Connection) -> int:
    (seq,) = conn.execute("SELECT coalesce(max(seq), 0) FROM webhook_deliveries").fetchone()
    return int(seq)


def after(conn: sqlite3.Connection, seq: int, limit: int) -> list[tuple[int, str, int]]:
    """Deliveries that are new since ``seq``: seq, endpoint, due time."""
    return conn.execute(
        "SELECT seq, endpoint_id, due_at FROM webhook_deliveries WHERE seq > ? ORDER BY seq"
        " LIMIT ?",
        (seq, limit),
    ).fetchall()


def begin(conn: sqlite3.Connection, seq: int, now_ms: int) -> Attempt | None:
    """Write down that an attempt begins, before a byte of it leaves; None: there is none to make.

    The delivery stays due as it is: whoever is killed now finds it again.
    """
    row = conn.execute(
        "SELECT d.state, d.attempts, d.tries, d.event_id, e.body, w.id, w.url, w.headers,"
        " w.secret, w.previous_secret, w.previous_until, w.enabled"
        " FROM webhook_deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id"
        " LEFT JOIN events e ON e.id = d.event_id WHERE d.seq = ?",
        (seq,),
    ).fetchone()
    if row is None or row[0] != "pending":
        return None
    if not row[11]:
        end_pending(conn, row[5], now_ms)
        return None
    if row[4] is None:
        conn.execute(
            "UPDATE webhook_deliveries SET state = 'dropped', error = ?, updated_at = ?"
            " WHERE seq = ?",
            ("The event is no longer kept.", now_ms, seq),
        )
        return None
    number = row[1] + 1
    conn.execute(
        "UPDATE webhook_deliveries SET attempts = ?, tries = tries + 1, updated_at = ?"
        " WHERE seq = ?",
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
    both = row[9] is not None and row[10] > now_ms
    keys = (row[8], row[9]) if both else (row[8],)
    return Attempt(
        seq, number, row[2] + 1, row[5], row[3], row[4], row[6], json.loads(row[7]), keys
    )


def end_pending(conn: sqlite3.Connection, endpoint_id: str, now_ms: int) -> int:
    """End what is owed to an endpoint that is disabled or deleted, some hundreds; how many."""
    row = conn.execute(
        "SELECT deleted_at IS NULL FROM webhook_endpoints WHERE id = ? AND enabled = 0",
        (endpoint_id,),
    ).fetchone()
    if row is None:
        return 0
    state, word = ("failed", "disabled") if row[0] else ("dropped", "deleted")
    ended = conn.execute(
        "UPDATE webhook_deliveries SET state = ?, error = ?, updated_at = ? WHERE seq IN"
        " (SELECT seq FROM webhook_deliveries WHERE endpoint_id = ? AND state = 'pending' LIMIT ?)",
        (state, f"The endpoint is {word}.", now_ms, endpoint_id, ROWS_AT_ONCE),
    )
    return ended.rowcount


def finish(conn: sqlite3.Connection, attempt: Attempt, verdict: Verdict, now_ms: int) -> str | None:
    """Write down what an attempt came to; why the endpoint was disabled by it, if it was."""
    seen = (verdict.status, verdict.error, verdict.excerpt)
    conn.execute(
        "UPDATE webhook_attempts SET ended_at = ?, status = ?, error = ?, excerpt = ?"
        " WHERE delivery = ? AND n = ?",
        (now_ms, *seen, attempt.seq, attempt.number),
    )
    delivered = verdict.state == "delivered"
    # A delivery that was ended meanwhile (its endpoint disabled) may yet have arrived.
    conn.execute(
        "UPDATE webhook_deliveries SET state = ?, due_at = ?, status = ?, error = ?, excerpt = ?,"
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


# -- looking, and doing it again ---------------------------------------------------------------


_SHOWN: Final = (
    "SELECT d.seq, d.endpoint_id, d.event_id, v.type, d.state, d.attempts, d.due_at, d.status,"
    " d.error, d.excerpt, d.created_at, d.updated_at, d.delivered_at"
    " FROM webhook_deliveries d LEFT JOIN events v ON v.id = d.event_id"
)


@dataclass(frozen=True, slots=True)
class Delivery:
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
) -> list[Delivery]:
    """An endpoint's deliveries, the latest first; ``before`` is the seq to go on from."""
    where = "" if state is None else " AND d.state = ?"
    arguments: list[Any] = [endpoint_id, SEQ_MAX if before is None else before]
    arguments += [] if state is None else [state]
    rows = conn.execute(
        f"{_SHOWN} WHERE d.endpoint_id = ? AND d.seq < ?{where} ORDER BY d.seq DESC LIMIT ?",
        (*arguments, limit),
    )
    return [Delivery(*row) for row in rows]


def delivery(conn: sqlite3.Connection, endpoint_id: str, event_id: str) -> Delivery:
    """One delivery.

    Raises:
        NotFound: this event is not owed to this endpoint.
    """
    row = conn.execute(
        f"{_SHOWN} WHERE d.event_id = ? AND d.endpoint_id = ?", (event_id, endpoint_id)
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no delivery of {event_id} to {endpoint_id}.")
    return Delivery(*row)


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


def replay(conn: sqlite3.Connection, endpoint_id: str, event_id: str, now_ms: int) -> Delivery:
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
        (now_ms, now_ms, endpoint_id, since_ms, until_ms, ROWS_AT_ONCE),
    )
    return done.rowcount
