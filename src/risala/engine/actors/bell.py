"""A bell: code that changed something rings it, and the waiting task looks what changed.

It carries no data. It is made before either side, so that both can be built with it.
"""

from __future__ import annotations

import math

import trio


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
