"""Asks carriers what became of segments without a receipt.

Only carriers whose driver can be asked (``capabilities.query``), and only segments whose id at the
carrier is known.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

import structlog
import trio

from risala.engine.delivery.worker.awaited import ASK_AFTER_S, WAITING_MAX, AwaitedReceipt
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.repositories import Repositories
from risala.engine.model.errors import Unavailable
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.records.attempts import Arrival
from risala.plugins.contract import NotTaken, Receipt

log = structlog.get_logger(__name__)

RECALLED_MESSAGES_S: Final = 2 * ASK_AFTER_S[-1]
"""After a restart, only segments of messages younger than this are asked for."""
RECALL_ROWS: Final = 500
"""Rows read together for that: a millisecond's worth."""


class Queries:
    """The questions of one worker."""

    def __init__(self, lane: CarrierWorker, repositories: Repositories) -> None:
        self._lane = lane
        self._queue = repositories.queue
        self._receipts = repositories.receipts

    async def run(self) -> None:
        """Ask when it is time, one after another, until cancelled."""
        await self._recall()
        while True:
            for step, awaited in self._lane.awaited.due():
                await self._ask(step, awaited)
            await self._lane.awaited.wait()

    async def _recall(self) -> None:
        """The segments that were accepted before this start and have no final receipt yet."""
        now_ms, now_s = self._lane.recorder.clock.now_ms(), trio.current_time()
        by_step = tuple(list[AwaitedReceipt]() for _ in ASK_AFTER_S)
        after = (now_ms - round(RECALLED_MESSAGES_S * 1000)) << KEY_COUNTER_BITS
        while (page := self._receipts.accepted_since(after, RECALL_ROWS)).last is not None:
            for part in page.parts:
                mine = part.carrier == self._lane.name
                if not mine or not part.carrier_id or part.changed_at > now_ms:
                    continue
                age_s = (now_ms - part.changed_at) / 1000
                step = bisect_right(ASK_AFTER_S, age_s)
                if step < len(ASK_AFTER_S) and len(by_step[step]) < WAITING_MAX:
                    due_s = now_s + ASK_AFTER_S[step] - age_s
                    by_step[step].append(
                        AwaitedReceipt(due_s, part.message_id, part.number, part.carrier_id)
                    )
            after = page.last
            await trio.lowlevel.checkpoint()
        self._lane.awaited.put_first(by_step)

    async def _ask(self, step: int, question: AwaitedReceipt) -> None:
        if not self._is_open(question):
            return
        row = self._queue.message(question.message_id)
        if row is None:
            return
        receipt = await ask(self._lane, question.carrier_id, row.sender)
        if isinstance(receipt, Receipt):
            await record(self._lane, receipt)
            if receipt.state.is_final:
                return
        if step + 1 < len(ASK_AFTER_S):
            self._lane.awaited.put(
                step + 1, question.message_id, question.number, question.carrier_id
            )

    def _is_open(self, question: AwaitedReceipt) -> bool:
        """True if it still has no final receipt and belongs to the attempt that was asked about."""
        return self._receipts.is_awaited(question.message_id, question.number, question.carrier_id)


async def ask(lane: CarrierWorker, carrier_id: str, sender: str) -> Receipt | NotTaken | None:
    """What the carrier reports for this id; None if it reports nothing."""
    try:
        receipt: object = await lane.question(lambda: lane.driver.query(carrier_id, sender=sender))
    except Exception:  # a driver's bug must not end the caller
        log.exception("driver.query_failed", carrier=lane.name)
        return None
    if receipt is None or isinstance(receipt, Receipt | NotTaken):
        return receipt
    log.error("driver.wrong_receipt", carrier=lane.name, type=type(receipt).__name__)
    return None


async def record(lane: CarrierWorker, receipt: Receipt) -> None:
    """Use a carrier's report; if the disk does not take it, it is asked for again."""
    try:
        await lane.scribe.received(Arrival(lane.name, receipt, lane.recorder.stamp()))
    except Unavailable as error:
        log.warning("query.storage", carrier=lane.name, reason=str(error))
