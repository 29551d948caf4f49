"""What must have come of alarms: each step once, with one message, in its order, and none after
the alarm's end.

A step's message is known by the key that it keeps for ever.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.simulation.world import World


class Alarms:
    """What members were told of alarms."""

    def __init__(self) -> None:
        self.raised: dict[str, str] = {}
        """Alarm → chain."""
        self.keys: dict[tuple[str, str], str] = {}
        """Organization and key → alarm."""
        self.deleted: set[str] = set()
        """Chains that somebody wanted to delete, whether or not the wish was answered."""
        self.doubled: list[str] = []

    def told(self, alarm_id: str, chain_id: str, organization_id: str, key: str | None) -> None:
        """Somebody was told that an alarm is raised."""
        self.raised[alarm_id] = chain_id
        if key is None:
            return
        first = self.keys.setdefault((organization_id, key), alarm_id)
        if first != alarm_id and self.raised[first] not in self.deleted:
            self.doubled.append(f"DOUBLED: {key} raised {first} and {alarm_id}")


def faults(world: World, house: object, conn: sqlite3.Connection) -> Iterable[str]:
    """What is wrong with any of them."""
    # Old ones go, and with them what was raised by a key.
    is_all_there = not world.past.gaps
    yield from world.alarms.doubled if is_all_there else ()
    alarms = {row["id"]: row for row in conn.execute("SELECT * FROM main.alarms")}
    for alarm_id in set(world.alarms.raised) - set(alarms):
        if is_all_there and world.alarms.raised[alarm_id] not in world.alarms.deleted:
            yield f"LOST: alarm {alarm_id} was raised"
    messages = _messages(conn)
    steps = 0
    for alarm in alarms.values():
        rows = conn.execute(
            "SELECT * FROM main.alarm_steps WHERE alarm_id = ? ORDER BY step", (alarm["id"],)
        ).fetchall()
        steps += len(rows)
        yield from _alarm(alarm, rows, messages.get(alarm["id"], {}))
    world.tally["alarms"] += len(alarms)
    world.tally["steps of alarms"] += steps


def _messages(conn: sqlite3.Connection) -> dict[str, dict[int, str]]:
    """By alarm and step."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for message in conn.execute("SELECT * FROM main.message WHERE client_key GLOB 'alm_*:*'"):
        alarm_id, _, step = message["client_key"].partition(":")
        found[alarm_id][int(step)] = message["id"]
    return found


def _alarm(alarm: sqlite3.Row, rows: list[sqlite3.Row], messages: dict[int, str]) -> Iterable[str]:
    what = f"alarm {alarm['id']} ({alarm['state']})"
    if [row["step"] for row in rows] != [*range(1, alarm["steps"] + 1)]:
        yield f"{what} has the steps {[row['step'] for row in rows]}, and says {alarm['steps']}"
    if (alarm["state"] == "going") is (alarm["next_at"] is None):
        yield f"{what} hangs"
    sent = {row["step"]: row["message_id"] for row in rows if row["outcome"] == "sent"}
    if sent.keys() != messages.keys():
        yield f"DOUBLED or LOST: {what} has steps {[*sent]}, and messages of {[*messages]}"
    for step, message_id in messages.items():
        if sent.get(step) != message_id:
            yield f"step {step} of {what} names another message than its own"
