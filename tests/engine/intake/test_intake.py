"""Taking messages in: batches, schedules, limits, senders, modes."""

from __future__ import annotations

import json

import pytest
import trio

from risala.config.model import LimitsSection
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import Conflict, InsufficientBalance, Invalid, RateLimited, Refusal
from risala.engine.model.errors import SenderNotApproved as NotApproved
from risala.engine.model.lines import Kind, Line, Wait
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.plugins.contract import HealthState
from risala.plugins.testing.fake_driver import FakeDriver

TO = "+22236123456"


def answer(result: bytes | Refusal) -> dict:
    assert isinstance(result, bytes), result
    return json.loads(result)


# -- batches


async def test_a_batch_answers_each_item_in_order(open_house, quick):
    async with open_house(balance="1") as house:
        commands = [
            SendMessage(TO, "one"),
            SendMessage(TO, "bad sender", sender="ACME"),
            SendMessage(TO, "two", idempotency_key="same-key-1"),
            SendMessage(TO, "two again", idempotency_key="same-key-1"),
            SendMessage(TO, "too poor"),
        ]
        results = await house.gateway.send_batch(house.principal, commands)
        assert isinstance(results[1], NotApproved)
        assert isinstance(results[4], InsufficientBalance)
        assert results[2] == results[3]
        assert answer(results[0])["messageId"] != answer(results[2])["messageId"]
        assert await house.balance() == "0.00"
        again = await house.gateway.send_batch(house.principal, commands[2:4])
        assert again == [results[2], results[2]]
        single = await house.gateway.send_message(house.principal, commands[2])
        assert single == results[2]
        await house.wait_status(answer(results[2])["messageId"], "sent")
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_batch_is_one_commit(open_house, own_commits):
    async with open_house(balance="1000") as house:
        house.driver.set_health(HealthState.DOWN)
        commits = own_commits(house)
        commands = [SendMessage(TO, f"n{n}") for n in range(1000)]
        results = await house.gateway.send_batch(house.principal, commands)
        assert len(commits) == 1
        assert len({answer(result)["messageId"] for result in results}) == 1000
        assert await house.balance() == "500.00"


# -- schedules and validity


async def test_a_scheduled_message_waits_for_its_time(open_house, quick):
    async with open_house() as house:
        at = house.gateway.services.recorder.clock.now_ms() + 3_600_000
        started = trio.current_time()
        later = await house.send("later", send_at=at)
        now = await house.send("now", send_at=at - 7_200_000)
        await house.wait_status(now, "sent")
        assert trio.current_time() - started < 1
        assert await house.balance() == "999.00"
        await house.wait_status(later, "sent")
        assert trio.current_time() - started == pytest.approx(3600, abs=1)
        view, timeline = house.gateway.show_message(later)
        assert view.send_at == at
        scheduled = {"wait": Wait.SCHEDULED, "until": at}
        assert timeline[0].line == Line(Kind.ACCEPTED, values=scheduled)


async def test_validity_counts_from_the_schedule(open_house, quick):
    async with open_house() as house:
        house.driver.set_health(HealthState.DOWN)
        at = house.gateway.services.recorder.clock.now_ms() + 600_000
        started = trio.current_time()
        message_id = await house.send(send_at=at, validity_s=60)
        await house.wait_status(message_id, "failed")
        assert trio.current_time() - started == pytest.approx(660, abs=1)


async def test_a_pending_message_can_be_withdrawn_and_no_other(open_house, quick, leap):
    async with open_house() as house:
        at = house.gateway.services.recorder.clock.now_ms() + 3_600_000
        message_id = await house.send(send_at=at)
        shown = await house.gateway.perform("message.cancel", {"message_id": message_id})
        assert shown["message"]["status"] == "canceled"
        assert await house.balance() == "1000.00"
        with pytest.raises(Conflict, match="canceled"):
            await house.gateway.perform("message.cancel", {"message_id": message_id})
        sent = await house.send()
        await house.wait_status(sent, "sent")
        with pytest.raises(Conflict, match="sent"):
            await house.gateway.perform("message.cancel", {"message_id": sent})
        await leap(7200)
        assert [segment.message_id for segment in house.driver.submitted] == [sent]
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_message_withdrawn_from_a_lanes_hands_does_not_leave(open_house, carrier, quick):
    async with open_house(carrier(rate_per_s=1)) as house:
        first, second = await house.send("first"), await house.send("second")
        await house.wait_status(first, "sent")
        await house.gateway.perform("message.cancel", {"message_id": second})
        third = await house.send("third")
        await house.wait_status(third, "sent")
        assert [segment.text for segment in house.driver.submitted] == ["first", "third"]


# -- limits


async def test_the_rate_of_sends_is_limited_where_the_operator_says_so(open_house, quick):
    async with open_house(limits=LimitsSection(sms_per_s=2)) as house:
        await house.send("1")
        await house.send("2")
        with pytest.raises(RateLimited) as refused:
            await house.send("3")
        assert (refused.value.limit, refused.value.retry_after_s) == ("sms", 1)
        await trio.sleep(0.5)
        await house.send("3")
        assert await house.balance() == "998.50"


async def test_an_organizations_own_rate_and_known_keys_take_no_token(open_house, quick):
    async with open_house() as house:
        organization_id = house.principal.organization_id
        await house.gateway.perform(
            "org.set", {"organization_id": organization_id, "sms_per_s": 0.1}
        )
        first = await house.send("1", idempotency_key="order-0001")
        assert await house.send("1", idempotency_key="order-0001") == first
        with pytest.raises(RateLimited) as refused:
            await house.send("2")
        assert refused.value.retry_after_s == 10
        results = await house.gateway.send_batch(house.principal, [SendMessage(TO, "3")] * 2)
        assert all(isinstance(result, RateLimited) for result in results)
        await house.gateway.perform(
            "org.set", {"organization_id": organization_id, "sms_per_s": None}
        )
        await house.send("4")


async def test_the_poor_take_no_tokens(open_house, quick):
    async with open_house(limits=LimitsSection(sms_per_s=1), balance="0.50") as house:
        await house.send("all there is")
        await trio.sleep(5)
        for _ in range(3):
            with pytest.raises(InsufficientBalance):
                await house.send("poor")
        organization_id = house.principal.organization_id
        await house.gateway.perform("topup", {"organization_id": organization_id, "amount": "0.50"})
        await house.send("rich")


# -- prices and encodings


async def test_an_organizations_own_price_and_a_free_one_needs_a_balance(open_house, quick):
    async with open_house() as house:
        organization_id = house.principal.organization_id
        change = {"organization_id": organization_id, "price_per_segment": "2.25"}
        await house.gateway.perform("org.set", change)
        await house.send("x" * 200)
        assert await house.balance() == "995.50"
        await house.gateway.perform("org.set", {**change, "price_per_segment": "0"})
        await house.send("free")
        assert await house.balance() == "995.50"
        poor = await house.organization("0.50")
        await house.send("all", principal=poor)
        await house.gateway.perform(
            "org.set", {"organization_id": poor.organization_id, "price_per_segment": "0"}
        )
        with pytest.raises(InsufficientBalance):
            await house.send("free, but a positive balance is needed", principal=poor)


async def test_smart_encoding_saves_segments_where_it_is_wanted(open_house, quick):
    async with open_house() as house:
        text = "“Bonjour” — c’est l’heure…" + "x" * 60
        plain = await house.send(text)
        assert house.gateway.show_message(plain)[0].encoding == "ucs2"
        await house.gateway.perform(
            "org.set",
            {"organization_id": house.principal.organization_id, "smart_encoding": True},
        )
        smart = await house.send(text)
        view, _ = house.gateway.show_message(smart)
        assert (view.encoding, view.segments) == ("gsm7", 1)


# -- senders


async def request(house, name="Acme Shop", principal=None) -> str:
    sender = await house.gateway.perform(
        "sender.request",
        {
            "organization_id": (principal or house.principal).organization_id,
            "name": name,
            "description": "Order updates",
        },
    )
    return sender["id"]


async def send_from(house, name: str) -> dict:
    command = SendMessage(TO, "hi", sender=name)
    return json.loads(await house.gateway.send_message(house.principal, command))


async def test_a_pending_sender_gives_the_default_and_a_notice(open_house, quick):
    async with open_house() as house:
        sender_id = await request(house)
        response = await send_from(house, "ACME  shop")
        assert response["from"] == "RISALA"
        assert response["notice"]["code"] == "SENDER_PENDING_APPROVAL"
        assert response["notice"]["requestedFrom"] == "ACME  shop"
        await house.gateway.perform("sender.waive", {"sender_id": sender_id})
        response = await send_from(house, "acme shop")
        assert response["from"] == "Acme Shop"
        assert "notice" not in response
        await house.wait_status(response["messageId"], "sent")
        senders = {segment.message_id: segment.sender for segment in house.driver.submitted}
        assert senders[response["messageId"]] == "Acme Shop"
        assert [e["type"] for e in await house.events()].count("sender.approved") == 1


async def test_denied_and_unknown_senders_are_refused(open_house, quick):
    async with open_house() as house:
        sender_id = await request(house)
        denied = {"sender_id": sender_id, "reason": "misleading"}
        await house.gateway.perform("sender.deny", denied)
        for name in ("Acme Shop", "Unknown"):
            with pytest.raises(NotApproved):
                await send_from(house, name)
        with pytest.raises(Conflict):
            await house.gateway.perform("sender.clear", {"sender_id": sender_id})
        with pytest.raises(Invalid):
            await house.gateway.perform("sender.deny", {**denied, "reason": "whim"})
        assert (await send_from(house, "risala"))["from"] == "RISALA"
        assert await request(house) != sender_id


async def test_two_thousand_in_a_week_approve_a_cleared_sender(open_house, quick):
    async with open_house(balance="5000") as house:
        house.driver.set_health(HealthState.DOWN)
        sender_id = await request(house)
        await house.gateway.perform("sender.clear", {"sender_id": sender_id})
        old = [SendMessage(TO, "old")] * 500
        await house.gateway.send_batch(house.principal, old)
        house.pass_s(8 * 86_400)
        test = Principal(house.principal.organization_id, "key", KeyType.SECRET, Mode.TEST)
        await house.gateway.send_batch(test, [SendMessage(TO, "a test does not count")] * 100)
        await house.gateway.send_batch(house.principal, [SendMessage(TO, "bulk")] * 999)
        await house.gateway.send_batch(house.principal, [SendMessage(TO, "bulk")] * 1000)
        response = await send_from(house, "Acme Shop")
        assert "notice" in response, "the 2,000th is still sent from the default"
        response = await send_from(house, "Acme Shop")
        assert response["from"] == "Acme Shop"
        assert [e["type"] for e in await house.events()].count("sender.approved") == 1


async def test_a_name_belongs_to_one_organization(open_house, quick):
    async with open_house() as house:
        other = await house.organization()
        mine, theirs = await request(house), await request(house, "ACME SHOP", other)
        await house.gateway.perform("sender.clear", {"sender_id": mine})
        with pytest.raises(Conflict, match=house.principal.organization_id):
            await house.gateway.perform("sender.waive", {"sender_id": theirs})
        with pytest.raises(Conflict):
            await request(house)


# -- test keys


@pytest.mark.parametrize(
    ("digits", "status", "attempts"),
    [
        ("00", "delivered", 1),
        ("01", "failed", 1),
        ("02", "undelivered", 1),
        ("03", "sent", 1),
        ("04", "delivered", 3),
        ("99", "delivered", 1),
    ],
)
async def test_test_keys_play_by_the_last_two_digits(
    open_house, carrier, quick, digits, status, attempts
):
    from risala.drivers.testmode import TestModeDriver

    live, magic = carrier(), carrier("test", prefixes=())
    async with open_house(
        live, magic, drivers={"fake": FakeDriver(), "test": TestModeDriver()}
    ) as house:
        organization_id = house.principal.organization_id
        test = Principal(organization_id, "key", KeyType.SECRET, Mode.TEST)
        message_id = await house.send(to=f"+222361234{digits}", principal=test)
        await house.wait_status(message_id, status)
        view = house.gateway.get_message(test, message_id)
        assert (view.attempts, view.price) == (attempts, 0)
        assert await house.balance() == "1000.00"
        assert house.drivers["fake"].submitted == []
        assert all(event["test"] for event in await house.events())
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_test_and_live_are_apart(open_house, quick):
    from risala.engine.model.errors import NotFound

    async with open_house() as house:
        organization_id = house.principal.organization_id
        test = Principal(organization_id, "key", KeyType.SECRET, Mode.TEST)
        live_id = await house.send(idempotency_key="order-0001")
        test_id = await house.send(idempotency_key="order-0001", principal=test)
        assert live_id != test_id
        for principal, message_id in ((test, live_id), (house.principal, test_id)):
            with pytest.raises(NotFound):
                house.gateway.get_message(principal, message_id)
