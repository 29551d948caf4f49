"""A clock that jumps to whatever waits next, and stands still while a thread works."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import trio
import trio.testing
from trio._core._run import GLOBAL_RUN_CONTEXT


def _jump_at_once(clock: trio.testing.MockClock) -> None:
    """As trio's own clock does it, which first counts all that runs, and wakes the sleepers only
    after another look for events: two thirds of what an hour costs in which nothing happens."""
    deadlines = GLOBAL_RUN_CONTEXT.runner.deadlines
    jump = deadlines.next_deadline() - clock.current_time()
    if 0 < jump < math.inf:
        clock.jump(jump)
        deadlines.expire(clock.current_time())


def jumping_clock(patch: Callable[[Any, str, Any], None]) -> trio.testing.MockClock:
    """Where a thread works, trio's own clock would run on to whatever waits next, and so further
    the slower the machine is.

    Args:
        patch: sets an attribute of the clock, and trio's function that runs threads.
    """
    from risala.engine.delivery.loopwatch import LoopWatch

    clock = trio.testing.MockClock(autojump_threshold=0)
    patch(clock, "_autojump", partial(_jump_at_once, clock))
    really, working = trio.to_thread.run_sync, 0

    async def run_sync(work: Callable[..., Any], *given: Any, **named: Any) -> Any:
        nonlocal working
        if getattr(work, "__func__", None) is LoopWatch._watch:  # it has a thread for life
            return await really(work, *given, **named)
        working += 1
        clock.autojump_threshold = math.inf
        try:
            return await really(work, *given, **named)
        finally:
            working -= 1
            if not working:
                clock.autojump_threshold = 0

    patch(trio.to_thread, "run_sync", run_sync)
    return clock
