"""Things that happen later, by a clock that is handed in. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import Final

ENTRIES_MAX: Final = 20_000
"""More than any client can cause in the time that reports take."""


class Timetable:
    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def after(self, wait_s: float, action: Callable[[], None]) -> bool:
        """Plan an action; False if it has no room, so that it will not happen."""
        if len(self._entries) >= ENTRIES_MAX:
            return False
        heapq.heappush(self._entries, (self._now_s() + wait_s, next(self._order), action))
        return True

    @property
    def due_s(self) -> float | None:
        """When the next planned action is due; None without one."""
        return self._entries[0][0] if self._entries else None

    def advance(self) -> None:
        """Run the due actions, in their order."""
        now_s = self._now_s()
        while self._entries and self._entries[0][0] <= now_s:
            heapq.heappop(self._entries)[2]()
