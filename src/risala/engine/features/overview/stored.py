"""An organization's figures, from running counts: messages are not read.

Only rare objects are read by their index, up to a limit: messages that are uncertain or wait too
long, and the latest verification sessions.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.overview.records import (
    FailureFigures,
    FirstHook,
    FirstMessage,
    FirstSession,
    FirstSteps,
    HourCount,
    HourFigures,
    NetworkFigures,
)
from risala.engine.journal.accounts import keys as stored_keys
from risala.engine.journal.pages import lists
from risala.engine.journal.store.repository import Store, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.webhooks import endpoints
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.numbers import DELIVERED, FAILED, MODES, UNDELIVERED
from risala.engine.model.records.message_lists import FeedMessage
from risala.engine.model.records.record import shallow
from risala.engine.model.records.verify.sessions import SESSIONS_MAX

# -- a new organization's progress. Nothing is stored for it: each step is read from its traces,
# with a limit for each query.


LOOKED_MAX: Final = 200
"""Rows of each kind that one step reads: the first event is among the first or the last of them, or
there are so many others that these steps are no longer needed."""
_ORGANIZATION: Final = "organization = (SELECT no FROM organizations WHERE id = ?)"
_MODES: Final = ("test", "live")


def first_steps(conn: sqlite3.Connection, organization_id: str) -> FirstSteps:
    """A new organization's progress."""
    keys = stored_keys.keys(conn, organization_id)
    return FirstSteps(
        key=min(keys, key=lambda key: key.created_at, default=None),
        delivered=_has_delivered(conn, organization_id),
        message=_message(conn, organization_id),
        session=_session(conn, organization_id),
        webhook=_webhook(conn, organization_id),
        paid=_is_paid(conn, organization_id),
    )


def _has_delivered(conn: sqlite3.Connection, organization_id: str) -> bool:
    rows = conn.execute(
        f"SELECT 1 FROM hour_count WHERE {_ORGANIZATION} AND outcome = 3 LIMIT 1",  # noqa: S608 -- a constant
        (organization_id,),
    )
    return rows.fetchone() is not None


def _message(conn: sqlite3.Connection, organization_id: str) -> FirstMessage | None:
    key = value_of(
        conn,
        f"SELECT coalesce(max(CASE WHEN status = {DELIVERED} THEN key END), max(key))"  # noqa: S608 -- constants
        " FROM (SELECT key, status FROM message INDEXED BY message_by_organization"
        f" WHERE {_ORGANIZATION} ORDER BY key DESC LIMIT ?)",
        (organization_id, LOOKED_MAX),
    )
    if key is None:
        return None
    (message,) = lists.shown(conn, [key])
    return FirstMessage(**shallow(message, FeedMessage), mode=message.mode)


def _session(conn: sqlite3.Connection, organization_id: str) -> FirstSession | None:
    sessions: list[FirstSession] = []
    for mode in _MODES:
        for order in ("ASC", "DESC"):
            rows = conn.execute(
                "SELECT id, status, recipient, mode, created_at FROM verifications"  # noqa: S608 -- constants
                f" WHERE organization_id = ? AND mode = ? ORDER BY created_at {order} LIMIT ?",
                (organization_id, mode, LOOKED_MAX),
            )
            sessions += (FirstSession(*row) for row in rows)
    shown = [each for each in sessions if each.status in ("approved", "pending")]
    return max(shown, key=lambda each: (each.status == "approved", each.created_at), default=None)


def _webhook(conn: sqlite3.Connection, organization_id: str) -> FirstHook | None:
    hooks = []
    for endpoint in endpoints.endpoints(conn, organization_id):
        arrived = conn.execute(
            "SELECT delivered_at FROM (SELECT state, delivered_at FROM webhook_delivery"
            " WHERE endpoint_id = ? ORDER BY seq DESC LIMIT ?) WHERE state = 'delivered' LIMIT 1",
            (endpoint.id, LOOKED_MAX),
        )
        at = next((at for (at,) in arrived), None)
        hooks.append(FirstHook(endpoint.id, endpoint.mode, at))
    return max(hooks, key=lambda each: each.delivered_at or 0, default=None)


def _is_paid(conn: sqlite3.Connection, organization_id: str) -> bool:
    rows = conn.execute(
        "SELECT 1 FROM (SELECT amount FROM entry"  # noqa: S608 -- a constant
        f" WHERE {_ORGANIZATION} AND kind >= 2 LIMIT ?) WHERE amount > 0 LIMIT 1",
        (organization_id, LOOKED_MAX),
    )
    return rows.fetchone() is not None


# -- figures


HOUR_MS: Final = 3_600_000
WAITING_MAX: Final = 200
"""Messages that are searched for one that waits too long, the oldest first."""
ATTENTION_MAX: Final = 100
"""Uncertain messages that are counted; more are shown as this many."""
FAILURES_MAX: Final = 2000
"""Messages of each kind that are looked at for why they failed: a few milliseconds."""
CAUSES_SHOWN: Final = 6
"""Causes that are told; the others are rare."""
_HOURS: Final = (
    "SELECT hour, outcome, sum(n) FROM hour_count"  # noqa: S608 -- constants
    f" WHERE {_ORGANIZATION} AND outcome = ? AND hour >= ? AND hour < ? AND mode = ?"
    " GROUP BY hour ORDER BY hour"
)
_NETWORKS: Final = (
    "SELECT network, bucket, sum(n) FROM hour_count"  # noqa: S608 -- constants
    f" WHERE {_ORGANIZATION} AND outcome = ? AND hour >= ? AND hour < ? AND mode = ?"
    " GROUP BY network, bucket ORDER BY network, bucket"
)
OUTCOMES: Final = (0, 3, 4, 5, 6)
"""Accepted, delivered, undelivered, failed, canceled: statuses as numbers."""
_HOUR_MS: Final = 3_600_000


def hours(
    conn: sqlite3.Connection, organization_id: str, mode: str, since: int, until: int
) -> tuple[HourFigures, ...]:
    """The hours of a period with accepted messages; ``until`` is the first one after it."""
    figures: dict[int, list[int]] = {}
    for place, outcome in enumerate(OUTCOMES):
        values = (organization_id, outcome, since, until, MODES.number(mode))
        for hour, _, count in conn.execute(_HOURS, values):
            figures.setdefault(hour, [0] * len(OUTCOMES))[place] = count
    return tuple(HourFigures(hour * _HOUR_MS, *counts) for hour, counts in sorted(figures.items()))


def networks(
    conn: sqlite3.Connection, organization_id: str, mode: str, since: int, until: int
) -> tuple[NetworkFigures, ...]:
    """The networks of a period, the busiest first."""
    counts: dict[str, list[int]] = {}
    buckets: dict[str, list[tuple[int, int]]] = {}
    for place, outcome in enumerate(OUTCOMES):
        values = (organization_id, outcome, since, until, MODES.number(mode))
        for network, bucket, count in conn.execute(_NETWORKS, values):
            counts.setdefault(network, [0] * len(OUTCOMES))[place] += count
            if outcome == DELIVERED:
                buckets.setdefault(network, []).append((bucket, count))
    figures = []
    for network, each in counts.items():
        times = buckets.get(network, ())
        accepted, delivered, undelivered, failed, canceled = each
        figures.append(
            NetworkFigures(
                *(network, accepted, delivered, undelivered, failed, canceled),
                median_ms=within_ms(times, 0.5),
                most_ms=within_ms(times, MOST),
            )
        )
    return tuple(sorted(figures, key=lambda each: -each.accepted))


def whole_median_ms(
    conn: sqlite3.Connection, organization_id: str, mode: str, since: int, until: int
) -> int | None:
    """The median over all networks."""
    rows = conn.execute(
        "SELECT bucket, sum(n) FROM hour_count"  # noqa: S608 -- a constant
        f" WHERE {_ORGANIZATION} AND outcome = 3 AND hour >= ? AND hour < ? AND mode = ?"
        " GROUP BY bucket",
        (organization_id, since, until, MODES.number(mode)),
    ).fetchall()
    return within_ms(rows, 0.5)


MOST: Final = 0.95
"""The share of deliveries within whose time a network is said to deliver: a slow one in twenty is
left to luck."""


def within_ms(buckets: Sequence[tuple[int, int]], share: float) -> int | None:
    """The time within which a share of them lies; half is the median. Times are known by their
    buckets: a bucket's are below ``2 ** bucket`` milliseconds, and assumed to be spread evenly over
    it."""
    place = share * sum(count for _, count in buckets)
    if not place:
        return None
    before = 0.0
    for bucket, count in sorted(buckets):
        if before + count >= place:
            low = 0 if bucket == 0 else 1 << (bucket - 1)
            return round(low + (place - before) / count * max((1 << bucket) - low, 1))
        before += count
    return None


def approved_hours(
    conn: sqlite3.Connection, organization_id: str, mode: str, since_ms: int, until_ms: int
) -> tuple[HourCount, ...]:
    """The approved ones among the latest sessions of a time, by hour."""
    rows = conn.execute(
        "SELECT created_at / ? AS hour, count(*) FROM (SELECT status, created_at FROM verifications"
        " WHERE organization_id = ? AND mode = ? AND created_at >= ? AND created_at < ?"
        " ORDER BY created_at DESC LIMIT ?) WHERE status = 'approved' GROUP BY hour ORDER BY hour",
        (_HOUR_MS, organization_id, mode, since_ms, until_ms, SESSIONS_MAX),
    )
    return tuple(HourCount(hour * _HOUR_MS, count) for hour, count in rows)


def spent_by_day(
    conn: sqlite3.Connection, organization_id: str, since: int, until: int
) -> tuple[int, ...]:
    """Charged on each day from ``since`` until before ``until``, in minor units."""
    rows = conn.execute(
        "SELECT day, amount FROM spending WHERE organization_id = ? AND day >= ? AND day < ?",
        (organization_id, since, until),
    )
    amounts: dict[int, int] = dict(rows.fetchall())
    return tuple(amounts.get(day, 0) for day in range(since, until))


def uncertain(conn: sqlite3.Connection, organization_id: str, mode: str) -> tuple[str, ...]:
    """Ids of messages of which it is unknown whether the carrier took them, the newest first."""
    rows = conn.execute(
        "SELECT id FROM message INDEXED BY message_by_status"  # noqa: S608 -- a constant
        f" WHERE {_ORGANIZATION} AND status = 1 AND status <> 3 AND mode = ? AND part_state = 2"
        " ORDER BY key DESC LIMIT ?",
        (organization_id, MODES.number(mode), ATTENTION_MAX),
    )
    return tuple(message_id for (message_id,) in rows)


def failures(
    conn: sqlite3.Connection,
    organization_id: str,
    mode: str,
    since_ms: int,
    until_ms: int,
    *,
    looked_max: int = FAILURES_MAX,
) -> tuple[FailureFigures, ...]:
    """Why messages of a time failed or were not delivered, the most frequent cause first; of each
    of the two, the latest."""
    counts: Counter[str | None] = Counter()
    for status in (UNDELIVERED, FAILED):
        rows = conn.execute(
            "SELECT error_code, count(*) FROM (SELECT error_code, mode"  # noqa: S608 -- constants
            f" FROM message INDEXED BY message_by_status WHERE {_ORGANIZATION}"
            f" AND status = {status} AND status <> 3 AND key >= ? AND key < ?"
            " ORDER BY key DESC LIMIT ?) WHERE mode = ? GROUP BY error_code",
            (
                *(organization_id, since_ms << KEY_COUNTER_BITS, until_ms << KEY_COUNTER_BITS),
                *(looked_max, MODES.number(mode)),
            ),
        )
        for cause, count in rows:
            counts[cause] += count
    return tuple(FailureFigures(*each) for each in counts.most_common(CAUSES_SHOWN))


def waiting_since(conn: sqlite3.Connection, organization_id: str, before_ms: int) -> int | None:
    """Since when the oldest live message has waited that was due before then; None: none waits."""
    since: int | None = value_of(
        conn,
        "SELECT min(due_at) FROM (SELECT due_at FROM message INDEXED BY message_by_status"  # noqa: S608 -- a constant
        f" WHERE {_ORGANIZATION} AND status = 0 AND status <> 3 AND mode = 0"
        " ORDER BY key LIMIT ?) WHERE due_at < ?",
        (organization_id, WAITING_MAX, before_ms),
    )
    return since


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class FiguresRepository:
    """Figures. All reads are on the loop's thread: of what is counted as it happens, or by an
    index and of a bounded number of rows.

    Hours and days are numbers since 1970-01-01; the end of a time is the first one after it.
    """

    _store: Store

    hours = read(hours)
    networks = read(networks)
    median_ms = read(whole_median_ms)
    approved_hours = read(approved_hours)
    spent_by_day = read(spent_by_day)
    uncertain = read(uncertain)
    waiting_since = read(waiting_since)
    failures = read(failures)
    first_steps = read(first_steps)
