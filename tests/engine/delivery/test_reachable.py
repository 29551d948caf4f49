"""A carrier says that a phone can be reached again: what waits for it says so, and stays."""

from __future__ import annotations

import pytest
import trio

from risala.engine.journal.messages import awaiting
from risala.engine.model.lines import Kind
from risala.plugins.contract import Accepted, Receipt, ReceiptState, Refused, Scope
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.cause import Cause

PHONE, OTHER = "+22236123456", "+22246999999"
OFF = Refused(Scope.RECIPIENT, "absent", cause=Cause.ABSENT)


def kinds(house, message: str) -> list[Kind]:
    return [entry.line.kind for entry in house.gateway.show_message(message)[1]]


def told(house, message: str) -> int:
    return kinds(house, message).count(Kind.REACHABLE)


@pytest.mark.parametrize("number", [PHONE, "22236123456", "36123456", "0022236123456"])
async def test_what_was_sent_without_a_receipt_says_it_once(open_house, quick, number):
    async with open_house() as house:
        mine, others = await house.send("long " * 80), await house.send(to=OTHER)
        for message in (mine, others):
            await house.wait_status(message, "sent")
        for _ in range(3):
            await house.driver.context.reachable(number)
        assert kinds(house, mine)[-2:] == [Kind.SENT, Kind.REACHABLE]
        assert (told(house, mine), told(house, others)) == (1, 0)
        assert house.status(mine) == "sent"
        entry = house.gateway.show_message(mine)[1][-1]
        assert (entry.status, entry.carrier) == ("sent", "fake")


async def test_a_receipt_after_it_still_delivers(open_house, quick):
    async with open_house() as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        await house.driver.context.reachable(PHONE)
        await house.driver.context.receipt(Receipt("1", ReceiptState.DELIVERED, "DELIVRD"))
        assert house.status(message) == "delivered"
        await house.driver.context.reachable(PHONE)
        assert kinds(house, message) == [
            *(Kind.ACCEPTED, Kind.ATTEMPT, Kind.SENT, Kind.REACHABLE, Kind.DELIVERED),
        ]


async def test_what_waits_for_its_next_attempt_keeps_its_time(open_house, quick):
    driver = FakeDriver()
    driver.always = lambda _: OFF
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        await house.wait_status(message, "pending")
        for expected in (1, 2):  # once after each attempt
            due = due_at(house, message)
            await driver.context.reachable(PHONE)
            await driver.context.reachable(PHONE)
            assert (told(house, message), due_at(house, message)) == (expected, due)
            assert len(driver.submitted) == expected
            await driver.wait_submitted(expected + 1)
            await trio.testing.wait_all_tasks_blocked()
            await house.wait_status(message, "pending")


def due_at(house, message: str) -> int:
    reader = house.gateway.services.repositories._store.reader
    return reader.execute("SELECT due_at FROM message WHERE id = ?", (message,)).fetchone()[0]


async def test_it_is_nothing_to_what_has_not_left(open_house, quick):
    async with open_house() as house:
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        message = await house.send()
        await house.driver.context.reachable(PHONE)
        assert told(house, message) == 0


async def test_it_comes_through_another_carrier_of_the_group_and_through_no_other(
    open_house, quick, carrier
):
    drivers = {name: FakeDriver() for name in ("tx", "rx", "far")}
    async with open_house(
        carrier("tx", receipt_group="g"),
        carrier("rx", priority=1, receipt_group="g"),
        carrier("far", priority=2),
        drivers=drivers,
    ) as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        await drivers["far"].context.reachable(PHONE)
        assert told(house, message) == 0
        await drivers["rx"].context.reachable(PHONE)
        assert house.gateway.show_message(message)[1][-1].carrier == "rx"


async def test_the_latest_few_say_it_however_often_it_comes(open_house, quick, monkeypatch):
    monkeypatch.setattr(awaiting, "REACHED_MAX", 3)
    driver = FakeDriver()
    driver.always = lambda segment: Accepted(segment.message_id)
    async with open_house(drivers={"fake": driver}) as house:
        messages = [await house.send() for _ in range(5)]
        for message in messages:
            await house.wait_status(message, "sent")
        for _ in range(3):
            await driver.context.reachable(PHONE)
        assert [told(house, message) for message in messages] == [0, 0, 1, 1, 1]


@pytest.mark.long
async def test_of_what_was_sent_long_ago_nothing_is_awaited(open_house, quick, leap):
    async with open_house() as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        await leap(awaiting.LATE_MS / 1000 + 1)
        await house.driver.context.reachable(PHONE)
        assert told(house, message) == 0


@pytest.mark.parametrize("number", ["", "+", "RISALA", "609123456789012", "\ud800", "forgotten"])
async def test_what_is_nobodys_number_is_let_go(open_house, quick, number):
    async with open_house() as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        await house.driver.context.reachable(number)
        assert told(house, message) == 0
