"""Watches deadlines: ends of validity, uncertain messages to resolve, receipts to forget.

One task for all messages: the deadlines are an index in the journal; memory has only the nearest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
import trio

from risala.config.model import DeliverySection
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop, concerns_all
from risala.engine.delivery.matching_again import match_ending
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.repositories import Repositories

log = structlog.get_logger(__name__)

FORGET_MS: Final = 60_000
"""Receipts that match nothing are reported at most this long after their time is over."""
ALONE_MAX: Final = 100
"""Messages that are settled each by itself, at a time: only while one of them breaks."""
ASK_S: Final = 10.0
"""How long carriers may be asked about uncertain messages before their policy decides."""


class DeadlineWatch:
    """``ask`` asks what became of the uncertain messages whose wait ends at a time, in UTC epoch
    milliseconds."""

    def __init__(
        self,
        recorder: Recorder,
        repositories: Repositories,
        next_look: Alarm,
        ask: Callable[[int], Awaitable[None]],
        settings: DeliverySection,
        items: ItemLoop,
    ) -> None:
        """
        Args:
            items: where a message that breaks is set aside, by its number.
        """
        self._items = items
        self._recorder = recorder
        self._queue = repositories.queue
        self._receipts = repositories.receipts
        self._next_look = next_look
        self._ask = ask
        self._receipts_held_ms = round(settings.receipts_held_s * 1000)
        self._submits_max = settings.uncertain_submits_max
        self._forgot_at_ms = 0

    async def run(self) -> None:
        """Settle what is due, until cancelled."""
        while True:
            await retry_until_committed("keeper", self._settle)
            await self._next_look.wait(self._next_deadline())

    async def _settle(self) -> None:
        while self._is_due():
            with trio.move_on_after(ASK_S):
                await self._ask(self._recorder.clock.now_ms())
            await self._settle_due()
        now_ms = self._recorder.clock.now_ms()
        if now_ms - self._forgot_at_ms >= min(FORGET_MS, self._receipts_held_ms):
            await self._forget_receipts(now_ms)
            self._forgot_at_ms = now_ms

    async def _settle_due(self) -> None:
        """Settle a batch. If one message breaks it, each by itself."""
        try:
            if not self._items:
                await self._recorder.settle_deadlines(self._submits_max)
                return
        except Exception as fault:
            if concerns_all(fault):
                raise
        for key in self._items.free(self._due(), int):
            with self._items.item(key):
                await self._recorder.settle_deadlines(self._submits_max, key)

    def _due(self) -> list[int]:
        return self._queue.due_keys(self._recorder.clock.now_ms(), ALONE_MAX + len(self._items))

    def _is_due(self) -> bool:
        if self._items:
            return bool(self._items.free(self._due(), int))
        at_ms = self._queue.next_deadline()
        return at_ms is not None and at_ms <= self._recorder.clock.now_ms()

    def _next_deadline(self) -> int | None:
        after_ms = self._recorder.clock.now_ms() if self._items else 0
        return self._queue.next_deadline(after_ms)

    async def _forget_receipts(self, now_ms: int) -> None:
        before_ms = now_ms - self._receipts_held_ms
        await match_ending(self._recorder, self._receipts, before_ms)
        given_up = await self._receipts.forget(before_ms, now_ms)
        latest = {(one.carrier, one.why): one.carrier_id for one in given_up}
        for (carrier, why), count in Counter((one.carrier, one.why) for one in given_up).items():
            example = latest[carrier, why]
            log.warning("receipts.unmatched", carrier=carrier, why=why, count=count, id=example)
