"""The modem driver: one GSM modem on a serial port, kept alive for life."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from risala.drivers.modem import serial
from risala.drivers.modem.asking import Asker
from risala.drivers.modem.at import Late, Urc
from risala.drivers.modem.balance import Balance
from risala.drivers.modem.fields import number, values
from risala.drivers.modem.ladder import Ladder, ResetUsb, climb
from risala.drivers.modem.link import AtLink, LinkError, PortLostError
from risala.drivers.modem.notes import short_name
from risala.drivers.modem.parts import Parts
from risala.drivers.modem.pdu import PduError
from risala.drivers.modem.pinmemory import PinMemory
from risala.drivers.modem.reports import SentLog
from risala.drivers.modem.sender import Records
from risala.drivers.modem.serial import PortError
from risala.drivers.modem.session import Session
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.start import bring_up
from risala.drivers.modem.tally import Tally
from risala.drivers.modem.unready import Unready
from risala.drivers.modem.usb import UsbReset
from risala.plugins.contract import (
    Accepted,
    Capabilities,
    DriverContext,
    Health,
    HealthState,
    Outcome,
    Receipt,
    Refused,
    Scope,
    Segment,
    Unsent,
)

OpenPort = Callable[[str, int], Awaitable[trio.abc.Stream]]

_OPEN_S: Final = 15.0
_CLOSE_S: Final = 8.0
_LOOK_S: Final = 1.0
"""Between two looks for a device that is gone."""
_STABLE_S: Final = 60.0
"""A port that served so long begins its backoff anew."""
_LATE_MAX: Final = 100
_EARLY_MAX: Final = 64
"""Unsolicited lines kept from while a modem is made ready: a status report may be among them."""


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class ModemDriver:
    """See :class:`risala.plugins.contract.Driver`.

    Args:
        carrier: its configured name.
        open_port: opens the port; raises PortError.
        is_there: whether the device is plugged in.
        reset_usb: resets the USB device behind the port.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        carrier: str,
        settings: ModemSettings,
        *,
        open_port: OpenPort = serial.open_port,
        is_there: Callable[[str], bool] = serial.is_there,
        reset_usb: ResetUsb | None = None,
        now_ms: Callable[[], int] = _wall_ms,
    ) -> None:
        self.carrier = carrier
        self.settings = settings
        self.capabilities = Capabilities(
            alphanumeric_sender=False,
            receipts=settings.reports,
            inbound=settings.inbound,
            query=False,
            validity=True,
            window_max=1,
        )
        self._open_port = open_port
        self._is_there = is_there
        self._reset_usb = reset_usb or UsbReset(settings.port)
        self._now_ms = now_ms
        self._records: Records | None = None
        self._balance = Balance(settings.ussd_balance)
        self._session: Session | None = None
        self._look_again = trio.Event()
        self._early: deque[Urc] = deque(maxlen=_EARLY_MAX)
        self._put, self._take = trio.open_memory_channel[tuple[Segment, Outcome]](_LATE_MAX)
        self._context: DriverContext | None = None

    # -- submitting --------------------------------------------------------------------------

    async def submit(self, segment: Segment) -> Outcome:
        session = self._session
        if session is None or not session.ready:
            return Unsent("not ready")
        refusal = session.over_quota(segment)
        if refusal is not None:
            return refusal
        try:
            outcome = await session.sender.submit(segment)
        except PduError:
            # Its own words stay here: they may tell what the message says.
            return Refused(
                Scope.CARRIER, "not encodable", "An SMS cannot carry the message in this alphabet."
            )
        session.publish()
        return outcome

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """None: a modem cannot ask."""
        await trio.lowlevel.checkpoint()
        return None

    def retry_pin(self) -> None:
        """The operator has corrected the PIN in the settings: it is typed once more."""
        if self._records is not None:
            self._records.pin.retry()
            self._look_again.set()

    # -- the modem's life --------------------------------------------------------------------

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        self._context = context
        self._records = self._new_records(context)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._tell_late_outcomes)
            await self._open_for_life(context)

    def _new_records(self, context: DriverContext) -> Records:
        """What outlives the port, as far as it is on disk."""
        settings = self.settings
        limits = (settings.segments_per_day_max, settings.recipients_per_month_max)
        return Records(
            SentLog(),
            Tally(context, self._now_ms, *limits),
            Parts(context),
            PinMemory(context),
            self._on_late_outcome,
            self._now_ms,
        )

    async def _open_for_life(self, context: DriverContext) -> None:
        port, settings, ladder = self.settings.port, self.settings, Ladder()
        wait_s = settings.reopen_first_s
        context.health(Health(HealthState.DOWN, f"Opening {port}."))
        while True:
            await self._wait_for_device(context)
            began_s = trio.current_time()
            try:
                with trio.fail_after(_OPEN_S):
                    stream = await self._open_port(port, settings.baud)
                reason = await self._use(stream, ladder, context)
            except trio.TooSlowError:
                reason = f"{port} does not open in time"
            except PortError as fault:
                reason = str(fault).rstrip(".")
            if trio.current_time() - began_s > _STABLE_S:
                wait_s = settings.reopen_first_s
            context.health(Health(HealthState.DOWN, f"{reason}."))
            context.trace(f"{reason}. Opening again in {wait_s:g} s.")
            await trio.sleep(wait_s)
            wait_s = min(2 * wait_s, settings.reopen_max_s)

    async def _wait_for_device(self, context: DriverContext) -> None:
        port = self.settings.port
        if self._is_there(port):
            return
        text = f"{port} is not there: unplugged, or starting."
        context.health(Health(HealthState.DOWN, text))
        context.trace(f"{text} Waiting for it.")
        while not self._is_there(port):  # noqa: ASYNC110 - no event tells of a device
            await trio.sleep(_LOOK_S)
        context.trace(f"{port} is back.")

    async def _use(self, stream: trio.abc.Stream, ladder: Ladder, context: DriverContext) -> str:
        """Everything that one open port is good for; returns why it must be opened again."""
        link = AtLink(stream, on_urc=self._on_urc, on_late=self._on_late)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            try:
                return await self._keep_alive(link, ladder, context)
            finally:
                with trio.move_on_after(_CLOSE_S, shield=True):
                    await stream.aclose()
                nursery.cancel_scope.cancel()

    async def _keep_alive(self, link: AtLink, ladder: Ladder, context: DriverContext) -> str:
        asker = Asker(link)
        while True:
            began_s = trio.current_time()
            try:
                await self._serve(asker, context)
            except PortLostError as fault:
                return _sentence(fault)
            except Unready as fault:
                ladder.served(trio.current_time() - began_s)
                if not await self._rest(link, fault, context):
                    return "The line was hung up"
            except LinkError as fault:
                ladder.served(trio.current_time() - began_s)
                text = f"{_sentence(fault)}."
                context.health(Health(HealthState.DOWN, text))
                context.trace(text)
                try:
                    if not await climb(link, ladder, context.trace, self._reset_usb):
                        return "The modem does not answer"
                except PortLostError:
                    return "The modem left the line"

    async def _serve(self, asker: Asker, context: DriverContext) -> None:
        records = self._records
        assert records is not None
        facts = await bring_up(asker, self.settings, records.pin)
        identity, routing = facts.identity, facts.routing
        records.tally.take_sim(short_name(identity.imsi or identity.iccid))
        context.trace(
            f"{identity.name}, SIM …{identity.imsi[-4:]}, SMSC {facts.smsc or 'unknown'}, "
            f"storage {facts.storage or 'unknown'}, CNMI {routing.text or 'none'}, "
            f"CSMS {int(routing.acknowledges)}."
        )
        session = Session(context, asker, facts, self.settings, records, self._balance)
        self._session = session
        while self._early:
            session.inbox.on_urc(self._early.popleft())
        try:
            await session.serve()
        finally:
            self._session = None
            self._early.extend(session.inbox.leftovers())

    async def _rest(self, link: AtLink, why: Unready, context: DriverContext) -> bool:
        """Wait before looking again; False where the line was hung up meanwhile."""
        context.health(Health(why.state, str(why)))
        context.trace(str(why))
        self._look_again = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.cancel_scope.deadline = trio.current_time() + (
                why.retry_s or self.settings.sick_wait_s
            )
            nursery.start_soon(_cancel_after, self._look_again, nursery.cancel_scope)
            await link.wait_lost()
            nursery.cancel_scope.cancel()
        return not link.lost

    # -- what comes by itself ------------------------------------------------------------------

    def _on_urc(self, urc: Urc) -> None:
        if self._session is not None:
            self._session.on_urc(urc)
        else:
            self._early.append(urc)

    def _on_late(self, late: Late) -> None:
        """A reference of a send that was given up as uncertain."""
        if self._records is not None and late.text.upper().startswith("+CMGS"):
            fields = values(late.text)
            sent = self._records.log.resolve(number(fields[0]) if fields else None)
            if sent is not None and sent.uncertain is not None:
                segment, sent.uncertain = sent.uncertain, None
                self._on_late_outcome(segment, Accepted(sent.carrier_id, late.text[:40]))

    def _on_late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        try:
            self._put.send_nowait((segment, outcome))
        except trio.WouldBlock:
            if self._context is not None:
                self._context.trace("A late answer was dropped: too many at once.")

    async def _tell_late_outcomes(self) -> None:
        assert self._context is not None
        async for segment, outcome in self._take:
            await self._context.late_outcome(segment, outcome)


async def _cancel_after(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _sentence(fault: Exception) -> str:
    text = str(fault)
    return text[:1].upper() + text[1:]
