"""What a tile of a carrier shows: its condition as a code, and the figures beside it."""

from __future__ import annotations

import pytest
import trio

from risala.plugins.contract import Health, HealthState, Refused, Scope
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.cause import Cause


async def tile(house, name="fake"):
    return await house.gateway.perform("carriers.show", {"carrier": name})


@pytest.mark.parametrize(
    ("health", "code"),
    [
        (Health(HealthState.UP, "Up."), "up"),
        (Health(HealthState.UP, "Up.", receipts=False), "up_without_receipts"),
        (Health(HealthState.DOWN, "Gone."), "link_down"),
        (Health(HealthState.DOWN, "Gone.", {"again_s": 3}), "connects_again"),
        (Health(HealthState.DOWN, "No.", {"command_status": "ESME_RBINDFAIL"}), "refused"),
        (
            Health(HealthState.SICK, "No.", {"command_status": "ESME_RINVPASWD"}),
            "refused_for_good",
        ),
        (Health(HealthState.SICK, "PIN."), "needs_a_hand"),
        (Health(HealthState.DOWN, "…", {"registration": "searching"}), "searching"),
        (Health(HealthState.SICK, "…", {"registration": "denied"}), "sim_denied"),
        (
            Health(
                HealthState.DOWN,
                "…",
                {"registration": "home", "segments_today": 5, "segments_per_day_max": 5},
            ),
            "quota_used",
        ),
    ],
)
async def test_the_condition_is_a_code(open_house, quick, health, code):
    driver = FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        driver.context.health(health)
        assert (await tile(house))["condition"]["code"] == code


@pytest.mark.parametrize(
    ("dbm", "bars"),
    [(None, None), (-113, 0), (-108, 0), (-107, 1), (-97, 2), (-85, 3), (-73, 4), (-51, 4)],
)
async def test_a_signal_has_bars(open_house, quick, dbm, bars):
    driver = FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        details = {"signal_dbm": dbm, "operator": "Mattel", "iccid": "…4711"}
        driver.context.health(Health(HealthState.UP, "Up.", details))
        told = await tile(house)
        assert told["signal"] == {"dbm": dbm, "bars": bars}
        assert told["network"]["operator"] == "Mattel"
        assert told["sim"]["iccid"] == "…4711"


async def test_the_last_error_is_a_cause_with_the_carriers_word(open_house, quick):
    refused = Refused(Scope.NOW, "ESME_RSYSERR", cause=Cause.CARRIER_FAULT)
    driver = FakeDriver(answers=[refused])
    async with open_house(drivers={"fake": driver}) as house:
        assert (await tile(house))["last_error"] is None
        await house.wait_status(await house.send(), "sent")
        error = (await tile(house))["last_error"]
        assert (error["code"], error["raw"]) == ("CARRIER_FAULT", "ESME_RSYSERR")
        driver.set_health(HealthState.DOWN)
        error = (await tile(house))["last_error"]
        assert (error["code"], error["text"]) == ("LINK_DOWN", "The fake link is down.")


async def test_the_oldest_that_waits_is_told(open_house, quick):
    driver = FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        assert (await tile(house))["oldest"] is None
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        first = await house.send()
        accepted = house.gateway.show_message(first)[0].created_at
        await trio.sleep(60)
        await house.send(principal=await house.organization())
        told = await tile(house)
        assert told["queue"] == 2
        clock = house.gateway.services.recorder.clock
        assert clock.now_ms() - accepted >= 60_000
        from risala.engine.model.times import iso

        assert told["oldest"] == iso(accepted)
        assert told["condition"]["code"] == "paused"


async def test_a_breaker_says_until_when(open_house, quick):
    refused = Refused(Scope.NOW, "ESME_RSYSERR", cause=Cause.CARRIER_FAULT)
    driver = FakeDriver(always=refused)
    async with open_house(drivers={"fake": driver}) as house:
        for _ in range(12):
            await house.send()
        await driver.wait_submitted(10)
        await trio.testing.wait_all_tasks_blocked()
        told = await tile(house)
        assert told["condition"]["code"] == "resting"
        assert told["condition"]["values"]["until"] == told["breaker_until"]
