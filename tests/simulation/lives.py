"""One life of the process: people at their errands, what goes wrong meanwhile, and how it ends; and
the last one, in which everything comes to its own end."""

from __future__ import annotations

from contextlib import suppress

import trio
from tests.simulation import machine
from tests.simulation.house import House
from tests.simulation.people.customers import customer
from tests.simulation.world import World

from risala.app.smpp import FACE
from risala.engine.actors.supervisor import SupervisionFailed
from risala.engine.features.standby.service import StoppedEarly
from risala.engine.model.errors import Conflict, EngineError, StorageUnusable
from risala.engine.wiring.engine import Engine

STEPS = (150, 9000)
"""Of tasks, between a start and its kill."""
COMMITS = (1, 160)
"""The same, between a start and a kill at a commit."""
REST_S = 1500.0
"""Longer than any validity, any uncertainty that is sent again, and a webhook's second wait."""
MONEY = "90"
"""Of each organization at last: enough for all mailings that wait for some."""
CLOCKS = 3
"""In one history of so many somebody sets the clock: in the others windows of time can be held
against what was accepted."""
TROUBLES = 5
"""Of each life at most, beside its end."""


async def live(world: World, house: House) -> None:
    """One life: people at their errands until they are done, or the process is killed."""
    dice = world.plan.stream(f"life {world.life + 1}")
    after_steps = _end_of_life(world, dice)
    try:
        async with (
            world.mortal_engine(after_steps) as engine,
            world.esmes.serving(engine),
            trio.open_nursery() as nursery,
        ):

            async def end_when_dead() -> None:
                await world.wait_dead()
                nursery.cancel_scope.cancel()

            nursery.start_soon(end_when_dead)
            nursery.start_soon(_trouble, world)
            nursery.start_soon(world.standby.trouble)
            nursery.start_soon(world.poisoned.plant, engine)
            async with trio.open_nursery() as people:
                for number in range(world.plan.customers):
                    people.start_soon(customer, world, engine, house, f"customer {number + 1}")
            nursery.cancel_scope.cancel()
    except* (StorageUnusable, SupervisionFailed, EngineError) as ended:
        # The process ends by itself, in order: the disk refused at its start, or too many bugs.
        world.tally["ended by itself"] += 1
        world.say("the process ends", repr(ended.exceptions[0]))
    except* StoppedEarly:
        world.say("killed before the standby's copy stood")
    except* machine.SimulatedBug as ended:
        world.tally["ended by itself"] += 1
        world.say("the process ends", repr(ended.exceptions[0]))
    world.tally["bugs struck"] += world.bugs.struck
    world.bugs.struck = 0
    world.disk.full, world.disk.slow_s, world.disk.kill_at = False, 0.0, None
    world.disk.sync_breaks, world.bugs.wanted = None, None


def _end_of_life(world: World, dice: machine.Dice) -> int | None:
    """How a life ends; None: by no kill at a step."""
    how = dice.choice(("step", "step", "commit", "commit", "order"))
    steps, commit = dice.randrange(*STEPS), dice.randrange(*COMMITS)
    side = dice.choice(("before", "after"))
    if how == "commit" and world.plan.has("kills-at-commits"):
        world.disk.kill_at = (side, commit)
    return steps if how == "step" and world.plan.has("kills-at-steps") else None


async def _trouble(world: World) -> None:
    """Disks, clocks and bugs, one after the other."""
    dice = world.plan.stream(f"trouble {world.life}")
    for _ in range(TROUBLES):
        await trio.sleep(dice.choice((0.2, 2, 10, 40)))
        world.look_at_bounds()
        kind = dice.choice(("full-disk", "broken-syncs", "slow-disk", "clock", "bugs", "none"))
        # Thrown in any case, so that what is left out takes nothing from the others.
        span_s, way, which = dice.choice((0.1, 3, 20)), dice.random(), dice.random()
        if kind == "none" or not world.plan.has(kind):
            continue
        if kind == "clock" and world.plan.seed % CLOCKS:
            continue
        match kind:
            case "full-disk":
                world.say("the disk is full")
                world.disk.full = True
                await trio.sleep(span_s)
                world.disk.full = False
                world.say("the disk has room again")
            case "broken-syncs":
                world.say("the next sync fails")
                world.disk.sync_breaks = "lost" if way < 0.6 else "kept"
            case "slow-disk":
                world.tally["slow-disk"] += 1
                world.disk.slow_s = 0.3 if way < 0.5 else 2.0
                world.say("the disk is slow", world.disk.slow_s)
                await trio.sleep(span_s)
                world.disk.slow_s = 0.0
            case "clock":
                world.set_clock(machine.HOUR_MS if way < 0.5 else -machine.HOUR_MS)
            case "bugs":
                names = machine.supervised()
                world.bugs.wanted = names[int(which * len(names))] if names else None
                world.say("a bug waits in", world.bugs.wanted)


async def rest(world: World, house: House) -> None:
    """The last life: kind carriers, nobody is killed, and time for everything to end."""
    world.at_rest = True
    for carrier in world.ways:
        carrier.kind = True  # and brings what it has in the post
    async with (
        world.engine() as engine,
        world.esmes.serving(engine),
        trio.open_nursery() as nursery,
    ):
        for organization_id in house.organizations:
            given = {"organization_id": organization_id}
            await engine.gateway.perform("org.resume", given)
            await engine.gateway.perform("topup", {"amount": MONEY, **given})
            await _go_on(engine, organization_id)
            await _end_alarms(engine, organization_id)
        for carrier in world.ways:
            await engine.gateway.perform("carriers.resume", {"carrier": carrier.name})
        if world.past.gaps:
            await world.till.tell_again(engine.gateway)
        for who in house.credentials[FACE]:
            nursery.start_soon(world.esmes.stay, *who)
        await trio.sleep(REST_S + world.set_back_s)
        world.standby.look(is_fresh=True)
        world.poisoned.look(engine)
        nursery.cancel_scope.cancel()


async def _go_on(engine: Engine, organization_id: str) -> None:
    """Whoever paused a mailing goes on with it at last."""
    found = await engine.gateway.perform("mailing.list", {"organization_id": organization_id})
    for mailing in found["mailings"]:
        if mailing["state"] == "paused":
            await engine.gateway.perform("mailing.go_on", {"mailing_id": mailing["id"]})


async def _end_alarms(engine: Engine, organization_id: str) -> None:
    """Somebody ends the alarms that go on: their messages would still be under way."""
    listed = await engine.gateway.perform("alarm.list", {"organization_id": organization_id})
    for alarm in listed["going"]:
        with suppress(Conflict):  # it has just ended
            await engine.gateway.perform("alarm.end", {"alarm_id": alarm["alarmId"]})
