"""Doing it again: one delivery, or a thousand, with progress, and never twice for one replay."""

from __future__ import annotations

from collections import Counter

import pytest
import trio

from risala.cli.commands.messaging.webhook_log import replay_failed
from risala.cli.reach.performer import GatewaySession
from risala.engine.journal.webhooks.deliveries import ATTEMPTS_KEPT
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.model.times import iso
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault

URL = "https://example.com/hook"
DOWN = ReceiverFault("NOT_CONNECTED", "It is down.")


async def fail(house, endpoint: str, count: int) -> list[str]:
    """So many deliveries that have failed, without a wait for three days."""
    house.outbound.plan[URL] = DOWN
    events = await house.happen(count)
    await house.perform("webhook.disable", endpoint_id=endpoint)
    await trio.sleep(1)
    await house.perform("webhook.enable", endpoint_id=endpoint)
    house.outbound.plan.clear()
    house.outbound.calls.clear()
    return events


async def attempts_made(house, endpoint: str) -> int:
    reader = house.gateway.services.repositories._store.reader
    return reader.execute(
        "SELECT coalesce(sum(attempts), 0) FROM webhook_deliveries WHERE endpoint_id = ?",
        (endpoint,),
    ).fetchone()[0]


async def test_a_thousand_with_progress_and_a_total(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        since = iso(house.clock.now_ms())
        events = await fail(house, endpoint, 1000)
        before = await attempts_made(house, endpoint)
        steps: list[tuple[int, int]] = []
        session = GatewaySession(house.gateway, running=True)
        done = await replay_failed(
            session, endpoint, since, lambda done, total: steps.append((done, total))
        )
        assert done == (1000, 1000)
        assert [total for _, total in steps] == [1000] * 6
        assert [at for at, _ in steps] == [200, 400, 600, 800, 1000, 1000]
        await house.outbound.wait_calls(1000)
        await trio.sleep(1)
        assert Counter(house.outbound.ids()) == Counter(events)
        assert await attempts_made(house, endpoint) - before == 1000
        shown = await house.perform("webhook.show", endpoint_id=endpoint)
        assert (shown["pending"], shown["failed"]) == (0, 0)


async def test_two_replays_at_once_deliver_each_once(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        since = iso(house.clock.now_ms())
        events = await fail(house, endpoint, 1000)
        before = await attempts_made(house, endpoint)
        replayed: list[int] = []

        async def replay() -> None:
            session = GatewaySession(house.gateway, running=True)
            done, _ = await replay_failed(session, endpoint, since, lambda *_: None)
            replayed.append(done)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(replay)
            nursery.start_soon(replay)
        await house.outbound.wait_calls(1000)
        await trio.sleep(1)
        assert sum(replayed) == 1000
        assert Counter(house.outbound.ids()) == Counter(events)
        assert await attempts_made(house, endpoint) - before == 1000


async def test_what_fails_again_meanwhile_is_not_taken_again(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        since = iso(house.clock.now_ms())
        await fail(house, endpoint, 3)
        first = await house.perform("webhook.replay_failed", endpoint_id=endpoint, since=since)
        assert (first["replayed"], first["done"]) == (3, True)
        await trio.sleep(1)
        await fail(house, endpoint, 2)
        again = await house.perform(
            "webhook.replay_failed", endpoint_id=endpoint, since=since, until=first["until"]
        )
        assert again["replayed"] == 0


async def test_only_those_since_the_time(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        await fail(house, endpoint, 2)
        await trio.sleep(10)
        since = iso(house.clock.now_ms())
        events = await fail(house, endpoint, 3)
        done = await house.perform("webhook.replay_failed", endpoint_id=endpoint, since=since)
        assert (done["replayed"], done["total"]) == (3, 3)
        await trio.sleep(1)
        assert sorted(house.outbound.ids()) == sorted(events)


async def test_one_that_was_delivered_may_be_asked_for_again(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        (event,) = await house.happen()
        await trio.sleep(1)
        replayed = await house.perform("webhook.replay", endpoint_id=endpoint, event_id=event)
        assert replayed["delivery"]["state"] == "pending"
        await trio.sleep(1)
        delivery, attempts = await house.log(endpoint, event)
        assert (delivery["state"], len(attempts)) == ("delivered", 2)
        assert house.outbound.ids() == [event, event]


async def test_one_that_goes_on_by_itself_is_not_replayed(open_house, quick):
    async with open_house() as house:
        house.outbound.plan[URL] = DOWN
        endpoint, _ = await house.endpoint()
        (event,) = await house.happen()
        await trio.sleep(1)
        with pytest.raises(Conflict):
            await house.perform("webhook.replay", endpoint_id=endpoint, event_id=event)
        with pytest.raises(NotFound):
            await house.perform("webhook.replay", endpoint_id=endpoint, event_id="evt_other")
        with pytest.raises(Invalid):
            await house.perform("webhook.replay_failed", endpoint_id=endpoint)


async def test_the_log_of_one_delivery_is_bounded(open_house, quick):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        (event,) = await house.happen()
        for _ in range(ATTEMPTS_KEPT + 5):
            await trio.sleep(0.1)
            await house.perform("webhook.replay", endpoint_id=endpoint, event_id=event)
        await trio.sleep(1)
        delivery, attempts = await house.log(endpoint, event)
        assert delivery["attempts"] == ATTEMPTS_KEPT + 6
        assert len(attempts) == ATTEMPTS_KEPT
        assert attempts[-1]["number"] == delivery["attempts"]


async def test_the_log_is_read_in_pages(open_house, quick):
    async with open_house() as house:
        house.outbound.plan[URL] = [DOWN, ReceiverAnswer(200, None, "ok")]
        endpoint, _ = await house.endpoint()
        events = await house.happen(25)
        await trio.sleep(1)
        seen: list[str] = []
        before = None
        while True:
            page = await house.perform(
                "webhook.deliveries", endpoint_id=endpoint, limit=10, before=before
            )
            seen += [each["eventId"] for each in page["deliveries"]]
            before = page["before"]
            if before is None:
                break
        assert seen == events[::-1]
        pending = await house.deliveries(endpoint, state="pending")
        assert len(pending) == 1
        with pytest.raises(Invalid):
            await house.deliveries(endpoint, state="lost")
