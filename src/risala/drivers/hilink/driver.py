"""The driver of a HiLink stick: it asks the stick for all that it wants to know, for life."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import trio

from risala.drivers.hilink.calls import StickCaller
from risala.drivers.hilink.errors import LinkError, StickError, UnreadyError
from risala.drivers.hilink.life import StickLife
from risala.drivers.hilink.session import StickSession
from risala.drivers.hilink.settings import HilinkSettings
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
    Uncertain,
    Unsent,
)

RETRY_PIN: Final = DriverCommand(
    "retry-pin",
    "Use this after correcting the PIN in the settings: it types the PIN once more.",
    needs_fresh_sign_in=True,
)
LEAVE_S: Final = 2.0
"""How long a stop waits for the stick to sign us out."""
REQUESTS_MAX: Final = 4
"""The most requests around a text that wait for a slow stick."""
_FAULTS: Final = (StickError, LinkError, UnreadyError)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class HilinkDriver:
    """See :class:`risala.plugins.contract.Driver`.

    Args:
        carrier: its configured name.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self, carrier: str, settings: HilinkSettings, *, now_ms: Callable[[], int] = _wall_ms
    ) -> None:
        self.carrier = carrier
        self.settings = settings
        self.capabilities = Capabilities(
            alphanumeric_sender=False,
            receipts=settings.reports,
            inbound=settings.inbound,
            query=False,
            validity=False,
            window_max=1,
            own_sim=True,
            takes_whole=True,
            submit_s=2 * settings.send_timeout_s + REQUESTS_MAX * settings.answer_s,
        )
        self._now_ms = now_ms
        self._life: StickLife | None = None

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        caller = StickCaller(self.settings.url, self.settings.answer_s)
        session = StickSession(caller, self.settings)
        life = self._life = StickLife(context, self.settings, session, self._now_ms)
        try:
            await life.run()
        finally:
            self._life = None
            life.end()
            with trio.move_on_after(LEAVE_S, shield=True):
                await session.leave()
            with trio.move_on_after(LEAVE_S, shield=True):
                await caller.aclose()

    async def submit(self, segment: Segment) -> Outcome:
        life = self._life
        if life is None or not life.is_ready:
            await trio.lowlevel.checkpoint()
            return Unsent("")
        with trio.move_on_after(self.capabilities.submit_s):
            return await life.submit(segment)
        return Uncertain("TIMEOUT")

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        """See :class:`risala.plugins.contract.Choosy`."""
        return None if self._life is None else self._life.quota.declines(segments)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """Always None: a stick gives texts no ids."""
        await trio.lowlevel.checkpoint()
        return None

    # -- commands of the operator --------------------------------------------------------------

    @property
    def commands(self) -> tuple[DriverCommand, ...]:
        return (RETRY_PIN,)

    async def command(
        self, name: str, arguments: Sequence[str]
    ) -> Mapping[str, str | int | float | None]:
        await trio.lowlevel.checkpoint()
        if name != RETRY_PIN.name:
            raise CommandRefusedError(f"A stick has no command {name!r}.")
        if arguments:
            raise CommandRefusedError(f"{name} takes no arguments.")
        if self.settings.pin is None:
            raise CommandRefusedError(
                "The settings have no PIN: set pin_env in this carrier's settings to the name of "
                "the environment variable that has it, and restart."
            )
        if self._life is None or self._life.state is not HealthState.SICK:
            raise CommandRefusedError("The carrier does not wait for a PIN.")
        self._life.retry_pin()
        return {}
