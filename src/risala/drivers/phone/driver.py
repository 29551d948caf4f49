"""The phone driver: an Android phone with the SMSGate app in its private-server mode.

The phone calls this service, and needs no address of its own: it may be behind any router. It
learns of messages by a stream of events, fetches them, and reports what became of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import trio

from risala.drivers.phone import commands
from risala.drivers.phone.calls import PhoneCalls
from risala.drivers.phone.link import GRACE_S, PhoneLink
from risala.drivers.phone.page import PhonePage
from risala.drivers.phone.settings import PhoneSettings
from risala.plugins.answering import CarrierAnswer, CarrierRequest, CarrierStream
from risala.plugins.contract import (
    Capabilities,
    CommandRefusedError,
    Declined,
    DriverCommand,
    DriverContext,
    HealthState,
    Outcome,
    Receipt,
    Segment,
    Unsent,
)

WINDOW_MAX: Final = 8
"""Messages that a phone has at once: it sends one after the other, in a few seconds each."""
REMEMBERS_IDS_S: Final = 86_400.0
"""The app keeps messages for a day at least, whatever is set in it, and for seven by our
settings."""
SPARE_S: Final = 10.0
"""Seconds that a submit may take beyond its wait for the fetch, or for the report after it."""


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class PhoneDriver:
    """See :class:`risala.plugins.contract.Driver` and
    :class:`~risala.plugins.answering.Answering`.

    Args:
        carrier: its configured name.
        now_ms: UTC epoch milliseconds.
        grace_s: seconds without a stream in which the phone still counts as there.
    """

    def __init__(
        self,
        carrier: str,
        settings: PhoneSettings,
        *,
        now_ms: Callable[[], int] = _wall_ms,
        grace_s: float = GRACE_S,
    ) -> None:
        self.carrier = carrier
        self.settings = settings
        self.capabilities = Capabilities(
            alphanumeric_sender=False,
            receipts=True,
            inbound=True,
            query=True,
            validity=True,
            window_max=WINDOW_MAX,
            submit_s=max(settings.fetch_s, settings.sent_s) + SPARE_S,
            takes_whole=True,
            remembers_ids_s=REMEMBERS_IDS_S,
            same_id_is_safe=True,
            fetches=True,
        )
        self._now_ms = now_ms
        self._grace_s = grace_s
        self._link: PhoneLink | None = None
        self._calls: PhoneCalls | None = None
        self._page = PhonePage(lambda: self._link)

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        link = PhoneLink(context, self.settings, self._now_ms, self._grace_s)
        self._calls = PhoneCalls(link, self.settings.token.get_secret_value())
        self._link = link
        try:
            await link.run()
        finally:
            self._link = self._calls = None

    async def answer(self, request: CarrierRequest) -> CarrierAnswer | CarrierStream:
        """Answer a call of the app: see :mod:`risala.drivers.phone.calls`."""
        if self._calls is None:
            return CarrierAnswer(status=503)
        return await self._calls.answer(request)

    async def submit(self, segment: Segment) -> Outcome:
        link = self._link
        if link is None or link.health.state is not HealthState.UP:
            await trio.lowlevel.checkpoint()
            return Unsent("")
        return await link.submit(segment)

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        """See :class:`~risala.plugins.contract.Choosy`: the SIM's day, or half an hour, may be used
        up."""
        return None if self._link is None else self._link.declines(segments)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """Ask the phone what became of a message; None: it does not say within 20 s, or it is a
        message of an earlier start."""
        if self._link is None:
            await trio.lowlevel.checkpoint()
            return None
        return await self._link.query(carrier_id)

    @property
    def console_page(self) -> PhonePage:
        """Its part of the carrier's page: see :class:`~risala.plugins.page.Paged`."""
        return self._page

    @property
    def commands(self) -> tuple[DriverCommand, ...]:
        return commands.COMMANDS

    async def command(
        self, name: str, arguments: Sequence[str]
    ) -> Mapping[str, str | int | float | None]:
        await trio.lowlevel.checkpoint()
        if arguments:
            raise CommandRefusedError(f"{name} takes no arguments.")
        return await commands.obey(self._link, name)
