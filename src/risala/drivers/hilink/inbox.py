"""Received messages and delivery reports: handed over, and deleted once they are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from risala.drivers.hilink.reports import StickReports
from risala.drivers.hilink.stick import (
    INBOX,
    LONG,
    REPORT_DELIVERED,
    REPORT_FAILED,
    SIM_INBOX,
    Stick,
    StickStorage,
    StoredMessage,
)
from risala.plugins.contract import DriverContext, Inbound

SETTLED_S: Final = 10.0
"""How long a message of several parts stays as it is before it is taken: the stick joins what has
come, and adds the rest as it comes."""
GROWING_MAX: Final = 50
"""The most messages of several parts that are watched; more are taken at once."""
PAGES_MAX: Final = 50
"""The most pages that are read at one look."""


class StickInbox:
    """The received messages of one stick.

    Args:
        hands_over: False: messages are left where they are, and only reports are taken.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        context: DriverContext,
        stick: Stick,
        reports: StickReports | None,
        now_ms: Callable[[], int],
        *,
        hands_over: bool,
    ) -> None:
        self._context = context
        self._stick = stick
        self._reports = reports
        self._now_ms = now_ms
        self._hands_over = hands_over
        self._growing: dict[str, tuple[int, float]] = {}
        self.number: str | None = None
        """The SIM's own number, if it is known."""

    async def take(self, storage: StickStorage) -> None:
        """Take what has come.

        Raises:
            NotStoredError: something could not be stored, and stays in the stick.
            StickError, LinkError, UnreadyError: the stick could not be asked.
        """
        for box, kept in ((INBOX, storage.inbox), (SIM_INBOX, storage.sim_inbox)):
            pages = 0
            while kept and pages < PAGES_MAX and await self._take_page(box):
                pages += 1

    async def _take_page(self, box: int) -> bool:
        """Whether something was taken, so that there may be more behind it."""
        listed = await self._stick.listed(box)
        ids = {each.identity for each in listed}
        self._growing = {name: seen for name, seen in self._growing.items() if name in ids}
        taken = 0
        for message in listed:
            if await self._take(message):
                await self._stick.delete(message)
                taken += 1
        return taken > 0

    async def _take(self, message: StoredMessage) -> bool:
        """Hand a message over; whether it may be deleted."""
        if message.kind in (REPORT_DELIVERED, REPORT_FAILED):
            if self._reports is None:
                return self._hands_over
            return await self._reports.take(message)
        if not self._hands_over or self._still_grows(message):
            return False
        await self._context.inbound(
            Inbound(
                sender=message.phone,
                recipient=self.number,
                text=message.text,
                received_at_ms=self._now_ms(),
                carrier_ids=(message.identity,),
            )
        )
        self._growing.pop(message.identity, None)
        return True

    def _still_grows(self, message: StoredMessage) -> bool:
        if message.kind != LONG:
            return False
        now_s, characters = trio.current_time(), len(message.text)
        known, since_s = self._growing.get(message.identity, (-1, now_s))
        if known != characters:
            if known < 0 and len(self._growing) >= GROWING_MAX:
                return False
            self._growing[message.identity] = (characters, now_s)
            return True
        return now_s - since_s < SETTLED_S
