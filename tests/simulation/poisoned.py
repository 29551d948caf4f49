"""Poisoned rows in a history: planted at any instant, named at its end, and in nobody's way.

They belong to an organization of their own, and are taken away before anything else is checked: so
every check holds that all others got what they were told.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import trio
from tests.support.poison import POISONS, Poison

from risala.engine.model.errors import Unavailable
from risala.engine.wiring.engine import Engine
from risala.engine.wiring.foundation import DATABASE

if TYPE_CHECKING:
    from tests.simulation.world import World

KINDS = tuple(each for each in POISONS if each.loop != "alert_calls" and each.table != "message")
"""Nobody is called about alerts in a history. Poisoned messages are no part of one: the audit of
a takeover finds them, and refuses the copy, as it should."""
NUMBERED = {
    # Whose number is forgotten has its deliveries dropped, and nobody looks at them.
    "webhook_delivery": "created_at = 0 AND state = 'pending'",
    "mails": "created_at = 0",
    "alerts": "raised_at < 0",
}
"""Tables whose rows go by numbers, and what only a poisoned row of them has. What a machine wrote
without having shipped it is lost by a takeover: another row has its number then."""
EVENTS = (
    "SELECT event FROM webhook_delivery WHERE endpoint_id IN"
    " (SELECT id FROM webhook_endpoints WHERE organization_id = :organization)"
)
OF_A_LIFE = 4
"""Rows that are planted in each life at most."""


class Poisoned:
    """What was planted in a history."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.organization_id = ""
        self._count = 0
        self._planted: dict[tuple[str, str], Poison] = {}
        """By the loop that must name it, and its id."""
        self.events: set[int] = set()
        """The keys of events that poisoned deliveries kept, once these are taken away."""

    def take_over(self, other: Poisoned) -> None:
        """Know what was planted on the machine that this one takes over from."""
        self.organization_id = other.organization_id
        self._planted |= other._planted
        self._count = other._count

    async def plant(self, engine: Engine) -> None:
        """Plant some rows of a life, one after the other."""
        dice = self._world.plan.stream(f"poison {self._world.life}")
        for _ in range(OF_A_LIFE):
            await trio.sleep(dice.choice((0.01, 0.5, 5, 40)))
            kind = dice.choice(KINDS)
            if self._world.plan.has("poison"):
                await self._plant_one(engine, kind)

    async def _plant_one(self, engine: Engine, kind: Poison) -> None:
        self._count += 1
        name = f"poison_{self._count}"

        def unit(conn: sqlite3.Connection) -> object:
            known = "SELECT 1 FROM organizations WHERE id = ?"
            if conn.execute(known, (self.organization_id,)).fetchone() is None:
                return None  # a life before it was made, or after the disk lost it
            return kind.plant(conn, self.organization_id, name)

        # What the disk did not take may be there all the same: it is known by its row at the end.
        try:
            found = await engine.gateway.services.recorder.journal.commit(unit)
        except Unavailable:
            return
        if found is not None:
            self._planted[kind.loop, str(found)] = kind
            self._world.tally["poisoned rows"] += 1
            self._world.say("a poisoned row", kind.name, found)

    def look(self, engine: Engine) -> None:
        """At the end of the last life: each that is there was named."""
        statuses = engine.gateway.services.set_aside.statuses()
        named = {(each.loop, item) for each in statuses for item in each.items}
        with closing(sqlite3.connect(self._world.folder / DATABASE)) as conn:
            for key, kind in self._planted.items():
                if key not in named and self._is_there(conn, kind, key[1]):
                    self._world.fault(f"{kind.name} {key[1]} was not set aside")
            strangers = [
                each
                for each in sorted(named - self._planted.keys())
                if not self._is_own(conn, *each)
            ]
        self._world.tally["poisoned rows that were named"] += len(named & self._planted.keys())
        for loop, item in strangers:
            self._world.fault(f"{item} of {loop} was set aside, and is not poisoned")

    @staticmethod
    def _is_own(conn: sqlite3.Connection, loop: str, item: str) -> bool:
        """Whether a row is poisoned of which the disk did not say that it took it."""
        table = next((each.table for each in KINDS if each.loop == loop), None)
        if item.startswith("poison_") or table not in NUMBERED:
            return item.startswith("poison_")
        statement = f"SELECT 1 FROM {table} WHERE seq = ? AND {NUMBERED[table]}"
        return conn.execute(statement, (item,)).fetchone() is not None

    def _is_there(self, conn: sqlite3.Connection, kind: Poison, key: str) -> bool:
        column = self._key_of(conn, kind.table)
        statement = f"SELECT 1 FROM {kind.table} WHERE {column} = ?"
        if kind.table in NUMBERED:
            statement += f" AND {NUMBERED[kind.table]}"
        if kind.table == "mailings":
            statement += " AND state != 'paused'"  # a restore does that: nobody looks at its rows
        return conn.execute(statement, (key,)).fetchone() is not None

    @staticmethod
    def _key_of(conn: sqlite3.Connection, table: str) -> str:
        columns = [each[1] for each in conn.execute(f"PRAGMA table_info({table})")]
        return "id" if "id" in columns else columns[0]

    def take_away(self) -> None:
        """Before all else is checked: what is poisoned is nobody's."""
        with closing(sqlite3.connect(self._world.folder / DATABASE)) as conn, conn:
            whose = {"organization": self.organization_id}
            self.events = {row[0] for row in conn.execute(EVENTS, whose)}
            for statement in self._removing(conn):
                conn.execute(statement, whose)
            for (_, key), kind in self._planted.items():
                if kind.table in ("mails", "alerts"):
                    own = NUMBERED[kind.table]
                    conn.execute(f"DELETE FROM {kind.table} WHERE seq = ? AND {own}", (key,))

    def _removing(self, conn: sqlite3.Connection) -> Iterator[str]:
        own = "WHERE organization_id = :organization"
        yield f"DELETE FROM mailing_rows WHERE mailing IN (SELECT key FROM mailings {own})"
        endpoints = f"SELECT id FROM webhook_endpoints {own}"
        deliveries = f"SELECT seq FROM webhook_delivery WHERE endpoint_id IN ({endpoints})"
        yield f"DELETE FROM webhook_attempts WHERE delivery IN ({deliveries})"
        yield f"DELETE FROM webhook_delivery WHERE endpoint_id IN ({endpoints})"
        yield f"DELETE FROM hook_storms WHERE hook IN (SELECT id FROM hooks {own})"
        for table in ("mailings", "webhook_endpoints", "hooks", "payments", "erasures"):
            yield f"DELETE FROM {table} {own}"
