"""Replies in the answers to received messages: each message gets one, whatever comes twice."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import trio

from risala.engine.features.answers.replying import ReplyOutcome
from risala.engine.model.callers import Caller, CallerKind, Role, key_holder
from risala.engine.model.errors import Forbidden
from risala.engine.rules.webhooks.schedule import AnswerContent, ReceiverAnswer, ReceiverFault
from risala.engine.wiring.foundation import DATABASE
from risala.plugins.contract import Inbound
from risala.plugins.testing.fake_driver import FakeDriver

PHONE = "+22236123456"
OURS = "1234"
URL = "https://example.com/hook"
OTHER = "https://other.example.com/hook"
TEXTS = ("sms.received", "conversation.received")


def replies(text: str) -> ReceiverAnswer:
    body = json.dumps({"reply": text})
    return ReceiverAnswer(200, None, body, AnswerContent("application/json", body.encode()))


@pytest.fixture
def driver() -> FakeDriver:
    return FakeDriver()


async def come_in(house, driver: FakeDriver, number: int = 1, sender: str = PHONE) -> None:
    if number == 1:
        await house.perform("inbound.route", organization_id=house.organization_id)
    text = Inbound(sender, OURS, "When do you open?", 1_767_225_600_000, (f"mo{number}",))
    await driver.context.inbound(text)
    await trio.sleep(60)


def sent(driver: FakeDriver) -> list[tuple[str, str, str]]:
    return [(each.recipient, each.sender, each.text) for each in driver.submitted]


async def outcomes(house, endpoint_id: str) -> list[str | None]:
    """What became of the replies in all attempts at an endpoint's events, the oldest first."""
    found: list[str | None] = []
    for each in reversed(await house.deliveries(endpoint_id)):
        _, attempts = await house.log(endpoint_id, each["eventId"])
        found += [attempt["reply"] for attempt in attempts]
    return found


async def test_a_reply_is_sent_to_who_wrote_by_the_way_the_message_came(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        endpoint, _ = await house.endpoint(types=["sms.received"], may_reply=True)
        house.outbound.plan[URL] = replies("At 9.")
        await come_in(house, driver)
        assert sent(driver) == [(PHONE, OURS, "At 9.")]
        assert house.outbound.calls[0][1].wants_content
        assert await outcomes(house, endpoint) == [ReplyOutcome.TAKEN]
        (delivery,) = await house.deliveries(endpoint)
        story, attempts = await house.log(endpoint, delivery["eventId"])
        # The reply is a message, which is erased as one: the log does not keep it.
        assert (story["state"], story["excerpt"], attempts[0]["excerpt"]) == (
            *("delivered", None),
            None,
        )


async def test_two_events_of_one_message_and_two_endpoints_have_one_reply(
    open_house, quick, driver
):
    async with open_house(driver=driver) as house:
        first, _ = await house.endpoint(types=[*TEXTS], may_reply=True)
        second, _ = await house.endpoint(OTHER, types=[*TEXTS], may_reply=True)
        house.outbound.plan = {URL: replies("At 9."), OTHER: replies("At 10.")}
        house.outbound.takes_s = {URL: 1, OTHER: 5}
        await come_in(house, driver)
        assert sent(driver) == [(PHONE, OURS, "At 9.")]
        assert sorted(await outcomes(house, first)) == [ReplyOutcome.ANSWERED, ReplyOutcome.TAKEN]
        assert await outcomes(house, second) == [ReplyOutcome.ANSWERED] * 2


async def test_a_delivery_says_why_the_reply_that_was_taken_does_not_leave(
    open_house, quick, driver
):
    async with open_house(driver=driver) as house:
        endpoint, _ = await house.endpoint(types=["sms.received"], may_reply=True)
        house.outbound.plan[URL] = replies("At 9.")
        for number in (1, 2, 3):
            await come_in(house, driver, number)
        named = [each["eventId"] for each in reversed(await house.deliveries(endpoint))]
        shown = [
            await house.perform("webhook.delivery", endpoint_id=endpoint, event_id=each)
            for each in named
        ]
        assert [each["attempts"][0]["reply"] for each in shown] == [ReplyOutcome.TAKEN] * 3
        first, second, third = (each["replyRefused"] for each in shown)
        assert (first, second) == (None, None)
        assert "two automatic answers to this number left within an hour" in third


async def test_a_replay_brings_no_second_reply(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        endpoint, _ = await house.endpoint(types=["conversation.received"], may_reply=True)
        house.outbound.plan[URL] = [replies("At 9."), replies("At 10.")]
        await come_in(house, driver)
        (delivery,) = await house.deliveries(endpoint)
        named = {"endpoint_id": endpoint, "event_id": delivery["eventId"]}
        await house.perform("webhook.replay", **named)
        await trio.sleep(60)
        assert len(house.outbound.calls) == 2
        assert await outcomes(house, endpoint) == [ReplyOutcome.TAKEN, ReplyOutcome.ANSWERED]
        assert sent(driver) == [(PHONE, OURS, "At 9.")]


async def test_the_answer_that_accepts_counts_not_one_that_failed(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        endpoint, _ = await house.endpoint(types=["sms.received"], may_reply=True)
        failed = replace(replies("No."), status=503)
        lost = ReceiverFault("BROKEN", "The connection was lost before an answer came.")
        house.outbound.plan[URL] = [failed, lost, replies("At 9.")]
        await come_in(house, driver)
        await trio.sleep(600)
        assert await outcomes(house, endpoint) == [None, None, ReplyOutcome.TAKEN]
        assert sent(driver) == [(PHONE, OURS, "At 9.")]


async def test_an_endpoint_that_may_not_reply_does_not(open_house, quick, driver, tmp_path):
    async with open_house(driver=driver) as house:
        endpoint, _ = await house.endpoint(types=["sms.received"])
        house.outbound.plan[URL] = ReceiverAnswer(200, None, '{"reply": "Opening at 9."}')
        await come_in(house, driver)
        assert not house.outbound.calls[0][1].wants_content
        assert await outcomes(house, endpoint) == [ReplyOutcome.NOT_ALLOWED]
        assert sent(driver) == []
    assert b"Opening at 9." not in (tmp_path / DATABASE).read_bytes()


async def test_other_events_have_no_reply(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        endpoint, _ = await house.endpoint(types=["sms.sent"], may_reply=True)
        house.outbound.plan[URL] = replies("Thanks.")
        await house.send("hello")
        await trio.sleep(60)
        assert not house.outbound.calls[0][1].wants_content
        assert await outcomes(house, endpoint) == [None]
        assert [each.text for each in driver.submitted] == ["hello"]
        (delivery,) = await house.deliveries(endpoint)
        assert delivery["excerpt"] == '{"reply": "Thanks."}'


async def test_a_name_gets_no_reply(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        await house.endpoint(types=["sms.received"], may_reply=True)
        house.outbound.plan[URL] = replies("At 9.")
        await come_in(house, driver, sender="Bank")
        assert sent(driver) == []


async def test_owners_alone_let_an_endpoint_reply(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint(types=["sms.received"])
        whose = house.organization_id
        callers = {
            role: Caller("usr_1", CallerKind.DASHBOARD, role, whose)
            for role in (Role.OWNER, Role.DEVELOPER)
        }
        perform = house.gateway.perform
        for caller in (callers[Role.DEVELOPER], key_holder("key_1", whose)):
            for wish in (True, False):
                with pytest.raises(Forbidden, match="may_reply"):
                    await perform(
                        "webhook.update", {"endpoint_id": endpoint, "may_reply": wish}, caller
                    )
            # Null leaves it as it is, for everybody.
            await perform("webhook.update", {"endpoint_id": endpoint, "description": "x"}, caller)
            create = {"organization_id": whose, "url": URL, "may_reply": True}
            with pytest.raises(Forbidden, match="may_reply"):
                await perform("webhook.create", create, caller)
        changed = await perform(
            "webhook.update", {"endpoint_id": endpoint, "may_reply": True}, callers[Role.OWNER]
        )
        assert changed["endpoint"]["mayReply"] is True
        lines = (await house.perform("audit.list", subject=endpoint))["lines"]
        assert lines[0]["before"]["mayReply"] is False
        assert lines[0]["after"]["mayReply"] is True
