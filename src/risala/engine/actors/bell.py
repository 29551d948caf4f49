"""A bell: who has news rings it, and the one who waits for it looks what the news are.

It holds nothing but that it rang, so it is made before either of the two, and both get it.
"""

from __future__ import annotations

import math

import trio


class Bell:
    """Rung from the loop's thread, as often as one likes; one task waits for it."""

    def __init__(self) -> None:
        self._rung = trio.Event()

    def ring(self) -> None:
        """There is news. Rung while nobody waits, it is remembered."""
        self._rung.set()

    async def wait(self, deadline_s: float = math.inf) -> None:
        """Until it rings, or has rung since the last wait ended, or a moment on Trio's clock."""
        with trio.move_on_at(deadline_s):
            await self._rung.wait()
        self._rung = trio.Event()
