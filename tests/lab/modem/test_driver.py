"""Our own driver against each simulated modem, over a real pseudo-terminal."""

import pytest
import trio
from pydantic import SecretStr

from patience import HANG_S
from risala.drivers.modem.driver import ModemDriver
from risala.drivers.modem.settings import ModemSettings
from risala.lab.modem.simulator import (
    PROFILES,
    MessageReceived,
    ModemConfig,
    ModemSimulator,
    PortOpened,
)
from risala.plugins.contract import Accepted, HealthState, Segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.alphabet import choose_alphabet
from risala.sms.receipt import ReceiptState
from risala.sms.segment import split

TO = "+22236123456"
LONG = "Vous avez reçu 1 500 MRU {ref [A~7]} € – " * 8
FAR_MS = 4_000_000_000_000


def segments(text: str) -> list[Segment]:
    parts = split(text)
    alphabet = choose_alphabet(text)
    return [
        Segment("sms_1", number, len(parts), 1, "Acme", TO, alphabet, part, 7, FAR_MS)
        for number, part in enumerate(parts, 1)
    ]


class Pair:
    """A simulated modem, and our driver that has it open."""

    def __init__(self, path, **config):
        self.simulator = ModemSimulator(ModemConfig(**config), link=path / "modem")
        self.context = RecordingContext()
        pin = config.get("pin")
        self.driver = ModemDriver(
            "sim-1",
            ModemSettings(port=str(path / "modem"), pin=SecretStr(pin) if pin else None),
        )

    async def run(self, nursery):
        await nursery.start(self.simulator.run)
        await nursery.start(self.driver.run, self.context)
        await self.context.wait_health(HealthState.UP)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["huawei", *(pytest.param(n, marks=pytest.mark.long) for n in ("plain", "sim800", "quectel"))],
)
async def test_sends_gets_reports_and_receives(name, tmp_path):
    pair = Pair(tmp_path, profile=PROFILES[name], report_after_s=0, pin="1234")
    simulator = pair.simulator
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await pair.run(nursery)
            for text in ("Bonjour", "رسالة من ريسالة", LONG):
                for segment in segments(text):
                    assert isinstance(await pair.driver.submit(segment), Accepted)
                got = await simulator.wait(MessageReceived, lambda it, text=text: it.text == text)
                assert (got.recipient, got.sender) == (TO, simulator.modem.config.number)
            simulator.receive("+22236999999", LONG, shuffle=True)
            simulator.receive("Mauritel", "شكرا")
            await pair.context.wait_receipts(2 + len(segments(LONG)))
            await pair.context.wait_until(lambda it: len(it.inbounds) >= 2)
            nursery.cancel_scope.cancel()
    assert {receipt.state for receipt in pair.context.receipts} == {ReceiptState.DELIVERED}
    received = {(inbound.sender, inbound.text) for inbound in pair.context.inbounds}
    assert received == {("+22236999999", LONG), ("Mauritel", "شكرا")}


@pytest.mark.slow
@pytest.mark.long
async def test_a_port_that_vanishes_is_found_again_at_its_link(tmp_path):
    pair = Pair(tmp_path)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await pair.run(nursery)
            pair.simulator.vanish()
            await pair.context.wait_health(HealthState.DOWN)
            assert not (tmp_path / "modem").exists()
            pair.simulator.come_back()
            await pair.simulator.wait(PortOpened, count=2)
            await pair.context.wait_health(HealthState.UP)
            [segment] = segments("again")
            assert isinstance(await pair.driver.submit(segment), Accepted)
            nursery.cancel_scope.cancel()
