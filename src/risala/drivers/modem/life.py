"""A modem's life: its port is opened, used, brought back, waited for, and opened again."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.drivers.modem.at.engine import Late, Urc
from risala.drivers.modem.at.fields import number, values
from risala.drivers.modem.card.balance import Balance
from risala.drivers.modem.card.tally import QuotaTally
from risala.drivers.modem.inbound.parts import ModemParts
from risala.drivers.modem.inbound.reports import SentLog
from risala.drivers.modem.notefile import short_name
from risala.drivers.modem.port.serial import PortError
from risala.drivers.modem.ready.pin import Unready
from risala.drivers.modem.ready.pinmemory import PinMemory
from risala.drivers.modem.ready.start import bring_up
from risala.drivers.modem.sender import Records
from risala.drivers.modem.session import ModemSession
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.talk.asking import Asker
from risala.drivers.modem.talk.ladder import Ladder, ResetUsb, climb
from risala.drivers.modem.talk.link import HUNG_UP, AtLink, LinkError, PortLostError
from risala.plugins.contract import (
    Accepted,
    DriverContext,
    Health,
    HealthState,
    Outcome,
    Segment,
)

OpenPort = Callable[[str, int], Awaitable[trio.abc.Stream]]

_OPEN_S: Final = 15.0
_CLOSE_S: Final = 8.0
_LOOK_S: Final = 1.0
"""Seconds between two looks for a device that is unplugged."""
_STABLE_S: Final = 60.0
"""After a port served this long, the wait before it is opened again is the shortest one."""
_LATE_MAX: Final = 100
_EARLY_MAX: Final = 64
"""Unsolicited lines kept during the setup of a modem: a status report may be among them."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port by its name, with its operations."""

    name: str
    open: OpenPort
    """Opens the port; raises PortError."""
    is_there: Callable[[str], bool]
    reset_usb: ResetUsb


class Life:
    """One run of the driver."""

    def __init__(
        self,
        context: DriverContext,
        settings: ModemSettings,
        port: Port,
        balance: Balance,
        now_ms: Callable[[], int],
    ) -> None:
        self._context = context
        self._settings = settings
        self._port = port
        self._balance = balance
        limits = (settings.segments_per_day_max, settings.recipients_per_month_max)
        self._records = Records(
            SentLog(),
            QuotaTally(context, now_ms, *limits),
            ModemParts(context, settings.inbound_coding),
            PinMemory(context),
            self._on_late_outcome,
            now_ms,
        )
        self.session: ModemSession | None = None
        """None while the modem is not ready."""
        self._look_again = trio.Event()
        self._early: deque[Urc] = deque(maxlen=_EARLY_MAX)
        self._put, self._take = trio.open_memory_channel[tuple[Segment, Outcome]](_LATE_MAX)

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._tell_late_outcomes)
            await self._open_for_life()

    def retry_pin(self) -> None:
        """Check the SIM again at once, and type the PIN of the settings once more."""
        self._records.pin.retry()
        self._look_again.set()

    async def _open_for_life(self) -> None:
        port, settings, ladder = self._settings.port, self._settings, Ladder()
        wait_s = settings.reopen_first_s
        self._context.health(Health(HealthState.DOWN, f"Opening {port}."))
        while True:
            await self._wait_for_device()
            began_s = trio.current_time()
            try:
                with trio.fail_after(_OPEN_S):
                    stream = await self._port.open(port, settings.baud)
                reason = await self._use(stream, ladder)
            except trio.TooSlowError:
                reason = f"{port} does not open in time"
            except PortError as fault:
                reason = str(fault).rstrip(".")
            if trio.current_time() - began_s > _STABLE_S:
                wait_s = settings.reopen_first_s
            self._context.health(Health(HealthState.DOWN, f"{reason}."))
            self._context.trace(f"Opening again in {wait_s:g} s.")
            await trio.sleep(wait_s)
            wait_s = min(2 * wait_s, settings.reopen_max_s)

    async def _wait_for_device(self) -> None:
        port = self._settings.port
        if self._port.is_there(port):
            return
        text = f"{port} does not exist: the modem is unplugged or starting. Waiting for it."
        self._context.health(Health(HealthState.DOWN, text))
        while not self._port.is_there(port):  # noqa: ASYNC110 - no event tells of a device
            await trio.sleep(_LOOK_S)
        self._context.trace(f"{port} is back.")

    async def _use(self, stream: trio.abc.Stream, ladder: Ladder) -> str:
        """Serve on an open port while it is usable; return why it must be opened again."""
        link = AtLink(
            stream, on_urc=self._on_urc, on_late=self._on_late, wire=self._context.traffic
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            try:
                return await self._keep_alive(link, ladder)
            finally:
                with trio.move_on_after(_CLOSE_S, shield=True):
                    await stream.aclose()
                nursery.cancel_scope.cancel()

    async def _keep_alive(self, link: AtLink, ladder: Ladder) -> str:
        asker = Asker(link)
        while True:
            began_s = trio.current_time()
            try:
                await self._serve(asker)
            except PortLostError as fault:
                return _sentence(fault)
            except Unready as fault:
                ladder.served(trio.current_time() - began_s)
                if not await self._rest(link, fault):
                    return _sentence(HUNG_UP)
            except LinkError as fault:
                ladder.served(trio.current_time() - began_s)
                self._context.health(Health(HealthState.DOWN, f"{_sentence(fault)}."))
                if fault.raw != str(fault):
                    self._context.trace(fault.raw)
                try:
                    if not await climb(link, ladder, self._context.trace, self._port.reset_usb):
                        return "The modem does not answer"
                except PortLostError:
                    return "The connection to the modem was lost"

    async def _serve(self, asker: Asker) -> None:
        context, records = self._context, self._records
        facts = await bring_up(asker, self._settings, records.pin)
        identity, routing = facts.identity, facts.routing
        records.tally.take_sim(short_name(identity.imsi or identity.iccid))
        context.trace(
            f"{identity.name}, SIM …{identity.imsi[-4:]}, SMSC {facts.smsc or 'unknown'}, "
            f"storage {facts.storage or 'unknown'}, CNMI {routing.text or 'none'}, "
            f"CSMS {int(routing.acknowledges)}."
        )
        for refusal in facts.init_refused:
            context.trace(f"init: the modem does not take {refusal}.")
        session = ModemSession(context, asker, facts, self._settings, records, self._balance)
        self.session = session
        while self._early:
            session.inbox.on_urc(self._early.popleft())
        try:
            await session.serve()
        finally:
            self.session = None
            self._early.extend(session.inbox.leftovers())

    async def _rest(self, link: AtLink, why: Unready) -> bool:
        """Wait before the next check; False if the line was hung up meanwhile."""
        self._context.health(Health(why.state, str(why)))
        self._look_again = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.cancel_scope.deadline = trio.current_time() + (
                why.retry_s or self._settings.sick_wait_s
            )
            nursery.start_soon(_cancel_after, self._look_again, nursery.cancel_scope)
            await link.wait_lost()
            nursery.cancel_scope.cancel()
        return not link.lost

    # -- unsolicited lines ---------------------------------------------------------------------

    def _on_urc(self, urc: Urc) -> None:
        if self.session is not None:
            self.session.on_urc(urc)
        else:
            self._early.append(urc)

    def _on_late(self, late: Late) -> None:
        """Take a line of a given-up command. The reference of a send settles that send, which was
        reported as uncertain: it is accepted."""
        if late.text.upper().startswith("+CMGS"):
            fields = values(late.text)
            sent = self._records.log.resolve(number(fields[0]) if fields else None)
            if sent is not None and sent.uncertain is not None:
                segment, sent.uncertain = sent.uncertain, None
                self._on_late_outcome(segment, Accepted(sent.carrier_id, late.text[:40]))

    def _on_late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        try:
            self._put.send_nowait((segment, outcome))
        except trio.WouldBlock:
            self._context.trace("A late answer was dropped because there were too many at once.")

    async def _tell_late_outcomes(self) -> None:
        async for segment, outcome in self._take:
            await self._context.late_outcome(segment, outcome)


async def _cancel_after(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _sentence(fault: Exception | str) -> str:
    text = str(fault)
    return text[:1].upper() + text[1:]
