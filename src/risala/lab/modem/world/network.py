"""The network of a simulated modem: takes segments, reports on them, and holds messages until the
modem takes them."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Final

from risala.drivers.modem.tpdu.pdu import Deliver, StatusReport, Submit
from risala.lab.modem.world import events as e
from risala.lab.modem.world.config import ModemConfig, ReportStatus
from risala.lab.modem.world.phones import Dice, Phones, delivers, readable
from risala.sms.message import ReferenceBits

HELD_MAX: Final = 1000
"""Messages and reports that wait for the modem; a service centre has a limit too."""
UNKNOWN_SIGNAL: Final = 99
REGISTERED: Final = frozenset((1, 5, 6, 7, 9, 10))
"""Values of ``<stat>`` of +CREG that mean registered (27.007 §7.2)."""

TP_ST: Final = {
    ReportStatus.DELIVERED: (0x00,),
    ReportStatus.FAILED: (0x41,),  # incompatible destination
    ReportStatus.EXPIRED: (0x46,),
    ReportStatus.TRYING: (0x30,),  # congestion, still trying
    ReportStatus.TRYING_FIRST: (0x30, 0x00),
    ReportStatus.NONE: (),
}


@dataclass(frozen=True, slots=True)
class PlannedReport:
    """A status report that a segment will have."""

    after_s: float
    """Seconds after the answer to the send; negative: before it."""
    status: int


class SimulatedNetwork:
    """The network of one simulated modem.

    Args:
        offer: gives the modem a TPDU; returns its destination, or None while the modem can take
            none.
    """

    def __init__(
        self,
        config: ModemConfig,
        timetable: Timetable,
        dice: Dice,
        wall: Callable[[], datetime],
        tell: Callable[[e.ModemEvent], None],
        offer: Callable[[Deliver | StatusReport], str | None],
    ) -> None:
        self.signal = config.signal
        self.registration = config.registration
        """The registration that a modem with its radio on would get."""
        self.config = config
        self._timetable = timetable
        self._dice = dice
        self._wall = wall
        self._tell = tell
        self._offer = offer
        self._phones = Phones()
        self._reference = config.first_reference
        self._concatenation = 0
        self._held: deque[Deliver | StatusReport] = deque()
        self._flushing = False

    # -- from the modem ------------------------------------------------------------------------

    def next_reference(self) -> int:
        """TP-MR: one octet, and after 255 comes 0 (23.040 §9.2.3.6)."""
        reference = self._reference
        self._reference = (reference + 1) % 256
        return reference

    def refused(self, submit: Submit, reference: int, error: int) -> None:
        self._log_submit(submit, reference, is_taken=False, error=error)

    def plan(self, submit: Submit) -> list[PlannedReport]:
        """The reports that a segment will have if nothing goes wrong."""
        if not submit.status_report:
            return []
        after_s = self.config.report_after_s
        statuses = TP_ST[self.config.report_status]
        return [PlannedReport(n * after_s, status) for n, status in enumerate(statuses, 1)]

    def submit(
        self, submit: Submit, reference: int, reports: list[PlannedReport], error: int | None = None
    ) -> None:
        """Take a segment: its phone gets it, and reports will come.

        Args:
            error: the ``+CMS ERROR`` that the modem is answered with all the same.
        """
        self._log_submit(submit, reference, is_taken=True, error=error)
        sent_at = self._wall()
        whole = self._phones.take(submit)
        if whole is not None:
            text, segments = whole
            recipient = submit.destination.readable
            is_flash = submit.user_data.coding.message_class == 0
            self._tell(e.MessageReceived(self.config.number, recipient, text, segments, is_flash))
        for planned in reports:
            self._report(submit, reference, sent_at, planned)

    def _log_submit(
        self, submit: Submit, reference: int, *, is_taken: bool, error: int | None
    ) -> None:
        data = submit.user_data
        self._tell(
            e.Submitted(
                reference,
                submit.destination.readable,
                readable(data),
                data.dcs,
                data.concatenation,
                submit.status_report,
                is_taken,
                error,
            )
        )

    def _report(
        self, submit: Submit, reference: int, sent_at: datetime, planned: PlannedReport
    ) -> None:
        def bring() -> None:
            done_at = self._wall()
            self.hold(StatusReport(reference, submit.destination, sent_at, done_at, planned.status))

        if planned.after_s < 0:
            bring()
        elif not self._timetable.after(planned.after_s, bring):
            self._tell(e.Trouble("Too much is due; a status report is left out."))

    # -- to the modem --------------------------------------------------------------------------

    def send(
        self,
        sender: str,
        text: str,
        *,
        message_class: int | None = None,
        reference_bits: ReferenceBits = 8,
        shuffle: bool = False,
    ) -> None:
        """A phone sends a message to the SIM.

        Raises:
            PduError: no PDU can hold it.
        """
        self._concatenation = (self._concatenation + 1) % 2**reference_bits
        parts = delivers(
            sender,
            text,
            self._concatenation,
            self._wall(),
            message_class=message_class,
            reference_bits=reference_bits,
        )
        if shuffle:
            self._dice.shuffle(parts)
        for part in parts:
            self.hold(part)

    def hold(self, tpdu: Deliver | StatusReport) -> None:
        """Deliver it as soon as the modem can take it."""
        if len(self._held) >= HELD_MAX:
            self._tell(e.Trouble("Too much waits for the modem; something is dropped."))
            return
        self._held.append(tpdu)
        self.flush()
        if tpdu in self._held:
            self._tell(e.Waiting("the modem cannot take it now", len(self._held)))

    def flush(self) -> None:
        """Deliver waiting messages as far as the modem takes them. Call after any change."""
        if self._flushing:
            return  # called from within the loop below, which looks again by itself
        self._flushing = True
        try:
            # A message without room must not hold back the reports behind it.
            for _ in range(len(self._held)):
                tpdu = self._held.popleft()
                way = self._offer(tpdu)
                if way is None:
                    self._held.append(tpdu)
                else:
                    self._delivered(tpdu, way)
        finally:
            self._flushing = False

    def _delivered(self, tpdu: Deliver | StatusReport, way: str) -> None:
        if isinstance(tpdu, StatusReport):
            report = e.ReportSent(tpdu.reference, tpdu.recipient.readable, tpdu.status, way)
            self._tell(report)
        else:
            sender = tpdu.originator.readable
            self._tell(e.InboundSent(sender, readable(tpdu.user_data), way))


# Things that happen later, by a clock that is handed in. Pure.

ENTRIES_MAX: Final = 20_000
"""More than any client can cause in the time that reports take."""


class Timetable:
    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def after(self, wait_s: float, action: Callable[[], None]) -> bool:
        """Plan an action; False if it has no room, so that it will not happen."""
        if len(self._entries) >= ENTRIES_MAX:
            return False
        heapq.heappush(self._entries, (self._now_s() + wait_s, next(self._order), action))
        return True

    @property
    def due_s(self) -> float | None:
        """When the next planned action is due; None without one."""
        return self._entries[0][0] if self._entries else None

    def advance(self) -> None:
        """Run the due actions, in their order."""
        now_s = self._now_s()
        while self._entries and self._entries[0][0] <= now_s:
            heapq.heappop(self._entries)[2]()
