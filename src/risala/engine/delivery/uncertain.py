"""Uncertain segments whose wait is over: what the carrier can do about them before its policy does.

A carrier may be asked (``capabilities.query``) if the segment's id is known: an uncertain segment
has one if the driver chose it; with SMPP the id is in the answer that never came, but a receipt may
bring it. A carrier that surely does not have it, or where the same id is harmless, gets the same
attempt again. Whatever is tried, the message's next time is written down first: a crash loses
nothing, and nothing is handed over twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from risala.config.model import CarrierSection, OnUncertain
from risala.engine.delivery.queries import ask, record
from risala.engine.delivery.scheduler import RepeatSubmit
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.messages.held import ReceiptRepository
from risala.engine.model.clock import Clock
from risala.engine.model.records.attempts import Repeat, UncertainPart
from risala.engine.rules.repeats import HANDED_S, Resolution, given_up
from risala.plugins.contract import NotTaken, Receipt

BATCH: Final = 64
"""Messages that are looked at together."""


def policy_of(carrier: CarrierSection | None, kind: str) -> OnUncertain:
    """What the settings say about uncertain messages of a kind; the default, if the carrier is no
    longer there."""
    section = carrier or CarrierSection(name="unknown", driver="unknown")
    return section.on_uncertain_code if kind == "code" else section.on_uncertain_message


class UncertainSegments:
    """
    Args:
        submits_max: of a segment with an unknown outcome; then it is not submitted again.
        hand_over: gives a further submit to the scheduler.
    """

    def __init__(
        self,
        lanes: Mapping[str, CarrierWorker],
        receipts: ReceiptRepository,
        clock: Clock,
        submits_max: int,
        hand_over: Callable[[RepeatSubmit], Awaitable[object]],
    ) -> None:
        self._lanes = lanes
        self._receipts = receipts
        self._clock = clock
        self._submits_max = submits_max
        self._hand_over = hand_over

    async def ask_or_repeat(self, now_ms: int) -> None:
        """Ask about those whose wait is over by then, or let them be submitted again.

        Raises:
            Unavailable: it could not be written down.
        """
        for part in self._receipts.uncertain_due(now_ms, BATCH):
            lane = self._lanes.get(part.carrier)
            # Never another attempt while a carrier that knows ids may have this one.
            if lane is not None and lane.manners.same_id_is_safe and part.action != "fail":
                if not await self._repeat(lane, part, is_not_taken=False):
                    await self._resolve(part, given_up(policy_of(lane.carrier, part.kind)))
                continue
            if part.action is None:
                await self._leave_to_policy(part, lane)
            if lane is not None and part.carrier_id and lane.driver.capabilities.query:
                await self._ask(lane, part, part.carrier_id)

    async def _ask(self, lane: CarrierWorker, part: UncertainPart, carrier_id: str) -> None:
        answer = await ask(lane, carrier_id, part.sender)
        if isinstance(answer, Receipt):  # the carrier knows it: so it was accepted
            await record(lane, answer)
        elif isinstance(answer, NotTaken) and lane.manners.remembers_s:
            settled_at = lane.manners.settled_at(part.since)
            if self._clock.now_ms() < settled_at:
                await self._receipts.postpone(part.key, settled_at, None)
            else:
                await self._repeat(lane, part, is_not_taken=True)

    async def _repeat(
        self, lane: CarrierWorker, part: UncertainPart, *, is_not_taken: bool
    ) -> bool:
        """Hand a further submit over, now or as soon as it can be; False: there must be none."""
        if part.opened_at is None or part.submits >= self._submits_max:
            return False
        now_ms = self._clock.now_ms()
        until_ms = lane.manners.repeat_until(part.opened_at, part.valid_until)
        if now_ms > until_ms:
            return False
        handed_until_ms = now_ms + round(HANDED_S * 1000)
        await self._receipts.postpone(part.key, handed_until_ms, None)
        if lane.may_repeat(part.message_id):
            repeat = Repeat(until_ms, part.since, is_not_taken, part.opened_at)
            await self._hand_over(RepeatSubmit(part.carrier, part.message_id, part.number, repeat))
        return True

    async def _leave_to_policy(self, part: UncertainPart, lane: CarrierWorker | None) -> None:
        """Ask the part's carrier now; if it does not say, the policy decides at its usual time. A
        carrier that is no longer there may have it: then it goes to no other one."""
        policy = policy_of(None if lane is None else lane.carrier, part.kind)
        if lane is None:
            await self._resolve(part, given_up(policy))
        else:
            await self._resolve(part, Resolution(policy.after_s, policy.action, policy.action))

    async def _resolve(self, part: UncertainPart, how: Resolution) -> None:
        until_ms = part.since + round(how.after_s * 1000)
        await self._receipts.postpone(part.key, until_ms, how.action)
