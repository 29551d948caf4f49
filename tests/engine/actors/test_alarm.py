"""Waiting for the nearest of many moments, and trying until the storage takes it."""

from __future__ import annotations

import pytest
import trio

from risala.engine.actors.alarm import LOOK_S, Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.model.clock import TrioClock
from risala.engine.model.errors import Draining, OutcomeUnknown, StorageFailed


class Watch:
    """How long waits take, in seconds."""

    def __init__(self) -> None:
        self.clock = TrioClock()
        self.now_ms = self.clock.now_ms()
        self.alarm = Alarm(self.clock)

    async def wait_s(self, in_s: float | None) -> float:
        began_s = trio.current_time()
        next_ms = None if in_s is None else self.clock.now_ms() + round(in_s * 1000)
        await self.alarm.wait(next_ms)
        return trio.current_time() - began_s


@pytest.mark.parametrize(
    ("in_s", "took_s"), [(2.0, 2.0), (0.0, 0.0), (-5.0, 0.0), (90.0, LOOK_S), (None, LOOK_S)]
)
async def test_it_wakes_at_the_moment_and_for_a_look(autojump_clock, in_s, took_s):
    assert await Watch().wait_s(in_s) == pytest.approx(took_s)


async def test_a_nearer_moment_ends_the_wait_and_a_later_one_does_not(autojump_clock):
    watch = Watch()

    async def tell() -> None:
        await trio.sleep(1)
        watch.alarm.expect(watch.now_ms + 8000)
        await trio.sleep(1)
        watch.alarm.expect(watch.now_ms + 3000)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(tell)
        assert await watch.wait_s(7) == pytest.approx(2)


async def test_what_is_told_while_nobody_waits_is_not_lost(autojump_clock):
    watch = Watch()
    assert await watch.wait_s(1) == pytest.approx(1)
    # Between a look at what is next and the wait for it something nearer comes up.
    watch.alarm.expect(watch.now_ms + 3000)
    assert await watch.wait_s(20) == pytest.approx(0)
    watch.alarm.ring()
    assert await watch.wait_s(20) == pytest.approx(0)
    assert await watch.wait_s(20) == pytest.approx(20)


async def test_it_is_tried_until_it_holds_with_growing_pauses(autojump_clock):
    faults = [StorageFailed(), OutcomeUnknown(), *[StorageFailed()] * 6]
    began_s = trio.current_time()
    at_s: list[float] = []

    async def attempt() -> str:
        at_s.append(round(trio.current_time() - began_s, 3))
        if faults:
            raise faults.pop(0)
        return "done"

    assert await retry_until_committed("test", attempt) == "done"
    assert at_s == [0.0, 0.2, 0.6, 1.4, 3.0, 6.2, 11.2, 16.2, 21.2]


async def test_a_stop_ends_the_patience(autojump_clock):
    async def attempt() -> None:
        raise Draining

    with pytest.raises(Draining):
        await retry_until_committed("test", attempt)
