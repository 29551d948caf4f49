"""What the service does for its second machine: ships all that is written, or lets answers wait."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.features.standby.stored.shipping_status import ShippingStatus
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import StoppedEarly
from risala.engine.model.features import Task
from risala.engine.rules.trail.heads import Head
from risala.engine.services import EngineStart, Services

if TYPE_CHECKING:
    from risala.engine.features.standby.stored.piece_store import PieceStore
    from risala.engine.features.standby.stored.shipper import Shipper

AGAIN_S: Final = 1.0
"""Seconds until a PostgreSQL that does not answer is asked again, at the start."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SecondMachine:
    """What the service has of its second machine."""

    status: ShippingStatus
    shipper: Shipper | None = None
    """None: where answers wait, the journal itself has the copy made; or there is no copy."""


def second_machine(_: Services) -> SecondMachine:
    """The second machine of a service that ships nothing, and of a command that opens the engine
    alone."""
    return SecondMachine(ShippingStatus())


async def begin(start: EngineStart) -> None:
    """Let answers wait for the log from now on, if the settings say so, and return once it stands:
    it ends with the journal. Otherwise have ready what ships.

    Raises:
        StoppedEarly: a stop was ordered meanwhile.
        StorageUnusable: the settings name a PostgreSQL that cannot be used from here.
    """
    section = start.settings.standby
    if section.copy_kind is None:
        return
    # Imported here: few have a second machine.
    from risala.engine.features.standby.named_stores import pieces_of
    from risala.engine.features.standby.stored.shipper import Shipper

    store = pieces_of(section, start.settings.storage.data_dir)
    assert store is not None
    if section.copy_kind == "postgresql" and section.replicate == "before_answer":
        start.parts[second_machine] = await _with_log(start, store)
        return
    if section.copy_kind == "postgresql":
        await start.while_waiting(partial(_unmark, store))
    status = ShippingStatus()
    shipper = Shipper(
        start.journal,
        store,
        start.clock,
        section.every_s,
        standing=status,
        fenced=start.lease_lost,
    )
    start.parts[second_machine] = SecondMachine(status, shipper)


async def _with_log(start: EngineStart, store: PieceStore) -> SecondMachine:
    # Imported here: a service whose answers do not wait needs nothing of it.
    from risala.engine.features.standby.named_stores import pieces_of
    from risala.engine.features.standby.stored import awaited_log, wal

    section = start.settings.standby
    copies = pieces_of(section, start.settings.storage.data_dir)
    assert copies is not None
    # The system's own clock: the engine's is for the loop's thread.
    log_parts = start.journal.path, store, copies, SystemClock()
    awaited = awaited_log.AwaitedLog(
        *log_parts, answer_wait_s=section.answer_wait_s, every_s=section.every_s
    )
    await start.journal.commit(wal.manual)
    start.journal.await_log(awaited)
    token = trio.lowlevel.current_trio_token()

    def fenced(reason: str) -> None:
        token.run_sync_soon(start.lease_lost, reason)

    awaited.start(fenced)
    stand = partial(trio.to_thread.run_sync, awaited.wait_whole, abandon_on_cancel=True)
    await start.while_waiting(stand)
    if awaited.status().generation is None:
        raise StoppedEarly("The service was stopped before the standby's copy was complete.")
    start.log_stands(awaited)
    start.answers.wait_for(awaited)
    return SecondMachine(ShippingStatus(awaited))


async def _unmark(store: PieceStore) -> None:
    """An earlier run may have waited: a takeover must not rely on that any more."""
    logged: str | None = None
    while True:
        try:
            await trio.to_thread.run_sync(
                partial(store.mark_awaited, awaited=False), abandon_on_cancel=True
            )
        except OSError as error:
            if logged != str(error):
                logged = str(error)
                log.warning("standby.failing", reason=logged)
            await trio.sleep(AGAIN_S)
        else:
            return


def give_heads(settings: Settings, heads: Sequence[Head]) -> None:
    """:func:`risala.engine.features.standby.named_stores.give_heads`, where there is a copy.

    Raises:
        StorageUnusable: PostgreSQL is named, and its driver or its address is missing.
        OSError: the store refuses.
    """
    if settings.standby.copy_kind is not None:
        from risala.engine.features.standby import named_stores

        named_stores.give_heads(settings, heads)


def tasks(services: Services) -> tuple[Task, ...]:
    """What ships, beside the service."""
    shipper = services.part(second_machine).shipper
    return () if shipper is None else (("shipping", shipper.run, True),)
