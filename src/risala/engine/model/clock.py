"""Time, in one place, so that tests can control it."""

from __future__ import annotations

import time
from typing import Protocol

import trio

from risala.dataclass import dataclass


class Clock(Protocol):
    """The wall clock, as UTC epoch milliseconds."""

    def now_ms(self) -> int: ...


@dataclass(frozen=True, slots=True)
class ClockJump:
    """A step of the wall clock, which was set."""

    at_ms: int
    """When it was, by the clock as set since."""
    by_ms: int
    """Less than 0 if it was set back."""


class ClockJumps(Protocol):
    """Reports steps of the wall clock."""

    @property
    def last_jump(self) -> ClockJump | None:
        """The last noticeable one since the start."""


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class TrioClock:
    """A wall clock that advances with Trio's clock: under a mock clock, hours pass in
    milliseconds."""

    def __init__(self, start_ms: int = 1_767_225_600_000) -> None:
        self._start_ms = start_ms
        self._start_s: float | None = None

    def now_ms(self) -> int:
        now_s = trio.current_time()
        if self._start_s is None:
            self._start_s = now_s
        return self._start_ms + round((now_s - self._start_s) * 1000)
