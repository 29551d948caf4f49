"""The log that answers wait for, if the settings say so."""

from __future__ import annotations

from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.journal.shipping import wal
from risala.engine.journal.shipping.piece_store import PieceStore
from risala.engine.model.clock import SystemClock
from risala.engine.upkeep.standby.named_stores import pieces_of
from risala.engine.wiring.foundation import Foundation

AGAIN_S: Final = 1.0
"""Seconds until a PostgreSQL that does not answer is asked again, at the start."""

log = structlog.get_logger(__name__)


class StoppedEarly(Exception):
    """A stop was ordered before the copy on the other machine stood."""

    def __init__(self) -> None:
        super().__init__("The service was stopped before the standby's copy was complete.")


async def begin_log(core: Foundation) -> None:
    """Let answers wait for the log from now on, if the settings say so, and return once it stands.
    It ends with the journal.

    Raises:
        StoppedEarly: a stop was ordered meanwhile.
        StorageUnusable: the settings name a PostgreSQL that cannot be used from here.
    """
    section, data_dir = core.settings.standby, core.settings.storage.data_dir
    store = pieces_of(section, data_dir) if section.copy_kind == "postgresql" else None
    if store is None:
        return
    if section.replicate == "async":
        await core.seams.while_waiting(partial(_unmark, store))
        return
    # Imported here: a service whose answers do not wait needs nothing of it.
    from risala.engine.journal.shipping.awaited_log import AwaitedLog

    copies = pieces_of(section, data_dir)
    assert copies is not None
    # The system's own clock: the engine's is for the loop's thread.
    given = core.journal.path, store, copies, SystemClock()
    awaited = AwaitedLog(*given, answer_wait_s=section.answer_wait_s, every_s=section.every_s)
    await core.journal.commit(wal.manual)
    core.journal.await_log(awaited)
    token = trio.lowlevel.current_trio_token()

    def fenced(reason: str) -> None:
        token.run_sync_soon(core.seams.lease_lost, reason)

    awaited.start(fenced)
    stand = partial(trio.to_thread.run_sync, awaited.wait_whole, abandon_on_cancel=True)
    await core.seams.while_waiting(stand)
    if awaited.status().generation is None:
        raise StoppedEarly
    core.seams.log_stands(awaited)
    core.answers.wait_for(awaited)
    core.shipping.follow(awaited)


async def _unmark(store: PieceStore) -> None:
    """An earlier run may have waited: a takeover must not rely on that any more."""
    said: str | None = None
    while True:
        try:
            await trio.to_thread.run_sync(
                partial(store.mark_awaited, awaited=False), abandon_on_cancel=True
            )
        except OSError as error:
            if said != str(error):
                said = str(error)
                log.warning("standby.failing", reason=said)
            await trio.sleep(AGAIN_S)
        else:
            return
