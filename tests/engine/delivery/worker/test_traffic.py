"""The ring of what went over a carrier's wire: bounded, and cheap where too much comes."""

from __future__ import annotations

import pytest
import trio

from risala.engine.delivery.worker.traffic import (
    A_SECOND,
    AT_ONCE_MAX,
    KEPT_MS,
    LINE_CHARACTERS_MAX,
    LINES_MAX,
)
from risala.engine.model.errors import NotFound
from risala.plugins.testing.fake_driver import FakeDriver


async def lines(house, **given):
    found = await house.gateway.perform("carriers.traffic", {"carrier": "fake", **given})
    return found["lines"]


async def test_lines_come_in_their_order_and_go_on_from_one(open_house, quick):
    driver = FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        driver.context.traffic(True, "{} there".format, "hello")
        driver.context.traffic(False, str, "answer\0\x1b[31m")
        first, second = await lines(house)
        assert (first["sent"], first["text"]) == (True, "hello there")
        assert (second["sent"], second["text"]) == (False, "answer..[31m")
        assert await lines(house, after=second["seq"]) == []
        assert await lines(house, limit=1) == [second]
        with pytest.raises(NotFound):
            await house.gateway.perform("carriers.traffic", {"carrier": "nobody"})


async def test_what_nobody_could_read_is_only_counted(open_house, quick):
    driver, made = FakeDriver(), []

    def tell(number):
        made.append(number)
        return str(number)

    async with open_house(drivers={"fake": driver}) as house:
        for number in range(5000):
            driver.context.traffic(True, tell, number)
        assert len(made) == AT_ONCE_MAX
        await trio.sleep(1)
        for number in range(5000):
            driver.context.traffic(True, tell, number)
        assert len(made) == AT_ONCE_MAX + A_SECOND
        told = await lines(house)
        assert told[-A_SECOND]["left_out"] == 5000 - AT_ONCE_MAX
        assert {line["left_out"] for line in told[1 - A_SECOND :]} == {0}


async def test_it_holds_a_few_minutes_and_so_many_lines(open_house, quick):
    driver = FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        for _ in range(LINES_MAX + 50):
            driver.context.traffic(True, str, "x" * 1000)
            await trio.sleep(1 / A_SECOND)
        told = await lines(house, limit=1000)
        assert len(told) == 1000
        assert {len(line["text"]) for line in told} == {LINE_CHARACTERS_MAX}
        await trio.sleep(KEPT_MS / 1000 + 1)
        assert await lines(house) == []
