"""Inbound traffic of a carrier: receipts and people's messages, stored before they are answered.

The task that reads a link must not wait for the disk. So it hands receipts, which come by the
hundred, to the engine without waiting, and answers each once the engine has stored it; the rest it
puts into a bounded queue, which a few workers empty. When too many wait the carrier is asked to try
again later, and does. :mod:`risala.drivers.smpp.parts` joins messages that come in parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.drivers.smpp.copies import MessageCopies, Unanswered
from risala.drivers.smpp.link import Link
from risala.drivers.smpp.parts import SmppParts
from risala.drivers.smpp.protocol.pdu import AlertNotification, DataSm, DeliverSm, Pdu
from risala.drivers.smpp.protocol.receipt import IdForm, is_receipt, parse_receipt
from risala.drivers.smpp.protocol.submit import (
    DCS_UCS2,
    ESM_UDHI,
    DefaultAlphabet,
    decode_message,
    plain_text,
    readable_address,
)
from risala.drivers.smpp.protocol.tlv import (
    MESSAGE_PAYLOAD,
    MESSAGE_STATE,
    MS_AVAILABILITY_STATUS,
    NETWORK_ERROR_CODE,
    RECEIPTED_MESSAGE_ID,
    SAR_MSG_REF_NUM,
    SAR_SEGMENT_SEQNUM,
    SAR_TOTAL_SEGMENTS,
    USER_MESSAGE_REFERENCE,
    Tlv,
    find,
)
from risala.drivers.smpp.protocol.tlv_names import PARAMETERS, TlvKind, name_of
from risala.drivers.smpp.watches import ReceiptWatch
from risala.plugins.contract import DriverContext, NotStoredError, Outcome, Receipt, Segment
from risala.sms.cause import Cause
from risala.sms.evident import InboundCoding
from risala.sms.receipt import ReceiptState
from risala.sms.values import is_round_count

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


# Unused data of a carrier: its own parameters in receipts, and alerts. Pure.
#
# For the operator, in the trace of the link, which is short: each new value once, up to a limit.

VALUES_MAX: Final = 50
"""Different values that are shown, half of the lines that a trace holds: some parameters have
another value in each receipt."""
ALERTS_MAX: Final = 10
"""Alerts that are shown in each minute."""
_SHOWN_OCTETS_MAX: Final = 20
"""Octets of a value that are shown; of a longer one only the length, as it may be the message's
text."""
_ALERT_SPAN_S: Final = 60.0
_READ: Final = frozenset(
    {
        *(RECEIPTED_MESSAGE_ID, MESSAGE_STATE, NETWORK_ERROR_CODE, USER_MESSAGE_REFERENCE),
        *(MESSAGE_PAYLOAD, SAR_MSG_REF_NUM, SAR_TOTAL_SEGMENTS, SAR_SEGMENT_SEQNUM),
    }
)
_AVAILABLE: Final = 0
_AVAILABILITY: Final = {
    _AVAILABLE: "can be reached again",
    1: "may not receive messages",
    2: "cannot be reached",
}
"""Words for the values of ``ms_availability_status`` (SMPP 3.4 §5.3.2.30)."""


class Notable:
    """The parameters and alerts of one carrier that were already shown."""

    def __init__(self) -> None:
        self._shown: set[Tlv] = set()
        self._readings: Counter[str] = Counter()
        self._alerts = 0
        self._alerts_since_s = 0.0

    def of_receipt(self, pdu: DeliverSm | DataSm, carrier_id: str) -> str | None:
        """A line for the trace if a receipt has parameters with new values; else None."""
        new = [tlv for tlv in pdu.tlvs if tlv.tag not in _READ and tlv not in self._shown]
        new = new[: VALUES_MAX - len(self._shown)]
        if not new:
            return None
        self._shown.update(new)
        text = plain_text(pdu)
        values = ", ".join(f"{name_of(tlv.tag)} {_value(tlv, text)}" for tlv in new)
        last = " Further ones are not shown." if len(self._shown) >= VALUES_MAX else ""
        return f"The receipt of {carrier_id} says more: {values}.{last}"

    def of_reading(self, note: str, of: str) -> str | None:
        """A line for the trace about a text that was not read as declared, the first, tenth,
        hundredth time and so on; else None.

        Args:
            note: what was declared and what was believed; empty if these agree.
            of: ``receipt`` or ``text``.
        """
        if not note:
            return None
        key = f"{of}: {note}"
        self._readings[key] += 1
        count = self._readings[key]
        return f"Not as declared, {count} so far: {key}." if is_round_count(count) else None

    def of_alert(self, alert: AlertNotification, now_s: float) -> str | None:
        """A line for the trace about an ``alert_notification`` (SMPP 3.4 §4.12); None after too
        many in the last minute."""
        if now_s - self._alerts_since_s >= _ALERT_SPAN_S:
            self._alerts, self._alerts_since_s = 0, now_s
        self._alerts += 1
        if self._alerts > ALERTS_MAX:
            return None
        state = _AVAILABILITY.get(_availability(alert), "has an unknown state")
        who = readable_address(alert.source_addr_ton, alert.source_addr)
        last = " Further ones are not shown for a minute." if self._alerts == ALERTS_MAX else ""
        return f"alert_notification: {who} {state}.{last}"


def reachable_phone(alert: AlertNotification) -> str | None:
    """The number of a phone that can be reached again, as the carrier writes it; None for other
    contents of an ``alert_notification``."""
    if _availability(alert) != _AVAILABLE or not alert.source_addr:
        return None
    return readable_address(alert.source_addr_ton, alert.source_addr)


def _availability(alert: AlertNotification) -> int:
    """By default the phone can be reached: that is the purpose of an alert."""
    status = find(alert.tlvs, MS_AVAILABILITY_STATUS)
    return status.number if status else _AVAILABLE


def _value(tlv: Tlv, text: str) -> str:
    octets = tlv.value
    row = PARAMETERS.get(tlv.tag)
    if row is not None and row.kind is TlvKind.INTEGER and len(octets) <= row.octets_max:
        return str(tlv.number)
    words = octets.rstrip(b"\0").decode("latin-1")
    # A value that may be a text, or a part of the message's text that the receipt repeats, is not
    # shown.
    if len(octets) > _SHOWN_OCTETS_MAX or " " in words or (words and words in _quoted_text(text)):
        return f"({len(octets)} octets)"
    return f'"{words}"' if words.isascii() and words.isprintable() else f"0x{octets.hex()}"


def _quoted_text(text: str) -> str:
    """The text after ``text:`` in a receipt: the beginning of the message."""
    at = text.lower().find("text:")
    return text[at + len("text:") :] if at >= 0 else ""
