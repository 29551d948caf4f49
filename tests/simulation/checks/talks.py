"""Conversations: each is what texts have made it, and what was answered in it is from the number
that the text came to."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tests.simulation.answering import OURS, THEIRS

if TYPE_CHECKING:
    from tests.simulation.house import House
    from tests.simulation.world import World


class Talks:
    """What members were told of their answers."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.told: dict[str, str] = {}
        """Answer → organization."""
        self._by_key: dict[tuple[str, str], str] = {}

    def answered(self, organization_id: str, key: str | None, answer: dict[str, Any]) -> None:
        """A member was told that an answer is accepted."""
        world, message_id = self._world, answer["messageId"]
        world.accepts(message_id, organization_id)
        if message_id not in self.told:
            world.tally["answers in conversations"] += 1
        self.told[message_id] = organization_id
        if key is not None:
            before = self._by_key.setdefault((organization_id, key), message_id)
            if before != message_id:
                world.fault(f"DOUBLED: {key!r} was answered as {before} and as {message_id}")


def faults(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """What is wrong with conversations, and with what was answered in them."""
    yield from _conversations(world, conn)
    yield from _events(world, conn)
    for message_id in world.talks.told:
        row = conn.execute("SELECT sender FROM messages WHERE id = ?", (message_id,)).fetchone()
        if row is not None and row["sender"] not in (OURS, THEIRS):
            yield f"{message_id} answered from {row['sender']}, which nobody had written to"


def _conversations(world: World, conn: sqlite3.Connection) -> Iterable[str]:
    newest = dict[tuple[str, str], str]()
    for row in conn.execute(
        "SELECT organization_id, sender, max(id) AS id FROM inbound"
        " WHERE organization_id IS NOT NULL GROUP BY 1, 2"
    ):
        newest[row["organization_id"], row["sender"]] = row["id"]
    for row in conn.execute("SELECT * FROM conversations"):
        world.tally["conversations"] += 1
        last = newest.pop((row["organization_id"], row["number"]), None)
        if last != row["last_text"]:
            yield f"the last text of {row['id']} is {last}, not {row['last_text']}"
        if row["read_to"] > row["last_text"]:
            yield f"{row['id']} was read beyond its last text"
    for (_, number), last in newest.items():
        yield f"LOST: the conversation with {number}, who wrote {last}"


def _events(world: World, conn: sqlite3.Connection) -> Iterable[str]:
    """Each text is told once as a conversation's."""
    told: Counter[str] = Counter()
    for event in world.past.all_events(conn).values():
        body = json.loads(event.body)
        if body["type"] == "conversation.received" and body["messageId"] is not None:
            told[body["messageId"]] += 1
    for text_id, count in told.items():
        if count > 1:
            yield f"DOUBLED: {text_id} was told {count} times as a conversation's"
    if world.past.gaps:
        return
    for (text_id,) in conn.execute("SELECT id FROM inbound WHERE organization_id IS NOT NULL"):
        if not told[text_id]:
            yield f"LOST: nobody was told of {text_id} in a conversation"
