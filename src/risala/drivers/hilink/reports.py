"""Delivery reports, which a stick keeps among the received messages.

A report names the number alone. Reports of one number are taken in the order of its texts; texts
that wait for one are written down, and so are known after a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from risala.drivers.hilink.stick import REPORT_DELIVERED, StoredMessage
from risala.plugins.contract import DriverContext, NotStoredError, Receipt, ReceiptState

OPEN_MAX: Final = 1000
"""The most texts that wait for a report; the oldest are given up."""
OPEN_MS: Final = 5 * 86_400_000
"""How long a text waits: networks try for some three days."""
SAME_DIGITS: Final = 8
"""Digits at the end by which a number is the same: sticks write some numbers without their
country."""
_OPEN: Final = "open/"


class StickReports:
    """The texts of one carrier that wait for a report.

    Args:
        now_ms: UTC epoch milliseconds.
    """

    def __init__(self, context: DriverContext, now_ms: Callable[[], int]) -> None:
        self._context = context
        self._now_ms = now_ms
        self._open: dict[str, tuple[int, str]] = {}
        for key, note in sorted(context.recall(_OPEN).items(), key=lambda each: each[1]):
            since, _, recipient = note.partition(" ")
            self._open[key.removeprefix(_OPEN)] = (int(since), recipient)
        self._leaving = ""

    def leaves(self, recipient: str) -> None:
        """A text is on its way: a report for its number waits until its submit has an answer.

        Args:
            recipient: empty: it has one.
        """
        self._leaving = recipient

    async def sent(self, carrier_id: str, recipient: str) -> None:
        """A text was sent. If that cannot be written down, its report is known until the next
        start."""
        now_ms = self._now_ms()
        self._open[carrier_id] = (now_ms, recipient)
        notes: dict[str, str | None] = {f"{_OPEN}{carrier_id}": f"{now_ms:014} {recipient}"}
        spare = len(self._open) - OPEN_MAX
        for old, (since, _) in [*self._open.items()]:
            if spare > 0 or now_ms - since > OPEN_MS:
                del self._open[old]
                notes[f"{_OPEN}{old}"] = None
                spare -= 1
        try:
            await self._context.remember(notes)
        except NotStoredError:
            return

    async def take(self, report: StoredMessage) -> bool:
        """Pass on a report; whether it may be deleted.

        Raises:
            NotStoredError: it has to be passed on again.
        """
        digits = _end(report.phone)
        open_ids = [name for name, (_, number) in self._open.items() if _end(number) == digits]
        if not open_ids and digits and digits == _end(self._leaving):
            return False
        is_delivered = report.kind == REPORT_DELIVERED
        state = ReceiptState.DELIVERED if is_delivered else ReceiptState.UNDELIVERABLE
        raw = f"SmsType {report.kind}"
        if not digits or (not open_ids and not report.phone.startswith("+")):
            return True  # it is nobody's
        if not open_ids:  # maybe of a text whose submit had no answer
            await self._context.receipt(
                Receipt("", state, raw, recipient=report.phone, recipient_tells=True)
            )
            return True
        recipient = self._open[open_ids[0]][1]
        await self._context.receipt(Receipt(open_ids[0], state, raw, recipient=recipient))
        await self._context.remember({f"{_OPEN}{open_ids[0]}": None})
        del self._open[open_ids[0]]
        return True


def _end(number: str) -> str:
    return "".join(each for each in number if each.isdigit())[-SAME_DIGITS:]
