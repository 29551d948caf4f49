"""The carrier of test keys: no network, no charge; the number's last two digits say what happens.

======  ==========================================
digits  outcome
======  ==========================================
``00``  delivered
``01``  refused for good
``02``  accepted, then undelivered
``03``  accepted, no receipt ever
``04``  throttled twice, then delivered
else    delivered
======  ==========================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio
from pydantic import BaseModel, ConfigDict

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
    Refused,
    Scope,
    Segment,
    Throttled,
    Unsent,
)
from risala.plugins.hookspecs import hookimpl

RECEIPT_AFTER_S: Final = 0.2
THROTTLED_FOR_S: Final = 0.1
RECEIPTS_MAX: Final = 10_000
"""Receipts that may be due at once; beyond it the test carrier asks to slow down."""


class TestModeSettings(BaseModel):
    """Settings of the test mode: none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TestModeDriver:
    """Plays a carrier; see the module's table."""

    def __init__(self) -> None:
        self.capabilities = Capabilities(
            alphanumeric_sender=True,
            receipts=True,
            inbound=False,
            query=False,
            validity=True,
            window_max=100,
            flash=True,
        )
        self._nursery: trio.Nursery | None = None
        self._context: DriverContext | None = None
        self._receipts = 0

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        self._context = context
        task_status.started()
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                context.health(Health(HealthState.UP, "Test keys work."))
                await trio.sleep_forever()
        finally:
            self._nursery = None

    async def submit(self, segment: Segment) -> Outcome:
        await trio.lowlevel.checkpoint()
        if self._nursery is None:
            return Unsent("TEST_STOPPED")
        digits = segment.recipient[-2:]
        if digits == "01":
            return Refused(Scope.FINAL, "TEST_REFUSED", "The number ends in 01: refused.")
        if (digits == "04" and segment.attempt <= 2) or self._receipts >= RECEIPTS_MAX:
            return Throttled("TEST_THROTTLED", retry_after_s=THROTTLED_FOR_S)
        carrier_id = f"test-{segment.message_id}-{segment.number}"
        if digits != "03":
            state = ReceiptState.UNDELIVERABLE if digits == "02" else ReceiptState.DELIVERED
            self._receipts += 1
            self._nursery.start_soon(self._receipt, Receipt(carrier_id, state, f"TEST_{state}"))
        return Accepted(carrier_id, "TEST_OK")

    async def _receipt(self, receipt: Receipt) -> None:
        assert self._context is not None
        try:
            while True:
                await trio.sleep(RECEIPT_AFTER_S)
                try:
                    await self._context.receipt(receipt)
                except NotStoredError:
                    continue
                return
        finally:
            self._receipts -= 1

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        return None


FACTORY: Final = DriverFactory(
    name="test",
    settings=TestModeSettings,
    build=lambda _carrier, _settings: TestModeDriver(),
    summary="what test keys go through: no network, no charge; the number says what happens",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
