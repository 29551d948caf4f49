"""Automatic answers, as they are written: each text has at most one, and they stay within limits.

Each is looked at in the transaction that accepts its message, by a trigger on the writer's
connection. Nothing here reads what the queue counts.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tests.simulation.world import World

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
PER_NUMBER: Final = 4
PER_ORGANIZATION: Final = 12
"""Within a day, and within an hour: few, so that they are met."""
IN_A_ROW: Final = 2
ASKED_FOR: Final = frozenset(("opt_out", "help"))
"""Kinds that leave though the person wants no messages."""
TRIGGER: Final = """
CREATE TEMP TRIGGER answers_left AFTER UPDATE OF message_id ON main.answers
  WHEN old.message_id IS NULL AND new.message_id IS NOT NULL
  BEGIN SELECT answered(new.text_id, new.message_id, new.kind, new.organization_id, new.number,
    new.sent_at); END;
"""
_ALL: Final = (
    "SELECT text_id, message_id, kind, organization_id, number, sent_at FROM answers"
    " WHERE message_id IS NOT NULL ORDER BY sent_at"
)


class Left(NamedTuple):
    """An automatic answer that left."""

    text_id: str
    message_id: str
    kind: str
    organization_id: str
    number: str
    sent_ms: int


class Answers:
    """All of them, in the order in which they left."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._unit: list[Left] = []
        """Of the transaction under way."""
        self._of: dict[str, Left] = {}
        """By the text that is answered."""
        self._asked_for: set[str] = set()
        self._to: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        """Organization and number → when each left."""
        self._by: defaultdict[str, list[int]] = defaultdict(list)

    def begin(self, path: Path) -> None:
        """With what a database says, where nobody knows what was written before."""
        with closing(sqlite3.connect(path)) as conn:
            for row in conn.execute(_ALL):
                self._note(Left(*row))

    def arm(self, conn: sqlite3.Connection) -> None:
        """A life begins, with what is on the disk."""
        self._unit = []
        conn.create_function("answered", 6, lambda *row: self._unit.append(Left(*row)))
        conn.executescript(TRIGGER)

    def rolled_back(self) -> None:
        self._unit = []

    def committed(self) -> None:
        """What was told is on the disk, unless the process was killed before."""
        unit, self._unit = self._unit, []
        for left in [] if self._world.dead else unit:
            self._world.tally["automatic answers"] += 1
            self._world.say("answers by itself", left.number, left.kind)
            if left.text_id in self._of:
                both = f"{self._of[left.text_id].message_id} and {left.message_id}"
                self._world.fault(f"DOUBLED: {left.text_id} was answered by {both}")
            if not self._world.clock_was_set:
                self._hold_limits(left)
            self._note(left)

    def _note(self, left: Left) -> None:
        self._of[left.text_id] = left
        if left.kind in ASKED_FOR:
            self._asked_for.add(left.message_id)
        self._to[left.organization_id, left.number].append(left.sent_ms)
        self._by[left.organization_id].append(left.sent_ms)

    def _hold_limits(self, left: Left) -> None:
        to = self._to[left.organization_id, left.number]
        today = [at_ms for at_ms in to if at_ms > left.sent_ms - DAY_MS]
        if len(today) >= PER_NUMBER:
            self._world.fault(f"{left.number} got {len(today) + 1} automatic answers in a day")
        for first_ms, second_ms in zip(today, today[IN_A_ROW - 1 :], strict=False):
            if second_ms - first_ms < HOUR_MS:
                self._world.fault(f"{left.number} got one more after two within an hour")
        by = self._by[left.organization_id]
        lately = sum(at_ms > left.sent_ms - HOUR_MS for at_ms in by)
        if lately >= PER_ORGANIZATION:
            self._world.fault(f"{left.organization_id} answered {lately + 1} times in an hour")

    def was_asked_for(self, message_id: str) -> bool:
        """Whether a message answers the very word by which somebody wants no more, or HELP."""
        return message_id in self._asked_for
