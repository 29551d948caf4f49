"""The modem driver passes the suite that we ship to plugin authors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import memory_stream_pair

from risala.drivers.modem.driver import ModemDriver
from risala.drivers.modem.settings import ModemSettings
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import DriverConformance


class TestModem(DriverConformance):
    @pytest.fixture(autouse=True)
    def _with_modem(self, new_modem):
        self.new_modem = new_modem

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        modem = self.new_modem()
        async with trio.open_nursery() as nursery:

            async def open_port(port: str, baud: int) -> trio.abc.Stream:
                ours, theirs = memory_stream_pair()
                nursery.start_soon(modem.run, theirs)
                return ours

            yield ModemDriver(
                "sim-1",
                ModemSettings(port="/dev/fake"),
                open_port=open_port,
                is_there=lambda _: True,
            )
            nursery.cancel_scope.cancel()
