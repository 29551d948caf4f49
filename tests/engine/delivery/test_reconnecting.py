"""A link that an operator drops: nothing is lost, and what is in flight ends as the rules say."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio

from risala.engine.model.errors import NotFound
from risala.plugins.testing.fake_driver import FakeDriver


@dataclass(slots=True)
class Counting(FakeDriver):
    runs: list[int] = field(default_factory=list)

    async def run(self, context, **how):
        self.runs.append(len(self.submitted))
        await FakeDriver.run(self, context, **how)


async def reconnect(house, name="fake"):
    return await house.gateway.perform("carriers.reconnect", {"carrier": name})


async def test_the_driver_connects_anew_and_goes_on(open_house, quick):
    driver = Counting()
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "sent")
        await reconnect(house)
        await house.wait_status(await house.send(), "sent")
        assert driver.runs == [0, 1]
        told = await house.gateway.perform("carriers.show", {"carrier": "fake"})
        assert told["last_error"] is None
        assert any("connect anew" in line["text"] for line in told["trace"])


async def test_an_answer_that_is_on_its_way_is_waited_for(open_house, quick):
    driver = Counting()
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await driver.wait_submitted(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reconnect, house)
            await trio.sleep(1)
            later = await house.send()
            await trio.sleep(1)
            assert len(driver.submitted) == 1
            driver.let_go()
        await house.wait_status(message_id, "sent")
        await house.wait_status(later, "sent")
        assert len(driver.submitted) == 2
        assert house.timeline(message_id)[-1][0] == "sent"


async def test_what_is_never_answered_holds_nothing_up(open_house, quick):
    driver = Counting()
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        await house.send()
        await driver.wait_submitted(1)
        await reconnect(house)
        assert len(driver.runs) == 2
        driver.let_go()


async def test_there_must_be_such_a_carrier(open_house, quick):
    async with open_house() as house:
        with pytest.raises(NotFound):
            await reconnect(house, "nobody")
