"""Flash messages: only carriers that can send them are candidates, at failover too; others leave as
ever."""

from __future__ import annotations

import pytest
import trio
from tests.engine.delivery.test_declining import TO, ChoosyDriver

from risala.engine.model.commands import SendCode
from risala.engine.model.errors import ClassNotPossible
from risala.engine.model.sentences import sentence
from risala.plugins.contract import Accepted, Cause, HealthState, Refused, Scope, Throttled
from risala.plugins.testing.fake_driver import FakeDriver

ELSEWHERE = Refused(Scope.CARRIER, "not here", cause=Cause.RECIPIENT_REFUSED)
LONG = "x" * 200


def classes(driver: FakeDriver) -> list[int | None]:
    return [each.message_class for each in driver.submitted]


async def test_it_leaves_by_a_carrier_that_can_and_others_by_each(open_house, quick, carrier):
    drivers = {"plain": FakeDriver(), "able": FakeDriver(flash=True)}
    async with open_house(*map(carrier, drivers), drivers=drivers) as house:
        flash = [await house.send(message_class=0) for _ in range(4)]
        for message_id in [*flash, *[await house.send() for _ in range(4)]]:
            await house.wait_status(message_id, "sent")
        assert set(classes(drivers["plain"])) == {None}  # they share the ordinary ones
        assert classes(drivers["able"]).count(0) == len(flash)
        assert await house.balance() == "996.00"  # the price is that of an ordinary one
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_its_record_event_and_list_say_it(open_house, quick):
    async with open_house(drivers={"fake": FakeDriver(flash=True)}) as house:
        flash, plain = await house.send(message_class=0), await house.send()
        for message_id in (flash, plain):
            await house.wait_status(message_id, "sent")
        views = [house.gateway.get_message(house.principal, each) for each in (flash, plain)]
        assert [view.message_class for view in views] == [0, None]
        events = {event["messageId"]: event for event in await house.events()}
        assert events[flash]["messageClass"] == 0
        assert "messageClass" not in events[plain]  # the bytes of before
        listed = await house.gateway.perform(
            "message.list", {"organization_id": house.principal.organization_id}
        )
        assert {each["messageId"]: each["messageClass"] for each in listed["messages"]} == {
            flash: 0,
            plain: None,
        }


async def test_where_none_can_it_is_refused_and_leaves_no_trace(open_house, quick):
    async with open_house() as house:
        with pytest.raises(ClassNotPossible):
            await house.send(message_class=0, idempotency_key="once-and-again")
        assert await house.balance() == "1000.00"
        message_id = await house.send(idempotency_key="once-and-again")
        await house.wait_status(message_id, "sent")


async def test_a_number_that_nobody_serves_is_refused_too(open_house, quick, carrier):
    able = FakeDriver(flash=True)
    async with open_house(carrier("able", prefixes=("+2224",)), drivers={"able": able}) as house:
        with pytest.raises(ClassNotPossible):
            await house.send(to="+22236123456", message_class=0)


async def test_a_refused_one_goes_on_to_another_that_can(open_house, quick, carrier):
    drivers = {
        "first": FakeDriver(flash=True, always=ELSEWHERE),
        "plain": FakeDriver(),
        "last": FakeDriver(flash=True),
    }
    lines = [carrier(name, priority=n) for n, name in enumerate(drivers, 1)]
    async with open_house(*lines, drivers=drivers) as house:
        message_id = await house.send(message_class=0)
        await house.wait_status(message_id, "sent")
        assert house.gateway.show_message(message_id)[0].message_class == 0
        assert [classes(driver) for driver in drivers.values()] == [[0], [], [0]]


async def test_without_another_that_can_it_fails_and_is_refunded(open_house, quick, carrier):
    drivers = {"able": FakeDriver(flash=True, always=ELSEWHERE), "plain": FakeDriver()}
    async with open_house(*map(carrier, drivers), drivers=drivers) as house:
        message_id = await house.send(message_class=0)
        await house.wait_status(message_id, "failed")
        assert await house.balance() == "1000.00"
        assert drivers["plain"].submitted == []


async def test_a_later_tier_takes_it_while_the_first_that_can_is_down(open_house, quick, carrier):
    drivers = {"a": FakeDriver(flash=True), "b": FakeDriver(), "c": FakeDriver(flash=True)}
    lines = [carrier(name, priority=n) for n, name in enumerate(drivers, 1)]
    async with open_house(*lines, drivers=drivers) as house:
        await trio.testing.wait_all_tasks_blocked()
        drivers["a"].set_health(HealthState.DOWN)
        message_id = await house.send(message_class=0)
        await house.wait_status(message_id, "sent")
        assert house.gateway.show_message(message_id)[0].carrier == "c"
        # An ordinary one has a carrier before that.
        other = await house.send()
        await house.wait_status(other, "sent")
        assert house.gateway.show_message(other)[0].carrier == "b"


async def test_a_declined_one_goes_to_another_that_can(open_house, quick, carrier):
    drivers = {
        "choosy": ChoosyDriver(flash=True, refused={TO}),
        "plain": FakeDriver(),
        "able": FakeDriver(flash=True),
    }
    lines = [carrier(name, priority=n) for n, name in enumerate(drivers, 1)]
    async with open_house(*lines, drivers=drivers) as house:
        message_id = await house.send(to=TO, message_class=0)
        await house.wait_status(message_id, "sent")
        view, _ = house.gateway.show_message(message_id)
        assert (view.carrier, view.message_class) == ("able", 0)
        assert drivers["choosy"].asked


async def test_each_part_has_the_class_after_a_pause_too(open_house, quick, carrier):
    able = FakeDriver(flash=True)
    able.answers = [Accepted("first"), Throttled("slow")]
    drivers = {"able": able, "plain": FakeDriver()}
    async with open_house(*map(carrier, drivers), drivers=drivers) as house:
        message_id = await house.send(LONG, message_class=0)
        await house.wait_status(message_id, "sent")
        assert classes(able) == [0, 0, 0]
        assert house.gateway.show_message(message_id)[0].message_class == 0


async def test_one_that_waits_stays_one_when_the_carriers_change(open_house, quick, carrier):
    """Over a restart: the routes are others, and its first carrier is gone."""
    drivers = {"old": FakeDriver(flash=True)}
    async with open_house(carrier("old"), drivers=drivers) as house:
        now_ms = house.clock.now_ms()
        message_id = await house.send(message_class=0, send_at=now_ms + 3_600_000)
    later = {"plain": FakeDriver(), "able": FakeDriver(flash=True)}
    lines = [carrier(name, prefixes=("+2223", "+2224")) for name in later]
    async with open_house(*lines, drivers=later) as house:
        await house.wait_status(message_id, "sent")
        view = house.gateway.show_message(message_id)[0]
        assert (view.carrier, view.message_class) == ("able", 0)
        assert later["plain"].submitted == []


async def test_one_whose_carriers_are_gone_waits_and_says_so(open_house, quick, carrier):
    drivers = {"able": FakeDriver(flash=True)}
    async with open_house(carrier("able"), drivers=drivers) as house:
        now_ms = house.clock.now_ms()
        message_id = await house.send(message_class=0, send_at=now_ms + 60_000)
    elsewhere = {"able": FakeDriver(flash=True)}
    async with open_house(carrier("able", prefixes=("+2222",)), drivers=elsewhere) as house:
        await trio.sleep(120)
        view, timeline = house.gateway.show_message(message_id)
        assert view.status == "pending"
        assert "no enabled carrier serves" in sentence(timeline[-1])
        assert house.gateway.services.repositories.queue.unserved(10).count == 1
    drivers = {"able": FakeDriver(flash=True)}
    async with open_house(carrier("able"), drivers=drivers) as house:
        await house.wait_status(message_id, "sent")
        assert classes(drivers["able"]) == [0]


async def test_one_whose_carriers_lost_the_ability_waits_and_says_so(open_house, quick, carrier):
    async with open_house(carrier("a"), drivers={"a": FakeDriver(flash=True)}) as house:
        now_ms = house.clock.now_ms()
        message_id = await house.send(message_class=0, send_at=now_ms + 60_000)
    async with open_house(carrier("a"), drivers={"a": FakeDriver()}) as house:
        await trio.sleep(120)
        view, timeline = house.gateway.show_message(message_id)
        assert (view.status, view.message_class) == ("pending", 0)
        assert "no enabled carrier serves" in sentence(timeline[-1])


async def test_a_code_is_never_one(open_house, quick):
    driver = FakeDriver(flash=True)
    async with open_house(drivers={"fake": driver}) as house:
        await house.gateway.send_code(house.principal, SendCode(to=TO))
        await driver.wait_submitted(1)
        assert classes(driver) == [None]


async def test_an_estimate_costs_the_same_and_is_refused_as_the_message(open_house, quick, carrier):
    drivers = {"able": FakeDriver(flash=True)}
    async with open_house(carrier("able", prefixes=("+2223",)), drivers=drivers) as house:
        given = {"organization_id": house.principal.organization_id, "body": "hello"}
        plain = await house.gateway.perform("message.estimate", {**given, "to": TO})
        flash = {**given, "message_class": 0}
        assert await house.gateway.perform("message.estimate", {**flash, "to": TO}) == plain
        for refused in ({**flash, "to": "+22246123456"}, {**flash, "origin": "example.com"}):
            with pytest.raises(Exception, match="flash message"):
                await house.gateway.perform("message.estimate", refused)
