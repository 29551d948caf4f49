"""A history: one life after the other, what is held against the last one, and how it is played."""

from __future__ import annotations

import random
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import structlog
import trio
import trio.testing
from tests.simulation import machine
from tests.simulation.aggregators import AggregatorCarrier, without_sockets
from tests.simulation.checks import end, past
from tests.simulation.checks.standby import noting_turns
from tests.simulation.house import found
from tests.simulation.lives import live, rest
from tests.simulation.pairs.pair import paired
from tests.simulation.phones import PhoneCarrier
from tests.simulation.plan import Plan
from tests.simulation.takeover import take_over
from tests.simulation.world import World

from risala.app.smpp import FACE

OF_CARRIERS = 8
PHONES = {5: 0, 7: 1}
"""Of so many histories, those in which a carrier is a phone, and which."""
AGGREGATORS = (1, 7)
"""Those in which the first carrier has an HTTP API."""


@dataclass
class Played:
    """What came of a plan."""

    plan: Plan
    faults: list[str]
    story: list[str]
    tally: Counter[str]
    bounds: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By what is bounded: the most that was in it, and its limit in words."""

    @property
    def told(self) -> str:
        """What went wrong, how it came to it, and how to see it again."""
        return "\n".join(
            (
                *self.story,
                "",
                *(f"FAULT: {each}" for each in self.faults),
                "",
                "To play it again:",
                f'    make world PLAN="{self.plan}"',
            )
        )


def play(plan: Plan, folder: Path, world_of: type[World] = World) -> Played:
    """Play a whole history, on a clock of its own; it is the same each time."""
    _decide_turns(plan)
    world = world_of(folder, plan)
    _put_carriers(world)
    structlog.configure(processors=[_drop])
    try:
        with machine.no_threads(), noting_turns(world), paired(world), without_sockets(world):
            trio.run(_told, world, clock=trio.testing.MockClock(autojump_threshold=0))
    finally:
        structlog.reset_defaults()
    most = world.bounds.highest | world.rows.highest
    return Played(plan, world.faults, world.story, world.tally, most)


def _put_carriers(world: World) -> None:
    """In three of eight histories one carrier or both are driven by drivers of the service: those
    without a second machine, which has carriers of its own."""
    which, first = world.plan.seed % OF_CARRIERS, world.carriers[0]
    if (at := PHONES.get(which)) is not None:
        each = world.carriers[at]
        world.carriers[at] = PhoneCarrier(world, each.name, each.rate_per_s, each.window)
    if which in AGGREGATORS:
        preset = "risala" if first.knows == "same id" else "africastalking"
        world.carriers[0] = AggregatorCarrier(
            world, first.name, first.rate_per_s, first.window, first.answers_s, preset
        )


def _drop(*_: object) -> dict[str, object]:
    raise structlog.DropEvent


def _decide_turns(plan: Plan) -> None:
    """Let the seed say whose turn it is: Trio throws dice of its own, and sorts nothing unless it
    is told to, by the hook that it has for Hypothesis."""
    from trio._core import _run

    _run._ALLOW_DETERMINISTIC_SCHEDULING = True
    _run._r.seed(plan.seed)
    random.seed(plan.seed)  # the waits of webhooks differ by chance


async def _told(world: World) -> None:
    try:
        async with trio.open_nursery() as around:
            for carrier in world.carriers:
                around.start_soon(carrier.live)
            await _history(world)
            around.cancel_scope.cancel()
    except Exception as error:  # noqa: BLE001 -- whatever it is, the history tells of it
        world.fault("".join(traceback.format_exception(error))[-3000:])


async def _history(world: World) -> None:
    async with world.engine() as engine, world.esmes.serving(engine):
        house = await found(world, engine)
        for who in house.credentials[FACE]:
            await world.esmes.bind_once(*who)
    gap, days = past.gap_of(world.plan)
    for number in range(world.plan.lives):
        # It misses what goes meanwhile, but for what the process had read for it before it went.
        world.sink.is_away = gap is not None and number <= gap + 1 and days < past.ALL_DAYS
        await live(world, house)
        if not await world.standby.over():
            await take_over(world, house)
        if number == gap:
            world.pass_days(days)
    world.sink.is_away = False
    await rest(world, house)
    world.poisoned.take_away()
    end.everything(world, house)
    for fault in dict.fromkeys((*world.bounds.faults, *world.rows.faults)):
        world.fault(fault)
