"""Matches status reports to sends (3GPP TS 23.040 §9.2.3.6, §9.2.3.15). Pure.

A reference is one octet and wraps, and some modems always write 0 in ``+CMGS:`` while the report
has the true one. So a report is matched to a send by reference, recipient and time together. The
carrier_id that the engine keeps, ``reference-recipient-hour``, can be computed from a report alone:
so the engine matches a report that comes after a restart, when the send is not in memory.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.at.causes import cause_of_status
from risala.drivers.modem.tpdu.pdu import StatusReport
from risala.sms.message import Segment
from risala.sms.receipt import Receipt, ReceiptState

SENDS_MAX: Final = 4096
"""Sends that are remembered; at one every 5 s that is most of a day."""
_REPORTS_MAX: Final = 1024
"""Reports kept in memory to recognise repeated ones."""
_LOCAL_DIGITS: Final = 8
"""Digits at the end of a number by which recipients are compared: networks write them with and
without the country code."""
_CLOCKS_AGREE_MS: Final = 120_000
_SAME_HOUR_MAX: Final = 3
"""Sends with one reference to one number in one hour that are distinguished after a restart."""

_FINAL_STATES: Final = {
    0x42: ReceiptState.REJECTED,
    0x46: ReceiptState.EXPIRED,
    0x47: ReceiptState.DELETED,
    0x48: ReceiptState.DELETED,
}


def state_of(status: int) -> ReceiptState:
    """The receipt's state by TP-ST (23.040 §9.2.3.15).

    0x00 to 0x1F are done, 0x20 to 0x3F still tried, 0x40 to 0x7F given up; the rest is reserved.
    """
    if status < 0x20:
        return ReceiptState.DELIVERED
    if status < 0x40 or status > 0x7F:
        return ReceiptState.ENROUTE  # for reserved values too: a clearer report may follow
    return _FINAL_STATES.get(status, ReceiptState.UNDELIVERABLE)


@dataclass(slots=True)
class Sent:
    """One send whose report may come."""

    carrier_id: str
    reference: int | None
    """TP-MR of the send; None if unknown, because the send is uncertain or the answer was
    damaged."""
    local: str
    at_ms: int
    uncertain: Segment | None = None
    """The segment, while it is unknown whether it left."""
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    receipt: Receipt
    sent: Sent | None
    """The send of the report; None if no such send is in memory."""


class SentLog:
    """The sends, and the results from their reports."""

    def __init__(self) -> None:
        self._sends: deque[Sent] = deque(maxlen=SENDS_MAX)
        self._reports: dict[tuple[object, ...], Sent] = {}

    def accepted(self, reference: int | None, recipient: str, now_ms: int) -> str:
        """Remember a send that the network took; its carrier_id, which no remembered send has."""
        reference = None if reference is None or not 0 <= reference <= 255 else reference
        local = _local(recipient)
        base = carrier_id(reference, local, now_ms)
        number = sum(sent.carrier_id.startswith(base) for sent in self._sends) + 1
        name = base if number == 1 else f"{base}.{number}"
        self._sends.append(Sent(name, reference, local, now_ms))
        return name

    def uncertain(self, segment: Segment, now_ms: int) -> str:
        """Remember a send that may or may not have left; returns its carrier_id. A report would
        prove that it left."""
        name = self.accepted(None, segment.recipient, now_ms)
        assert self._sends[-1].carrier_id == name
        self._sends[-1].uncertain = segment
        return name

    def resolve(self, reference: int | None) -> Sent | None:
        """The newest uncertain send, whose answer with its reference came after all; None if no
        send is uncertain."""
        for sent in reversed(self._sends):
            if sent.uncertain is not None:
                self._sends.remove(sent)
                self.accepted(reference, sent.local, sent.at_ms)
                self._sends[-1].uncertain = sent.uncertain
                return self._sends[-1]
        return None

    def match(self, report: StatusReport, now_ms: int) -> Match:
        """The receipt for a report, and its send. A repeated report gives the same receipt
        again."""
        state = state_of(report.status)
        key = (report.reference, report.recipient.text, report.sent_at, report.status)
        sent = self._reports.get(key) or self._find(report)
        if sent is None:
            first, *others = _candidates(report, now_ms)
            return Match(_receipt(first, report, state, tuple(others)), None)
        sent.is_done = sent.is_done or state.is_final
        self._reports[key] = sent
        if len(self._reports) > _REPORTS_MAX:
            del self._reports[next(iter(self._reports))]
        return Match(_receipt(sent.carrier_id, report, state, ()), sent)

    def _find(self, report: StatusReport) -> Sent | None:
        local = _local(report.recipient.text)
        open_ones = [it for it in self._sends if it.local == local and not it.is_done]
        exact = [it for it in open_ones if it.reference == report.reference]
        # Sends of modems that always write 0, and those whose answer had no reference.
        vague = [it for it in open_ones if not it.reference]
        candidates = exact or vague
        if not candidates or report.sent_at is None:
            return candidates[0] if candidates else None
        sent_ms = report.sent_at.timestamp() * 1000
        nearest = min(reversed(candidates), key=lambda it: abs(it.at_ms - sent_ms))
        if (report.reference and exact) or abs(nearest.at_ms - sent_ms) <= _CLOCKS_AGREE_MS:
            return nearest
        # Times do not decide, since the network's clock differs from ours; reports mostly come in
        # the order of their sends, so it is the oldest.
        return candidates[0]


def carrier_id(reference: int | None, local: str, at_ms: int) -> str:
    """``17-36123456-26112014``: reference, the number's last digits, hour in UTC."""
    hour = datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%y%m%d%H")
    return f"{'x' if reference is None else reference}-{local}-{hour}"


def _candidates(report: StatusReport, now_ms: int) -> list[str]:
    """The possible carrier_ids of the send: with the hour of the report's time stamp, and of our
    own clock, in case the two clocks differ."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    around = [now]
    if report.sent_at is not None:
        around.insert(0, report.sent_at)
    hours = [moment + timedelta(hours=shift) for moment in around for shift in (0, -1, 1)]
    local = _local(report.recipient.text)
    times = [int(at.timestamp() * 1000) for at in hours]
    bases = [carrier_id(report.reference, local, at_ms) for at_ms in times]
    # The reference was 0 if the modem never reports the true one, and None if the send's answer
    # never came.
    bases += [carrier_id(vague, local, at_ms) for at_ms in times for vague in (0, None)]
    numbers = range(2, _SAME_HOUR_MAX + 1)
    numbered = [f"{base}.{number}" for number in numbers for base in bases[:1]]
    return list(dict.fromkeys(bases + numbered))


def _local(number: str) -> str:
    return number.removeprefix("+")[-_LOCAL_DIGITS:]


def _receipt(
    name: str, report: StatusReport, state: ReceiptState, other: tuple[str, ...]
) -> Receipt:
    return Receipt(
        carrier_id=name,
        state=state,
        raw=f"TP-ST {report.status:02X}",
        cause=cause_of_status(report.status),
        also_known_as=other,
        recipient=report.recipient.readable or None,
        recipient_tells=True,
    )
