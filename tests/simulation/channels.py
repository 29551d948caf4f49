"""A channel of codes with bad days, beside the carriers; and what must have come of its codes.

The first organization tries it before an SMS. The other one sends codes by SMS alone, and its
people may ask for the channel.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tests.simulation.carriers import CAN, Carrier

from risala.config.channels import SMS
from risala.engine.features.channels.records import DELIVERIES_MAX
from risala.engine.rules.router import channel_route
from risala.plugins.contract import Segment

if TYPE_CHECKING:
    from tests.simulation.house import House
    from tests.simulation.world import World

CHAT = "chat"
PRICE = 20
"""Of a code, in minor units; an SMS costs more."""
SECTION: Mapping[str, Any] = {CHAT: {"channel": "sim", "price": "0.20"}}
FALLBACK_S = 10
USES: tuple[Mapping[str, Any], ...] = (
    {"channels": [CHAT, SMS], "secret": [SMS, CHAT], "fallback_s": FALLBACK_S},
    {"channels": [SMS], "secret": [SMS, CHAT]},
)
"""What each organization opens."""
ENDS = ("verify.approved", "verify.failed", "verify.expired", "verify.canceled")
_TEXT = re.compile(r"\d{6} \([a-z]{2}\)")


class Channel(Carrier):
    """The other side of a channel's wire: as a carrier's, and it brings codes alone."""

    def __init__(self, world: World) -> None:
        super().__init__(world, CHAT, 10.0, CAN, (0, 0.02, 0.5, 2))

    def _take(self, segment: Segment, name: str | None = None) -> str:
        self.world.tally["codes that a channel took"] += 1
        if not _TEXT.fullmatch(segment.text):
            self.world.fault(f"the channel got what is no code: {segment.message_id}")
        return super()._take(segment, name)


def faults(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """One session, one code, one end; each delivery costs once what its channel costs."""
    yield from _prices(conn)
    yield from _deliveries(world, conn)
    yield from _events(world, conn)


def _prices(conn: sqlite3.Connection) -> Iterable[str]:
    rows = conn.execute(
        "SELECT m.id, m.status, m.route, -coalesce(sum(l.amount), 0) AS cost,"
        " count(l.amount) FILTER (WHERE l.kind = 'charge') AS charges"
        " FROM messages m LEFT JOIN ledger l ON l.reference = m.id"
        " WHERE m.kind = 'code' AND m.mode = 'live' GROUP BY m.id"
    )
    for row in rows:
        if row["route"] != channel_route(CHAT):
            continue
        is_paid = row["status"] in ("sent", "delivered", "undelivered")
        if row["cost"] != (PRICE if is_paid else 0) or row["charges"] != 1:
            cost = f"{row['charges']} charges, in all {row['cost']}"
            yield f"MISCHARGED: {row['id']} ({row['status']}) by the channel: {cost}"


def _deliveries(world: World, conn: sqlite3.Connection) -> Iterable[str]:
    codes: dict[str, set[str]] = defaultdict(set)
    counts: Counter[str] = Counter()
    rows = conn.execute(
        "SELECT d.verification_id, d.n, d.channel, m.id, m.route FROM channel_deliveries d"
        " LEFT JOIN message k ON k.key = d.message LEFT JOIN messages m ON m.id = k.id"
        " ORDER BY d.verification_id, d.n"
    )
    for row in rows:
        session = row["verification_id"]
        counts[session] += 1
        if row["n"] != counts[session]:
            yield f"session {session} has delivery {row['n']} in place {counts[session]}"
        by_chat = row["route"] == channel_route(CHAT)
        if row["id"] is not None and by_chat is not (row["channel"] == CHAT):
            yield f"delivery {row['n']} of {session} went by another way than {row['channel']}"
        if (code := world.codes_of.get(row["id"])) is not None:
            codes[session].add(code)
    for session, count in counts.items():
        world.tally["sessions with channels"] += 1
        world.tally["deliveries after the first"] += count - 1
        if count > DELIVERIES_MAX:
            yield f"session {session} had {count} deliveries"
        if len(codes[session]) > 1:
            yield f"session {session} brought {len(codes[session])} codes"


def _events(world: World, conn: sqlite3.Connection) -> Iterable[str]:
    of: dict[str, Counter[str]] = defaultdict(Counter)
    for event in world.past.all_events(conn).values():
        body = json.loads(event.body)
        if "verificationId" in body:
            of[body["verificationId"]][body["type"]] += 1
    for session, types in of.items():
        if types["verify.sent"] > 1:
            yield f"session {session} was told as sent {types['verify.sent']} times"
        if sum(types[each] for each in ENDS) > 1:
            yield f"session {session} ended more than once: {dict(types)}"
