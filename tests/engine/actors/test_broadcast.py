from __future__ import annotations

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import assert_checkpoints, wait_all_tasks_blocked

from risala.engine.actors.broadcast import Broadcast
from risala.engine.model.following import Lagged


async def test_each_listener_gets_what_came_after_it():
    broadcast = Broadcast[int]()
    broadcast.publish(0)
    with broadcast.subscribe(8) as first:
        broadcast.publish(1)
        with broadcast.subscribe(8) as second:
            broadcast.publish(2)
            assert [await anext(first), await anext(first), await anext(second)] == [1, 2, 2]
    assert broadcast.listeners == 0


async def test_a_waiting_listener_is_woken():
    broadcast = Broadcast[str]()
    seen: list[object] = []

    async def listen() -> None:
        with broadcast.subscribe(8) as values:
            async for value in values:
                seen.append(value)  # noqa: PERF401

    async with trio.open_nursery() as nursery:
        nursery.start_soon(listen)
        await wait_all_tasks_blocked()
        broadcast.publish("a")
        await wait_all_tasks_blocked()
        broadcast.publish("b")
        broadcast.publish("c")
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert seen == ["a", "b", "c"]
    assert broadcast.listeners == 0


async def test_a_slow_listener_loses_the_oldest_and_is_told():
    broadcast = Broadcast[int]()
    with broadcast.subscribe(3) as values:
        for number in range(10):
            broadcast.publish(number)
        assert [await anext(values) for _ in range(4)] == [Lagged(7), 7, 8, 9]
        broadcast.publish(10)
        assert await anext(values) == 10


async def test_reading_is_a_checkpoint():
    broadcast = Broadcast[int]()
    with broadcast.subscribe(3) as values:
        broadcast.publish(1)
        with assert_checkpoints():
            await anext(values)


def test_room_for_nothing_is_refused():
    with pytest.raises(ValueError, match="at least 1"), Broadcast[int]().subscribe(0):
        pass


@given(st.integers(1, 5), st.lists(st.booleans(), max_size=50))
def test_nothing_is_lost_unsaid(values_max, plan):
    """Every published number is read, in order, or counted where it is missing."""

    async def main() -> None:
        broadcast = Broadcast[int]()
        published = following = 0
        with broadcast.subscribe(values_max) as values:
            for publishes in [*plan, *[False] * len(plan)]:
                if publishes:
                    broadcast.publish(published)
                    published += 1
                elif following < published:
                    value = await anext(values)
                    if isinstance(value, Lagged):
                        following += value.lost
                    else:
                        assert value == following
                        following += 1
        assert following == published

    trio.run(main)
