"""A shared pool: turns by organization, and a place that is left for the others."""

from __future__ import annotations

import trio
import trio.testing

from risala.engine.features.tables.fair_places import FairPlaces, in_turns


async def hold(places, whose, begun, end, task_status=trio.TASK_STATUS_IGNORED):
    task_status.started()
    async with places.turn(whose):
        begun.append(whose)
        await end.wait()


async def test_one_work_of_another_begins_beside_the_twelve_of_one(autojump_clock):
    places, begun, end = FairPlaces(2, 1), [], trio.Event()
    async with trio.open_nursery() as nursery:
        for _ in range(12):
            await nursery.start(hold, places, "org_many", begun, end)
        await nursery.start(hold, places, "org_one", begun, end)
        await trio.testing.wait_all_tasks_blocked()
        assert begun == ["org_many", "org_one"]
        nursery.cancel_scope.cancel()


async def test_turns_go_round_the_organizations(autojump_clock):
    places, begun, ends = FairPlaces(1, 1), [], [trio.Event() for _ in range(6)]
    whose = ("org_1", "org_1", "org_1", "org_2", "org_2", "org_3")
    async with trio.open_nursery() as nursery:
        for each, end in zip(whose, ends, strict=True):
            await nursery.start(hold, places, each, begun, end)
            await trio.testing.wait_all_tasks_blocked()
        for end in ends:
            end.set()
    assert begun == ["org_1", "org_2", "org_3", "org_1", "org_2", "org_1"]


async def test_who_stops_waiting_or_fails_keeps_no_place(autojump_clock):
    places, begun, end = FairPlaces(1, 1), [], trio.Event()
    async with trio.open_nursery() as nursery:
        await nursery.start(hold, places, "org_1", begun, end)
        await trio.testing.wait_all_tasks_blocked()
        for whose in ("org_1", "org_2"):
            with trio.move_on_after(1):
                async with places.turn(whose):
                    raise AssertionError("it had no place")
        end.set()
    with trio.fail_after(1):
        async with places.turn("org_2"):
            pass
    assert not places._held
    assert not places._waiting


def test_the_first_of_each_comes_before_the_second_of_any():
    came = ["a1", "a2", "b1", "a3", "c1", "b2"]
    assert in_turns(came, lambda each: each[0]) == ["a1", "b1", "c1", "a2", "b2", "a3"]
