"""A bell: whoever changed something rings it, and the task that waits for it looks what changed.

It says nothing but that it rang. It is made before either side, so that both can be built with it.
"""

from __future__ import annotations

import math

import trio


class Bell:
    """Rung from the loop's thread, any number of times; one task waits for it."""

    def __init__(self) -> None:
        self._rung = trio.Event()
        self._has_rung = False
        """As the event says, and asked without a call: it is rung several times a message."""

    def ring(self) -> None:
        """Something changed. Where nobody waits, the next wait ends at once."""
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
