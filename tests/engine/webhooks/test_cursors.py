"""A consumer with a cursor of its own gets every event at least once, in order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import trio
import trio.testing
from tests.support import poison

from risala.engine.features.own_data.stored import retention
from risala.engine.follow.cursors import LOOK_S, EventCursor, EventCursors
from risala.engine.journal.webhooks import outbox
from risala.engine.model.clock import TrioClock
from risala.engine.model.errors import NotFound
from risala.engine.model.events import EventType, MessageEvent
from risala.engine.model.following import Owner
from risala.engine.model.ids import first_id
from risala.engine.model.numbers import EVENT_TYPES
from risala.engine.model.states import Mode

WHO = "test:consumer"
MINE, OTHER = (first_id("crd", number) for number in (1, 2))


async def ids_of(cursor: EventCursor, limit: int = 100) -> list[str]:
    return [each.id for each in await cursor.next(limit)]


async def forget_all(house) -> None:
    """What retention does once all events are too old."""
    now_ms = house.clock.now_ms()
    unit = partial(retention.events, after="", before_ms=now_ms + 1, limit=100, now_ms=now_ms)
    await house.gateway.services.recorder.journal.commit(unit)


async def test_a_place_never_goes_back(open_house):
    async with open_house() as house:
        cursor = await house.engine.cursors.open(WHO)
        await house.happen(2)
        first, second = await cursor.next(10)
        for each in (second, first):  # of two stretches under way the later one is done first
            await cursor.keep(each.seq)
        assert cursor.status().behind == 0


async def test_it_begins_now_or_with_the_oldest(open_house):
    async with open_house() as house:
        old = await house.happen(2)
        now = await house.engine.cursors.open(WHO)
        all_of_them = await house.engine.cursors.open("test:other", from_start=True)
        new = await house.happen(1)
        assert await ids_of(now) == new
        assert await ids_of(all_of_them) == [*old, *new]


async def test_it_waits_for_the_next(open_house):
    async with open_house() as house, trio.open_nursery() as nursery:
        cursor = await house.engine.cursors.open(WHO)
        told: list[str] = []
        came = trio.Event()

        async def wait() -> None:
            told.extend(await ids_of(cursor))
            came.set()

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        assert told == []
        began_s = trio.current_time()
        happened = await house.happen(1)
        await came.wait()
        assert told == happened
        assert trio.current_time() - began_s < 1  # by the news, not by the look now and then


async def test_what_is_not_kept_comes_again_after_a_restart(open_house):
    async with open_house() as house:
        cursor = await house.engine.cursors.open(WHO)
        happened = await house.happen(5)
        first = await cursor.next(2)
        await cursor.next(2)
        await cursor.keep(first[-1].seq)
    async with open_house() as house:
        cursor = await house.engine.cursors.open(WHO)
        assert await ids_of(cursor) == happened[2:]
        cursor.rewind()
        assert await ids_of(cursor, 1) == happened[2:3]
        assert cursor.status().behind == 3


async def test_only_what_is_followed(open_house, quick):
    async with open_house() as house:
        services = house.gateway.services
        cursors = EventCursors(services.repositories.events, services.recorder.clock, scan_max=2)
        other = (await house.perform("org.create", name="Other"))["id"]
        failed = (EventType.SMS_FAILED,)
        cursor = await cursors.open(WHO, organization_id=house.organization_id, types=failed)
        theirs = await cursors.open("test:other", organization_id=other)
        await house.happen(7)
        wanted = await house.happen(1, kind="sms.failed")
        assert cursor.status().behind == 1
        assert await ids_of(cursor) == wanted
        assert theirs.status().behind == 0
        with trio.move_on_after(100) as scope:
            await theirs.next(1)
        assert scope.cancelled_caught
        with pytest.raises(NotFound):  # else it would be given everybody's events
            await cursors.open("test:third", organization_id="org_nobody")


async def test_what_is_passed_by_keeps_nothing_that_was_given_before_it(open_house):
    async with open_house() as house:
        services = house.gateway.services
        cursors = EventCursors(services.repositories.events, services.recorder.clock, scan_max=2)
        cursor = await cursors.open(WHO, types=(EventType.SMS_FAILED,))
        given = await house.happen(1, kind="sms.failed")
        assert await ids_of(cursor) == given
        await house.happen(7)  # nobody follows these
        later = await house.happen(1, kind="sms.failed")
        assert await ids_of(cursor) == later
        cursor.rewind()
        assert await ids_of(cursor) == given


async def test_what_retention_deletes_first_is_counted(open_house):
    async with open_house() as house:
        behind = await house.engine.cursors.open(WHO)
        failed = (EventType.SMS_FAILED,)
        elsewhere = await house.engine.cursors.open("test:other", types=failed)
        await house.happen(3)
        first = await behind.next(1)
        await behind.keep(first[0].seq)
        await forget_all(house)
        standing = behind.status()
        assert standing.missed == 2
        assert standing.missed_at is not None
        assert standing.behind == 0
        assert elsewhere.status().missed == 0


async def test_a_key_is_not_given_a_second_time_where_all_events_are_gone(open_house, start_ms):
    async with open_house() as house:
        cursor = await house.engine.cursors.open(WHO)
        await house.happen(1)
        (event,) = await cursor.next(1)
        await cursor.keep(event.seq)
        await forget_all(house)
        house.clock = TrioClock(start_ms - 86_400_000)
        happened = await house.happen(1)
        assert await ids_of(cursor) == happened


async def test_who_is_dropped_is_owed_nothing(open_house):
    async with open_house() as house:
        cursor = await house.engine.cursors.open(WHO)
        await house.happen(3)
        await house.engine.cursors.drop(WHO)
        await forget_all(house)
        assert cursor.status().missed == 0
        again = await house.engine.cursors.open(WHO)
        assert again.status().behind == 0


def owner(**fields) -> Owner:
    known = {"api_key": MINE, "mode": Mode.LIVE, "sent_with": "told"}
    return Owner(**{**known, **fields})


async def settle(house, *messages: str, kind: str = "sms.delivered", mode: str = "live") -> None:
    """Write an event of each of these messages."""
    recorder = house.gateway.services.recorder
    what = ("+22236123456", "RISALA", kind[4:], None, None, None, {}, 50, "MRU")
    events = [
        MessageEvent(EventType(kind), house.clock.now_ms(), house.organization_id, mode, *each)
        for each in ((message, *what) for message in messages)
    ]
    await recorder.journal.commit(lambda conn: [outbox.write(conn, event) for event in events])


async def test_ones_own_events_are_of_what_one_has_sent_oneself(open_house):
    async with open_house() as house:
        types = (EventType.SMS_SENT, EventType.SMS_DELIVERED, EventType.SMS_FAILED)
        cursor = await house.engine.cursors.open_own(WHO, house.organization_id, owner(), types)
        house.principal = replace(house.principal, key_id=MINE)
        later = house.clock.now_ms() + 3_600_000  # nothing happens to them by itself
        mine = await house.send(metadata={"a": "1"}, send_at=later)
        told = await house.send(metadata={"told": "yes"}, send_at=later)
        house.principal = replace(house.principal, key_id=OTHER)
        other = await house.send(metadata={"told": "yes"}, send_at=later)
        await settle(house, mine, told, other, kind="sms.sent")
        await settle(house, mine, mode="test")
        await house.happen(1, kind="sms.delivered")  # of a message that is gone
        await settle(house, other, mine)
        events = await cursor.next(10)
        assert [(each.message_id, each.type) for each in events] == [
            (told, EventType.SMS_SENT),
            (mine, EventType.SMS_DELIVERED),
        ]
        sent, delivered = events
        assert (sent.status, sent.metadata) == ("sent", {"told": "yes"})
        assert (delivered.status, delivered.metadata) == ("delivered", {"a": "1"})
        view = house.gateway.services.repositories.messages.own(
            mine, house.organization_id, Mode.LIVE
        )
        assert (delivered.recipient, delivered.sender) == (view.to, view.sender)
        assert delivered.accepted_at == view.created_at <= delivered.at <= house.clock.now_ms()


async def test_what_cannot_be_read_hides_none_of_ones_own(open_house):
    async with open_house() as house:
        types = (EventType.SMS_RECEIVED, EventType.SMS_DELIVERED)
        cursor = await house.engine.cursors.open_own(WHO, house.organization_id, owner(), types)
        broken = poison.event(type=EVENT_TYPES.numbers[EventType.SMS_RECEIVED], frozen="[")

        def plant(conn):
            return [broken(conn, house.organization_id, f"event_{n}") for n in range(2)]

        keys = await house.gateway.services.recorder.journal.commit(plant)
        house.principal = replace(house.principal, key_id=MINE)
        mine = await house.send(send_at=house.clock.now_ms() + 3_600_000)
        await settle(house, mine)
        assert [each.message_id for each in await cursor.next(2)] == [mine]
        (named,) = [
            each.items for each in house.gateway.services.set_aside.statuses() if each.items
        ]
        assert set(named) == {str(each) for each in keys}


async def test_a_place_moves_on_where_nothing_is_ones_own(open_house, quick):
    async with open_house() as house, trio.open_nursery() as nursery:
        types = (EventType.SMS_SENT, EventType.SMS_DELIVERED)
        cursor = await house.engine.cursors.open_own(WHO, house.organization_id, owner(), types)
        nursery.start_soon(cursor.next, 10)
        await house.happen(3)
        await trio.sleep(LOOK_S - 1)
        assert cursor.status().behind == 3  # no commit for each event of others
        await trio.sleep(2)
        assert cursor.status().behind == 0
        await forget_all(house)
        assert cursor.status().missed == 0
        nursery.cancel_scope.cancel()
