"""Carriers that take whole texts: one submit, one answer and one receipt for several segments."""

from __future__ import annotations

import json

import pytest
import trio

from risala.config.model import OnUncertain
from risala.engine.model.commands import CutPart, SendMessage
from risala.engine.model.sentences import sentence
from risala.plugins.contract import (
    Accepted,
    Alphabet,
    Cause,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
)
from risala.plugins.testing.fake_driver import FakeDriver, FakePoster
from risala.sms.message import Concatenation, submit_reference
from risala.sms.receipt import Receipt

ARABIC_200 = ("رسالة عربية طويلة جدا " * 10)[:200]
"""Three segments."""


async def is_sound(house) -> bool:
    return (await house.gateway.perform("audit", {}))["clean"]


@pytest.mark.parametrize("kind", [FakeDriver, FakePoster])
async def test_a_long_text_is_one_submit_and_one_receipt_ends_it(open_house, quick, kind):
    driver = kind(takes_whole=True)
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send(ARABIC_200)
        await house.wait_status(message_id, "sent")
        (whole,) = driver.submitted
        assert whole.text == ARABIC_200
        assert (whole.number, whole.total, whole.place) == (0, 1, None)
        assert whole.alphabet is Alphabet.UCS2
        await driver.receipt("1")
        assert house.status(message_id) == "delivered"
        view, timeline = house.gateway.show_message(message_id)
        assert (view.segments, view.provider_message_id) == (3, "1")
        assert [entry.status for entry in timeline] == [
            *("pending", "processing", "sent", "delivered")
        ]
        assert not any("part" in sentence(entry) for entry in timeline)
        assert all(entry.segment is None for entry in timeline)
        assert await house.balance() == "998.50"  # by the segments that we count
        assert [event["type"] for event in await house.events()] == ["sms.sent", "sms.delivered"]
        assert await is_sound(house)


async def test_a_short_text_is_as_it_was(open_house, quick):
    driver = FakeDriver(takes_whole=True)
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send("hello")
        await house.wait_status(message_id, "sent")
        assert [(one.number, one.total) for one in driver.submitted] == [(1, 1)]


async def test_a_receipt_that_comes_again_changes_nothing(open_house, quick):
    driver = FakeDriver(takes_whole=True)
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send(ARABIC_200)
        await house.wait_status(message_id, "sent")
        await driver.receipt("1", ReceiptState.UNDELIVERABLE)
        await driver.receipt("1")  # a carrier that tells of each segment that it cut
        assert house.status(message_id) == "undelivered"
        assert await is_sound(house)


async def test_a_receipt_that_overtakes_the_answer_is_used(open_house, quick):
    driver = FakeDriver(takes_whole=True)
    async with open_house(drivers={"fake": driver}) as house:
        driver.hold()
        message_id = await house.send(ARABIC_200)
        await driver.wait_submitted(1)
        await driver.receipt("1")
        driver.let_go()
        await house.wait_status(message_id, "delivered")
        assert await is_sound(house)


async def test_it_fails_and_is_refunded_in_full(open_house, quick):
    refused = Refused(Scope.FINAL, "400", cause=Cause.UNKNOWN_NUMBER)
    driver = FakeDriver(takes_whole=True, answers=[Throttled("429", retry_after_s=1), refused])
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send(ARABIC_200)
        await house.wait_status(message_id, "failed")
        assert [one.number for one in driver.submitted] == [0, 0]
        assert await house.balance() == "1000.00"
        assert await is_sound(house)


async def test_an_uncertain_one_is_resent_whole_where_the_policy_says_so(
    open_house, carrier, quick
):
    resend = carrier(on_uncertain_message=OnUncertain(action="resend", after_s=15))
    driver = FakeDriver(takes_whole=True, answers=[Uncertain("TIMEOUT")])
    async with open_house(resend, drivers={"fake": driver}) as house:
        message_id = await house.send(ARABIC_200)
        await house.wait_status(message_id, "sent")
        assert [(one.number, one.attempt) for one in driver.submitted] == [(0, 1), (0, 2)]
        _, timeline = house.gateway.show_message(message_id)
        assert any("may arrive twice" in sentence(entry) for entry in timeline)
        assert await is_sound(house)


async def test_a_late_answer_and_a_receipt_by_reference_resolve_the_uncertain(open_house, quick):
    driver = FakeDriver(takes_whole=True, answers=[Uncertain("TIMEOUT")] * 2)
    async with open_house(drivers={"fake": driver}) as house:
        first, second = await house.send(ARABIC_200), await house.send(ARABIC_200)
        await driver.wait_submitted(2)
        await trio.testing.wait_all_tasks_blocked()
        by_id = {one.message_id: one for one in driver.submitted}
        await driver.context.late_outcome(by_id[first], Accepted("late"))
        await house.wait_status(first, "sent")
        reference = by_id[second].submit_reference
        assert reference == submit_reference(second, 0, 1)
        told = Receipt(
            *("c-2", ReceiptState.DELIVERED, "DELIVRD"),
            recipient="+22236123456",
            reference=reference,
        )
        await driver.context.receipt(told)
        assert house.status(second) == "delivered"
        assert len(driver.submitted) == 2
        assert await is_sound(house)


async def test_it_goes_on_in_parts_to_a_carrier_that_wants_them_and_the_reverse(
    open_house, carrier, quick
):
    refused = Refused(Scope.CARRIER, "no")
    for whole_first in (True, False):
        first = FakeDriver(takes_whole=whole_first, always=refused)
        second = FakeDriver(takes_whole=not whole_first)
        both = (carrier("a", priority=1), carrier("b", priority=2))
        async with open_house(*both, drivers={"a": first, "b": second}) as house:
            message_id = await house.send(ARABIC_200)
            await house.wait_status(message_id, "sent")
            numbers = [one.number for one in second.submitted]
            assert numbers == ([1, 2, 3] if whole_first else [0])
            for number in range(len(numbers)):
                await second.receipt(str(number + 1))
            assert house.status(message_id) == "delivered"
            assert await is_sound(house)


async def test_a_restart_finds_one_that_was_under_way_uncertain(open_house, quick):
    driver = FakeDriver(takes_whole=True)
    async with open_house(drivers={"fake": driver}) as house:
        driver.hold()
        message_id = await house.send(ARABIC_200)
        await driver.wait_submitted(1)
    again = FakeDriver(takes_whole=True)
    async with open_house(drivers={"fake": again}) as house:
        assert house.status(message_id) == "processing"
        await again.wait_submitted(0)
        assert again.submitted == []
        await house.wait_status(message_id, "sent", "failed")
        assert await is_sound(house)


async def test_a_part_that_a_customer_cut_is_never_given_to_it(open_house, quick):
    driver = FakeDriver(takes_whole=True)
    async with open_house(drivers={"fake": driver}) as house:
        command = SendMessage(
            to="+22236123456",
            body="Bonjour",
            part=CutPart(Concatenation(7, 2, 1, 8), Alphabet.GSM7),
        )
        response = await house.gateway.send_message(house.principal, command)
        message_id = json.loads(response)["messageId"]
        await house.wait_status(message_id, "failed")
        assert driver.submitted == []
        view, timeline = house.gateway.show_message(message_id)
        assert view.error_code == "UNSUPPORTED"
        assert "The carrier accepts only whole texts, and this is a part of one." in " ".join(
            map(sentence, timeline)
        )
        assert await house.balance() == "1000.00"
