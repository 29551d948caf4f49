"""The nearest deadlines of the pending sessions, in order.

All of them are an index in the journal. Of these the nearest are here, complete up to a *horizon*:
a hundred thousand pending sessions take no more memory than a few thousand, and what lies beyond
is read when its time comes.

One that is missing would expire late; one too many costs a look at its row. So whoever is in doubt
adds it, and what ended meanwhile may stay until its time.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence

Deadline = tuple[int, str]
"""When a session is over (UTC epoch milliseconds), and its id."""


class Deadlines:
    """One ordered set.

    Args:
        read: the nearest deadlines in the journal, in order, at most so many.
        deadlines_max: how many are in memory.
    """

    def __init__(self, read: Callable[[int], Sequence[Deadline]], deadlines_max: int) -> None:
        self._read = read
        self._deadlines_max = deadlines_max
        self._nearest: list[Deadline] = []
        self._horizon_ms = -math.inf
        """Every deadline before it is here, some at it, none after it."""

    def __len__(self) -> int:
        return len(self._nearest)

    def load(self) -> None:
        """Read them anew."""
        self._nearest = list(self._read(self._deadlines_max))
        full = len(self._nearest) >= self._deadlines_max
        self._horizon_ms = self._nearest[-1][0] if full else math.inf

    def add(self, deadline: Deadline) -> None:
        """Of a session that was opened; nothing where it is here already, or lies far ahead."""
        if deadline[0] >= self._horizon_ms or self._holds(deadline):
            return
        insort(self._nearest, deadline)
        if len(self._nearest) > self._deadlines_max:
            self._horizon_ms, _ = self._nearest.pop()

    def remove(self, deadlines: Iterable[Deadline]) -> None:
        """Of sessions that have ended."""
        for deadline in deadlines:
            if self._holds(deadline):
                del self._nearest[bisect_left(self._nearest, deadline)]

    def due(self, now_ms: int, count_max: int) -> Sequence[Deadline]:
        """The first of those whose time is over; they stay until they are removed."""
        if not self._nearest and self._horizon_ms <= now_ms:
            self.load()
        return self._nearest[: min(count_max, bisect_left(self._nearest, (now_ms + 1, "")))]

    def next_ms(self) -> int | None:
        """When to look again; None: nothing is pending."""
        if self._nearest:
            return self._nearest[0][0]
        return None if math.isinf(self._horizon_ms) else int(self._horizon_ms)

    def _holds(self, deadline: Deadline) -> bool:
        place = bisect_left(self._nearest, deadline)
        return place < len(self._nearest) and self._nearest[place] == deadline
