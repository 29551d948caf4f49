"""The driver of ModemManager passes the suite that we ship to plugin authors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar

import pytest
import trio
from pydantic import SecretStr

from patience import HANG_S
from risala.drivers.modem.manager.driver import ModemManagerDriver
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import CarrierGot, DriverConformance


class TestModemManager(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    secrets: ClassVar = ("48151623",)

    @pytest.fixture(autouse=True)
    def _with_manager(self, manager):
        self.manager = manager

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        settings = ModemManagerSettings(pin=SecretStr("48151623"), send_timeout_s=5, reopen_s=0.01)
        yield ModemManagerDriver("stick", settings, open_bus=self.manager.open)

    async def carrier_got(self) -> list[CarrierGot]:
        return [
            CarrierGot(
                sender="",  # its own number, whatever is asked
                recipient=each["Number"],
                text=each["Text"],
                expires_at_ms=self.now_ms() + each["Validity"][1][1] * 60_000,
                flash=each["Class"] == 0,
            )
            for each in self.manager.sent
        ]

    async def send_to_us(self, sender: str, text: str) -> None:
        self.manager.put(Number=sender, Text=text)

    async def mute_carrier(self) -> None:
        self.manager.errors["Send"] = self.manager.late

    async def cut_link(self) -> None:
        self.manager.cut()
        await trio.lowlevel.checkpoint()
