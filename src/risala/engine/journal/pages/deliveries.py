"""Pages of an endpoint's deliveries, the newest first, and the results of the last days."""

from __future__ import annotations

import sqlite3
from statistics import median
from typing import Final

from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.journal.webhooks.history import DELIVERIES, DeliveryRow
from risala.engine.model.records.paging import CursorPage, Place, Steps
from risala.engine.model.records.webhooks import DeliverySum

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
    middle = round(median(took)) if took else None
    return DeliverySum(days, delivered, failed, middle, is_cut=looked == summed_max)
