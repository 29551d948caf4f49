"""Pace and weight that an operator puts over the settings: at once, for good, and taken away."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
import trio

from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.plugins.testing.fake_driver import FakeDriver

AMINA = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)


async def shown(house, name="fake"):
    return await house.gateway.perform("carriers.show", {"carrier": name})


async def put(house, name="fake", **fields):
    found = await house.gateway.perform("carriers.override", {"carrier": name, **fields}, AMINA)
    return found["carriers"][0]


async def end(house, name="fake", **fields):
    found = await house.gateway.perform("carriers.end_override", {"carrier": name, **fields}, AMINA)
    return found["carriers"][0]


async def test_it_stands_beside_the_settings_value_and_is_taken_away(open_house, carrier, quick):
    async with open_house(carrier(rate_per_s=10, weight=3)) as house:
        assert (await shown(house))["override"] is None
        told = await put(house, rate_per_s=2.5)
        assert told["rate_max_per_s"] == 2.5
        assert told["file"] == {"rate_per_s": 10, "weight": 3}
        assert told["override"]["rate_per_s"] == 2.5
        assert (told["override"]["weight"], told["weight"]) == (None, 3)
        assert told["override"]["who"] == "amina"
        told = await put(house, weight=7)
        assert (told["rate_max_per_s"], told["weight"]) == (2.5, 7)
        told = await end(house, field="rate_per_s")
        assert (told["rate_max_per_s"], told["weight"]) == (10, 7)
        told = await end(house)
        assert (told["weight"], told["override"]) == (3, None)


async def test_it_outlives_a_restart(open_house, carrier, quick):
    async with open_house(carrier(rate_per_s=10)) as house:
        await put(house, rate_per_s=2, weight=9)
    async with open_house(carrier(rate_per_s=20)) as house:
        told = await shown(house)
        assert (told["rate_max_per_s"], told["file"]["rate_per_s"], told["weight"]) == (2, 20, 9)
        assert house.engine._board.lanes["fake"].carrier.weight == 9


async def test_it_is_in_the_audit_trail_with_before_and_after(open_house, carrier, quick):
    async with open_house(carrier()) as house:
        await put(house, rate_per_s=5.0)
        await put(house, rate_per_s=4.0)
        await end(house)
        lines = (await house.gateway.perform("audit.list", {"who": "amina"}))["lines"]
        told = [(each["operation"], each["before"], each["after"]) for each in lines]
        assert told == [
            ("carriers.end_override", {"ratePerS": 4.0, "weight": None}, None),
            (
                "carriers.override",
                {"ratePerS": 5.0, "weight": None},
                {"ratePerS": 4.0, "weight": None},
            ),
            ("carriers.override", {}, {"ratePerS": 5.0, "weight": None}),
        ]


async def test_what_makes_no_sense_is_refused(open_house, carrier, quick):
    async with open_house(carrier()) as house:
        with pytest.raises(NotFound):
            await put(house, "nobody", rate_per_s=1.0)
        for fields in ({}, {"weight": 0}, {"weight": 1001}, {"rate_per_s": 0.0}):
            with pytest.raises(Invalid):
                await put(house, **fields)
        with pytest.raises(Conflict):
            await end(house)
        with pytest.raises(Invalid):
            await end(house, field="name")


async def test_the_lane_obeys_within_a_moment(open_house, carrier, quick):
    times: list[float] = []

    class Clocked(FakeDriver):
        async def submit(self, segment):
            times.append(trio.current_time())
            return await super().submit(segment)

    driver = Clocked()
    async with open_house(carrier(rate_per_s=0.01), drivers={"fake": driver}) as house:
        for _ in range(20):
            await house.send()
        await driver.wait_submitted(1)
        await put(house, rate_per_s=2.0)
        await driver.wait_submitted(20)
        waits = [later - sooner for sooner, later in pairwise(times)]
        assert all(0.45 <= wait <= 1.0 for wait in waits)


async def test_new_settings_do_not_undo_it(open_house, carrier, quick):
    mine = carrier(rate_per_s=10)
    async with open_house(mine) as house:
        await put(house, rate_per_s=2.0)
        settings = house.gateway.services.settings
        other = mine.model_copy(update={"rate_per_s": 30.0})
        house.engine.retune(settings.model_copy(update={"carriers": (other,)}))
        told = await shown(house)
        assert (told["rate_max_per_s"], told["file"]["rate_per_s"]) == (2.0, 30.0)
        assert (await end(house))["rate_max_per_s"] == 30.0


async def test_another_weight_shares_the_traffic_anew(open_house, carrier, quick):
    drivers = {"a": FakeDriver(), "b": FakeDriver()}
    tables = [carrier(name, rate_per_s=10_000) for name in drivers]
    async with open_house(*tables, drivers=drivers) as house:
        await put(house, "a", weight=9)
        for _ in range(100):
            await house.wait_status(await house.send(), "sent")
        assert 85 <= len(drivers["a"].submitted) <= 95


async def test_who_put_it_there_is_forgotten_with_their_account(open_house, carrier, quick):
    async with open_house(carrier()) as house:
        user = await house.gateway.perform("user.create", {"email": "amina@example.com"})
        amina = Caller("amina@example.com", CallerKind.CONSOLE, Role.OPERATOR, None, user["id"])
        given = {"carrier": "fake", "rate_per_s": 3.0}
        await house.gateway.perform("carriers.override", given, amina)
        assert (await shown(house))["override"]["who"] == "amina@example.com"
        await house.gateway.perform("user.delete", {"email": "amina@example.com"})
        told = await shown(house)
        assert (told["override"]["who"], told["rate_max_per_s"]) == (None, 3.0)


async def test_two_at_the_same_moment_both_hold(open_house, carrier, quick):
    async with open_house(carrier()) as house:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(put, house, rate_per_s=3.0))
            nursery.start_soon(partial(put, house, weight=8))
        told = await shown(house)
        assert (told["rate_max_per_s"], told["weight"]) == (3.0, 8)
        lane = house.engine._board.lanes["fake"].carrier
        assert (lane.rate_per_s, lane.weight) == (3.0, 8)
