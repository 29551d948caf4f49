"""The one way to wait for the nearest of many moments, all of which are rows in the journal.

Who keeps deadlines looks at what is due, then waits: until the nearest of them, until somebody
tells of a nearer one, until somebody has news, or until it is time for a look on principle. The
moments are of the clock on the wall, which may be set at any time: hence the last of the four.
"""

from __future__ import annotations

import math
from typing import Final

import trio

from risala.engine.actors.bell import Bell
from risala.engine.model.clock import Clock

LOOK_S: Final = 30.0
"""Wakes at least this often: the clock on the wall may be set, and news may get lost."""


class Alarm:
    """For one task that waits; made before it, so that those who tell of moments get it too.

    Args:
        look_s: the longest wait.
    """

    def __init__(self, clock: Clock, look_s: float = LOOK_S) -> None:
        self._clock = clock
        self._look_s = look_s
        self._bell = Bell()
        # Nobody waits: whatever is told now may be nearer than what the next wait is called with.
        self._at_ms = math.inf

    def ring(self) -> None:
        """There is news: end the wait, or the next one if nobody waits."""
        self._bell.ring()

    def expect(self, at_ms: int) -> None:
        """A deadline was set, in UTC epoch milliseconds: end the wait if it is nearer."""
        if at_ms < self._at_ms:
            self._bell.ring()

    async def wait(self, next_ms: int | None) -> None:
        """Until the nearest deadline that is known (None: there is none), or something nearer."""
        now_ms = self._clock.now_ms()
        look_ms = now_ms + round(self._look_s * 1000)
        at_ms = look_ms if next_ms is None else min(next_ms, look_ms)
        self._at_ms = at_ms
        try:
            await self._bell.wait(trio.current_time() + max(0, at_ms - now_ms) / 1000)
        finally:
            self._at_ms = math.inf
