"""The values by which alerts are judged, over all organizations: each query is bounded."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.features.alerts.records import LowBalance, NetworkHour
from risala.engine.features.alerts.rules import Rate
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.ids import first_id
from risala.sms.numbering.countries import network

LOW_MAX: Final = 200
"""Organizations with a low balance that are reported."""
INBOUND_MAX: Final = 2000
"""The latest incoming messages that are read."""
SENT_LATELY_DAYS: Final = 7
"""An organization without charges for this long will not run out of balance soon."""
DAY_MS: Final = 86_400_000


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


# -- networks by the hour, and which carriers give receipts


HOUR_MS: Final = 3_600_000
ORGANIZATIONS_AT_ONCE: Final = 200
"""Organizations whose hourly counts are summed up in one query: a few milliseconds."""
SESSIONS_MAX: Final = 5000
"""Verification sessions in one query, the latest of its time."""
_HOURS: Final = "alert_hours"
_SEEN: Final = "alert_receipts"


def organizations_end(conn: sqlite3.Connection) -> int:
    """The number after the last organization's."""
    return int(value_of(conn, "SELECT coalesce(max(no), 0) + 1 FROM organizations"))


def add_counts(
    conn: sqlite3.Connection, hour: int, first: int, networks: dict[str, NetworkHour]
) -> None:
    """Add the counts of some organizations, from the number ``first`` on."""
    rows = conn.execute(
        "SELECT network, outcome, sum(n) FROM organizations o CROSS JOIN hour_count c"
        " ON c.organization = o.no AND c.outcome IN (0, 3) AND c.hour = ?"
        " WHERE o.no >= ? AND o.no < ? AND c.mode = 0 GROUP BY network, outcome",
        (hour, first, first + ORGANIZATIONS_AT_ONCE),
    )
    for name, outcome, count in rows:
        of = networks.setdefault(name, NetworkHour())
        if outcome:
            of.delivered += count
        else:
            of.accepted += count


def add_sessions(conn: sqlite3.Connection, hour: int, networks: dict[str, NetworkHour]) -> None:
    """Add an hour's verification sessions, except pending ones."""
    span = (first_id("ver", hour * HOUR_MS), first_id("ver", (hour + 1) * HOUR_MS))
    rows = conn.execute(
        "SELECT recipient, status = 'approved' FROM verifications"
        " WHERE id >= ? AND id < ? AND mode = 'live' AND status <> 'pending'"
        " ORDER BY id DESC LIMIT ?",
        (*span, SESSIONS_MAX),
    )
    for recipient, is_approved in rows:
        of = networks.setdefault(network(recipient), NetworkHour())
        of.sessions += 1
        of.approved += is_approved


def last_hour(conn: sqlite3.Connection) -> int | None:
    """The newest hour that was stored."""
    hour: int | None = value_of(conn, "SELECT max(hour) FROM alert_hours")
    return hour


def first_hour(conn: sqlite3.Connection) -> int | None:
    """The first hour that may have counts; None: there is no organization."""
    first = "SELECT created_at FROM organizations WHERE no >= 0 ORDER BY no LIMIT 1"
    sent_at: int | None = value_of(conn, first)
    return None if sent_at is None else sent_at // HOUR_MS


def write_hours(
    conn: sqlite3.Connection, hours: Mapping[int, Mapping[str, NetworkHour]], before: int
) -> None:
    """Store hours, and delete those before the hour ``before``."""
    stored = writable(conn, _HOURS)
    stored.delete_where("hour < ?", (before,))
    for hour, networks in hours.items():
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
    rows = table(conn, _HOURS).rows_where("hour >= ?", (since,))
    return [(row["network"], row["hour"], row["accepted"], row["delivered"]) for row in rows]


def approvals(conn: sqlite3.Connection, since: int) -> Sequence[tuple[str, int, int, int]]:
    """Network, hour, sessions that ended and those approved, from an hour on."""
    rows = table(conn, _HOURS).rows_where("hour >= ? AND sessions > 0", (since,))
    return [(row["network"], row["hour"], row["sessions"], row["approved"]) for row in rows]


# -- which carriers give receipts


def receipts_seen(conn: sqlite3.Connection) -> dict[str, int]:
    """Carriers that have given receipts, and when they were last known to."""
    return {row["carrier"]: row["at"] for row in table(conn, _SEEN).rows}


def ends_seen(conn: sqlite3.Connection) -> dict[str, int]:
    """Carriers whose receipts have ended messages, and when they were last known to."""
    rows = table(conn, _SEEN).rows_where("ended_at IS NOT NULL")
    return {row["carrier"]: row["ended_at"] for row in rows}


def note_receipts(conn: sqlite3.Connection, carriers: Mapping[str, bool], now_ms: int) -> None:
    """Note that carriers give receipts; True: such that end messages."""
    stored = writable(conn, _SEEN)
    for carrier, ends in carriers.items():
        noted = {"carrier": carrier, "at": now_ms}
        stored.upsert(noted | {"ended_at": now_ms} if ends else noted)


def forget_receipts(conn: sqlite3.Connection, before_ms: int) -> None:
    """Forget carriers that have been gone for long."""
    writable(conn, _SEEN).delete_where("at < ?", (before_ms,))


@dataclass(frozen=True, slots=True)
class AlertFactsRepository:
    """What alerts are judged by, over all organizations. Each read is on the loop's thread and
    looks at a bounded number of rows; those that are ``async`` look at some organizations at a
    time, and let others run in between.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    codes_by_prefix = read(codes_by_prefix)
    has_inbound_routes = read(has_inbound_routes)
    inbound_unserved = read(inbound_unserved)

    async def low_balances(self, limit: int, now_ms: int) -> list[LowBalance]:
        """Active organizations that have sent lately, and whose balance is below their limit.

        Args:
            limit: of those that have none of their own, in minor units.
        """
        reader, low = self._store.reader, list[LowBalance]()
        for first in range(0, organizations_end(reader), ORGANIZATIONS_AT_ONCE):
            low += low_balances(reader, first, limit, now_ms)
            await trio.lowlevel.checkpoint()
        return low[:LOW_MAX]

    # -- networks by the hour

    first_hour = read(first_hour)
    last_hour = read(last_hour)
    deliveries = read(deliveries)
    approvals = read(approvals)

    async def hour(self, hour: int) -> dict[str, NetworkHour]:
        """How each network did in an hour, all organizations together."""
        reader, networks = self._store.reader, dict[str, NetworkHour]()
        for first in range(0, organizations_end(reader), ORGANIZATIONS_AT_ONCE):
            add_counts(reader, hour, first, networks)
            await trio.lowlevel.checkpoint()
        add_sessions(reader, hour, networks)
        return networks

    write_hours = command(write_hours)
