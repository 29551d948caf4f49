"""Stores the counts of each minute."""

from __future__ import annotations

from typing import Final

import structlog
import trio

from risala.engine.journal.recorder import Recorder
from risala.engine.model.errors import Unavailable

log = structlog.get_logger(__name__)

EVERY_S: Final = 60.0


async def keep_writing(recorder: Recorder) -> None:
    """Store the counts, until cancelled."""
    while True:
        await trio.sleep(EVERY_S)
        await flush(recorder)


async def flush(recorder: Recorder) -> None:
    """Store the counts so far; what the disk refuses is written with the next."""
    try:
        await recorder.write_minutes()
    except Unavailable as error:
        log.warning("minutes.storage", reason=str(error))
