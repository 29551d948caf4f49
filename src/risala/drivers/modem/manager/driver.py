"""The driver of a modem that ModemManager holds: D-Bus in place of a serial port.

ModemManager cuts texts into parts, joins those that come, and chooses the alphabet. What it does
not pass on, such as the parts of a long text that never becomes whole, the modem's own driver has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

import trio

from risala.drivers.modem.card import limits
from risala.drivers.modem.card.tally import QuotaTally
from risala.drivers.modem.commands import RETRY_PIN
from risala.drivers.modem.inbound.reports import SentLog
from risala.drivers.modem.manager.bus import BusGoneError, ModemBus, open_bus
from risala.drivers.modem.manager.life import ManagedLife
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.drivers.modem.ready.pinmemory import PinMemory
from risala.plugins.contract import (
    Capabilities,
    CommandRefusedError,
    Declined,
    DriverCommand,
    DriverContext,
    Health,
    HealthState,
    Outcome,
    Receipt,
    Segment,
    Unsent,
)

SPARE_S: Final = 60.0
"""Seconds that a submit may take beyond its sending: it is created, read and deleted."""

OpenBus = Callable[[str], AbstractAsyncContextManager[ModemBus]]


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class ModemManagerDriver:
    """See :class:`risala.plugins.contract.Driver`.

    Args:
        carrier: its configured name.
        open_bus: connects to D-Bus; raises BusGoneError.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        carrier: str,
        settings: ModemManagerSettings,
        *,
        open_bus: OpenBus = open_bus,
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
            own_sim=True,
            takes_whole=True,
            submit_s=settings.send_timeout_s + SPARE_S,
            flash=True,
        )
        self._open_bus = open_bus
        self._now_ms = now_ms
        self._log = SentLog()
        self._memory: PinMemory | None = None
        self._tally: QuotaTally | None = None
        self._life: ManagedLife | None = None

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        self._memory = PinMemory(context)
        months = self.settings.recipients_per_month_max
        self._tally = QuotaTally(context, self._now_ms, self.settings.segments_per_day_max, months)
        while True:
            try:
                async with self._open_bus(self.settings.bus) as bus:
                    await self._live(bus, context, self._memory, self._tally)
            except* BusGoneError as gone:
                context.health(Health(HealthState.DOWN, _no_bus(gone)))
            await trio.sleep(self.settings.reopen_s)

    async def _live(
        self, bus: ModemBus, context: DriverContext, memory: PinMemory, tally: QuotaTally
    ) -> None:
        self._life = ManagedLife(
            bus, context, self.settings, self._log, memory, tally, self._now_ms
        )
        try:
            await self._life.run()
        finally:
            self._life = None

    async def submit(self, segment: Segment) -> Outcome:
        if self._life is None:
            await trio.lowlevel.checkpoint()
            return Unsent("")
        return await self._life.submit(segment)

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        """See :class:`risala.plugins.contract.Choosy`."""
        if self._tally is None:
            return None
        quota, now_ms = self._tally.quota, self._now_ms()
        return limits.declined(quota, recipient, segments, now_ms, is_next=is_next)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """Always None: a modem cannot query the state of a message."""
        await trio.lowlevel.checkpoint()
        return None

    @property
    def commands(self) -> tuple[DriverCommand, ...]:
        return (RETRY_PIN,)

    async def command(
        self, name: str, arguments: Sequence[str]
    ) -> Mapping[str, str | int | float | None]:
        await trio.lowlevel.checkpoint()
        if name != RETRY_PIN.name:
            raise CommandRefusedError(f"A modem of ModemManager has no command {name!r}.")
        if self.settings.pin is None:
            raise CommandRefusedError(
                "The settings have no PIN: set pin_env in [carriers.modemmanager] to the name of "
                "the environment variable that has it, and restart."
            )
        if self._life is None or self._memory is None:
            raise CommandRefusedError("The carrier does not wait for a PIN.")
        self._memory.retry()
        self._life.look_again()
        return {}


def _no_bus(gone: BaseExceptionGroup[BusGoneError]) -> str:
    first: BaseException = gone
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return f"There is no D-Bus: {first}. ModemManager is asked over it."
