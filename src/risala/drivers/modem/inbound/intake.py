"""Handles one received PDU: a message, a part of one or a status report.

Each is on disk before the modem may delete it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import trio

from risala.drivers.modem.inbound.assembly import (
    ReceivedPdu,
    as_evident,
    digest_of,
    message_of,
    place_of,
    readable_of,
    text_of,
)
from risala.drivers.modem.inbound.parts import ModemParts, notes_of
from risala.drivers.modem.inbound.reports import SentLog
from risala.drivers.modem.talk.link import AtLink
from risala.drivers.modem.tpdu.pdu import Deliver, Direction, PduError, StatusReport, from_hex
from risala.plugins.contract import Accepted, DriverContext, NotStoredError
from risala.sms.evident import InboundCoding
from risala.sms.values import is_round_count

_RETRY_FIRST_S: Final = 1.0
_RETRY_MAX_S: Final = 30.0
_PID_SILENT: Final = 0x40
"""Short message type 0: acknowledged and thrown away (23.040 §9.2.3.9)."""


class ModemIntake:
    """Hands received PDUs to the engine; one that cannot be stored now is tried again until it
    is."""

    def __init__(
        self,
        context: DriverContext,
        link: AtLink,
        log: SentLog,
        parts: ModemParts,
        now_ms: Callable[[], int],
        *,
        wants_messages: bool,
        assembly_timeout_s: float,
        coding: InboundCoding = InboundCoding.AUTO,
    ) -> None:
        self._context = context
        self._link = link
        self._log = log
        self._parts = parts
        self._now_ms = now_ms
        self._wants_messages = wants_messages
        self._coding = coding
        self._readings: Counter[str] = Counter()
        self._timeout_ms = round(assembly_timeout_s * 1000)

    async def take(self, pdu: str, tpdu_octets: int | None) -> bool:
        """Hand over a PDU. True once it is on disk and may be deleted; False if it is not for us
        and remains on the modem.

        Raises:
            PduError: it cannot be read.
        """
        centre, tpdu = from_hex(pdu, Direction.TO_PHONE, tpdu_octets)
        if isinstance(tpdu, StatusReport):
            await self._report(tpdu)
            return True
        if not isinstance(tpdu, Deliver) or not self._wants_messages:
            return False
        if tpdu.pid != _PID_SILENT:
            evident = as_evident(tpdu, self._coding)
            self._tell(evident.note)
            known = (digest_of(pdu), readable_of(centre), evident.label)
            part = ReceivedPdu(evident.deliver, *known)
            await self._message(part, pdu, tpdu_octets)
        return True

    def _tell(self, note: str) -> None:
        """Trace that texts are not read as declared: the first, tenth, hundredth and so on."""
        if note:
            self._readings[note] += 1
            count = self._readings[note]
            if is_round_count(count):
                self._context.trace(f"Not as declared, {count} so far: text: {note}.")

    async def _message(self, part: ReceivedPdu, pdu: str, tpdu_octets: int | None) -> None:
        now_ms = self._now_ms()
        if place_of(part.deliver) is None:
            message = message_of([part], [text_of(part.deliver)], now_ms)
            await durably(lambda: self._context.inbound(message))
        elif not self._parts.knows(part.digest):
            await durably(lambda: self._parts.keep(part, pdu, tpdu_octets, now_ms))
            await self.hand_over()

    async def hand_over(self) -> None:
        """Hand over the long messages that are done; the notes of their parts are deleted in the
        same transaction."""
        while (whole := self._parts.outgoing) is not None:
            if whole.missing:
                parts = f"{whole.missing} of its parts"
                self._context.trace(f"A long message is handed over without {parts}: {whole.why}.")
            store = partial(self._context.inbound, whole.message, forget=notes_of(whole))
            await durably(store)
            self._parts.is_safe(whole)

    async def end_waiting(self) -> None:
        """Hand over, incomplete, the messages that have waited too long for their parts."""
        now_ms = self._now_ms()
        self._parts.end_waiting(now_ms - self._timeout_ms, now_ms)
        await self.hand_over()

    async def _report(self, report: StatusReport) -> None:
        async with self._link.turn():
            # A report may come before the answer +CMGS, which has the send's reference. The send
            # holds the turn until that answer is here, so once we have the turn it is known.
            match = self._log.match(report, self._now_ms())
        segment = match.sent.uncertain if match.sent is not None else None
        if match.sent is not None and segment is not None:
            match.sent.uncertain = None
            outcome = Accepted(match.sent.carrier_id, "proved by its status report")
            await self._context.late_outcome(segment, outcome)
        await durably(lambda: self._context.receipt(match.receipt))


def written_s(pdu: str, tpdu_octets: int | None) -> float:
    """The own time of a stored text, in seconds since 1970. What tells none comes first, such as
    reports, and what cannot be read."""
    tpdu = _tpdu_of(pdu, tpdu_octets)
    at = tpdu.sent_at if isinstance(tpdu, Deliver) else None
    return -math.inf if at is None else at.timestamp()


def is_report(pdu: str, tpdu_octets: int | None) -> bool:
    """Whether a PDU is a status report."""
    return isinstance(_tpdu_of(pdu, tpdu_octets), StatusReport)


def _tpdu_of(pdu: str, tpdu_octets: int | None) -> object:
    """The TPDU of a received PDU; None if it cannot be read."""
    try:
        return from_hex(pdu, Direction.TO_PHONE, tpdu_octets)[1]
    except PduError:
        return None


async def durably(store: Callable[[], Awaitable[None]]) -> None:
    """Call ``store`` until the engine takes it. Later messages of the modem wait: the engine could
    not store those either."""
    wait_s = _RETRY_FIRST_S
    while True:
        try:
            await store()
        except NotStoredError:
            await trio.sleep(wait_s)
            wait_s = min(2 * wait_s, _RETRY_MAX_S)
        else:
            return
