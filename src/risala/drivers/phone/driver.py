"""The phone driver: an Android phone with the SMSGate app in its private-server mode.

The phone calls this service, and needs no address of its own: it may be behind any router. It
learns of messages by a stream of events, fetches them, and reports what became of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import trio

from risala.drivers.phone import commands
from risala.drivers.phone.calls import PhoneCalls
from risala.drivers.phone.line import PhoneLine
from risala.drivers.phone.link import GRACE_S, PhoneAccount, PhoneLink
from risala.drivers.phone.page import PhonePage
from risala.drivers.phone.settings import PhoneSettings
from risala.plugins.answering import CarrierAnswer, CarrierRequest, CarrierStream
from risala.plugins.contract import (
    Capabilities,
    CommandRefusedError,
    Declined,
    DriverCommand,
    DriverContext,
    Health,
    HealthState,
    NotStoredError,
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

NO_OWNER: Final = "{owner}, whose phone this is, is not running: its page says why."
NOT_ITS_PHONE: Final = (
    "The private token is not that of {owner}, whose phone this is. Leave it out of the settings."
)
NOT_WRITTEN: Final = "The private token could not be written: the disk is full or has a fault."
AGAIN_S: Final = 10.0
"""Seconds until that is tried again."""


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class PhoneDriver:
    """One carrier that is a phone, or another SIM of one: a driver that is called.

    Args:
        carrier: its configured name.
        account: what it shares with other lines of its phone; None: nothing.
        now_ms: UTC epoch milliseconds.
        grace_s: seconds without a stream in which the phone still counts as there.
    """

    def __init__(
        self,
        carrier: str,
        settings: PhoneSettings,
        account: PhoneAccount | None = None,
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
            own_sim=True,
            window_max=WINDOW_MAX,
            submit_s=max(settings.fetch_s, settings.sent_s) + SPARE_S,
            takes_whole=True,
            remembers_ids_s=REMEMBERS_IDS_S,
            same_id_is_safe=True,
            fetches=True,
        )
        self._now_ms = now_ms
        self._grace_s = grace_s
        self._account = PhoneAccount() if account is None else account
        self._link: PhoneLink | None = None
        self._line: PhoneLine | None = None
        self._calls: PhoneCalls | None = None
        self._page = PhonePage(lambda: (self._link, self._line), is_owner=settings.shares is None)

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        if self.settings.shares is None:
            await self._have_phone(context)
        else:
            await self._share_phone(context, self.settings.shares)

    async def _have_phone(self, context: DriverContext) -> None:
        link = PhoneLink(context, self.settings, self._now_ms, self._grace_s)
        try:
            with self._serving(link, context):
                await self._open(link)
                self._calls = PhoneCalls(link)
                with self._account.having(link):
                    await link.run()
        finally:
            self._calls = None

    async def _open(self, link: PhoneLink) -> None:
        """Have the private token, before any phone is answered."""
        while True:
            try:
                await link.book.open()
                return
            except NotStoredError:
                link.context.health(Health(HealthState.DOWN, NOT_WRITTEN))
                await trio.sleep(AGAIN_S)

    async def _share_phone(self, context: DriverContext, owner: str) -> None:
        """Be a line of another carrier's phone, whenever that carrier's driver runs."""
        while True:
            if self._account.link_of(owner) is None:
                context.health(Health(HealthState.DOWN, NO_OWNER.format(owner=owner)))
            link = await self._account.wait_link(owner)
            if self.settings.token not in (None, link.settings.token):
                context.health(Health(HealthState.DOWN, NOT_ITS_PHONE.format(owner=owner)))
                await link.ended.wait()
                continue
            with self._serving(link, context):
                await link.ended.wait()

    @contextmanager
    def _serving(self, link: PhoneLink, context: DriverContext) -> Iterator[None]:
        line = PhoneLine(context, self.settings, link, self._now_ms)
        with link.serving(line):
            self._link, self._line = link, line
            try:
                yield
            finally:
                self._link = self._line = None

    async def answer(self, request: CarrierRequest) -> CarrierAnswer | CarrierStream:
        """Answer a call of the app; who is not proved learns nothing."""
        if self.settings.shares is not None:
            return CarrierAnswer(status=401)  # the phone calls the carrier whose phone it is
        if self._calls is None:
            return CarrierAnswer(status=503)
        return await self._calls.answer(request)

    async def submit(self, segment: Segment) -> Outcome:
        link, line = self._link, self._line
        if link is None or line is None or link.health(line).state is not HealthState.UP:
            await trio.lowlevel.checkpoint()
            return Unsent("")
        return await line.submit(segment)

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        """Why a message of so many segments may not begin now: the SIM's day, or its half an hour,
        is used up. None: it may."""
        return None if self._line is None else self._line.declines(segments)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """Ask the phone what became of a message; None: it does not say within 20 s, or it is a
        message of an earlier start."""
        if self._line is None:
            await trio.lowlevel.checkpoint()
            return None
        return await self._line.query(carrier_id)

    @property
    def shared_account(self) -> PhoneAccount:
        """All phones that run."""
        return self._account

    @property
    def console_page(self) -> PhonePage:
        """The part of the carrier's page that shows the phone."""
        return self._page

    @property
    def commands(self) -> tuple[DriverCommand, ...]:
        return commands.COMMANDS if self.settings.shares is None else ()

    async def command(
        self, name: str, arguments: Sequence[str]
    ) -> Mapping[str, str | int | float | None]:
        await trio.lowlevel.checkpoint()
        if (owner := self.settings.shares) is not None:
            raise CommandRefusedError(f"The phone is that of {owner}: ask that carrier.")
        if arguments:
            raise CommandRefusedError(f"{name} takes no arguments.")
        return await commands.obey(self._link, name)
