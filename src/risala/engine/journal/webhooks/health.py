"""How an endpoint's deliveries ended day by day, and why the latest of them failed."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from risala.engine.journal.webhooks import event_rows
from risala.engine.model import ids
from risala.engine.model.records.webhooks import (
    ENDPOINT_DISABLED,
    DeliveryDay,
    DeliveryFailures,
    EndpointHealth,
)

LOOKED_MAX: Final = 2000
"""Deliveries that are looked at, the latest, and failed ones: a few milliseconds."""
GONE: Final = "0" * 19
"""In place of the end of an event's id if the event is no longer kept."""
_FAILED: Final = (
    " FROM webhook_delivery INDEXED BY webhook_delivery_failed"
    " WHERE endpoint_id = ? AND state = 'failed' AND created_at >= ?"
)
FAILURES_SHOWN: Final = 8
"""Ways of failing that are told apart; the latest ones."""


def health(
    conn: sqlite3.Connection,
    endpoint_id: str,
    starts: Sequence[int],
    *,
    looked_max: int = LOOKED_MAX,
) -> EndpointHealth:
    """How the deliveries of some days ended, and why the latest of them failed.

    Args:
        starts: when each day began, the oldest first, in UTC epoch milliseconds.
        looked_max: deliveries that are looked at, and failed ones.
    """
    delivered, failed = [0] * len(starts), [0] * len(starts)
    looked, at = 0, 0
    for state, at in conn.execute(
        "SELECT state, created_at FROM webhook_delivery INDEXED BY webhook_delivery_log"
        " WHERE endpoint_id = ? ORDER BY seq DESC LIMIT ?",
        (endpoint_id, looked_max),
    ):
        if at < starts[0]:
            break
        looked += 1
        delivered[bisect_right(starts, at) - 1] += state == "delivered"
    known_from = at if looked == looked_max else starts[0]
    rows = conn.execute(
        f"SELECT status, error, event, created_at{_FAILED} ORDER BY created_at DESC LIMIT ?",
        (endpoint_id, starts[0], looked_max),
    ).fetchall()
    for *_, at in rows:
        failed[bisect_right(starts, at) - 1] += 1
    oldest = conn.execute(
        f"SELECT created_at{_FAILED} ORDER BY created_at LIMIT 1",
        (endpoint_id, 0),
    ).fetchone()
    ends = (*starts[1:], known_from + 1)
    days = tuple(
        DeliveryDay(start, None if end <= known_from else arrived, lost)
        for start, end, arrived, lost in zip(starts, ends, delivered, failed, strict=True)
    )
    return EndpointHealth(days, _alike(conn, rows), oldest and oldest[0])


def _alike(
    conn: sqlite3.Connection, rows: Sequence[tuple[int | None, str | None, int, int]]
) -> tuple[DeliveryFailures, ...]:
    """Failed deliveries, the newest first, by the way in which they failed."""
    ways: dict[object, list[tuple[int | None, str | None, int, int]]] = {}
    for row in rows:
        status, error, *_ = row
        cause = (error or "").partition(":")[0]
        way = cause if error == ENDPOINT_DISABLED or not status else status
        ways.setdefault(way, []).append(row)
    shown = list(ways.values())[:FAILURES_SHOWN]
    return tuple(
        DeliveryFailures(
            *each[0][:2], len(each), each[-1][3], each[0][3], _event_id(conn, each[0][2])
        )
        for each in shown
    )


def _event_id(conn: sqlite3.Connection, key: int) -> str:
    event = event_rows.by_key(conn, key)
    return ids.event_id(key, GONE) if event is None else event.event_id
