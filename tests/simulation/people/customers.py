"""A customer of a history: one errand after the other, as the dice fall."""

from __future__ import annotations

import trio
from tests.simulation import machine
from tests.simulation.house import House
from tests.simulation.people.desk import errand_of
from tests.simulation.people.watchmen import Watchmen
from tests.simulation.plan import ERRANDS
from tests.simulation.world import World

from risala.engine.model.errors import EngineError, LogSilent, OutcomeUnknown
from risala.engine.wiring.engine import Engine

OFTEN = {
    "send": 4,
    "verify": 4,
    "resend": 2,
    "batch": 2,
    "faces": 2,
    "twilio": 2,
    "smpp": 2,
    "pay": 2,
    "write": 3,
    "mailing": 3,
    "talk": 4,
    "answer": 4,
    "alarm": 2,
}
"""Errands that are run more often than once in a while, and how much more."""


async def customer(world: World, engine: Engine, house: House, name: str) -> None:
    person = Watchmen(world, engine, house, name)
    dice = person.dice
    errands = [each for each in ERRANDS for _ in range(OFTEN.get(each, 1))]
    for number in range(world.plan.errands):
        await trio.sleep(dice.choice((0, 0, 0.01, 0.3, 3)))
        errand = dice.choice(errands)
        person.dice = world.plan.stream(f"{world.life}/{name}/{number}")
        if not world.plan.has(errand):
            continue
        try:
            await getattr(person, errand_of(errand))()
        except (OutcomeUnknown, LogSilent) as refused:
            world.tally["outcomes unknown"] += isinstance(refused, OutcomeUnknown)
            world.tally["refused, as the log was silent"] += isinstance(refused, LogSilent)
            person.say(errand, type(refused).__name__)
        except EngineError as refused:
            person.say(errand, type(refused).__name__)
        except machine.SimulatedBug as bug:  # a 500: nobody knows, and nothing is told
            person.say(errand, bug)
