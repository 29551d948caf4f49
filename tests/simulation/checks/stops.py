"""Who has sent STOP: kept by what is written, in the order of commits, and held against the table.

Nothing here reads what the engine remembers of who wrote last: attempts and letters say it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from risala.engine.model.numbers import recipient_text
from risala.engine.rules.keywords import START_WORDS, STOP_WORDS, only_word

if TYPE_CHECKING:
    from tests.simulation.world import World

SLACK_S = 15.0
"""What was looked at before a STOP may be written after it: so long where the disk is slow."""
TRIGGERS = """
CREATE TEMP TRIGGER stops_sent AFTER INSERT ON main.message WHEN new.kind = 0
  BEGIN SELECT stops('sent', new.recipient, new.organization, new.id); END;
CREATE TEMP TRIGGER stops_tried AFTER UPDATE OF attempts ON main.message
  WHEN new.attempts > old.attempts
  BEGIN SELECT stops('tried', new.recipient, new.organization,
    (SELECT name FROM names WHERE no = new.carrier)); END;
CREATE TEMP TRIGGER stops_forgot AFTER DELETE ON main.last_writers
  BEGIN SELECT stops('forgot', old.recipient,
    (SELECT no FROM organizations WHERE id = old.organization_id), old.carrier); END;
CREATE TEMP TRIGGER stops_wrote AFTER INSERT ON main.inbound
  BEGIN SELECT stops('wrote', new.sender, new.body, new.carrier); END;
"""
Told = tuple[str, str, object, str]
"""What happened, the number, and who or what with it."""


class Stops:
    """The numbers that want no messages of an organization (its number)."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._unit: list[Told] = []
        """Of the transaction under way."""
        self._writers: dict[tuple[str, str], int] = {}
        """Number and carrier → the organization that tried last to write to it."""
        self._out: dict[tuple[int, str], tuple[float, str]] = {}
        """Organization and number → when that was written, and the carrier of the STOP."""
        self._in_s: dict[tuple[int, str], float] = {}
        """When one that had been out came back."""

    @property
    def numbers(self) -> list[str]:
        """Those that want no messages of somebody, in the order in which they said so."""
        return [number for _, number in self._out]

    def begin(self, path: Path) -> None:
        """With what a database says, where nobody knows what was written before."""
        with closing(sqlite3.connect(path)) as conn:
            writers = conn.execute(
                "SELECT l.recipient, l.carrier, o.no FROM last_writers l"
                " JOIN organizations o ON o.id = l.organization_id"
            )
            self._writers = {(recipient_text(to), carrier): no for to, carrier, no in writers}
            out = conn.execute(
                "SELECT o.no, s.recipient, s.carrier, s.at FROM opt_outs s"
                " JOIN organizations o ON o.id = s.organization_id ORDER BY s.at"
            )
            ago_s = trio.current_time() - self._world.now_ms() / 1000
            self._out = {(no, to): (at / 1000 + ago_s, carrier) for no, to, carrier, at in out}

    def arm(self, conn: sqlite3.Connection) -> None:
        """A life begins, with what is on the disk."""
        self._unit = []
        conn.create_function("stops", 4, self._tell)
        conn.executescript(TRIGGERS)

    def _tell(self, what: str, number: object, other: object, last: str) -> None:
        assert isinstance(number, int | str)
        self._unit.append((what, recipient_text(number), other, last))

    def rolled_back(self) -> None:
        self._unit = []

    def committed(self) -> None:
        """What was told is on the disk, unless the process was killed before."""
        unit, self._unit = self._unit, []
        if self._world.dead:
            return
        for what, number, other, last in unit:
            match what:
                case "sent":
                    assert isinstance(other, int)
                    self._sent(other, number, last)
                case "tried":
                    assert isinstance(other, int)
                    self._writers[number, last] = other
                case "forgot":  # who writes next has no answer of before
                    if self._writers.get((number, last)) == other:
                        del self._writers[number, last]
                case "wrote":
                    self._wrote(number, last, only_word(str(other)))

    def _sent(self, organization: int, number: str, message_id: str) -> None:
        since_s, _ = self._out.get((organization, number), (trio.current_time(), ""))
        if self._world.answers.was_asked_for(message_id):
            return
        if trio.current_time() > since_s + SLACK_S and not self._world.clock_was_set:
            self._world.fault(f"{message_id} is to {number}, who has sent STOP")

    def _wrote(self, number: str, carrier: str, word: str) -> None:
        if word in STOP_WORDS:
            organization = self._writers.get((number, carrier))
            if organization is not None:
                self._world.tally["stops"] += (organization, number) not in self._out
                self._out.setdefault((organization, number), (trio.current_time(), carrier))
        elif word in START_WORDS:
            by = [
                (at_s, key)
                for key, (at_s, through) in self._out.items()
                if key[1] == number and through == carrier
            ]
            if by:
                _, key = max(by)
                del self._out[key]
                self._in_s[key] = trio.current_time()

    def refused(self, organization: int, number: str) -> None:
        """A customer was told that a number wants nothing of theirs."""
        self._world.tally["refused after STOP"] += 1
        key, now_s = (organization, number), trio.current_time()
        came_back_s = self._in_s.get(key, -SLACK_S)
        is_known = key in self._out or now_s < came_back_s + SLACK_S
        if not is_known and not self._world.dead and not self._world.clock_was_set:
            self._world.fault(f"{number} was refused as one who has sent STOP")

    def faults(self, conn: sqlite3.Connection) -> Iterable[str]:
        """What the table says is what phones wrote."""
        if self._world.clock_was_set:
            return  # who wrote last is told by the wall's clock
        found = {
            (row[0], row[1])
            for row in conn.execute(
                "SELECT o.no, s.recipient FROM opt_outs s"
                " JOIN organizations o ON o.id = s.organization_id"
            )
        }
        for organization, number in sorted(set(self._out) - found):
            yield f"LOST: {number} has sent STOP to organization {organization}"
        for organization, number in sorted(found - set(self._out)):
            yield f"organization {organization} may not write to {number}, who has sent no STOP"
