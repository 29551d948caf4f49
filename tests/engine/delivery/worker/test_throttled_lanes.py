"""What a lane makes of throttled answers: longer and longer silence, never in step with others."""

from itertools import pairwise

import pytest
import trio

from risala.engine.delivery.worker.tile import statistics_of
from risala.engine.rules.throttle import JITTER, PAUSE_S
from risala.plugins.contract import Accepted, Outcome, Segment, Throttled
from risala.plugins.testing.fake_driver import FakeDriver


def saying(*words: str) -> tuple[FakeDriver, list[float]]:
    """A driver that is throttled, or accepts; and the times at which it was asked."""
    times: list[float] = []

    def answer(word: str):
        def say(segment: Segment) -> Outcome:
            times.append(trio.current_time())
            return Throttled("ESME_RTHROTTLED") if word == "no" else Accepted(f"{len(times)}")

        return say

    return FakeDriver(answers=[answer(word) for word in words]), times


async def test_a_lane_is_silent_for_longer_each_time_until_one_is_accepted(open_house, quick):
    driver, times = saying("no", "no", "no", "yes", "no", "yes")
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "sent")
        await house.wait_status(await house.send(), "sent")
        waits = [later - sooner for sooner, later in pairwise(times)]
        for wait_s, pause_s in zip((*waits[:3], waits[4]), (1, 2, 4, 1), strict=True):
            assert wait_s == pytest.approx(pause_s * PAUSE_S, rel=JITTER, abs=0.1)


async def test_two_lanes_throttled_at_once_do_not_come_back_at_once(open_house, quick):
    back = set()
    for _ in range(2):
        driver, times = saying("no", "yes")
        async with open_house(drivers={"fake": driver}) as house:
            await house.wait_status(await house.send(), "sent")
            back.add(round(times[1] - times[0], 3))
    assert len(back) == 2


async def test_a_lane_slows_down_for_a_carrier_that_says_it_is_congested(open_house, quick):
    driver = FakeDriver(answers=[lambda _: Accepted("1", load_percent=100)])
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "sent")
        (lane,) = house.engine._board.lanes.values()
        assert statistics_of(lane).rate_per_s < 0.6 * lane.throttle.rate_max_per_s
