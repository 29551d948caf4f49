"""What somebody learns of a stick while setting it up."""

from __future__ import annotations

import pytest
import trio
from tests.drivers.hilink.stick_line import PASSWORD, quick

from risala.drivers.hilink import calls, errors, life, pin
from risala.drivers.hilink.examining import check_stick
from risala.drivers.hilink.settings import HilinkSettings
from risala.lab.hilink.simulator import HilinkSimulator


@pytest.mark.parametrize(
    ("config", "given", "reason"),
    [
        ({}, {}, None),
        ({"login": "sha256", "password": PASSWORD}, {"password": PASSWORD}, None),
        ({"login": "sha256", "password": PASSWORD}, {}, errors.UNNAMED),
        ({"login": "scram", "password": PASSWORD}, {"password": "wrong"}, errors.UNPROVED),
        ({"pin": "4711"}, {"pin": "1234"}, None),
        ({"pin": "4711"}, {}, pin.NEEDED),
    ],
)
async def test_what_keeps_a_stick_from_sending_is_told(config, given, reason):
    stick = HilinkSimulator(quick(**config))
    async with trio.open_nursery() as nursery:
        await nursery.start(stick.run)
        settings = HilinkSettings.model_validate({"url": stick.url, **given})
        assert await check_stick(settings) == reason
        assert stick.count("pin/operate") == stick.count("sms/send-sms") == 0
        stick.device.has_card = False
        if reason is None:
            assert await check_stick(settings) == pin.NO_CARD
        nursery.cancel_scope.cancel()


async def test_no_network_and_no_stick_are_told():
    stick = HilinkSimulator(quick())
    async with trio.open_nursery() as nursery:
        await nursery.start(stick.run)
        settings = HilinkSettings(url=stick.url)
        stick.device.behaviour.has_service = False
        assert await check_stick(settings) == life.NO_SERVICE
        nursery.cancel_scope.cancel()
    assert await check_stick(settings) == calls.SILENT
