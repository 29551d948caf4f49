"""Unused data of a carrier: its own parameters in receipts, and alerts. Pure.

For the operator, in the trace of the link, which is short: each new value once, up to a limit.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from risala.drivers.smpp.protocol.pdu import AlertNotification, DataSm, DeliverSm
from risala.drivers.smpp.protocol.submit import plain_text, readable_address
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
from risala.sms.values import is_round_count

VALUES_MAX: Final = 50
"""Different values that are shown, half of the lines that a trace holds: some parameters have
another value in each receipt."""
ALERTS_MAX: Final = 10
"""Alerts that are shown in each minute."""
_SHOWN_OCTETS_MAX: Final = 20
"""Of a longer value only the length is shown: it may be the message's text."""
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
        told = ", ".join(f"{name_of(tlv.tag)} {_value(tlv, text)}" for tlv in new)
        last = " Further ones are not shown." if len(self._shown) >= VALUES_MAX else ""
        return f"The receipt of {carrier_id} says more: {told}.{last}"

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
