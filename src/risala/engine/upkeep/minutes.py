"""Writes down each minute what was counted in it: :mod:`risala.engine.journal.minutes`."""

from __future__ import annotations

from typing import Final

import structlog
import trio

from risala.engine.journal import minutes
from risala.engine.journal.recorder import Recorder
from risala.engine.model.errors import Unavailable

log = structlog.get_logger(__name__)

EVERY_S: Final = 60.0


async def keep_writing(recorder: Recorder) -> None:
    """Write the counts down, for life."""
    while True:
        await trio.sleep(EVERY_S)
        await flush(recorder)


async def flush(recorder: Recorder) -> None:
    """Write down what was counted so far; what the disk refuses is written with the next."""
    counts, failures = recorder.minutes.take()
    if not counts:
        return
    now_ms = recorder.clock.now_ms()
    try:
        await recorder.journal.commit(lambda conn: minutes.add(conn, counts, failures, now_ms))
    except Unavailable as error:
        recorder.minutes.put_back(counts, failures)
        log.warning("minutes.storage", reason=str(error))
