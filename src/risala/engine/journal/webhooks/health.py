"""How an endpoint's deliveries ended day by day, and why the latest of them failed."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from risala.engine.journal.store.sql import value_of
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
    rows = [
        _Failed(*row)
        for row in conn.execute(
            f"SELECT status, error, event, created_at{_FAILED} ORDER BY created_at DESC LIMIT ?",
            (endpoint_id, starts[0], looked_max),
        )
    ]
    for row in rows:
        failed[bisect_right(starts, row.created_at) - 1] += 1
    oldest: int | None = value_of(
        conn, f"SELECT created_at{_FAILED} ORDER BY created_at LIMIT 1", (endpoint_id, 0)
    )
    ends = (*starts[1:], known_from + 1)
    days = tuple(
        DeliveryDay(start, None if end <= known_from else arrived, lost)
        for start, end, arrived, lost in zip(starts, ends, delivered, failed, strict=True)
    )
    return EndpointHealth(days, _alike(conn, rows), oldest)


class _Failed(NamedTuple):
    """A failed delivery. Made by the thousand, and so a tuple."""

    status: int | None
    error: str | None
    event: int
    created_at: int

    @property
    def way(self) -> str | int:
        """What is the same in all that failed alike."""
        if self.status and self.error != ENDPOINT_DISABLED:
            return self.status
        return (self.error or "").partition(":")[0]


def _alike(conn: sqlite3.Connection, rows: Sequence[_Failed]) -> tuple[DeliveryFailures, ...]:
    """Failed deliveries, the newest first, by the way in which they failed."""
    ways: dict[str | int, list[_Failed]] = {}
    for row in rows:
        ways.setdefault(row.way, []).append(row)
    return tuple(
        DeliveryFailures(
            newest.status,
            newest.error,
            len(alike),
            alike[-1].created_at,
            newest.created_at,
            _event_id(conn, newest.event),
        )
        for newest, alike in ((each[0], each) for each in [*ways.values()][:FAILURES_SHOWN])
    )


def _event_id(conn: sqlite3.Connection, key: int) -> str:
    event = event_rows.by_key(conn, key)
    return ids.event_id(key, GONE) if event is None else event.event_id
