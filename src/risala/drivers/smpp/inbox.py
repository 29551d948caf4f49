"""Inbound traffic of a carrier: receipts and people's messages, stored before they are answered.

The task that reads a link must not wait for the disk. So it hands receipts, which come by the
hundred, to the engine without waiting, and answers each once the engine has stored it; the rest it
puts into a bounded queue, which a few workers empty. When too many wait the carrier is asked to try
again later, and does. :mod:`risala.drivers.smpp.parts` joins messages that come in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import trio

from risala.drivers.smpp.copies import MessageCopies, Unanswered
from risala.drivers.smpp.link import Link
from risala.drivers.smpp.notable import Notable, reachable_phone
from risala.drivers.smpp.parts import SmppParts
from risala.drivers.smpp.protocol.pdu import AlertNotification, DataSm, DeliverSm, Pdu
from risala.drivers.smpp.protocol.receipt import IdForm, is_receipt, parse_receipt
from risala.drivers.smpp.protocol.submit import (
    DCS_UCS2,
    ESM_UDHI,
    DefaultAlphabet,
    decode_message,
)
from risala.drivers.smpp.receipt_watch import ReceiptWatch
from risala.plugins.contract import DriverContext, NotStoredError, Outcome, Receipt, Segment
from risala.sms.cause import Cause
from risala.sms.evident import InboundCoding
from risala.sms.receipt import ReceiptState

_QUEUE_MAX: Final = 1000
_WORKERS: Final = 8
"""Messages and late answers on their way to the disk at once: they share its syncs."""
_ALERTS_MAX: Final = 100
"""Alerts on their way into timelines. Further ones are dropped: nobody waits for them, and they
must not take the place of messages."""
_MESSAGES: Final = (DeliverSm, DataSm)


@dataclass(frozen=True, slots=True)
class _LateOutcome:
    segment: Segment
    outcome: Outcome


def as_it_is(receipt: Receipt) -> Receipt:
    """For carriers whose receipts need no further check."""
    return receipt


class SmppInbox:
    """Takes what the links read, and hands it to the engine.

    Args:
        look_at: called with each receipt; returns it in the form to use.
        watch: counts the receipts that end nothing.
    """

    def __init__(
        self,
        context: DriverContext,
        *,
        id_form: IdForm,
        causes: Mapping[str, Cause] | None = None,
        states: Mapping[str, ReceiptState] | None = None,
        default_alphabet: DefaultAlphabet,
        coding: InboundCoding = InboundCoding.AUTO,
        now_ms: Callable[[], int],
        parts_timeout_s: float = 3600.0,
        look_at: Callable[[Receipt], Receipt] = as_it_is,
        watch: ReceiptWatch | None = None,
    ) -> None:
        self._context = context
        self._id_form = id_form
        self._causes = causes
        self._states = states
        self._coding = coding
        self._watch = watch or ReceiptWatch(context.trace)
        self._look_at = look_at
        self._notable = Notable()
        self._copies = MessageCopies(trio.current_time)
        self._parts = SmppParts(
            context, parts_timeout_s, default_alphabet, now_ms, coding, self._notable.of_reading
        )
        self._put, self._take = trio.open_memory_channel[Unanswered | _LateOutcome](_QUEUE_MAX)
        self._put_alert, self._take_alert = trio.open_memory_channel[str](_ALERTS_MAX)

    async def run(self) -> None:
        """Serve until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._parts.run)
            nursery.start_soon(self._tell_reachable)
            for _ in range(_WORKERS):
                nursery.start_soon(self._work)

    def deliver(self, link: Link, request: Pdu) -> None:
        """Take a request of the carrier, or refuse it at once."""
        if isinstance(request, _MESSAGES):
            if is_receipt(request, self._coding):
                self._receipt(Unanswered(link, request))
            elif (delivery := self._copies.first(link, request)) is not None:
                self._put_by(delivery)
        elif isinstance(request, AlertNotification):
            self._alert(request)
        # Alerts and outbinds need no answer; nothing else may come to an ESME.

    def _alert(self, alert: AlertNotification) -> None:
        self._trace(self._notable.of_alert(alert, trio.current_time()))
        number = reachable_phone(alert)
        if number is not None:
            with suppress(trio.WouldBlock):
                self._put_alert.send_nowait(number)

    async def _tell_reachable(self) -> None:
        async for number in self._take_alert:
            await self._context.reachable(number)

    def _put_by(self, delivery: Unanswered) -> None:
        try:
            self._put.send_nowait(delivery)
        except trio.WouldBlock:
            delivery.settle(False)

    def late(self, segment: Segment, outcome: Outcome) -> None:
        try:
            self._put.send_nowait(_LateOutcome(segment, outcome))
        except trio.WouldBlock:
            self._context.trace("A late answer was dropped because there were too many at once.")

    def _trace(self, line: str | None) -> None:
        if line is not None:
            self._context.trace(line)

    async def _work(self) -> None:
        async for job in self._take:
            match job:
                case _LateOutcome(segment=segment, outcome=outcome):
                    await self._context.late_outcome(segment, outcome)
                case Unanswered():
                    await self._parts.take(job)

    def _receipt(self, delivery: Unanswered) -> None:
        request = delivery.request
        receipt = parse_receipt(request, self._id_form, self._causes, self._states, self._coding)
        if request.data_coding == DCS_UCS2 or request.esm_class & ESM_UDHI:
            note = decode_message(request, DefaultAlphabet.LATIN1, self._coding).note
            self._trace(self._notable.of_reading(note, "receipt"))
        if receipt is None:
            # Answered as good: a receipt that is refused would come again and again, and never name
            # a message.
            self._watch.dropped(trio.current_time())
            delivery.answer()
            return
        self._watch.took(receipt, trio.current_time())
        if request.tlvs:
            self._trace(self._notable.of_receipt(request, receipt.carrier_id))
        try:
            self._context.receipt_soon(self._look_at(receipt), delivery.settle)
        except NotStoredError:
            delivery.settle(False)
