"""What `risala modem` tells of a stick."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
import trio
from tests.drivers.hilink.stick_line import PASSWORD, quick

from patience import HANG_S
from risala.drivers.hilink import calls, errors, life, pin
from risala.drivers.hilink.examining import FIELDS, examine_stick
from risala.drivers.hilink.settings import HilinkSettings
from risala.lab.hilink.simulator import HilinkSimulator


@asynccontextmanager
async def simulated(**config):
    stick = HilinkSimulator(quick(**config))
    async with trio.open_nursery() as nursery:
        await nursery.start(stick.run)
        yield stick
        nursery.cancel_scope.cancel()


def told(findings):
    return {each.name: (each.state, each.text) for each in findings.checks}


async def examined(stick, **given):
    settings = HilinkSettings.model_validate({"url": stick.url, **given})
    return await examine_stick(settings, HANG_S, for_report=True)


async def test_a_stick_that_can_send():
    async with simulated() as stick:
        findings = await examined(stick)
    assert findings.failed is None
    assert told(findings) == {
        "answers": ("ok", "E3372h-320 answers, and lets us in."),
        "SIM": ("ok", "It is ready."),
        "network": ("ok", "In its home network (Mauritel)."),
        "signal": ("ok", "-71 dBm."),
        "storage": ("ok", "0 of 500 places are taken."),
        "delivery reports": ("ok", "The stick hands them on: messages become “delivered”."),
    }
    assert stick.count("sms/send-sms") == stick.count("sms/sms-list") == 0
    assert [each["asked"] for each in findings.answers] == [*FIELDS]


@pytest.mark.parametrize(
    ("config", "given", "name", "text"),
    [
        ({"login": "sha256", "password": PASSWORD}, {}, "answers", errors.UNNAMED),
        ({"login": "scram", "password": PASSWORD}, {"password": "no"}, "answers", errors.UNPROVED),
        ({"pin": "4711"}, {}, "SIM", f"{pin.NEEDED} Tries that are left: 3."),
    ],
)
async def test_what_keeps_a_stick_from_sending(config, given, name, text):
    async with simulated(**config) as stick:
        findings = await examined(stick, **given)
        assert stick.count("pin/operate") == 0
    assert findings.failed is not None
    assert (findings.failed.name, findings.failed.text) == (name, text)


async def test_what_an_operator_should_see_to():
    async with simulated(storage_max=1, has_reports=False, pin="4711") as stick:
        stick.device.receive("+22236999999", "One")
        stick.device.behaviour.has_service = False
        stick.device.pin_tries = 2
        findings = await examined(stick, pin="4711")
        assert stick.count("pin/operate") == 0
    found = told(findings)
    assert found["storage"] == ("warn", life.FULL)
    assert found["network"][0] == "skipped"
    assert found["delivery reports"] == ("warn", life.NO_REPORTS)
    assert found["SIM"][1].startswith("A wrong PIN was typed before. Tries that are left: 2.")


async def test_a_stick_without_a_network():
    async with simulated() as stick:
        stick.device.behaviour.has_service = False
        assert (await examined(stick)).failed.text == life.NO_SERVICE


async def test_a_stick_that_is_gone_and_one_that_hangs():
    async with simulated() as stick:
        settings = HilinkSettings(url=stick.url)
        stick.device.behaviour.is_mute = True
        assert (await examine_stick(settings, 0.1)).failed.text == calls.SILENT
    assert (await examine_stick(settings, HANG_S)).failed.text == calls.SILENT
