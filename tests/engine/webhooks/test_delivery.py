"""Events reach endpoints: which, when, how often, and what the log says of it."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
import trio
from tests.support.told import stored_events

from cases import sweep
from risala.engine.gateway.table import OPERATIONS
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.rules.webhooks.schedule import (
    RETRY_AFTER_MAX_S,
    TRIES_MAX,
    WAITS_S,
    ReceiverAnswer,
    ReceiverFault,
)

URL = "https://example.com/hook"
OTHER = "https://other.example.com/hook"
DOWN = ReceiverFault("NOT_CONNECTED", "The connection failed.")
DAY_S = 86_400


async def test_an_event_is_posted_at_once_as_it_is_stored(open_house, quick, leap):
    async with open_house() as house:
        endpoint, _ = await house.endpoint(headers={"X-Mine": "yes"})
        message_id = await house.send(metadata={"order": "٧"})
        await house.outbound.wait_calls(1)
        at, call = house.outbound.calls[0]
        assert call.url == URL
        event = json.loads(call.body)
        assert event == {
            "id": call.headers["webhook-id"],
            "type": "sms.sent",
            "createdAt": event["createdAt"],
            "organizationId": house.organization_id,
            "test": False,
            "messageId": message_id,
            "to": "+22236123456",
            "from": "RISALA",
            "status": "sent",
            "providerMessageId": event["providerMessageId"],
            "errorCode": None,
            "errorText": None,
            "carrierCode": None,
            "metadata": {"order": "٧"},
            "price": "0.50",
            "currency": "MRU",
        }
        stored = stored_events(house.gateway.services.repositories._store.reader)[0].body
        assert call.body == stored.encode()
        assert "hello" not in stored
        assert call.headers["X-Mine"] == "yes"
        assert call.headers["content-type"] == "application/json"
        assert call.headers["user-agent"].startswith("Risala/")
        await trio.sleep(1)
        delivery, attempts = await house.log(endpoint, event["id"])
        assert (delivery["state"], delivery["attempts"], delivery["status"]) == (
            "delivered",
            1,
            200,
        )
        assert delivery["deliveredAt"]
        assert [a["number"] for a in attempts] == [1]
        assert attempts[0]["excerpt"] == "ok"
        assert at < 1
        await leap(DAY_S / 4)
        assert len(house.outbound.calls) == 1


async def test_only_what_was_asked_for_and_only_of_its_mode(open_house, quick):
    async with open_house() as house:
        await house.endpoint(types=["verify.sent", "sms.delivered"])
        await house.endpoint(OTHER, mode="test")
        await house.happen(kind="sms.sent")
        await house.happen(kind="sms.delivered")
        await house.happen(kind="sms.sent", mode="test")
        await trio.sleep(10)
        bodies = {call.url: json.loads(call.body) for _, call in house.outbound.calls}
        assert len(house.outbound.calls) == 2
        assert (bodies[URL]["type"], bodies[URL]["test"]) == ("sms.delivered", False)
        assert (bodies[OTHER]["type"], bodies[OTHER]["test"]) == ("sms.sent", True)


async def test_the_default_is_the_events_of_the_specification(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        shown = await house.endpoint_shown(endpoint)
        assert set(shown["types"]) == {
            "sms.sent", "sms.failed", "verify.sent", "verify.approved", "verify.failed",
        }  # fmt: skip


@pytest.mark.slow
async def test_the_schedule_of_the_contract_then_failed(open_house, quick, leap):
    async with open_house() as house:
        house.outbound.plan[URL] = DOWN
        endpoint, _ = await house.endpoint()
        (event,) = await house.happen()
        for tries, wait_s in enumerate(WAITS_S, start=1):
            await house.outbound.wait_calls(tries)
            await trio.sleep(1)
            quick.jump(wait_s - 2)
        await house.outbound.wait_calls(TRIES_MAX)
        await leap(2 * DAY_S, 7200)
        times = [at for at, _ in house.outbound.calls]
        assert len(times) == TRIES_MAX == 10
        waits = [late - early for early, late in pairwise(times)]
        for waited, planned in zip(waits, WAITS_S, strict=True):
            assert planned <= waited <= planned * 1.1 + 0.1
        assert WAITS_S == (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
        delivery, attempts = await house.log(endpoint, event)
        assert (delivery["state"], delivery["attempts"]) == ("failed", 10)
        assert delivery["error"] == "NOT_CONNECTED: The connection failed."
        assert len(attempts) == 10
        assert all(each["endedAt"] for each in attempts)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (ReceiverAnswer(500, None, "<b>boom</b>"), "HTTP 500"),
        (ReceiverAnswer(302, None, ""), "HTTP 302: redirects are not followed."),
        (ReceiverAnswer(404, None, ""), "HTTP 404"),
        (ReceiverFault("TIMEOUT", "No answer."), "TIMEOUT: No answer."),
    ],
)
async def test_what_is_not_2xx_is_tried_again(open_house, quick, answer, error):
    async with open_house() as house:
        house.outbound.plan[URL] = [answer]
        endpoint, _ = await house.endpoint()
        (event,) = await house.happen()
        await trio.sleep(1)
        delivery, _ = await house.log(endpoint, event)
        assert (delivery["state"], delivery["error"]) == ("pending", error)
        assert (await house.endpoint_shown(endpoint))["failingSince"]
        await trio.sleep(6)
        delivery, attempts = await house.log(endpoint, event)
        assert (delivery["state"], delivery["error"]) == ("delivered", None)
        assert [a["error"] for a in attempts] == [error, None]
        assert (await house.endpoint_shown(endpoint))["failingSince"] is None
        ids = house.outbound.ids()
        assert ids == [event, event]


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [("120", 120), ("1", 5), ("99999999", RETRY_AFTER_MAX_S), ("soon", 5), ("-3", 5), ("٣", 5)],
)
async def test_retry_after_is_honoured_and_clamped(open_house, quick, header, wait_s):
    async with open_house() as house:
        house.outbound.plan[URL] = [ReceiverAnswer(429, header, "")]
        await house.endpoint()
        await house.happen()
        await house.outbound.wait_calls(1)
        await trio.sleep(1)
        quick.jump(wait_s - 2)
        await house.outbound.wait_calls(2)
        (first, _), (second, _) = house.outbound.calls
        assert wait_s <= second - first <= wait_s * 1.1 + 0.1


async def test_410_disables_and_what_is_owed_ends(open_house, quick):
    async with open_house() as house:
        house.outbound.plan[URL] = ReceiverAnswer(410, None, "")
        house.outbound.takes_s[URL] = 1
        endpoint, _ = await house.endpoint()
        events = await house.happen(20)
        await trio.sleep(60)
        shown = await house.endpoint_shown(endpoint)
        assert (shown["enabled"], shown["disabledReason"]) == (False, "gone")
        assert len(house.outbound.calls) <= 3
        for event in events:
            assert (await house.log(endpoint, event))[0]["state"] == "failed"
        await house.happen()
        assert len(await house.deliveries(endpoint)) == 20


async def test_disabled_by_its_owner_and_enabled_again(open_house, quick):
    async with open_house() as house:
        house.outbound.plan[URL] = DOWN
        endpoint, _ = await house.endpoint()
        (event,) = await house.happen()
        await trio.sleep(1)
        await house.perform("webhook.disable", endpoint_id=endpoint)
        await trio.sleep(1)
        delivery, _ = await house.log(endpoint, event)
        assert (delivery["state"], delivery["error"]) == ("failed", "The endpoint is disabled.")
        with pytest.raises(Conflict):
            await house.perform("webhook.replay", endpoint_id=endpoint, event_id=event)
        with pytest.raises(Conflict):
            await house.perform("webhook.test", endpoint_id=endpoint)
        house.outbound.plan.clear()
        shown = (await house.perform("webhook.enable", endpoint_id=endpoint))["endpoint"]
        assert (shown["enabled"], shown["disabledReason"], shown["failingSince"]) == (
            True, None, None,
        )  # fmt: skip
        await house.perform("webhook.replay", endpoint_id=endpoint, event_id=event)
        await trio.sleep(1)
        assert (await house.log(endpoint, event))[0]["state"] == "delivered"


async def test_a_deleted_endpoint_gets_nothing_and_keeps_no_secret(open_house, quick, leap):
    async with open_house() as house:
        house.outbound.plan[URL] = DOWN
        endpoint, secret = await house.endpoint(headers={"Authorization": "Bearer of-a-header"})
        await house.happen(3)
        await trio.sleep(1)
        await house.perform("webhook.delete", endpoint_id=endpoint)
        await leap(DAY_S / 10)
        calls = len(house.outbound.calls)
        assert calls <= 3
        with pytest.raises(NotFound):
            await house.perform("webhook.show", endpoint_id=endpoint)
        reader = house.gateway.services.repositories._store.reader
        states = reader.execute("SELECT DISTINCT state FROM webhook_deliveries").fetchall()
        assert states == [("dropped",)]
        dump = str(reader.execute("SELECT * FROM webhook_endpoints").fetchall())
        assert secret not in dump
        assert "of-a-header" not in dump


async def test_a_test_event_goes_to_its_endpoint_alone(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint(types=["sender.denied"])
        await house.endpoint(OTHER)
        made = await house.perform("webhook.test", endpoint_id=endpoint)
        assert made["running"]
        await trio.sleep(1)
        ((_, call),) = house.outbound.calls
        body = json.loads(call.body)
        assert body == {
            "id": made["delivery"]["eventId"],
            "type": "webhook.test",
            "createdAt": body["createdAt"],
            "organizationId": house.organization_id,
            "test": False,
            "endpointId": endpoint,
        }


@pytest.mark.slow
@pytest.mark.long
async def test_five_days_of_failing_disable(open_house, quick, leap):
    async with open_house() as house:
        house.outbound.plan[URL] = DOWN
        endpoint, _ = await house.endpoint()
        for _ in range(4):
            await house.happen()
            await trio.sleep(1)  # it is tried now, not at a leap's end
            await leap(1.2 * DAY_S)
        assert (await house.endpoint_shown(endpoint))["enabled"]
        await leap(0.21 * DAY_S)
        await house.happen()
        await trio.sleep(1)
        shown = await house.endpoint_shown(endpoint)
        assert (shown["enabled"], shown["disabledReason"]) == (False, "failing")


async def age_failures(house, days: float) -> None:
    """As if they had begun so much earlier."""
    await house.gateway.services.recorder.journal.commit(
        lambda conn: (
            conn.execute(
                "UPDATE webhook_endpoints SET failing_since = failing_since - ?",
                (round(days * DAY_S * 1000),),
            )
            and None
        )
    )


async def test_one_success_within_five_days_keeps_it(open_house, quick, leap):
    async with open_house() as house:
        house.outbound.plan[URL] = [DOWN, ReceiverAnswer(204, None, "")]
        endpoint, _ = await house.endpoint()
        await house.happen()
        await trio.sleep(1)
        await age_failures(house, 4.9)
        await trio.sleep(10)
        house.outbound.plan[URL] = DOWN
        await house.happen()
        await leap(0.2 * DAY_S)
        assert (await house.endpoint_shown(endpoint))["enabled"]
        await age_failures(house, 4.9)
        await house.happen()
        await trio.sleep(1)
        assert not (await house.endpoint_shown(endpoint))["enabled"]


async def test_concurrency_is_bounded_for_each_and_for_all(open_house, quick):
    async with open_house() as house:
        urls = [f"https://e{n}.example.com/" for n in range(20)]
        for url in urls:
            await house.endpoint(url)
            house.outbound.takes_s[url] = 1.5
        await house.happen(60)
        await house.outbound.wait_calls(1200)
        assert all(house.outbound.peak[url] <= 8 for url in urls)
        assert max(house.outbound.peak[url] for url in urls) >= 3
        assert house.outbound.peak["all"] <= 64
        assert len(set(house.outbound.ids())) == 60


async def test_the_dead_and_the_slow_take_nothing_from_the_others(open_house, quick):
    async def last_of_the_quick(bad: int) -> float:
        async with open_house() as house:
            made = (await house.perform("org.create", name=f"Dead {bad}"))["id"]
            for n in range(bad):
                url = f"https://dead{n}.example.com/"
                house.outbound.plan[url] = ReceiverFault("TIMEOUT", "No answer.")
                house.outbound.takes_s[url] = 15
                await house.endpoint(url, organization_id=made)
            good = f"https://good{bad}.example.com/"
            house.outbound.takes_s[good] = 0.05
            endpoint, _ = await house.endpoint(good)
            principal, mine = house.principal, house.organization_id
            house.principal = type(principal)(made, "key", principal.type, principal.mode)
            await house.happen(30)
            await trio.sleep(20)
            house.principal = principal
            assert house.organization_id == mine
            started = trio.current_time()
            await house.happen(200)
            while len(house.outbound.ids(good)) < 200:
                await house.outbound.arrived.wait()
            took = trio.current_time() - started
            await house.perform("webhook.delete", endpoint_id=endpoint)
            return took

    alone, beside = await last_of_the_quick(0), await last_of_the_quick(20)
    assert beside <= alone * 1.05


async def test_a_bug_over_one_delivery_is_a_failure_of_that_one(open_house, quick):
    class Buggy:
        calls = 0

        async def post(self, call):
            self.calls += 1
            if call.url == OTHER:
                raise ZeroDivisionError
            return ReceiverAnswer(200, None, "")

    async with open_house(Buggy()) as house:
        broken, _ = await house.endpoint(OTHER)
        sound, _ = await house.endpoint(URL)
        (event,) = await house.happen()
        await trio.sleep(2)
        assert (await house.log(sound, event))[0]["state"] == "delivered"
        delivery, _ = await house.log(broken, event)
        assert delivery["state"] == "pending"
        assert delivery["error"].startswith("INTERNAL")


@sweep(
    ("wish", "path"),
    [
        ({"url": "http://example.com/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"types": ["sms.nonsense"]}, "types"),
        ({"types": []}, "types"),
        ({"types": "sms.sent"}, "types"),
        ({"description": "x" * 501}, "description"),
        ({"notify": "not an address"}, "notify"),
        ({"notify": "a@b.c\nBcc: d@e.f"}, "notify"),
        ({"headers": {"Host": "evil"}}, "headers"),
        ({"headers": {"webhook-id": "mine"}}, "headers"),
        ({"headers": {"X": "a\r\nY: b"}}, "headers"),
        ({"headers": {"X Y": "a"}}, "headers"),
        ({"headers": {"X": "a", "x": "b"}}, "headers"),
        ({"headers": {f"X{n}": "a" for n in range(11)}}, "headers"),
        ({"mode": "both"}, "mode"),
    ],
)
async def test_what_cannot_be_is_refused(house, quick, wish, path):
    with pytest.raises(Invalid) as refused:
        await house.endpoint(**{"url": URL, **wish})
    assert refused.value.path == path
    found = await house.perform("webhook.list", organization_id=house.organization_id)
    assert found["endpoints"] == []


async def test_an_organization_has_a_bounded_number(open_house, quick):
    async with open_house() as house:
        for _ in range(webhooks.ENDPOINTS_MAX):
            endpoint, _ = await house.endpoint()
        with pytest.raises(Conflict):
            await house.endpoint()
        await house.perform("webhook.delete", endpoint_id=endpoint)
        await house.endpoint()


async def test_update_changes_what_is_given(open_house, quick):
    async with open_house() as house:
        endpoint, secret = await house.endpoint(description="old", notify="a@example.org")
        shown = await house.perform(
            "webhook.update",
            endpoint_id=endpoint, url=OTHER, types=["sms.failed"], notify="",
            headers={"X-Token": secret},
        )  # fmt: skip
        found = shown["endpoint"]
        assert (found["url"], found["types"], found["notify"]) == (OTHER, ["sms.failed"], None)
        assert found["description"] == "old"
        assert found["headers"] == {"X-Token": "***"}
        assert secret not in str(shown)
        assert secret not in str(await house.perform("webhook.show", endpoint_id=endpoint))


@pytest.mark.parametrize(
    "operation",
    ["show", "update", "enable", "disable", "rotate", "delete", "test", "deliveries", "delivery",
     "replay", "replay_failed"],
)  # fmt: skip
async def test_an_owner_reaches_only_their_own(open_house, quick, operation):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        (event,) = await house.happen()
        await trio.sleep(1)
        other = (await house.perform("org.create", name="Other"))["id"]
        before = await house.endpoint_shown(endpoint)
        given = {"event_id": event, "since": "2026-01-01T00:00:00Z", "url": OTHER}
        known = OPERATIONS[f"webhook.{operation}"].arguments.model_fields
        arguments = {name: value for name, value in given.items() if name in known}
        with pytest.raises(NotFound) as refused:
            await house.perform(
                f"webhook.{operation}", endpoint_id=endpoint, organization_id=other, **arguments
            )
        assert str(refused.value) == f"There is no webhook endpoint {endpoint}."
        assert await house.endpoint_shown(endpoint) == before
        await house.perform(
            f"webhook.{operation}", endpoint_id=endpoint,
            organization_id=house.organization_id, **arguments,
        )  # fmt: skip
