"""The built-in drivers pass the suite that we ship to plugin authors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from risala.drivers.loopback import LoopbackDriver, LoopbackSettings
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.settings import SmppSettings
from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import DriverConformance


class TestLoopback(DriverConformance):
    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        yield LoopbackDriver("loop", LoopbackSettings(receipt_delay_s=0.01))


class TestSmpp(DriverConformance):
    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        simulator = SmscSimulator(SimulatorConfig(receipt_after_s=0.01, receipt_retry_s=0.01))
        async with trio.open_nursery() as nursery:
            port = await nursery.start(simulator.run)
            yield SmppDriver("smsc", SmppSettings(host="127.0.0.1", port=port, system_id="risala"))
            nursery.cancel_scope.cancel()


def test_the_context_fixture_is_there(recording_context: object) -> None:
    assert type(recording_context).__name__ == "RecordingContext"
