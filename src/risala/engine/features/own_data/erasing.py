"""Erases data on owners' request: a number's data, or all of a deleted organization's.

Pending messages and sessions end first in the engine's usual ways, with refunds and events; then
rows are erased in small units, each followed by a pause, so that sends do not wait for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.own_data.exporting import Errands, Exporting
from risala.engine.features.own_data.records import Erased, Erasure, ErasureStep, following
from risala.engine.features.own_data.retention import (
    PAUSE_FACTOR,
    PAUSE_MIN_S,
    STORAGE_RETRY_S,
    Retention,
)
from risala.engine.features.own_data.stored.erasing import ErasureRepository
from risala.engine.features.request_log.service import request_log
from risala.engine.model.errors import Refusal
from risala.engine.model.features import Task
from risala.engine.services import Services
from risala.engine.verify.sessions import Withdraw

log = structlog.get_logger(__name__)

ENDED_AT_ONCE: Final = 20
"""Sessions or messages that one unit ends: each is a separate commit."""
LOOK_S: Final = 60.0
"""How often to check whether messages at a carrier have ended."""


async def go_on(services: Services, erasure_id: str) -> Erased:
    """Do its next small piece.

    Raises:
        NotFound: no erasure has this id.
        Unavailable: it could not be written.
    """
    erasures = services.repositories.part(ErasureRepository)
    erasure = erasures.find(erasure_id)
    if erasure.ended_at is None and erasure.step is ErasureStep.CODES:
        sessions = erasures.open_sessions(erasure, ENDED_AT_ONCE)
        ended = [await _ended(partial(services.sessions.ask, Withdraw(each))) for each in sessions]
        gone = {"verifications canceled": sum(ended)}
        return await _noted(erasures, erasure, sessions, gone)
    if erasure.ended_at is None and erasure.step is ErasureStep.PENDING:
        pending = erasures.pending(erasure, ENDED_AT_ONCE)
        ended = [await _ended(partial(services.recorder.cancel, each.id)) for each in pending]
        keys = [str(each.key) for each in pending]
        return await _noted(erasures, erasure, keys, {"canceled": sum(ended)})
    if erasure.step is ErasureStep.REST and erasure.last4 is None:
        # Only the number's last digits are in it.
        await services.part(request_log).forget(erasure.organization_id)
    return await erasures.take_out(erasure, services.recorder.clock.now_ms())


async def _ended(end: Callable[[], Awaitable[object]]) -> bool:
    """Whether it was ended; one that has left meanwhile, in whole or in part, is waited for."""
    with suppress(Refusal):
        await end()
        return True
    return False


async def _noted(
    erasures: ErasureRepository, erasure: Erasure, places: Sequence[str], gone: Mapping[str, int]
) -> Erased:
    """Store how far a step is.

    Args:
        places: of what the unit ended; fewer than it may end: the step is done.
    """
    if len(places) < ENDED_AT_ONCE:
        return await erasures.note(erasure, following(erasure.step), "", gone)
    return await erasures.note(erasure, erasure.step, places[-1], gone)


class Erasing:
    """The service that performs the noted erasures, until cancelled."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._items = services.set_aside.loop("erasures")

    async def run(self) -> None:
        """Perform all noted erasures; looks again when rung, and now and then."""
        while True:
            await retry_until_committed("erasing", self._pass, again_max_s=STORAGE_RETRY_S)
            await self._services.part(Errands).erasing.wait(trio.current_time() + LOOK_S)

    async def _pass(self) -> None:
        erasures = self._services.repositories.part(ErasureRepository)
        under_way = erasures.under_way(self._items.broken_row)
        for erasure in self._items.free(under_way, lambda each: each.id):
            with self._items.item(erasure.id):
                await self._erase(erasure.id)

    async def _erase(self, erasure_id: str) -> None:
        while True:
            began_s = trio.current_time()
            done = await go_on(self._services, erasure_id)
            if done.waits or done.erasure.ended_at is not None:
                break
            took_s = trio.current_time() - began_s
            await trio.sleep(max(PAUSE_MIN_S, PAUSE_FACTOR * took_s))
        if not done.waits:
            log.info("erasing.done", erasure=erasure_id, **done.erasure.gone)
            self._services.part(Errands).exporting.ring()  # older files must be removed


def tasks(services: Services) -> Sequence[Task]:
    inline = services.recorder.journal.is_on_loop
    return (
        ("erasing", Erasing(services).run, False),
        ("exporting", Exporting(services, inline=inline).run, False),
        ("retention", Retention(services).run, False),
    )
