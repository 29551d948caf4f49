"""The nearest deadlines of the pending sessions, in order.

The journal has an index of all deadlines. The nearest ones are in memory, complete up to a
*horizon*, so that a hundred thousand pending sessions take no more memory than a few thousand;
deadlines beyond the horizon are read when their time comes near.

A deadline that is missing here would expire late; one too many costs one read of its row. So a
deadline that may be needed is added, and one of a session that has ended may stay until its time.
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
        """Every deadline before the horizon is in memory, and none after it; of those at this very
        time, some are."""

    def __len__(self) -> int:
        return len(self._nearest)

    def load(self) -> None:
        """Read the nearest deadlines again."""
        self._nearest = list(self._read(self._deadlines_max))
        full = len(self._nearest) >= self._deadlines_max
        self._horizon_ms = self._nearest[-1][0] if full else math.inf

    def add(self, deadline: Deadline) -> None:
        """Add the deadline of an opened session; does nothing if it is here already or beyond the
        horizon."""
        if deadline[0] >= self._horizon_ms or self._holds(deadline):
            return
        insort(self._nearest, deadline)
        if len(self._nearest) > self._deadlines_max:
            self._horizon_ms, _ = self._nearest.pop()

    def remove(self, deadlines: Iterable[Deadline]) -> None:
        """Remove the deadlines of sessions that have ended."""
        for deadline in deadlines:
            if self._holds(deadline):
                del self._nearest[bisect_left(self._nearest, deadline)]

    def due(self, now_ms: int, count_max: int) -> Sequence[Deadline]:
        """The first ``count_max`` deadlines that are over; they stay until they are removed."""
        if not self._nearest and self._horizon_ms <= now_ms:
            self.load()
        return self._nearest[: min(count_max, bisect_left(self._nearest, (now_ms + 1, "")))]

    def next_ms(self) -> int | None:
        """When to look again (UTC epoch milliseconds); None: no session is pending."""
        if self._nearest:
            return self._nearest[0][0]
        return None if math.isinf(self._horizon_ms) else int(self._horizon_ms)

    def _holds(self, deadline: Deadline) -> bool:
        place = bisect_left(self._nearest, deadline)
        return place < len(self._nearest) and self._nearest[place] == deadline
