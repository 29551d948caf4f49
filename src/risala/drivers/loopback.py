"""The smallest driver: a carrier that takes everything and delivers it. Read it to write your own.

A driver is a class of the shape :class:`risala.plugins.contract.Driver`, a pydantic model for its
settings, and a hook that registers both under a name::

    [[carriers]]
    name = "nowhere"
    driver = "loopback"
    [carriers.loopback]
    receipt_delay_s = 0.5
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Annotated, Final

import trio
from pydantic import BaseModel, ConfigDict, Field

# Everything that a driver needs to know of Risala comes from these two modules.
from risala.plugins.contract import (
    Accepted,
    Capabilities,
    DriverContext,
    DriverFactory,
    Health,
    HealthState,
    NotStoredError,
    Outcome,
    Receipt,
    ReceiptState,
    Segment,
    Throttled,
    Unsent,
)
from risala.plugins.hookspecs import hookimpl

_WAITING_MAX: Final = 10_000
"""Receipts that may be due at once. Every queue has an end; here it answers "slow down"."""
_NOT_STORED_WAIT_S: Final = 0.1


class LoopbackSettings(BaseModel):
    """The table ``[carriers.loopback]``. Unknown keys are faults, so that typing errors show."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    receipt_delay_s: Annotated[float, Field(ge=0, le=3600)] = 0.5
    """From the submit's answer to its receipt."""


class LoopbackDriver:
    """Takes a segment, gives an id, and says "delivered" a moment later."""

    def __init__(self, carrier: str, settings: LoopbackSettings) -> None:
        # Building opens nothing: that is run()'s work. What the engine may expect is said here.
        self.capabilities = Capabilities(
            alphanumeric_sender=True,
            receipts=True,
            inbound=False,
            query=False,
            validity=False,
            window_max=100,
            flash=True,
        )
        self.carrier = carrier
        self._settings = settings
        # What submit() puts in, run() takes out: (when it is due, the carrier's id).
        self._put, self._take = trio.open_memory_channel[tuple[float, str]](_WAITING_MAX)
        self._is_up = False

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        # At once, before any link is up: the engine does not wait for carriers to start.
        task_status.started()
        # A real driver connects here, in a loop with backoff, and tells each change.
        self._is_up = True
        context.health(Health(HealthState.UP, "The loopback carrier is always up."))
        try:
            # Runs for life; ends only by cancellation, which comes as an exception from an await.
            while True:
                due, carrier_id = await self._take.receive()
                await trio.sleep_until(due)
                await self._deliver(context, carrier_id)
        finally:
            # From here on submit() has nobody to give a segment to.
            self._is_up = False

    async def submit(self, segment: Segment) -> Outcome:
        # A checkpoint: whoever awaits a driver in a loop must not starve the others.
        await trio.lowlevel.checkpoint()
        if not self._is_up:
            # Nothing left this machine. The message keeps its place.
            return Unsent("loopback is not running")
        # An id of our own, never given twice: receipts are matched by it.
        carrier_id = secrets.token_hex(8)
        due = trio.current_time() + self._settings.receipt_delay_s
        try:
            self._put.send_nowait((due, carrier_id))
        except trio.WouldBlock:
            # What a carrier may say is a value and never an exception.
            return Throttled("full", "Too many receipts are due.")
        return Accepted(carrier_id)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        # capabilities.query is False, so nobody asks.
        return None

    async def _deliver(self, context: DriverContext, carrier_id: str) -> None:
        receipt = Receipt(carrier_id, ReceiptState.DELIVERED, raw="loopback")
        while True:
            try:
                # Returns once it is on disk. A real driver acknowledges to its carrier now.
                await context.receipt(receipt)
            except NotStoredError:
                # A real driver answers "try again later"; we are our own carrier.
                await trio.sleep(_NOT_STORED_WAIT_S)
            else:
                return


FACTORY = DriverFactory(
    name="loopback",
    settings=LoopbackSettings,
    build=LoopbackDriver,
    summary="accepts everything and delivers nothing; for testing",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    # Called once at start-up. No work here: the driver is built when the configuration names it.
    register(FACTORY)
