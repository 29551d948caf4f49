"""The drivers that play a carrier themselves pass the suite that we ship to plugin authors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar

from patience import HANG_S
from risala.drivers import testmode
from risala.drivers.loopback import LoopbackDriver, LoopbackSettings
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import DriverConformance

NOBODY_BEHIND = frozenset({"segments", "parts", "silence", "link"})


class TestLoopback(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    unseen: ClassVar = NOBODY_BEHIND | {"alphanumeric_sender", "flash"}

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        yield LoopbackDriver("loop", LoopbackSettings(receipt_delay_s=0.01))


class TestTestMode(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    unseen: ClassVar = NOBODY_BEHIND | {"alphanumeric_sender", "flash", "validity"}

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        yield testmode.TestModeDriver()


def test_the_context_fixture_is_there(recording_context: object) -> None:
    assert type(recording_context).__name__ == "RecordingContext"
