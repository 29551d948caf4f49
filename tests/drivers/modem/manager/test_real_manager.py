"""The driver at the real ModemManager, with a simulated modem behind it."""

import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from pydantic import SecretStr

from patience import HANG_S, until_true
from real_manager import RealManager, needs_manager, real_manager
from risala.cli.commands.upkeep.modem_examining import of_managed
from risala.cli.commands.upkeep.modem_report import written_of
from risala.drivers.modem.manager.driver import ModemManagerDriver
from risala.drivers.modem.manager.examining import examine_managed
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.lab.modem.simulator import Submitted
from risala.lab.modem.world.config import ModemConfig
from risala.plugins.contract import Accepted, HealthState, Refused, Unsent
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.receipt import ReceiptState

pytestmark = needs_manager
SENDER = "+22236999999"


@pytest.fixture
def place():
    """Short: a socket's path has at most 107 octets."""
    with tempfile.TemporaryDirectory(prefix="mm-") as directory:
        yield Path(directory)


@asynccontextmanager
async def driving(
    manager: RealManager, context: RecordingContext, **settings: Any
) -> AsyncIterator[ModemManagerDriver]:
    settings = {"bus": manager.address, "reopen_s": 0.05, "check_every_s": 1, **settings}
    driver = ModemManagerDriver("stick", ModemManagerSettings(**settings))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(driver.run, context)
        yield driver
        nursery.cancel_scope.cancel()


async def test_a_text_is_sent_and_delivered(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        modem = await manager.plug()
        async with driving(manager, context) as driver:
            await context.wait_health(HealthState.UP)
            outcome = await driver.submit(segment(text="Salam"))
            assert isinstance(outcome, Accepted)
            await context.wait_until(lambda it: it.receipts)
            assert await modem.wait(Submitted)
    [receipt] = context.receipts
    assert (receipt.carrier_id, receipt.state) == (outcome.carrier_id, ReceiptState.DELIVERED)
    up = next(each for each in context.healths if each.state is HealthState.UP)
    assert up.text == "Risala Simulated modem is ready on Testnet."
    assert up.details["imei"] == ModemConfig().imei


async def test_a_long_text_is_one_and_its_last_part_s_report_is_its_own(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        modem = await manager.plug()
        async with driving(manager, context) as driver:
            await context.wait_health(HealthState.UP)
            outcome = await driver.submit(segment(text="Ahlan " * 60))
            assert isinstance(outcome, Accepted)
            await context.wait_until(lambda it: it.receipts)
            await modem.wait(Submitted, count=3)
    assert [each.carrier_id for each in context.receipts] == [outcome.carrier_id]


async def test_texts_come_in_whole_and_go_from_the_modem_once_stored(place):
    context = RecordingContext("stick")
    context.refusals = 1
    long = "شكرا " * 40
    async with real_manager(place) as manager:
        modem = await manager.plug()
        modem.receive(SENDER, "Short")
        modem.receive(SENDER, long)
        async with driving(manager, context):
            await until_true(lambda: len(context.inbounds) == 2)
            await until_true(lambda: not any(it.used for it in modem.modem.stores.values()))
    assert context.refused == 1
    assert sorted(each.text for each in context.inbounds) == ["Short", long]
    assert {each.sender for each in context.inbounds} == {SENDER}


async def test_a_text_that_comes_while_it_runs(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        modem = await manager.plug()
        async with driving(manager, context):
            await context.wait_health(HealthState.UP)
            while not context.inbounds:
                # ModemManager misses what is announced in the moment of an answer: again, then.
                modem.receive(SENDER, "Yes")
                with trio.move_on_after(3):
                    await until_true(lambda: context.inbounds)
    assert {each.text for each in context.inbounds} == {"Yes"}


async def test_the_network_s_refusal_is_the_sentence_of_its_number(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        modem = await manager.plug()
        async with driving(manager, context) as driver:
            await context.wait_health(HealthState.UP)
            modem.perform("refuse 30")
            outcome = await driver.submit(segment())
    assert isinstance(outcome, Refused)
    assert outcome.text == "The network does not know the recipient."


async def test_a_pin_is_typed_once(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        await manager.plug(config=ModemConfig(pin="4815"))
        async with driving(manager, context, pin=SecretStr("4815")):
            await context.wait_health(HealthState.UP)
    assert not context.notes, "it was seen to be right"


async def test_a_wrong_pin_is_not_typed_twice(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        modem = await manager.plug(config=ModemConfig(pin="4815"))
        for _ in range(2):
            async with driving(manager, context, pin=SecretStr("1623")):
                await context.wait_health(HealthState.SICK)
                assert "pin/" in next(iter(context.notes))
            context.healths.clear()
    typed = [each for each in modem.events if "CPIN=" in str(each)]
    assert len([each for each in typed if type(each).__name__ == "Heard"]) == 1


async def test_a_report_has_the_modem_and_nothing_of_its_owner(place):
    """What is planted: the SIM's number, PIN, IMSI and ICCID, the modem's IMEI, and a text."""
    config = ModemConfig()
    async with real_manager(place) as manager:
        modem = await manager.plug()
        modem.receive(SENDER, "Rendez-vous")
        settings = ModemManagerSettings(bus=manager.address, pin=SecretStr("4815"))
        context = RecordingContext("stick")
        async with driving(manager, context, inbound=False):  # it switches the modem on
            await context.wait_health(HealthState.UP)
        found = await examine_managed(settings, HANG_S, for_report=True)
    assert found.failed is None, found.checks
    written = written_of(of_managed(settings, found))
    text = json.dumps(written)
    for each in (config.imei, config.imsi, config.iccid, config.number[1:], "4815", SENDER[1:]):
        assert each not in text
    assert "Rendez" not in text
    assert str(place) not in text
    assert (written["driver"], written["tells"]) == ("modemmanager", ["imei", "number"])
    assert written["modem"]["manager"].startswith("1.")
    asked = {each["asked"]: each["answer"] for each in written["answers"]}
    assert asked["texts"] == {"received": 1}
    assert asked["org.freedesktop.ModemManager1.Modem"]["Revision"] == "1.0"
    assert asked["org.freedesktop.ModemManager1.Modem.Modem3gpp"]["OperatorName"] == "Testnet"


async def test_of_two_modems_the_settings_choose(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        one = await manager.plug("one")
        two = await manager.plug("two", ModemConfig(imei="861234567890132"))
        async with driving(manager, context, modem="861234567890132") as driver:
            await context.wait_health(HealthState.UP)
            assert isinstance(await driver.submit(segment()), Accepted)
    assert [len([*filter(_is_submit, each.events)]) for each in (one, two)] == [0, 1]


def _is_submit(event: object) -> bool:
    return isinstance(event, Submitted)


async def test_a_modem_that_is_plugged_in_later_and_out_again(place):
    """Without udev ModemManager keeps an unplugged modem in its list; its port is closed."""
    context = RecordingContext("stick")
    async with real_manager(place) as manager, driving(manager, context) as driver:
        await context.wait_until(lambda it: bool(it.healths))
        modem = await manager.plug()
        await context.wait_health(HealthState.UP)
        modem.vanish()
        outcome = await driver.submit(segment())
        assert isinstance(outcome, Unsent), outcome
        await context.wait_health(HealthState.DOWN)


async def test_modem_manager_is_restarted(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        await manager.plug()
        async with driving(manager, context) as driver:
            await context.wait_health(HealthState.UP)
            await manager.stop()
            await context.wait_health(HealthState.DOWN)
            assert isinstance(await driver.submit(segment()), Unsent)
            context.healths.clear()
            await manager.start()
            await manager.take()
            await context.wait_health(HealthState.UP)
            assert isinstance(await driver.submit(segment()), Accepted)
            await context.wait_until(lambda it: it.receipts)


async def test_d_bus_goes_and_comes_again(place):
    context = RecordingContext("stick")
    async with real_manager(place) as manager:
        await manager.plug()
        async with driving(manager, context) as driver:
            await context.wait_health(HealthState.UP)
            await manager.stop_bus()
            await context.wait_until(lambda it: "There is no D-Bus" in it.healths[-1].text)
            await manager.stop()
            context.healths.clear()
            await manager.start_bus()
            await manager.start()
            await manager.take()
            await context.wait_health(HealthState.UP)
            assert isinstance(await driver.submit(segment()), Accepted)
