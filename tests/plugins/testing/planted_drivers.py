"""Twenty mistakes that authors of drivers make, one in each driver, and the check that catches it.

``bad_drivers.py`` proves each check; this list begins with the mistakes.
``docs/tutorials/write-a-driver.md`` says how many are caught.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

import trio
from sound_driver import Sound, SoundSuite

from risala.plugins.contract import (
    Accepted,
    Health,
    HealthState,
    NotStoredError,
    Receipt,
    ReceiptState,
    Unsent,
)

PLANTED: dict[str, tuple[str, str | None]] = {}
"""By suite: the mistake, and the check that catches it; None: no check does."""


def planted(check: str | None):
    """Make a suite of a driver."""

    def made(driver: type) -> type:
        name = f"Test{driver.__name__}"
        globals()[name] = type(name, (SoundSuite,), {"__module__": __name__, "driver": driver})
        PLANTED[name] = ((driver.__doc__ or "").strip(), check)
        return driver

    return made


# -- what reaches the carrier --------------------------------------------------------------------


@planted("test_each_segment_arrives_once")
class SubmitsTwice(Sound):
    """Each segment is submitted twice."""

    async def submit(self, segment):
        outcome = await super().submit(segment)
        if isinstance(outcome, Accepted):
            await super().submit(segment)
        return outcome


@planted("test_each_segment_arrives_once")
class AcceptsByItself(Sound):
    """`submit` answers `Accepted` before the carrier has the segment, and then loses it."""

    async def submit(self, segment):
        outcome = await super().submit(segment)
        self.carrier.got.clear()
        return outcome


@planted("test_each_segment_arrives_once")
class WritesQuestionMarks(Sound):
    """Letters beyond Latin 1 become question marks."""

    def as_sent(self, segment):
        text = segment.text.encode("latin-1", "replace").decode("latin-1")
        return replace(super().as_sent(segment), text=text)


@planted("test_parts_arrive")
class SendsEmptyParts(Sound):
    """Parts after the first are sent empty."""

    def as_sent(self, segment):
        sent = super().as_sent(segment)
        return replace(sent, text="") if segment.number > 1 else sent


@planted("test_parts_arrive")
class SwapsParts(Sound):
    """Part numbers are swapped."""

    def as_sent(self, segment):
        sent = super().as_sent(segment)
        return replace(sent, number=sent.total + 1 - sent.number) if sent.total else sent


@planted("test_parts_arrive")
class CountsFromNought(Sound):
    """Parts are counted from 0."""

    def as_sent(self, segment):
        sent = super().as_sent(segment)
        return replace(sent, number=sent.number - 1) if sent.total else sent


@planted("test_parts_arrive")
class HasOneReference(Sound):
    """All long messages have the same reference, so that phones mix their parts."""

    def as_sent(self, segment):
        sent = super().as_sent(segment)
        return replace(sent, reference=1) if sent.total else sent


@planted("test_parts_arrive")
class HasOneKey(Sound):
    """The idempotency key is the message's, so that the carrier drops all parts but the first."""

    def __init__(self, carrier):
        super().__init__(carrier)
        self.keys = {}

    async def submit(self, segment):
        if segment.message_id not in self.keys or not self.is_up:
            outcome = await super().submit(segment)
            if isinstance(outcome, Accepted):
                self.keys[segment.message_id] = outcome
            return outcome
        await trio.lowlevel.checkpoint()
        return self.keys[segment.message_id]


@planted("test_a_full_window_is_answered")
class SharesItsState(Sound):
    """Submits at once write into one variable, and the last one is sent for all."""

    async def submit(self, segment):
        self.current = segment
        await trio.sleep(0.001)
        return await super().submit(self.current)


@planted("test_the_expiry_arrives")
class TellsSeconds(Sound):
    """The expiry is sent in seconds, but the carrier reads milliseconds."""

    def as_sent(self, segment):
        return replace(super().as_sent(segment), expires_at_ms=segment.expires_at_ms // 1000)


# -- its link --------------------------------------------------------------------------------------


@planted("test_lets_the_loop_run")
class BlocksTheLoop(Sound):
    """Each submit blocks the loop for a second."""

    async def submit(self, segment):
        time.sleep(1)  # noqa: ASYNC251 -- the mistake
        return await super().submit(segment)


@planted("test_a_lost_link_is_connected_anew")
class WatchesNoLink(Sound):
    """A dead link is never noticed."""

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        task_status.started()
        self.context, self.is_up = context, True
        context.health(Health(HealthState.UP, "The carrier is there."))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.bring_receipts)
                nursery.start_soon(self.bring_texts)
                await trio.sleep_forever()
        finally:
            self.is_up = False


@planted("test_a_lost_link_is_connected_anew")
class SendsAllAgain(Sound):
    """Accepted segments are sent again over the new link."""

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.repeat)
            await super().run(context, task_status=task_status)

    async def repeat(self):
        while True:
            await trio.sleep(0.01)
            await self.carrier.cut.wait()
            self.carrier.got *= 2
            await trio.sleep(60)


@planted("test_submit_before_run_sends_nothing")
class SendsUnsentLater(Sound):
    """`submit` answers `Unsent` without a link, but sends the segment once the link is up."""

    async def submit(self, segment):
        outcome = await super().submit(segment)
        if isinstance(outcome, Unsent):
            self.carrier.got.append(self.as_sent(segment))
        return outcome


@planted("test_lets_its_cancellation_pass")
class SwallowsCancelled(Sound):
    """`run` catches `BaseException`, and with it its cancellation."""

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        with suppress(BaseException):
            await super().run(context, task_status=task_status)


# -- what it tells ---------------------------------------------------------------------------------


@planted("test_a_mute_carrier_is_uncertain")
class SaysUnsentForSilence(Sound):
    """A time-out becomes `Unsent`, so that the engine sends again what may have arrived."""

    async def submit(self, segment):
        return Unsent("TIMEOUT") if self.carrier.mute else await super().submit(segment)


@planted("test_a_delivery_is_a_delivery")
class MapsDeliveredWrongly(Sound):
    """The carrier's word for delivered is mapped to a failure."""

    async def bring_receipt(self, carrier_id):
        receipt = Receipt(carrier_id, ReceiptState.UNDELIVERABLE, "DELIVRD")
        await self.store(self.context.receipt, receipt)


@planted("test_a_receipt_that_was_not_stored_comes_again")
class AcknowledgesUnstored(Sound):
    """A receipt is acknowledged to the carrier though the engine could not store it."""

    async def bring_receipt(self, carrier_id):
        with suppress(NotStoredError):
            await self.context.receipt(Receipt(carrier_id, ReceiptState.DELIVERED, "DELIVRD"))


@planted("test_inbound_reaches_the_engine")
class BringsInboundTwice(Sound):
    """A message from a phone is handed over twice, without the carrier's id."""

    async def store(self, hand, what):
        await super().store(hand, what)
        if hasattr(what, "received_at_ms"):
            await super().store(hand, what)


@planted(None)
class ExchangesIds(Sound):
    """Two submits at once get each other's ids, so that receipts are about the other message."""

    waiting: ClassVar = None

    async def submit(self, segment):
        outcome = await super().submit(segment)
        if not isinstance(outcome, Accepted):
            return outcome
        if self.waiting is None:
            self.waiting = [outcome, trio.Event()]
            mine = self.waiting
            with trio.move_on_after(0.01):
                await mine[1].wait()
            self.waiting = None
            return mine[0]
        first, self.waiting[0] = self.waiting[0], outcome
        self.waiting[1].set()
        self.waiting = None
        return first
