"""Waits for the nearest of many times, all of which are rows in the journal.

A task that keeps deadlines does what is due, and then waits for one of four events: the nearest
deadline comes, a nearer one is set, the alarm is rung because of a change, or :data:`LOOK_S` has
passed. The last is needed because deadlines follow the wall clock, which may be set at any time.
"""

from __future__ import annotations

import math
from typing import Final

import trio

from risala.engine.model.clock import Clock

LOOK_S: Final = 30.0
"""Wakes at least this often: the wall clock may be set, and news may get lost."""


class Alarm:
    """One task waits on it, any other may ring it. It is made before all of them.

    Args:
        look_s: the longest wait.
    """

    def __init__(self, clock: Clock, look_s: float = LOOK_S) -> None:
        self._clock = clock
        self._look_s = look_s
        self._bell = Bell()
        # Without a waiting task every new deadline rings: the next wait may be called with a later
        # one.
        self._at_ms = math.inf

    def ring(self) -> None:
        """Something changed: end the present wait, or the next one."""
        self._bell.ring()

    def expect(self, at_ms: int) -> None:
        """A deadline was set, in UTC epoch milliseconds: end the wait if it is nearer."""
        if at_ms < self._at_ms:
            self._bell.ring()

    async def wait(self, next_ms: int | None) -> None:
        """Wait until ``next_ms`` (UTC epoch milliseconds; None: no deadline is known), or until
        another event ends the wait."""
        now_ms = self._clock.now_ms()
        look_ms = now_ms + round(self._look_s * 1000)
        at_ms = look_ms if next_ms is None else min(next_ms, look_ms)
        self._at_ms = at_ms
        try:
            await self._bell.wait(trio.current_time() + max(0, at_ms - now_ms) / 1000)
        finally:
            self._at_ms = math.inf


# A bell: code that changed something rings it, and the waiting task looks what changed.
#
# It carries no data. It is made before either side, so that both can be built with it.


class Bell:
    """Rung from the loop's thread, any number of times; one task waits for it."""

    def __init__(self) -> None:
        self._rung = trio.Event()
        self._has_rung = False
        """The event's state, readable without a call: it is rung several times for each message."""

    def ring(self) -> None:
        """Something changed. Without a waiting task, the next wait ends at once."""
        if not self._has_rung:
            self._has_rung = True
            self._rung.set()

    async def wait(self, deadline_s: float = math.inf) -> None:
        """Return when the bell rings, or has rung since the last wait, or at ``deadline_s`` of
        Trio's clock."""
        if deadline_s == math.inf:
            await self._rung.wait()
        else:
            with trio.move_on_at(deadline_s):
                await self._rung.wait()
        self._rung = trio.Event()
        self._has_rung = False
