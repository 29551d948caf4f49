"""Days pass while the service is off: what is old enough goes then, and nothing else does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from tests.simulation.plan import Plan
from tests.support.told import stored_events

from risala.engine.model.following import OutboxEvent
from risala.engine.model.ids import first_id
from risala.engine.model.numbers import FORGOTTEN

if TYPE_CHECKING:
    from tests.simulation.world import World

DAY_MS = 86_400_000
TEXTS_DAYS = 1
EVENTS_DAYS = 1
INBOUND_DAYS = 1
TIMELINES_DAYS = 4
"""How long things are kept: some gaps are longer than the first three, some than all."""
ALL_DAYS = 6
GAPS_DAYS = (2, 2, ALL_DAYS)
HISTORIES = 3
"""In one of so many, days pass once between two lives."""
AWAY_S = 5.0
"""After them endpoints and sinks are not reached for a while: so retention comes first."""
LONG_S = 259_200
"""The longest validity that there is."""
TEXT_GONE, TIMELINE_GONE = 1, 2


class Past:
    """What was there before days passed, and may be gone since."""

    def __init__(self) -> None:
        self.gaps = 0
        self.last_ms = 0
        """When the last gap began."""
        self.away_until_s = 0.0
        """On Trio's clock: who is told of events is away until then."""
        self.events: dict[int, OutboxEvent] = {}
        self.letters: set[str] = set()
        """The carrier's ids of what phones wrote."""

    def remember(self, path: Path, now_ms: int) -> None:
        """Days are about to pass."""
        self.gaps += 1
        self.last_ms = now_ms
        self.away_until_s = trio.current_time() + AWAY_S
        with closing(sqlite3.connect(path)) as conn:
            self.events |= self.all_events(conn)
            self.letters |= self.all_letters(conn)

    def all_events(self, conn: sqlite3.Connection) -> dict[int, OutboxEvent]:
        """Those that are there, and those that were before, as they were told then; by place."""
        found = {each.seq: each for each in stored_events(conn)} | self.events
        return dict(sorted(found.items()))

    def all_letters(self, conn: sqlite3.Connection) -> set[str]:
        return self.letters | {row[0] for row in conn.execute("SELECT carrier_ids FROM inbound")}


def has_gap(plan: Plan) -> bool:
    return plan.has("days") and plan.seed % HISTORIES == 1


def gap_of(plan: Plan) -> tuple[int | None, int]:
    """After which life days pass, and how many; None: after none."""
    dice = plan.stream("days")
    gap, days = dice.randrange(max(1, plan.lives)), dice.choice(GAPS_DAYS)
    return (gap if has_gap(plan) else None), days


def faults(world: World, conn: sqlite3.Connection) -> Iterable[str]:
    """What is older than it may be is gone, what is not is there, and nothing is left half."""
    past, began_ms, over_ms = world.past, world.births_ms[-1], world.now_ms()
    for row in conn.execute(
        "SELECT id, created_at, coalesce(updated_at, 0) AS updated_at, pruned,"
        " body = '' AS is_empty, recipient FROM messages"
    ):
        age_ms, least_ms = began_ms - row["created_at"], over_ms - row["created_at"]
        # One that was under way when it was looked at is looked at again weeks later.
        was_over = row["updated_at"] < past.last_ms
        for what, bit, days in (
            ("text", TEXT_GONE, TEXTS_DAYS),
            ("timeline", TIMELINE_GONE, TIMELINES_DAYS),
        ):
            if age_ms > days * DAY_MS and was_over and not row["pruned"] & bit:
                yield f"the {what} of {row['id']} is kept too long"
            early = least_ms < days * DAY_MS and row["pruned"] & bit
            if early and not (what == "text" and row["recipient"] == FORGOTTEN):
                yield f"LOST: the {what} of {row['id']} is gone too early"
        if bool(row["is_empty"]) != bool(row["pruned"] & TEXT_GONE):
            yield f"the text of {row['id']} is not what is said of it"
        world.tally["texts that went with time"] += row["pruned"] & TEXT_GONE
    yield from _events(world, conn, began_ms - EVENTS_DAYS * DAY_MS, over_ms)
    # By when it was stored: a carrier may have held it for days.
    before = first_id("mo", began_ms - INBOUND_DAYS * DAY_MS)
    for (carrier_ids,) in conn.execute("SELECT carrier_ids FROM inbound WHERE id < ?", (before,)):
        yield f"what came in as {carrier_ids} is kept too long"
    for what, query in ORPHANS.items():
        if (left := conn.execute(query).fetchone()[0]) > 0:
            yield f"{left} {what}"


ORPHANS = {
    "deliveries of no event": "SELECT count(*) FROM webhook_delivery d WHERE NOT EXISTS"
    " (SELECT 1 FROM event WHERE key = d.event)",
    "attempts of no delivery": "SELECT count(*) FROM webhook_attempts a WHERE NOT EXISTS"
    " (SELECT 1 FROM webhook_delivery WHERE seq = a.delivery)",
    "lines of a timeline that is gone": "SELECT count(*) FROM line l JOIN message m"
    f" ON m.key = l.message WHERE m.pruned & {TIMELINE_GONE}",
    "segments of a timeline that is gone": "SELECT count(*) FROM segment s JOIN message m"
    f" ON m.key = s.message WHERE m.pruned & {TIMELINE_GONE}",
}


def _events(world: World, conn: sqlite3.Connection, before_ms: int, over_ms: int) -> Iterable[str]:
    at = dict(conn.execute("SELECT key, coalesce(at, key >> 15) FROM event"))
    settled = {
        row[0]
        for row in conn.execute(
            "SELECT event FROM webhook_delivery WHERE updated_at >= ?", (world.past.last_ms,)
        )
    }
    settled |= world.poisoned.events
    # The newest delivery's event stays in any case, and those whose deliveries were pending.
    left = [key for key, at_ms in at.items() if at_ms < before_ms and key not in settled]
    if len(left) > 1:
        yield f"{len(left)} events are kept too long"
    young_ms = over_ms - EVENTS_DAYS * DAY_MS
    for seq, event in world.past.events.items():
        was_wished = seq in world.erased.events
        if seq not in at and seq >> 15 >= young_ms and not was_wished:
            yield f"LOST: event {event.id} is gone too early"
    world.tally["events that went with time"] += len(set(world.past.events) - set(at))
