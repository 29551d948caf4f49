"""Networks' results hour by hour, and which carriers give receipts: the basis of alerts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.ids import first_id
from risala.engine.model.records.upkeep.alerts import NetworkHour
from risala.engine.rules.networks import network

HOUR_MS: Final = 3_600_000
ORGANIZATIONS_AT_ONCE: Final = 200
"""Organizations whose hourly counts are summed up in one query: a few milliseconds."""
SESSIONS_MAX: Final = 5000
"""Verification sessions in one query, the latest of its time."""
_TABLE: Final = "alert_hours"
_SEEN: Final = "alert_receipts"


def organizations_end(conn: sqlite3.Connection) -> int:
    """After the last organization's number."""
    return int(value_of(conn, "SELECT coalesce(max(no), 0) + 1 FROM organizations"))


def add_counts(
    conn: sqlite3.Connection, hour: int, first: int, found: dict[str, NetworkHour]
) -> None:
    """Add the counts of some organizations, from the number ``first`` on."""
    rows = conn.execute(
        "SELECT network, outcome, sum(n) FROM organizations o CROSS JOIN hour_count c"
        " ON c.organization = o.no AND c.outcome IN (0, 3) AND c.hour = ?"
        " WHERE o.no >= ? AND o.no < ? AND c.mode = 0 GROUP BY network, outcome",
        (hour, first, first + ORGANIZATIONS_AT_ONCE),
    )
    for name, outcome, count in rows:
        of = found.setdefault(name, NetworkHour())
        if outcome:
            of.delivered += count
        else:
            of.accepted += count


def add_sessions(conn: sqlite3.Connection, hour: int, found: dict[str, NetworkHour]) -> None:
    """Add an hour's verification sessions, except pending ones."""
    span = (first_id("ver", hour * HOUR_MS), first_id("ver", (hour + 1) * HOUR_MS))
    rows = conn.execute(
        "SELECT recipient, status = 'approved' FROM verifications"
        " WHERE id >= ? AND id < ? AND mode = 'live' AND status <> 'pending'"
        " ORDER BY id DESC LIMIT ?",
        (*span, SESSIONS_MAX),
    )
    for recipient, is_approved in rows:
        of = found.setdefault(network(recipient), NetworkHour())
        of.sessions += 1
        of.approved += is_approved


def last_hour(conn: sqlite3.Connection) -> int | None:
    """The newest hour that was stored."""
    found: int | None = value_of(conn, "SELECT max(hour) FROM alert_hours")
    return found


def first_hour(conn: sqlite3.Connection) -> int | None:
    """The first hour that may have counts; None: there is no organization."""
    first = "SELECT created_at FROM organizations WHERE no >= 0 ORDER BY no LIMIT 1"
    found: int | None = value_of(conn, first)
    return None if found is None else found // HOUR_MS


def write(
    conn: sqlite3.Connection, found: Mapping[int, Mapping[str, NetworkHour]], before: int
) -> None:
    """Store hours, and delete those before the hour ``before``."""
    stored = writable(conn, _TABLE)
    stored.delete_where("hour < ?", (before,))
    for hour, networks in found.items():
        for name, each in networks.items():
            stored.upsert(
                {
                    "hour": hour,
                    "network": name,
                    "accepted": each.accepted,
                    "delivered": each.delivered,
                    "sessions": each.sessions,
                    "approved": each.approved,
                }
            )


def deliveries(conn: sqlite3.Connection, since: int) -> Sequence[tuple[str, int, int, int]]:
    """Network, hour, accepted and delivered, from an hour on."""
    rows = table(conn, _TABLE).rows_where("hour >= ?", (since,))
    return [(row["network"], row["hour"], row["accepted"], row["delivered"]) for row in rows]


def approvals(conn: sqlite3.Connection, since: int) -> Sequence[tuple[str, int, int, int]]:
    """Network, hour, sessions that ended and those approved, from an hour on."""
    rows = table(conn, _TABLE).rows_where("hour >= ? AND sessions > 0", (since,))
    return [(row["network"], row["hour"], row["sessions"], row["approved"]) for row in rows]


# -- receipts ----------------------------------------------------------------------------------


def receipts_seen(conn: sqlite3.Connection) -> dict[str, int]:
    """Carriers that have given receipts, and when they were last known to."""
    return {row["carrier"]: row["at"] for row in table(conn, _SEEN).rows}


def ends_seen(conn: sqlite3.Connection) -> dict[str, int]:
    """Those of them whose receipts have ended messages, and when they were last known to."""
    rows = table(conn, _SEEN).rows_where("ended_at IS NOT NULL")
    return {row["carrier"]: row["ended_at"] for row in rows}


def note_receipts(conn: sqlite3.Connection, carriers: Mapping[str, bool], now_ms: int) -> None:
    """These carriers give receipts; True: such that end messages."""
    stored = writable(conn, _SEEN)
    for carrier, ends in carriers.items():
        noted = {"carrier": carrier, "at": now_ms}
        stored.upsert(noted | {"ended_at": now_ms} if ends else noted)


def forget_receipts(conn: sqlite3.Connection, before_ms: int) -> None:
    """Forget carriers that have been gone for long."""
    writable(conn, _SEEN).delete_where("at < ?", (before_ms,))
