"""The second machine takes over: it begins with its copy, sends nothing again, and goes on.

What the first one had not shipped is lost to it, as its page says: so nothing of what people were
told before is held against it, but all of what they are told by itself.
"""

from __future__ import annotations

import copy
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

import trio
from tests.simulation.checks import doctor, end
from tests.simulation.checks.limits import limits
from tests.simulation.checks.standby import Standby
from tests.simulation.house import House
from tests.simulation.lives import live, rest
from tests.simulation.people import strangers, submits
from tests.simulation.plan import Plan
from tests.simulation.world import World

from risala.engine.features.backup.stored.restore import RestoreReport, restore
from risala.engine.journal.audit.books import audit_file
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.records.messages import Stamp
from risala.engine.wiring.foundation import DATABASE

SERVES_S = 150.0
"""Longer than any uncertainty lasts before something is sent again."""
ELSEWHERE = frozenset({"pay", "forget"})
"""Errands that nobody runs at the second machine: what tills know, and which numbers were taken
out, is known of the first one alone."""


async def take_over(world: World, house: House) -> None:
    """The service has ended, and the other machine serves what it has, for a while; once in a
    history people come to it too, and it is killed like the first one."""
    said_s = doctor.behind_s(world) if world.standby.is_there else None
    settled = world.standby.last_copy()
    if settled is None:
        return
    with closing(sqlite3.connect(settled)) as conn:
        query = "SELECT id FROM messages UNION SELECT id FROM inbound"
        before = {row[0] for row in conn.execute(query)}
    doctor.hold_against(world, said_s, before)
    other = _other_machine(world)
    restored = _restored(world, settled, other.folder / DATABASE)
    if restored is None:
        return
    other.stops.begin(other.folder / DATABASE)
    other.answers.begin(other.folder / DATABASE)
    if restored.held:  # nobody knows what became of those
        async with other.engine() as engine:
            await engine.gateway.perform("restored.end", {})
    if world.life - 1 == world.plan.stream("takeover").randrange(1, world.plan.lives + 1):
        await _go_on(world, other, house, before)
    else:
        async with other.engine():
            await trio.sleep(SERVES_S)
    world.story += [f"second machine: {line}" for line in other.story]
    for fault in (*_sent_again(other, before), *other.faults):
        world.fault(f"after a takeover: {fault}")
    for fault in audit_file(other.folder / DATABASE).faults:
        world.fault(f"after a takeover the audit says: {fault}")


def _other_machine(world: World) -> World:
    """With carriers, receivers and a chance of its own, and the same time on the wall."""
    folder = world.folder / "taken"
    shutil.rmtree(folder, ignore_errors=True)
    left_out = world.plan.without | ELSEWHERE
    plan: Plan = replace(world.plan, seed=world.plan.seed + 1, without=left_out)
    other = type(world)(folder, plan)
    for key in world.folder.glob("*.key"):  # operators put them there
        shutil.copy2(key, folder)
    other.set_clock(world.now_ms() - other.now_ms())
    other.clock_was_set = world.clock_was_set
    other.set_back_s = world.set_back_s  # what it takes over may end so much later
    for carrier, known in zip(other.ways, world.ways, strict=True):
        carrier.taken_before = len(known.taken)
        carrier.knows, carrier.ids = known.knows, {**known.ids}
    other.standby = Standby(other)  # nothing follows it
    other.standby.is_there = False
    other.births_ms = [*world.births_ms]
    other.past = copy.deepcopy(world.past)
    other.erased.wishes = world.erased.wishes  # which it goes on with
    other.phones.letters = world.phones.letters
    other.poisoned.take_over(world.poisoned)
    return other


def _restored(world: World, settled: Path, target: Path) -> RestoreReport | None:
    with closing(sqlite3.connect(settled)) as conn:
        query = (
            # A clock that was set back makes later what was tried already: that is ended.
            "SELECT count(*), count(*) FILTER (WHERE status = 0 AND attempts = 0 AND send_at > ?)"
            " FROM message WHERE status IN (0, 1)"
        )
        open_, later = conn.execute(query, (world.now_ms(),)).fetchone()
    try:
        done = restore(
            settled,
            target,
            resend_pending=False,
            even_unclean=False,
            stamp=lambda: Stamp(world.now_ms()),
            progress=lambda *_: None,
        )
    except StorageUnusable as error:
        world.fault(f"no takeover: {error}")
        return None
    world.tally["takeovers"] += 1
    world.tally["ended by a takeover"] += done.ended
    if done.ended != open_ - later:
        world.fault(f"a takeover ended {done.ended} of {open_ - later} messages")
    if done.held != later:
        world.fault(f"a takeover holds {done.held} of {later} messages of later")
    return done


async def _go_on(world: World, other: World, house: House, before: set[str]) -> None:
    """A life and the end of one, with all that goes wrong in it."""
    theirs = House(
        organizations=house.organizations,
        numbers=house.numbers,
        healthy=house.healthy,
        toyed=house.toyed,
        credentials=house.credentials,
        members=house.members,
    )
    await live(other, theirs)
    await rest(other, theirs)
    by_face = len(theirs.by_face) + len(set(theirs.sids.values()))
    world.tally["accepted after a takeover"] += len(set(other.accepted) - before) + by_face
    with closing(sqlite3.connect(other.folder / DATABASE)) as conn:
        conn.row_factory = sqlite3.Row
        whole = (end.messages, end.events, end.sessions, limits)
        for fault in chain.from_iterable(check(other, theirs, conn) for check in whole):
            other.fault(fault)
        for fault in other.stops.faults(conn):
            other.fault(fault)
        _hide(conn, before)
        new = (end.copies, strangers.faults, submits.faults)
        for fault in chain.from_iterable(check(other, theirs, conn) for check in new):
            other.fault(fault)


def _hide(conn: sqlite3.Connection, before: set[str]) -> None:
    """What came before the takeover is not there, for those who look by this connection."""
    conn.execute("CREATE TEMP TABLE before (id TEXT PRIMARY KEY)")
    conn.executemany("INSERT INTO before VALUES (?)", [(each,) for each in before])
    for table in ("messages", "inbound"):
        conn.execute(
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table}"
            " WHERE id NOT IN (SELECT id FROM before)"
        )


def _sent_again(other: World, before: set[str]) -> Iterable[str]:
    """Whatever was on its way may have been sent: it is not sent again unasked."""
    for carrier in other.ways:
        for taken in carrier.taken:
            if taken.segment.message_id in before:
                yield f"DOUBLED: {taken.segment.message_id} was sent by the standby"
