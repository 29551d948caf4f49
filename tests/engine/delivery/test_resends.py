"""How often a message is sent again; one that drops the link takes no neighbours with it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import examples
from risala.config.model import DeliverySection, OnUncertain, RetrySection
from risala.engine.journal.messages import deadlines
from risala.engine.model.commands import SendCode
from risala.engine.model.records.attempts import Attempt
from risala.engine.model.sentences import sentence
from risala.engine.rules.retry import Circumstances, decide
from risala.plugins.contract import (
    Accepted,
    Cause,
    HealthState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.fake_driver import FakeDriver

RESEND = {"on_uncertain_message": OnUncertain(action="resend", after_s=15)}
LOST = Uncertain("the peer closed the connection", cause=Cause.LINK_LOST)
POISON = "poison"


# -- the bound ---------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 2, 3, 5])
async def test_a_segment_is_submitted_so_often_and_then_it_has_failed(
    open_house, quick, carrier, most
):
    driver = FakeDriver(always=Uncertain("?"))
    delivery = DeliverySection(uncertain_submits_max=most)
    async with open_house(carrier(**RESEND), drivers={"fake": driver}, delivery=delivery) as house:
        before = await house.balance()
        message = await house.send()
        await house.wait_status(message, "failed")
        assert len(driver.submitted) == most
        assert house.gateway.show_message(message)[0].error_code == "UNCERTAIN"
        assert await house.balance() == before


async def test_three_are_the_most_unless_it_is_set_and_of_codes_too(open_house, quick):
    driver = FakeDriver(always=LOST)
    async with open_house(drivers={"fake": driver}) as house:
        await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        await trio.sleep(590)  # nearly all of its time
        assert len(driver.submitted) == 3
        status = house.gateway.services.repositories._store.reader.execute(
            "SELECT status, error_code FROM messages"
        ).fetchone()
        assert status == ("failed", "UNCERTAIN")


async def test_what_was_not_taken_for_sure_counts_for_nothing(open_house, quick, carrier):
    no = (Throttled("x"), Unsent("x"), Refused(Scope.NOW, "x"))
    driver = FakeDriver(answers=[*no, Uncertain("?"), *no, Uncertain("?"), *no, Accepted("1")])
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "sent")
        assert not driver.answers


async def test_each_part_has_its_own_count(open_house, quick, carrier):
    maybe, yes = Uncertain("?"), Accepted("1")
    driver = FakeDriver(answers=[maybe, maybe, yes, maybe, maybe, yes])
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        await house.wait_status(await house.send("x" * 200), "sent")
        assert [segment.number for segment in driver.submitted] == [1, 1, 1, 2, 2, 2]


async def test_the_count_outlives_a_restart(open_house, quick, carrier):
    carriers, driver = carrier(**RESEND), FakeDriver(always=Uncertain("?"))
    async with open_house(carriers, drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(2)
    async with open_house(carriers, drivers={"fake": driver}) as house:
        await house.wait_status(message, "failed")
        assert len(driver.submitted) == 3


OUTCOMES = st.sampled_from(
    [Uncertain("?"), LOST, Throttled("x"), Unsent("x"), Refused(Scope.NOW, "x"), Accepted("1")]
)


@pytest.mark.slow
@settings(
    max_examples=examples(80),
    deadline=None,
    # Each example opens a journal of its own.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.one_of(OUTCOMES, st.just("crash")), max_size=15), st.integers(1, 4))
def test_whatever_the_carrier_says_the_copies_are_bounded(open_book, history, most):
    book = open_book()
    message_id = book.accept(book.organization())
    policy = RESEND["on_uncertain_message"]
    copies = 0
    for outcome in history:
        began = book.begin(message_id)
        if began is None:
            break
        if outcome == "crash":
            copies += 1
            book.recover(policy)
        else:
            copies += isinstance(outcome, Accepted | Uncertain)
            at = Circumstances(
                book.now_ms, book.now_ms + 10**9, 0, "@mattel", False, None, policy, RetrySection()
            )
            book.finish(Attempt(message_id, 1, began.attempt, "mattel"), decide(outcome, at))
        book.now_ms += 20_000
        stamps = [book.stamp()]
        book.unit(lambda conn, s=stamps: deadlines.resolve_due(conn, s, submits_max=most))
        book.now_ms += 3_600_000
    assert copies <= most
    if book.status(message_id) == "failed":
        assert book.one("SELECT error_code FROM messages") == "UNCERTAIN"
        assert copies == most
    book.close()


# -- the neighbours ----------------------------------------------------------------------------


@dataclass(slots=True)
class Poisoned(FakeDriver):
    """Its carrier drops the link at one text: every submit of that moment has no answer."""

    says_why: bool = True
    """False: the outcome does not say that the link was lost; the health does."""
    taken: list[str] = field(default_factory=list)
    drops: int = 0
    alongside: list[int] = field(default_factory=list)
    """How many others were in flight at each drop."""
    _waiting: dict[trio.Event, str] = field(default_factory=dict)

    async def submit(self, segment):
        self.submitted.append(segment)
        self._arrived.set()
        if segment.text == POISON:
            await trio.sleep(0.5)
            return self._drop()
        dropped = trio.Event()
        self._waiting[dropped] = segment.text
        with trio.move_on_after(1):
            await dropped.wait()
            return self._lost()
        del self._waiting[dropped]
        self.taken.append(segment.text)
        return Accepted(segment.text)

    def _drop(self):
        self.drops += 1
        self.alongside.append(len(self._waiting))
        for dropped in self._waiting:
            dropped.set()
        self._waiting.clear()
        self.set_health(HealthState.DOWN)
        self._nursery.start_soon(self._come_back)
        return self._lost()

    def _lost(self):
        return LOST if self.says_why else Uncertain("?")

    async def _come_back(self) -> None:
        await trio.sleep(2)
        self.set_health(HealthState.UP)


@pytest.mark.slow
@pytest.mark.parametrize("says_why", [True, False])
async def test_a_message_that_drops_the_link_twice_goes_out_alone(
    open_house, quick, carrier, says_why
):
    driver = Poisoned(says_why=says_why)
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        neighbours = [f"neighbour {n}" for n in range(5)]
        messages = [await house.send(text) for text in [*neighbours[:2], POISON, *neighbours[2:]]]
        for message in messages:
            await house.wait_status(message, "sent", "failed")
        assert driver.drops == 3
        assert driver.alongside[-1] == 0  # and from the second time on always
        assert sorted(driver.taken) == neighbours
        poison = messages[2]
        assert house.gateway.show_message(poison)[0].error_code == "UNCERTAIN"
        assert house.status(poison) == "failed"
        assert [house.status(each) for each in messages if each != poison] == ["sent"] * 5


@pytest.mark.slow
async def test_whoever_goes_alone_waits_for_the_others_and_they_for_it(open_house, quick, carrier):
    driver = Poisoned()
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        poison = await house.send(POISON)
        await driver.wait_submitted(2)
        await trio.sleep(1)  # twice, with nobody beside it
        texts = iter(range(1000))

        async def keep_sending() -> None:
            while True:  # there is always something in flight
                await house.send(f"other {next(texts)}")
                await trio.sleep(0.3)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_sending)
            await house.wait_status(poison, "failed")
            nursery.cancel_scope.cancel()
        assert driver.alongside == [0, 0, 0]
        assert driver.drops == 3
        await trio.sleep(60)
        assert len(driver.taken) == next(texts)  # and none of the others was lost or doubled
        assert len(set(driver.taken)) == len(driver.taken)


async def test_parts_go_alone_too_and_others_go_on_after_them(open_house, quick, carrier):
    """Its link is lost in the middle of a long message, twice."""
    driver = FakeDriver(answers=[LOST, LOST])
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        long = await house.send("x" * 400)
        await driver.wait_submitted(2)
        await trio.sleep(10)
        driver.hold()
        others = [await house.send(f"other {n}") for n in range(4)]
        await driver.wait_submitted(6)
        await trio.sleep(20)  # its time has come, and it waits
        more = await house.send("one more")
        await trio.sleep(1)
        assert len(driver.submitted) == 6
        driver.let_go()
        for message in (*others, long, more):
            await house.wait_status(message, "sent")
        after = [segment.message_id for segment in driver.submitted[6:]]
        assert after == [long, long, long, more]


@pytest.mark.parametrize("ending", ["down", "carriers.pause", "carriers.drain"])
async def test_whoever_waits_to_go_alone_waits_for_no_carrier_that_is_out(
    open_house, quick, carrier, ending
):
    drivers = {"first": FakeDriver(answers=[LOST, LOST]), "reserve": FakeDriver()}
    async with open_house(
        carrier("first", **RESEND), carrier("reserve", priority=1, **RESEND), drivers=drivers
    ) as house:
        first = drivers["first"]
        message = await house.send()
        await first.wait_submitted(2)
        await trio.sleep(10)
        first.hold()
        other = await house.send("other")
        await first.wait_submitted(3)
        await trio.sleep(20)
        assert house.status(message) == "pending"
        if ending == "down":
            first.set_health(HealthState.DOWN)
        else:
            await house.gateway.perform(ending, {"carrier": "first"})
        await house.wait_status(message, "sent")
        assert [segment.text for segment in drivers["reserve"].submitted] == ["hello"]
        first.let_go()
        await house.wait_status(other, "sent")


async def test_a_stop_does_not_wait_for_one_that_has_not_begun(open_house, quick, carrier):
    driver = FakeDriver(answers=[LOST, LOST])
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(2)
        await trio.sleep(10)
        driver.hold()
        await house.send("other")
        await driver.wait_submitted(3)
        await trio.sleep(20)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.engine.drain)
            await trio.sleep(1)
            driver.let_go()
        assert house.status(message) == "pending"
        assert len(driver.submitted) == 3


async def test_its_timeline_says_so(open_house, quick, carrier):
    driver = FakeDriver(answers=[LOST, LOST])
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        told = [sentence(entry) for entry in house.gateway.show_message(message)[1]]
        again = [text for text in told if "may arrive twice" in text]
        assert ["sent on its own" in text for text in again] == [False, True]
