"""Places in a pool that all organizations share: nobody's many wait in front of another's one."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from operator import itemgetter
from typing import TypeVar

import trio

I = TypeVar("I")  # noqa: E741 -- an item


def in_turns(items: Iterable[I], whose: Callable[[I], str]) -> list[I]:
    """The first item of each organization, then the second of each, and so on; else as they came.

    Args:
        whose: the organization's id.
    """
    before = Counter[str]()
    turns: list[tuple[int, I]] = []
    for each in items:
        turns.append((before[whose(each)], each))
        before[whose(each)] += 1
    return [each for _, each in sorted(turns, key=itemgetter(0))]


class FairPlaces:
    """Gives places in turns by organization, and leaves one for the others.

    Who waits is asked in the order of organizations, each for its oldest. One organization holds at
    most ``each_max`` places, so that another one's work begins at once, however long the first
    one's takes.
    """

    def __init__(self, places: int, each_max: int) -> None:
        """
        Args:
            places: how many there are.
            each_max: how many one organization may hold at once.
        """
        assert 0 < each_max <= places
        self._free = places
        self._each_max = each_max
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[trio.Event]] = {}
        """By organization; the one whose turn is next comes first."""

    @asynccontextmanager
    async def turn(self, whose: str) -> AsyncIterator[None]:
        """Hold a place for an organization, waiting for its turn.

        Args:
            whose: the organization's id.
        """
        called = trio.Event()
        self._waiting.setdefault(whose, deque()).append(called)
        self._give()
        try:
            await called.wait()
        except trio.Cancelled:
            if called.is_set():
                self._release(whose)
            else:
                self._leave(whose, called)
            raise
        try:
            yield
        finally:
            self._release(whose)

    def _give(self) -> None:
        """Call as many as there are places for."""
        while self._free:
            whose = next(
                (each for each in self._waiting if self._held[each] < self._each_max), None
            )
            if whose is None:
                return
            line = self._waiting.pop(whose)
            line.popleft().set()
            if line:
                self._waiting[whose] = line  # behind all others
            self._free -= 1
            self._held[whose] += 1

    def _release(self, whose: str) -> None:
        self._free += 1
        self._held[whose] -= 1
        if not self._held[whose]:
            del self._held[whose]
        if (line := self._waiting.pop(whose, None)) is not None:
            self._waiting[whose] = line  # it has had its turn
        self._give()

    def _leave(self, whose: str, called: trio.Event) -> None:
        """Wait no longer."""
        line = self._waiting[whose]
        line.remove(called)
        if not line:
            del self._waiting[whose]
