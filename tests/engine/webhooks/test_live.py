"""Those who follow: everything once, in order, at any speed; gaps are told and made up for."""

from __future__ import annotations

import json
import random

import pytest
import trio

from cases import seeds
from patience import HANG_S
from risala.engine.follow import live
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import NotFound
from risala.engine.model.following import Lagged, LifeEvent, OutboxEvent, Ready, Reset, What
from risala.engine.model.records.keys import KeyType
from risala.engine.model.sentences import sentence
from risala.engine.model.states import Mode
from risala.plugins.contract import Refused, Scope
from risala.plugins.testing.fake_driver import FakeDriver

BOTH = What.EVENTS | What.LIFE


async def read(follower, count: int) -> list:
    with trio.fail_after(HANG_S):
        return [await anext(follower) for _ in range(count)]


async def drain(follower) -> list:
    """All that there is to tell at this moment."""
    seen = []
    while True:
        with trio.move_on_after(0.5) as scope:
            seen.append(await anext(follower))
        if scope.cancelled_caught:
            return seen


def ids(told) -> list[str]:
    return [each.id for each in told if isinstance(each, OutboxEvent)]


def stands(told) -> dict[str, str]:
    """The last state of each message that a reader has seen."""
    return {each.message_id: each.status for each in told if isinstance(each, LifeEvent)}


async def another_organization(house) -> Principal:
    made = await house.perform("org.create", name="Another")
    await house.perform("topup", organization_id=made["id"], amount="1000")
    return Principal(made["id"], "key2", KeyType.SECRET, Mode.LIVE)


async def test_each_event_and_each_change_in_order(open_house, quick):
    async with open_house() as house:
        with house.gateway.follow(BOTH, house.organization_id) as follower:
            assert await read(follower, 1) == [Ready(house.clock.now_ms())]
            written = await house.happen(3)
            message_id = await house.send()
            told = await drain(follower)
            assert ids(told)[:3] == written
            body = json.loads([e.body for e in told if isinstance(e, OutboxEvent)][-1])
            assert (body["type"], body["messageId"]) == ("sms.sent", message_id)
            changes = [each.status for each in told if isinstance(each, LifeEvent)]
            assert changes == ["pending", "processing", "sent"]


@pytest.mark.parametrize(("what", "kind"), [(What.EVENTS, OutboxEvent), (What.LIFE, LifeEvent)])
async def test_only_what_was_asked_for(open_house, quick, what, kind):
    async with open_house() as house:
        with house.gateway.follow(what) as follower:
            await read(follower, 1)
            await house.send()
            told = await drain(follower)
            assert told
            assert all(isinstance(each, kind) for each in told)


async def test_nobody_hears_of_another_organization(open_house, quick, monkeypatch):
    monkeypatch.setattr(live, "QUEUE_MAX", 3)
    async with open_house() as house:
        other = await another_organization(house)
        before = await house.happen(1)
        gateway, mine, theirs = house.gateway, house.organization_id, other.organization_id
        with gateway.follow(BOTH, mine) as ours, gateway.follow(BOTH, theirs) as others:
            assert await read(others, 1) == [Ready(house.clock.now_ms())]
            await house.happen(20)
            message_id = await house.send()
            told = await drain(ours)  # it lagged: what it missed was read from the rows
            assert any(isinstance(each, Lagged) for each in told)
            assert stands(told) == {message_id: "sent"}
            assert await drain(others) == []
            command = SendMessage(to="+22236123456", body="x")
            await gateway.send_message(other, command)
            seen = await drain(others)
            assert seen
            assert {e.organization_id for e in seen} == {theirs}
        # Nor does coming back with somebody else's position, or one from before, help.
        with gateway.follow(BOTH, theirs, before[0]) as follower:
            (first,) = await read(follower, 1)
            assert isinstance(first, Reset)
        with gateway.follow(BOTH, theirs, str(house.clock.now_ms() - 60_000)) as follower:
            seen = [each for each in await drain(follower) if not isinstance(each, Ready)]
            assert seen
            assert {each.organization_id for each in seen} == {theirs}
        with pytest.raises(NotFound):
            gateway.follow(BOTH, "org_unknown")


@pytest.mark.parametrize("queue_max", [3, 1000])
async def test_what_is_skipped_is_not_told_and_what_comes_after_is(
    open_house, quick, monkeypatch, queue_max
):
    monkeypatch.setattr(live, "QUEUE_MAX", queue_max)
    async with open_house() as house:
        mine, follow = house.organization_id, house.gateway.follow
        with follow(BOTH, mine) as follower, follow(BOTH, mine) as other:
            await house.happen(20)
            await house.send()
            assert await drain(other), "all of it was said"
            follower.skip()
            assert await drain(follower) == []
            message_id = await house.send()
            assert stands(await drain(follower)) == {message_id: "sent"}


@pytest.mark.parametrize("seed", seeds(5, 20))
async def test_events_come_once_and_in_order_at_any_speed(open_house, quick, monkeypatch, seed):
    rng = random.Random(seed)
    monkeypatch.setattr(live, "QUEUE_MAX", rng.randint(1, 8))
    monkeypatch.setattr(live, "ROWS_AT_ONCE", rng.randint(1, 5))
    async with open_house() as house:
        await another_organization(house)
        written: list[str] = []
        seen: list = []
        with house.gateway.follow(What.EVENTS, house.organization_id) as follower:
            for _ in range(12):
                if rng.random() < 0.6:
                    written += await house.happen(rng.randint(1, 12))
                    if rng.random() < 0.5:
                        await trio.sleep(1)
                for _ in range(rng.randint(0, 10)):
                    with trio.move_on_after(0):
                        seen.append(await anext(follower))
                if rng.random() < 0.2:  # goes away and comes back, with what it saw last
                    position = next((each for each in reversed(ids(seen))), None)
                    if position is not None:
                        break
            else:
                position = None
            if position is None:
                seen += await drain(follower)
        if position is not None:
            written += await house.happen(5)
            with house.gateway.follow(What.EVENTS, house.organization_id, position) as follower:
                seen += await drain(follower)
        assert ids(seen) == written
        assert not any(isinstance(each, Reset) for each in seen)


async def test_a_slow_reader_is_told_so_and_how_each_message_stands(open_house, quick, monkeypatch):
    monkeypatch.setattr(live, "QUEUE_MAX", 10)
    refuse = [Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number.")]
    async with open_house(driver=FakeDriver(answers=refuse)) as house:
        with house.gateway.follow(What.LIFE, house.organization_id) as follower:
            await read(follower, 1)
            messages = [await house.send(str(n)) for n in range(40)]
            await trio.sleep(5)
            told = await drain(follower)
            assert told[0] == Lagged(40 * 3)  # accepted, processing, sent or failed
            assert len(told) == 41
            rows = house.gateway.services.repositories._store.reader.execute(
                "SELECT id, status FROM messages"
            ).fetchall()
            assert stands(told) == dict(rows)
            assert sorted(stands(told).values()).count("failed") == 1
            one = next(each for each in told[1:] if each.status == "failed")
            assert (sentence(one), one.raw) == ("No such number. Refunded.", "ESME_RINVDSTADR")
            await house.send("afterwards")
            assert [each.status for each in await drain(follower)] == [
                "pending", "processing", "sent",
            ]  # fmt: skip
            assert len(messages) == 40


async def test_what_is_too_much_to_be_made_up_for_is_said(open_house, quick, monkeypatch):
    monkeypatch.setattr(live, "QUEUE_MAX", 2)
    monkeypatch.setattr(live, "MISSED_MESSAGES_MAX", 5)
    monkeypatch.setattr(live, "MISSED_EVENTS_MAX", 30)
    monkeypatch.setattr(live, "CHANGED_ROWS_MAX", 20)
    async with open_house() as house:
        with house.gateway.follow(What.LIFE) as follower:
            await read(follower, 1)
            for n in range(6):
                await house.send(str(n))
            await trio.sleep(1)
            lagged, reset = await drain(follower)
            assert (type(lagged), type(reset)) == (Lagged, Reset)
        first, *_ = await house.happen(40)
        await trio.sleep(1)
        with house.gateway.follow(What.EVENTS, None, first) as follower:
            told = await drain(follower)
            assert [type(each) for each in told] == [Ready, Reset]
            (new,) = await house.happen(1)  # after a reset it goes on
            assert ids(await drain(follower)) == [new]
        for n in range(21):
            await house.send(str(n))
        await trio.sleep(1)
        with house.gateway.follow(What.LIFE, None, str(house.clock.now_ms())) as follower:
            assert [type(each) for each in await drain(follower)] == [Reset]


@pytest.mark.parametrize("position", ["evt_unknown", "", "1e3", "٣", "-1", "9" * 16])
async def test_a_position_that_is_none_begins_with_a_reset(open_house, quick, position):
    async with open_house() as house:
        with house.gateway.follow(BOTH, None, position) as follower:
            (told,) = await drain(follower)
            assert isinstance(told, Reset)


async def test_coming_back_makes_up_for_the_time_away(open_house, quick):
    """Also what has no event: withdrawn, refused, under way."""
    driver = FakeDriver()
    async with open_house(driver=driver) as house:
        old = await house.send("old")
        with house.gateway.follow(BOTH, house.organization_id) as follower:
            (ready,) = await read(follower, 1)
            await drain(follower)
        await trio.sleep(60)
        scheduled = await house.send("later", send_at=house.clock.now_ms() + 3_600_000)
        position = str(house.clock.now_ms())
        await trio.sleep(60)
        await house.perform("message.cancel", message_id=scheduled)
        driver.answers = [Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number.")]
        failed = await house.send("refused")
        await trio.sleep(1)
        sent = await house.send("sent")
        await trio.sleep(1)
        driver.hold()
        under_way = await house.send("under way")
        await trio.sleep(60)
        with house.gateway.follow(BOTH, house.organization_id, position) as follower:
            told = await drain(follower)
        assert told[0] == Ready()
        assert stands(told) == {
            scheduled: "canceled", failed: "failed", sent: "sent", under_way: "processing",
        }  # fmt: skip
        kinds = [json.loads(each.body)["type"] for each in told if isinstance(each, OutboxEvent)]
        assert kinds == ["sms.canceled", "sms.failed", "sms.sent"]
        # By the position that `ready` gave: everything since.
        with house.gateway.follow(BOTH, house.organization_id, str(ready.at)) as follower:
            assert stands(await drain(follower)).keys() == {
                old, scheduled, failed, sent, under_way,
            }  # fmt: skip
        driver.let_go()


async def test_a_time_is_a_position_among_events(open_house, quick):
    async with open_house() as house:
        written = []
        for _ in range(9):
            written += await house.happen(2)
            await trio.sleep(10)
        for index in range(9):
            at_ms = house.clock.now_ms() - (9 - index) * 10_000
            with house.gateway.follow(What.EVENTS, None, str(at_ms)) as follower:
                assert ids(await drain(follower)) == written[2 * index :]


async def test_closed_it_ends(open_house, quick):
    async with open_house() as house:
        with house.gateway.follow(BOTH) as follower:
            await read(follower, 1)
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def _() -> None:
                    with pytest.raises(StopAsyncIteration):
                        await anext(follower)

                await trio.testing.wait_all_tasks_blocked()
                follower.close()
        assert house.gateway.services.recorder.life.listeners == 0
