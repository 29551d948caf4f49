"""Keeps waits at their intended length when the wall clock is set back.

Every wait is a row with a time in it, so that it survives a restart, and that time is the wall
clock's. When the clock is set back by an hour, everything would wait an hour longer: retries,
webhooks, uncertain messages, codes. So those times are set back too. When the clock is set forward
nothing is done: times that are then over count as over.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.actors.retrying import retry_until_committed
from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.model.clock import Clock, ClockJump

log = structlog.get_logger(__name__)

SLACK_MS: Final = 1000
"""NTP steps a clock by less than this, or slews it; such a wait is not noticed."""


class WatchedClock:
    """A wall clock that detects at each reading that it was set."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead_ms: int | None = None
        """How far the wall clock is ahead of Trio's clock, which cannot be set; None: not read
        yet."""
        self._elapsed_s: Callable[[], float] | None = None
        """Trio's clock: it is read several times for each message. None: not looked up yet."""
        self._back_ms = 0
        self._noticed = trio.Event()
        self.last_jump: ClockJump | None = None
        """The last step by which it was set, forward or back."""

    def now_ms(self) -> int:
        now_ms, by_ms = self._read_clocks()
        if not -SLACK_MS <= by_ms <= SLACK_MS:
            # The process may have been stopped between reading the two clocks, which is no step of
            # either: a second reading shows them as they are.
            now_ms, by_ms = self._read_clocks()
        assert self._ahead_ms is not None, "it was looked at"
        self._ahead_ms += by_ms
        if not -SLACK_MS <= by_ms <= SLACK_MS:
            self.last_jump = ClockJump(now_ms, by_ms)
            if by_ms < 0:
                self._back_ms -= by_ms
                self._noticed.set()
        return now_ms

    def _read_clocks(self) -> tuple[int, int]:
        """The wall clock's time, and how much further ahead it is than before."""
        now_ms = self._clock.now_ms()
        if self._elapsed_s is None:
            self._elapsed_s = trio.lowlevel.current_clock().current_time
        ahead_ms = now_ms - round(self._elapsed_s() * 1000)
        if self._ahead_ms is None:
            self._ahead_ms = ahead_ms
        return now_ms, ahead_ms - self._ahead_ms

    async def wait_clock_rollback(self) -> int:
        """Wait until the clock was set back; returns by how many milliseconds."""
        await self._noticed.wait()
        self._noticed = trio.Event()
        by_ms, self._back_ms = self._back_ms, 0
        return by_ms


async def keep_elapsed(
    clock: WatchedClock, queue: QueueRepository, look_again: Callable[[], None]
) -> None:
    """Whenever the clock is set back, set the times in the journal back as much; until cancelled.

    Args:
        look_again: called afterwards, so that everything that caches a time reads it again.
    """
    while True:
        by_ms = await clock.wait_clock_rollback()
        follow = partial(queue.follow_clock, by_ms, clock.now_ms())
        rows = await retry_until_committed("clock", follow)
        log.warning("clock.set_back", by_s=by_ms / 1000, brought_forward=rows)
        look_again()
