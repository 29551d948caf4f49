"""What is wrong is told once, and once more when it is over."""

from __future__ import annotations

import trio

from risala.plugins.contract import HealthState


async def listed(house, **given):
    return (await house.gateway.perform("alert.list", given))["alerts"]


async def test_a_carrier_that_stays_down_is_told_once(open_house, quick):
    async with open_house() as house:
        house.driver.set_health(HealthState.DOWN)
        await trio.sleep(240)
        assert await listed(house) == []
        await trio.sleep(3600)
        (alert,) = await listed(house)
        assert (alert["kind"], alert["subject"], alert["isOpen"]) == ("lane_down", "fake", True)
        house.driver.set_health(HealthState.UP)
        await trio.sleep(3600)
        (alert,) = await listed(house)
        assert not alert["isOpen"]
        assert await listed(house, open=True) == []
