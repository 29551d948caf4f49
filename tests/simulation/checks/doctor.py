"""What is lost where answers wait for no second machine: no more than the doctor would have said.

Its sentence is read as an operator reads it: "is 12 s behind".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from risala.engine.features.standby.doctor import finding

if TYPE_CHECKING:
    from tests.simulation.world import World

_BEHIND = re.compile(r"is (\d+) s behind")


def behind_s(world: World) -> int | None:
    """What the doctor says at this moment; None: it does not say how much would be lost."""
    for each in finding(world.standby.store, world.now_ms(), running=True):
        if (found := _BEHIND.search(each.text)) is not None:
            return int(found[1])
    return None


def hold_against(world: World, said_s: int | None, there: set[str]) -> None:
    """Whatever the second machine lacks was answered within that time.

    Args:
        there: the messages that it has.
    """
    if said_s is None or world.clock_was_set:
        return
    since_ms = world.now_ms() - (said_s + 1) * 1000  # it tells whole seconds
    for message_id in set(world.accepted) - there:
        world.tally["lost within what the doctor said"] += 1
        if world.accepted_ms[message_id] < since_ms:
            ago_s = (world.now_ms() - world.accepted_ms[message_id]) / 1000
            told = f"{message_id} was answered {ago_s:.1f} s before, and the doctor said {said_s} s"
            world.fault(f"LOST: {told}")
