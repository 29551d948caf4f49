"""Bringing a database of an older version over before anybody opens it, and telling how far it is.

The work is a thread's (:mod:`risala.engine.journal.upkeep.upgrade.upgrade`); the loop goes on, so
that the service answers meanwhile, and a stop is heard.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import structlog
import trio

from risala.engine.journal.upkeep.backup import Progress
from risala.engine.journal.upkeep.upgrade.move import RowMove
from risala.engine.journal.upkeep.upgrade.moves import MOVES
from risala.engine.journal.upkeep.upgrade.upgrade import bring_over as _bring_over
from risala.engine.journal.upkeep.upgrade.upgrade import is_due
from risala.engine.model.clock import Clock
from risala.engine.model.upgrading import Upgrading

__all__ = ["UpgradeWatch", "bring_over", "is_due"]

LOG_EVERY_S: Final = 10.0
"""A line for whoever follows the log; an upgrade of a small file says nothing in between."""
PACE_FROM_S: Final = 2.0
"""What is done in less tells nothing of how long the rest takes."""

_log = structlog.get_logger(__name__)


async def bring_over(
    path: Path,
    clock: Clock,
    progress: Progress | None = None,
    *,
    inline: bool = False,
    moves: Sequence[RowMove] = MOVES,
) -> None:
    """Bring a database over; does nothing where that is not due. The caller holds the data lock.

    Cancelled, it ends within a moment, and goes on from there when it is called again.

    Args:
        progress: told from a thread; with ``inline`` from the caller's own, which it blocks.

    Raises:
        StorageUnusable: one sentence says why, and what to do.
    """
    if not is_due(path, moves):
        return
    if inline:
        _bring_over(path, progress or _unheard, clock.now_ms, moves=moves)
        return

    def tell(step: str, done: int, total: int) -> None:
        trio.from_thread.check_cancelled()
        if progress is not None:
            progress(step, done, total)

    await trio.to_thread.run_sync(partial(_bring_over, path, tell, clock.now_ms, moves=moves))


def _unheard(step: str, done: int, total: int) -> None:
    pass


class UpgradeWatch:
    """How far an upgrade is, told by its thread and asked by the loop: each is one assignment."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._began_s = now_s()
        self._first = 0
        self.now = Upgrading("beginning", 0, 0, None)

    def tell(self, step: str, done: int, total: int) -> None:
        now_s, left_s = self._now_s(), None
        if step != self.now.step:
            self._began_s, self._first = now_s, done
        passed_s, came = now_s - self._began_s, done - self._first
        if total and came > 0 and passed_s >= PACE_FROM_S:
            left_s = round(passed_s / came * (total - done))
        self.now = Upgrading(step, done, total, left_s)

    async def keep_logging(self) -> None:
        """A line now and then, until cancelled."""
        while True:
            await trio.sleep(LOG_EVERY_S)
            now = self.now
            _log.info(
                "upgrade.progress", step=now.step, done=now.done, total=now.total, left_s=now.left_s
            )
