"""What a carrier would not take now waits or goes elsewhere, and spends no attempts."""

from __future__ import annotations

from dataclasses import dataclass, field

import trio

from risala.engine.delivery.worker.consequences import LOOK_AGAIN_MS, declines
from risala.engine.model.sentences import sentence
from risala.plugins.contract import Declined
from risala.plugins.testing.fake_driver import FakeDriver

NO = "The quota is used up (limit = 5)."


@dataclass(slots=True)
class ChoosyDriver(FakeDriver):
    """Would not take messages to ``refused``, until then."""

    refused: set[str] = field(default_factory=set)
    until_ms: int = 1 << 60
    asked: int = 0

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        self.asked += 1
        return Declined(NO, self.until_ms) if recipient in self.refused else None


@dataclass(slots=True)
class BrokenDriver(FakeDriver):
    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        raise ValueError("a bug")


TO, OTHER = "+22236123456", "+22236000002"


async def test_a_message_that_is_declined_waits_and_spends_no_attempt(open_house, quick):
    driver = ChoosyDriver(refused={TO})
    async with open_house(drivers={"fake": driver}) as house:
        waiting = await house.send(to=TO)
        await house.wait_status(await house.send(to=OTHER), "sent")  # it holds nobody up
        await trio.sleep(4 * LOOK_AGAIN_MS / 1000)
        view, timeline = house.gateway.show_message(waiting)
        assert (view.status, view.attempts, view.carrier) == ("pending", 0, None)
        assert [sentence(entry) for entry in timeline][1:-1] == [NO]
        assert driver.asked < 20
        driver.refused.clear()
        await house.wait_status(waiting, "sent")
        assert house.gateway.show_message(waiting)[0].attempts == 1


async def test_it_goes_to_a_carrier_that_takes_it(open_house, quick, carrier):
    first, second = ChoosyDriver(refused={TO}), ChoosyDriver()
    both = [carrier("first"), carrier("second", priority=20)]
    async with open_house(*both, drivers={"first": first, "second": second}) as house:
        message_id = await house.send(to=TO)
        await house.wait_status(message_id, "sent")
        assert [len(driver.submitted) for driver in (first, second)] == [0, 1]
        assert house.gateway.show_message(message_id)[0].attempts == 1


async def test_one_that_declines_too_is_not_tried(open_house, quick, carrier):
    first, second = ChoosyDriver(refused={TO}), ChoosyDriver(refused={TO})
    both = [carrier("first"), carrier("second", priority=20)]
    async with open_house(*both, drivers={"first": first, "second": second}) as house:
        message_id = await house.send(to=TO)
        await trio.sleep(LOOK_AGAIN_MS / 1000)
        assert house.gateway.show_message(message_id)[0].attempts == 0
        second.refused.clear()
        await house.wait_status(message_id, "sent")
        assert len(second.submitted) == 1


async def test_it_is_looked_at_when_the_driver_says(open_house, quick):
    driver = ChoosyDriver(refused={TO})
    async with open_house(drivers={"fake": driver}) as house:
        driver.until_ms = house.gateway.services.recorder.clock.now_ms() + 5000
        began_s = trio.current_time()
        message_id = await house.send(to=TO)
        await trio.sleep(1)
        driver.refused.clear()
        await house.wait_status(message_id, "sent")
        assert trio.current_time() - began_s < 10


async def test_validity_runs_on(open_house, quick):
    async with open_house(drivers={"fake": ChoosyDriver(refused={TO})}) as house:
        message_id = await house.send(to=TO, validity_s=3600)
        assert await house.wait_status(message_id, "failed") == "failed"
        assert await house.balance() == "1000.00"
        assert house.gateway.show_message(message_id)[0].attempts == 0


async def test_a_driver_whose_answer_is_none_is_let_submit(open_house, quick):
    driver = BrokenDriver()
    assert declines("fake", driver, TO, 1) is None
    assert declines("fake", FakeDriver(), TO, 1) is None
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(to=TO), "sent")
