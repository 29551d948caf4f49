"""A carrier that fetches: until it does, nobody has the message, and it may be withdrawn."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest
import trio

from risala.config.model import EngineSection
from risala.engine.journal.store.writer import Journal
from risala.engine.model.commands import SendCode
from risala.engine.model.errors import Conflict, StorageFailed
from risala.engine.model.lines import Kind
from risala.plugins.contract import (
    Accepted,
    Capabilities,
    HealthState,
    Outcome,
    Refused,
    Scope,
    Segment,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.fake_driver import FakeDriver

HOUR_S = 3600.0
STOPS_AT_ONCE = {"engine": EngineSection(drain_s=0)}


@dataclass(slots=True)
class Phone(FakeDriver):
    """Its carrier is a phone that asks for its messages."""

    same_id: bool = False
    ready: dict[tuple[str, int], Segment] = field(default_factory=dict)
    """What its driver would hand out, if the engine lets it."""
    got: list[Segment] = field(default_factory=list)
    """What the phone has."""
    cancelled: int = 0
    reports: dict[tuple[str, int], Outcome] = field(default_factory=dict)
    news: trio.Event = field(default_factory=trio.Event)

    @property
    def capabilities(self) -> Capabilities:
        return replace(
            FakeDriver.capabilities.fget(self),
            takes_whole=True,
            fetches=True,
            submit_s=self.submit_s,
            same_id_is_safe=self.same_id,
            remembers_ids_s=86_400.0 if self.same_id else 0.0,
        )

    async def submit(self, segment):
        name = segment.message_id, segment.attempt
        self.submitted.append(segment)
        self._arrived.set()
        self.ready[name] = segment
        try:
            while name not in self.reports:
                await self.news.wait()
            return self.reports.pop(name)
        except trio.Cancelled:
            self.cancelled += 1
            raise
        finally:
            if self.ready.get(name) is segment:
                del self.ready[name]

    async def fetch(self, *segments) -> tuple[Segment, ...]:
        """The phone asks for its messages."""
        left = await self.context.fetched(segments or tuple(self.ready.values()))
        self.got += left
        return left

    def report(self, segment, outcome=None):
        """The phone says what became of a message."""
        name = segment.message_id, segment.attempt
        self.reports[name] = outcome or Accepted(f"{name[0]}-{name[1]}")
        self.news.set()
        self.news = trio.Event()


async def ends(house, message, *statuses):
    with trio.fail_after(HOUR_S):
        await house.wait_status(message, *statuses)


async def offered(house, driver, count=1, **fields) -> str:
    """A message that its driver has, and the phone has not."""
    message = await house.send(**fields)
    with trio.fail_after(HOUR_S):
        await driver.wait_submitted(count)
    await trio.sleep(0.1)
    return message


def lines(house, message) -> list[Kind]:
    """Those that are stored: what it waits for now is not."""
    kinds = [entry.line.kind for entry in house.gateway.show_message(message)[1]]
    return [kind for kind in kinds if kind is not Kind.WAITS]


# -- its way -----------------------------------------------------------------------------------


async def test_what_is_fetched_and_reported_is_sent(open_house, quick):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        assert (house.status(message), lines(house, message)) == ("pending", [Kind.ACCEPTED])
        shown = await house.gateway.perform("message.show", {"message_id": message})
        assert shown["timeline"][-1]["values"] == {"wait": "unfetched", "carrier": "fake"}
        (segment,) = await driver.fetch()
        assert segment.attempt == 1
        assert (house.status(message), lines(house, message)[-1]) == ("processing", Kind.ATTEMPT)
        driver.report(segment)
        await ends(house, message, "sent")
        await driver.receipt(f"{message}-1")
        assert house.status(message) == "delivered"
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_long_text_is_fetched_whole(open_house, quick):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver, body="x" * 400)
        (segment,) = await driver.fetch()
        assert len(segment.text) == 400
        driver.report(segment)
        await ends(house, message, "sent")


async def test_several_are_fetched_together_and_each_again(open_house, quick):
    """The answer was lost on its way to the phone: it asks again."""
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        messages = [await offered(house, driver, n) for n in (1, 2, 3)]
        first = await driver.fetch()
        assert await driver.fetch() == first
        assert [each.message_id for each in first] == messages
        assert [lines(house, each)[1:] for each in messages] == [[Kind.ATTEMPT]] * 3
        for each in first:
            driver.report(each)
        for each in messages:
            await ends(house, each, "sent")
        assert await driver.fetch(*first) == ()


async def test_two_requests_at_once_write_one_attempt(open_house, quick):
    driver, answers = Phone(), []

    async def ask():
        answers.append(await driver.fetch())

    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            nursery.start_soon(ask)
        assert [len(each) for each in answers] == [1, 1]
        assert lines(house, message).count(Kind.ATTEMPT) == 1


async def test_it_may_be_unfetched_for_long_and_then_it_has_its_time(open_house, quick):
    driver = Phone(submit_s=100.0)
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        await trio.sleep(90)
        (segment,) = await driver.fetch()
        await trio.sleep(90)
        driver.report(segment)
        await ends(house, message, "sent")
        assert len(driver.submitted) == 1
        assert Kind.UNCERTAIN not in lines(house, message)


# -- nobody has it -----------------------------------------------------------------------------


async def test_a_restart_leaves_it_free_to_go_anywhere(open_house, quick, carrier):
    driver, other = Phone(), FakeDriver()
    async with open_house(drivers={"fake": driver}, **STOPS_AT_ONCE) as house:
        message = await offered(house, driver)
    async with open_house(carrier("other"), drivers={"other": other}) as house:
        await ends(house, message, "sent")
        assert Kind.UNCERTAIN not in lines(house, message)
        assert [segment.attempt for segment in other.submitted] == [1]


async def test_a_restart_after_it_was_fetched_is_uncertain(open_house, quick):
    driver = Phone()
    async with open_house(drivers={"fake": driver}, **STOPS_AT_ONCE) as house:
        message = await offered(house, driver)
        await driver.fetch()
    async with open_house(drivers={"fake": Phone()}) as house:
        assert lines(house, message)[-1] is Kind.UNCERTAIN
        await ends(house, message, "failed")


async def test_a_phone_that_knows_ids_gets_it_again_after_a_restart(open_house, quick):
    driver = Phone(same_id=True)
    async with open_house(drivers={"fake": driver}, **STOPS_AT_ONCE) as house:
        message = await offered(house, driver)
        (segment,) = await driver.fetch()
    again = Phone(same_id=True, submit_s=1000.0)
    async with open_house(drivers={"fake": again}) as house:
        with trio.fail_after(HOUR_S):
            await again.wait_submitted(1)
        await trio.sleep(300)  # the phone sleeps; nothing decides meanwhile
        assert (house.status(message), len(again.submitted)) == ("processing", 1)
        assert await again.fetch() == (segment,)
        assert lines(house, message)[-1] is Kind.REPEATED
        again.report(segment)
        await ends(house, message, "sent")


async def test_a_repeat_that_is_withdrawn_stays_uncertain_and_is_offered_again(
    open_house, quick, carrier
):
    driver, other = Phone(same_id=True), FakeDriver()
    carriers = carrier(), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await offered(house, driver)
        (segment,) = await driver.fetch()
        driver.report(segment, Uncertain("silent"))
        with trio.fail_after(HOUR_S):
            await driver.wait_submitted(2)
        driver.set_health(HealthState.DOWN)
        assert await driver.fetch(segment) == ()
        await trio.sleep(60)
        assert (house.status(message), other.submitted) == ("processing", [])
        driver.set_health(HealthState.UP)
        with trio.fail_after(HOUR_S):
            await driver.wait_submitted(3)
        assert await driver.fetch() == (segment,)


# -- withdrawn ---------------------------------------------------------------------------------


async def test_what_is_canceled_is_handed_out_no_more(open_house, quick):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        (segment,) = driver.ready.values()
        await house.gateway.perform("message.cancel", {"message_id": message})
        await trio.sleep(0.1)
        assert (driver.cancelled, driver.ready) == (1, {})
        assert await driver.fetch(segment) == ()
        assert house.status(message) == "canceled"
        assert await house.balance() == "1000.00"


async def test_what_is_fetched_can_no_longer_be_canceled(open_house, quick):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        await driver.fetch()
        with pytest.raises(Exception, match="pending message can be withdrawn"):
            await house.gateway.perform("message.cancel", {"message_id": message})


@pytest.mark.parametrize("cancel_first", [True, False])
async def test_fetched_and_canceled_at_once_one_of_them_wins(open_house, quick, cancel_first):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)

        async def cancel():
            with suppress(Conflict):
                await house.gateway.perform("message.cancel", {"message_id": message})

        async with trio.open_nursery() as nursery:
            for work in (cancel, driver.fetch) if cancel_first else (driver.fetch, cancel):
                nursery.start_soon(work)
                await trio.lowlevel.checkpoint()
        await trio.sleep(0.1)
        assert (house.status(message), len(driver.got)) in (("canceled", 0), ("processing", 1))


async def test_what_expires_is_withdrawn(open_house, quick):
    driver = Phone(submit_s=1000.0)
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver, validity_s=300)
        (segment,) = driver.ready.values()
        await trio.sleep(301)
        assert (house.status(message), driver.cancelled) == ("failed", 1)
        assert await driver.fetch(segment) == ()
        assert house.gateway.show_message(message)[0].error_code == "VALIDITY_OVER"


async def test_a_code_whose_session_ended_is_withdrawn(open_house, quick):
    driver = Phone(submit_s=1000.0)
    async with open_house(drivers={"fake": driver}) as house:
        await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        await driver.wait_submitted(1)
        await trio.sleep(700)
        assert driver.cancelled == 1
        assert await driver.fetch(*driver.submitted) == ()


@pytest.mark.parametrize("how", ["down", "pause", "drain"])
async def test_it_goes_by_another_carrier_when_this_one_may_not(open_house, quick, carrier, how):
    driver, other = Phone(), FakeDriver()
    carriers = carrier(), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await offered(house, driver)
        (segment,) = driver.ready.values()
        if how == "down":
            driver.set_health(HealthState.DOWN)
        else:
            await house.gateway.perform(f"carriers.{how}", {"carrier": "fake"})
        with trio.fail_after(5):  # at once, and not when its time is over
            await house.wait_status(message, "sent")
        assert [each.message_id for each in other.submitted] == [message]
        assert await driver.fetch(segment) == ()
        assert Kind.UNCERTAIN not in lines(house, message)


async def test_what_is_fetched_stays_when_the_link_falls(open_house, quick, carrier):
    driver, other = Phone(), FakeDriver()
    carriers = carrier(), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await offered(house, driver)
        (segment,) = await driver.fetch()
        driver.set_health(HealthState.DOWN)
        await trio.sleep(1)
        driver.report(segment)
        await ends(house, message, "sent")
        assert other.submitted == []


async def test_a_stop_waits_for_no_phone(open_house, quick):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        began = trio.current_time()
    assert trio.current_time() - began < 1
    async with open_house(drivers={"fake": Phone()}) as house:
        assert house.status(message) == "pending"


async def test_a_suspended_organizations_message_is_not_fetched(open_house, quick):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        organization = {"organization_id": house.principal.organization_id}
        await house.gateway.perform("org.suspend", organization)
        assert await driver.fetch() == ()
        assert house.status(message) == "pending"
        await house.gateway.perform("org.resume", organization)
        with trio.fail_after(HOUR_S):
            await driver.wait_submitted(2)
        assert len(await driver.fetch()) == 1


# -- its driver --------------------------------------------------------------------------------


async def test_unsent_before_it_is_fetched_leaves_no_trace(open_house, quick):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        driver.report(driver.submitted[0], Unsent("nobody came"))
        with trio.fail_after(HOUR_S):
            await driver.wait_submitted(2)
        assert lines(house, message) == [Kind.ACCEPTED]
        driver.report(driver.submitted[1], Throttled("full"))
        with trio.fail_after(HOUR_S):
            await driver.wait_submitted(3)
        assert {segment.attempt for segment in driver.submitted} == {1}


async def test_a_refusal_before_it_is_fetched_is_one_of_an_attempt(open_house, quick, carrier):
    driver, other = Phone(), FakeDriver()
    carriers = carrier(), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await offered(house, driver)
        driver.report(driver.submitted[0], Refused(Scope.CARRIER, "no such number"))
        await ends(house, message, "sent")
        assert lines(house, message)[1:4] == [Kind.ATTEMPT, Kind.REROUTED, Kind.ATTEMPT]


async def test_a_driver_that_keeps_it_too_long_gives_it_up_without_doubt(open_house, quick):
    driver = Phone(submit_s=10.0)
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        await trio.sleep(20)
        assert driver.cancelled == 1
        assert Kind.UNCERTAIN not in lines(house, message)
        assert house.status(message) == "pending"


async def test_what_the_disk_does_not_take_is_not_handed_out(open_house, quick, monkeypatch):
    driver = Phone()
    async with open_house(drivers={"fake": driver}) as house:
        message = await offered(house, driver)
        stock = Journal.commit_all

        async def refuse(self, units):
            raise StorageFailed("The disk is full.")

        monkeypatch.setattr(Journal, "commit_all", refuse)
        assert await driver.fetch() == ()
        assert house.status(message) == "pending"
        monkeypatch.setattr(Journal, "commit_all", stock)
        assert len(await driver.fetch()) == 1


@pytest.mark.parametrize(("is_on_disk", "line"), [(False, Kind.ACCEPTED), (True, Kind.UNCERTAIN)])
async def test_a_kill_while_it_is_written_is_as_the_disk_says(
    open_house, quick, monkeypatch, is_on_disk, line
):
    driver, stock, reached = Phone(), Journal.commit_all, trio.Event()

    async def stuck(self, groups):
        if is_on_disk:
            await stock(self, groups)
        reached.set()
        await trio.sleep_forever()

    async with open_house(drivers={"fake": driver}, **STOPS_AT_ONCE) as house:
        message = await offered(house, driver)
        monkeypatch.setattr(Journal, "commit_all", stuck)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(driver.fetch)
            await reached.wait()
            nursery.cancel_scope.cancel()
    monkeypatch.setattr(Journal, "commit_all", stock)
    assert driver.got == []
    async with open_house(drivers={"fake": Phone()}) as house:
        assert lines(house, message)[-1] is line
