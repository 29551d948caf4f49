"""The clock on the wall is set back while the service runs: what waits, waits by elapsed time."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from risala.engine.model.commands import SendCode
from risala.engine.rules.webhooks.schedule import ReceiverFault
from risala.engine.upkeep.clock_rollback import SLACK_MS, WatchedClock
from risala.plugins.contract import HealthState, Refused, Scope, Uncertain
from risala.plugins.testing.fake_driver import FakeDriver

HOUR_MS = 3_600_000
DOWN = ReceiverFault("NOT_CONNECTED", "The connection failed.")
URL = "https://example.com/hook"


def set_back(house, by_ms: int = HOUR_MS) -> None:
    house.clock._start_ms -= by_ms


async def until_status(house, message_id: str, *statuses: str) -> None:
    with house.gateway.watch() as life:
        while house.gateway.show_message(message_id)[0].status not in statuses:
            await anext(life)


async def test_a_webhook_comes_again_in_time(open_house, quick):
    async with open_house() as house:
        house.outbound.plan[URL] = [DOWN, DOWN]
        await house.endpoint(types=["sms.sent"])
        await house.send()
        await house.outbound.wait_calls(1)
        await trio.sleep(0.5)
        set_back(house)
        with trio.fail_after(400):  # the waits of 5 s and 5 min, with jitter
            await house.outbound.wait_calls(3)


async def test_a_refused_message_is_tried_again_in_time(open_house, quick):
    driver = FakeDriver(answers=[Refused(Scope.NOW, "ESME_RMSGQFUL", "The queue is full.")])
    async with open_house(driver=driver) as house:
        message_id = await house.send()
        await driver.wait_submitted(1)
        await trio.sleep(0.1)
        set_back(house)
        with trio.fail_after(120):
            await until_status(house, message_id, "sent")


async def test_what_is_uncertain_is_settled_in_time(open_house, quick):
    driver = FakeDriver(answers=[Uncertain("the link broke")])
    async with open_house(driver=driver) as house:
        message_id = await house.send()
        await driver.wait_submitted(1)
        await trio.sleep(0.1)
        set_back(house)
        with trio.fail_after(125):
            await until_status(house, message_id, "failed")


async def test_what_waits_for_a_carrier_goes_out_when_it_is_up(open_house, quick):
    driver = FakeDriver()
    async with open_house(driver=driver) as house:
        await trio.testing.wait_all_tasks_blocked()
        driver.set_health(HealthState.DOWN)
        message_id = await house.send()
        set_back(house)
        await trio.sleep(1)
        driver.set_health(HealthState.UP)
        with trio.fail_after(65):
            await until_status(house, message_id, "sent")


async def test_a_code_lives_as_long_as_it_was_to_live(open_house, quick):
    async with open_house() as house:
        session_id = await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        set_back(house)
        await trio.sleep(540)

        def status() -> str:
            return house.gateway.get_verification(house.principal, session_id).status

        assert status() == "pending"
        await trio.sleep(61)
        assert status() == "expired"


async def test_a_scheduled_message_keeps_the_hour_it_was_asked_for(open_house, quick, leap):
    async with open_house() as house:
        wanted_ms = house.clock.now_ms() + HOUR_MS
        message_id = await house.send(send_at=wanted_ms)
        set_back(house)
        await leap(HOUR_MS / 1000 + 60)
        assert house.gateway.show_message(message_id)[0].status == "pending"
        await leap(HOUR_MS / 1000)
        assert house.gateway.show_message(message_id)[0].status == "sent"


async def test_it_is_told_once_and_by_how_much(autojump_clock):
    class Wall:
        at_ms = 1_000_000

        def now_ms(self) -> int:
            return self.at_ms + round(trio.current_time() * 1000)

    wall = Wall()
    clock = WatchedClock(wall)
    clock.now_ms()
    for step in (-SLACK_MS + 1, 50_000, -2 * SLACK_MS, -3 * SLACK_MS):
        wall.at_ms += step
        clock.now_ms()
    assert await clock.wait_clock_rollback() == 5 * SLACK_MS
    with trio.move_on_after(10) as scope:
        await clock.wait_clock_rollback()
    assert scope.cancelled_caught


async def test_who_stood_still_between_two_clocks_saw_neither_set(autojump_clock):
    class Wall:
        """Right after it was looked at, its reader is stopped for a minute, once."""

        stops = False

        def now_ms(self) -> int:
            told = round(trio.current_time() * 1000)
            if self.stops:
                self.stops = False
                autojump_clock.jump(60)
            return told

    wall = Wall()
    clock = WatchedClock(wall)
    clock.now_ms()
    wall.stops = True
    assert clock.now_ms() == round(trio.current_time() * 1000)
    assert clock.last_jump is None
    with trio.move_on_after(10) as scope:
        await clock.wait_clock_rollback()
    assert scope.cancelled_caught


@pytest.mark.parametrize("times", [2])
async def test_as_often_as_it_happens(open_house, quick, times):
    async with open_house() as house:
        house.outbound.plan[URL] = [DOWN, DOWN]
        await house.endpoint(types=["sms.sent"])
        await house.send()
        for call in range(1, times + 1):
            await house.outbound.wait_calls(call)
            await trio.sleep(0.5)
            set_back(house)
        with trio.fail_after(400):
            await house.outbound.wait_calls(3)
