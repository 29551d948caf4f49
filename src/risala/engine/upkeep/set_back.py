"""Going on by elapsed time when somebody sets the clock on the wall back.

What waits is a row with a time in it, so that it outlives a restart; and that time is the wall's.
Set back by an hour, everything would wait an hour longer: retries, webhooks, uncertain messages,
codes. The other direction needs nothing: a time that is over is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog
import trio

from risala.engine.journal import set_back
from risala.engine.journal.recorder import Recorder
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Draining, Unavailable

log = structlog.get_logger(__name__)

SLACK_MS: Final = 1000
"""NTP steps a clock by less than this, or slews it; nobody notices such a wait."""
STORAGE_RETRY_S: Final = 1.0


class WatchedClock:
    """A wall clock that notices, whenever it is asked, that it was set back."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead_ms: int | None = None
        """Of Trio's clock, which nobody can set."""
        self._back_ms = 0
        self._noticed = trio.Event()

    def now_ms(self) -> int:
        now_ms = self._clock.now_ms()
        ahead_ms = now_ms - round(trio.current_time() * 1000)
        if self._ahead_ms is not None and ahead_ms < self._ahead_ms - SLACK_MS:
            self._back_ms += self._ahead_ms - ahead_ms
            self._noticed.set()
        self._ahead_ms = ahead_ms
        return now_ms

    async def wait_set_back(self) -> int:
        """Until it was set back; by how many milliseconds."""
        await self._noticed.wait()
        self._noticed = trio.Event()
        by_ms, self._back_ms = self._back_ms, 0
        return by_ms


async def keep_elapsed(
    clock: WatchedClock, recorder: Recorder, look_again: Callable[[], None]
) -> None:
    """Follow the clock back whenever it is set back, for life; then have everybody look again."""
    while True:
        by_ms = await clock.wait_set_back()
        rows = await _follow(recorder, by_ms, clock.now_ms())
        log.warning("clock.set_back", by_s=by_ms / 1000, brought_forward=rows)
        look_again()


async def _follow(recorder: Recorder, by_ms: int, now_ms: int) -> int:
    while True:
        try:
            return await recorder.journal.commit(
                lambda conn: set_back.follow(conn, by_ms, now_ms),
            )
        except Draining:
            raise
        except Unavailable as error:
            log.warning("clock.storage", reason=str(error))
            await trio.sleep(STORAGE_RETRY_S)
