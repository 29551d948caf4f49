"""Removes former server keys when nothing derived with them is valid any longer."""

from __future__ import annotations

from typing import Final

import structlog
import trio

from risala.engine.journal.store.server_key import ServerKeys
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageUnusable

log = structlog.get_logger(__name__)

EVERY_S: Final = 3600.0


async def keep_forgetting(keys: ServerKeys, clock: Clock) -> None:
    """Remove expired keys from their file, until cancelled."""
    while True:
        try:
            keys.forget_old(clock.now_ms())
        except StorageUnusable as error:  # they are invalid nevertheless
            log.warning("server_key.unforgotten", reason=str(error))
        await trio.sleep(EVERY_S)
