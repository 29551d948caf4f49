"""Migrates a database of an older version before it is opened, and reports the progress.

A thread does the work (:mod:`risala.engine.journal.upkeep.upgrade.upgrade`); the loop goes on, so
that the service answers meanwhile, and can be stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import structlog
import trio

from risala.engine.journal.upkeep.database_copy import Progress, unheard
from risala.engine.journal.upkeep.upgrade.upgrade import MOVES, RowMove, is_due
from risala.engine.journal.upkeep.upgrade.upgrade import bring_over as _bring_over
from risala.engine.model.clock import Clock
from risala.engine.model.records.upkeep.service import Upgrading

__all__ = ["UpgradeWatch", "bring_over", "is_due"]

LOG_EVERY_S: Final = 10.0
"""Seconds between two lines of the log; a shorter migration logs nothing in between."""
PACE_FROM_S: Final = 2.0
"""Seconds after which the remaining time can be estimated."""

_log = structlog.get_logger(__name__)


async def bring_over(
    path: Path,
    clock: Clock,
    progress: Progress | None = None,
    *,
    inline: bool = False,
    moves: Sequence[RowMove] = MOVES,
) -> None:
    """Migrate a database; does nothing if no migration is due. The caller holds the data lock.

    A cancelled call ends within a moment; the next call continues from there.

    Args:
        progress: called with the progress, from a thread.
        inline: do the work on the caller's thread, which blocks it; for tests.

    Raises:
        StorageUnusable: one sentence says why, and what to do.
    """
    if not is_due(path, moves):
        return
    if inline:
        _bring_over(path, progress or unheard, clock.now_ms, moves=moves)
        return

    def tell(step: str, done: int, total: int) -> None:
        trio.from_thread.check_cancelled()
        if progress is not None:
            progress(step, done, total)

    await trio.to_thread.run_sync(partial(_bring_over, path, tell, clock.now_ms, moves=moves))


class UpgradeWatch:
    """The progress of a migration. Its thread writes and the loop reads; either is a single
    assignment or read, so no lock is needed."""

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
        """Log the progress every :data:`LOG_EVERY_S`, until cancelled."""
        while True:
            await trio.sleep(LOG_EVERY_S)
            now = self.now
            _log.info(
                "upgrade.progress", step=now.step, done=now.done, total=now.total, left_s=now.left_s
            )
