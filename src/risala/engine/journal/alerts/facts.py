"""The values by which alerts are judged, over all organizations: each query is bounded."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from risala.engine.journal.alerts.hours import ORGANIZATIONS_AT_ONCE, SESSIONS_MAX
from risala.engine.journal.store.sql import value_of
from risala.engine.model.ids import first_id
from risala.engine.model.records.upkeep.alerts import LowBalance
from risala.engine.rules.alerts.usual import Rate
from risala.engine.rules.router import UNSERVED

HEADS_MAX: Final = 500
"""Heads of queues that are read: one for each route, priority and organization with waiting
messages. Each is one step down an index."""
LOW_MAX: Final = 200
"""Organizations with a low balance that are reported."""
INBOUND_MAX: Final = 2000
"""The latest incoming messages that are read."""
SENT_LATELY_DAYS: Final = 7
"""An organization without charges for this long will not run out of balance soon."""
DAY_MS: Final = 86_400_000
_HEAD: Final = (
    "SELECT route, priority, organization, due_at FROM message INDEXED BY message_queue"
    " WHERE status = 0 AND (route, priority, organization) > (?, ?, ?)"
    " ORDER BY route, priority, organization, due_at LIMIT 1"
)
"""The next head of a queue, by the index alone."""


def oldest_due(conn: sqlite3.Connection, now_ms: int) -> dict[str, int]:
    """Since when the oldest due message has waited, by route; except messages of held organizations
    and those without a carrier."""
    found: dict[str, int] = {}
    place = (-1, -1, -1)
    for _ in range(HEADS_MAX):
        row = conn.execute(_HEAD, place).fetchone()
        if row is None:
            break
        route, priority, organization, due_at = row
        place = (route, priority, organization)
        if due_at is not None and due_at <= now_ms and _is_active(conn, organization):
            name = value_of(conn, "SELECT name FROM names WHERE no = ?", (route,))
            if name not in (UNSERVED, None):
                found[name] = min(due_at, found.get(name, due_at))
    return found


def _is_active(conn: sqlite3.Connection, organization: int) -> bool:
    status = value_of(conn, "SELECT status FROM organizations WHERE no = ?", (organization,))
    return bool(status == "active")


def low_balances(conn: sqlite3.Connection, first: int, limit: int, now_ms: int) -> list[LowBalance]:
    """Active organizations that have sent lately, and whose balance is below their limit.

    Args:
        first: the number from which on :data:`ORGANIZATIONS_AT_ONCE` are read.
        limit: for those without their own limit, in minor units.
    """
    rows = conn.execute(
        "SELECT id, name, balance, currency FROM organizations o WHERE no >= ? AND no < ?"
        " AND status = 'active' AND deleted_at IS NULL AND balance < coalesce(low_balance, ?)"
        " AND EXISTS (SELECT 1 FROM spending WHERE organization_id = o.id AND day >= ?)",
        (first, first + ORGANIZATIONS_AT_ONCE, limit, now_ms // DAY_MS - SENT_LATELY_DAYS),
    )
    return [LowBalance(*row) for row in rows]


def codes_by_prefix(conn: sqlite3.Connection, since_ms: int, characters: int) -> Mapping[str, Rate]:
    """Ended and approved sessions, by the prefix of the number."""
    rows = conn.execute(
        "SELECT substr(recipient, 1, ?), count(*), sum(status = 'approved') FROM (SELECT recipient,"
        " status FROM verifications WHERE id >= ? AND mode = 'live' AND status <> 'pending'"
        " ORDER BY id DESC LIMIT ?) GROUP BY 1",
        (characters, first_id("ver", max(0, since_ms)), SESSIONS_MAX),
    )
    return {prefix: Rate(whole, good) for prefix, whole, good in rows}


def has_inbound_routes(conn: sqlite3.Connection) -> bool:
    """Whether incoming messages have any route."""
    return value_of(conn, "SELECT 1 FROM inbound_routes LIMIT 1") is not None


def inbound_unserved(conn: sqlite3.Connection, since_ms: int) -> dict[str, int]:
    """Incoming messages without a receiver, by the number that they came to."""
    rows = conn.execute(
        "SELECT coalesce(recipient, ''), count(*) FROM (SELECT recipient, organization_id"
        " FROM inbound WHERE id >= ? ORDER BY id DESC LIMIT ?) WHERE organization_id IS NULL"
        " GROUP BY 1",
        (first_id("mo", max(0, since_ms)), INBOUND_MAX),
    )
    return dict(rows.fetchall())


def newest_ms(conn: sqlite3.Connection) -> int | None:
    """When the newest row was written, by the clock of that time; None: there is no row."""
    found: int | None = value_of(
        conn,
        "SELECT max(at) FROM (SELECT at FROM (SELECT coalesce(at, message >> 15) AS at FROM entry"
        " WHERE seq > 0 ORDER BY seq DESC LIMIT 1) UNION ALL SELECT max(key) >> 15 FROM message)",
    )
    return found


def first_ms(conn: sqlite3.Connection) -> int | None:
    """Since when there is something to lose; None: nothing."""
    found: int | None = value_of(
        conn, "SELECT created_at FROM organizations WHERE no >= 0 ORDER BY no LIMIT 1"
    )
    return found
