"""Makes a history that fails as small as it can be while it still fails."""

from __future__ import annotations

from collections.abc import Callable

from tests.simulation.history import Played
from tests.simulation.plan import Plan

TRIES_MAX = 100
"""Histories that are played to make one smaller: each takes a second at most, and less the smaller
they are."""


def shrink(
    failed: Played, play: Callable[[Plan], Played], tell: Callable[[Plan], None] | None = None
) -> Played:
    """The smallest history that was found and still fails.

    Args:
        play: plays a plan, in a folder of its own; none is played twice.
        tell: called with each plan that is smaller and still fails.
    """
    best, tried = failed, {failed.plan}
    improved = True
    while improved and len(tried) < TRIES_MAX:
        improved = False
        for cut in failed.plan.cuts():
            plan = cut(best.plan)
            while plan is not None and plan not in tried and len(tried) < TRIES_MAX:
                tried.add(plan)
                played = play(plan)
                if not played.faults:
                    break
                best, improved = played, True
                if tell is not None:
                    tell(plan)
                plan = cut(plan)
    return best
