"""An attempt without an answer is submitted again as the same attempt, where the carrier knows ids:
by itself where the same id is harmless, else once the carrier says that it does not have it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
import trio

from risala.config.model import DeliverySection, EngineSection, OnUncertain
from risala.engine.model.commands import SendCode
from risala.engine.model.lines import Kind
from risala.engine.model.sentences import sentence
from risala.engine.rules.repeats import (
    HANDED_S,
    REPEAT_AFTER_S,
    REPEAT_HELD_MAX_S,
    REPEAT_HELD_S,
)
from risala.plugins.contract import (
    SETTLE_S_MIN,
    Accepted,
    Capabilities,
    HealthState,
    NotTaken,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.fake_driver import FakeDriver

HOUR_S, DAY_S = 3600.0, 86_400.0
STOPS_AT_ONCE = {"engine": EngineSection(drain_s=0)}
FAIL = {"on_uncertain_message": OnUncertain(action="fail", after_s=120)}
RESEND = {"on_uncertain_message": OnUncertain(action="resend", after_s=120)}
LOST, TAKEN, LATER = "lost", "taken", "later"
"""Submits without an answer: it never came, it was taken, it is taken five seconds later."""
LATER_S = 5.0


@dataclass(slots=True)
class KnowsIds(FakeDriver):
    """Its carrier sends one text for each id, however often the id comes.

    ``fates`` are used up in order: one of the words above, or the answer of a submit that was not
    taken. Without one, the carrier takes it and says so.
    """

    same_id: bool = True
    can_be_asked: bool = True
    remembers_s: float = DAY_S
    settle_s: float = SETTLE_S_MIN
    fates: list[str | Outcome] = field(default_factory=list)
    texts: Counter[str] = field(default_factory=Counter)
    """What phones got, by id."""
    times: list[float] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)

    @property
    def capabilities(self) -> Capabilities:
        return replace(
            FakeDriver.capabilities.fget(self),
            query=self.can_be_asked,
            same_id_is_safe=self.same_id,
            remembers_ids_s=self.remembers_s,
            settle_s=self.settle_s,
        )

    async def submit(self, segment):
        self.times.append(trio.current_time())
        fate = self.fates.pop(0) if self.fates else None
        carrier_id = f"{segment.message_id}-{segment.attempt}-{segment.number}"
        if fate in (None, TAKEN):
            self.texts[carrier_id] = 1
        elif fate == LATER:
            self._nursery.start_soon(self._take_later, carrier_id)
        silent = Uncertain("timeout", carrier_id=carrier_id if self.can_be_asked else None)
        answer = silent if isinstance(fate, str) else fate or Accepted(carrier_id)
        self.answers.append(answer)
        return await FakeDriver.submit(self, segment)

    async def _take_later(self, carrier_id):
        await trio.sleep(LATER_S)
        self.texts[carrier_id] += 1

    async def query(self, carrier_id, *, sender):
        self.asked.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        if carrier_id in self.texts:
            return Receipt(carrier_id, ReceiptState.ENROUTE, "enroute")
        return NotTaken("404")

    def is_one_attempt(self, submits):
        """Whether all submits were the same one."""
        return len(self.submitted) == submits and len({*self.submitted}) == 1


def asks(**fields) -> KnowsIds:
    """One whose carrier says whether it has a submit; the same id is not known to be harmless."""
    return KnowsIds(same_id=False, **fields)


def lines(house, message) -> list[Kind]:
    return [entry.line.kind for entry in house.gateway.show_message(message)[1]]


def told(house, message) -> list[str]:
    return [sentence(entry) for entry in house.gateway.show_message(message)[1]]


async def ends(house, message, *statuses) -> None:
    """Until the message is in one of these states; it never takes longer than some minutes."""
    with trio.fail_after(HOUR_S):
        await house.wait_status(message, *statuses)


async def costs_one(house) -> bool:
    """One text was charged, once."""
    return (await house.gateway.perform("audit", {}))["clean"] and await house.balance() == "999.50"


# -- the same id is harmless -------------------------------------------------------------------


@pytest.mark.parametrize("fate", [LOST, TAKEN])
@pytest.mark.parametrize("policy", [FAIL, RESEND])
async def test_it_is_submitted_again_at_once_whatever_the_policy(
    open_house, quick, carrier, fate, policy
):
    driver = KnowsIds(fates=[fate])
    async with open_house(carrier(**policy), drivers={"fake": driver}) as house:
        message = await house.send()
        await ends(house, message, "sent")
        assert driver.is_one_attempt(2)
        assert driver.times[1] - driver.times[0] == pytest.approx(REPEAT_AFTER_S, abs=1)
        assert [*driver.texts.values()] == [1]
        assert lines(house, message)[1:] == [
            *(Kind.ATTEMPT, Kind.UNCERTAIN, Kind.REPEATED, Kind.SENT)
        ]
        assert "the same attempt is submitted again with the same id" in told(house, message)[3]
        assert await costs_one(house)


async def test_a_crash_during_the_submit_is_repeated_by_the_next_start(open_house, quick):
    driver = KnowsIds()
    driver.hold()
    async with open_house(drivers={"fake": driver}, **STOPS_AT_ONCE) as house:
        message = await house.send()
        await driver.wait_submitted(1)
    again = KnowsIds()
    async with open_house(drivers={"fake": again}) as house:
        await ends(house, message, "sent")
        assert again.submitted == driver.submitted
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_crash_between_two_submits_loses_none(open_house, quick):
    driver = KnowsIds(fates=[LOST])
    async with open_house(drivers={"fake": driver}, **STOPS_AT_ONCE) as house:
        message = await house.send()
        await driver.wait_submitted(1)
    async with open_house(drivers={"fake": driver}) as house:
        await ends(house, message, "sent")
        assert driver.is_one_attempt(2)


async def test_three_submits_are_the_most_also_over_crashes(open_house, quick, carrier):
    driver = KnowsIds(fates=[LOST], can_be_asked=False)
    async with open_house(carrier(**RESEND), drivers={"fake": driver}, **STOPS_AT_ONCE) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        driver.hold()
        await driver.wait_submitted(2)
    driver.let_go()
    driver.fates, driver.answers = [LOST, LOST, LOST], []
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        await ends(house, message, "failed")
        assert driver.is_one_attempt(3)
        assert house.gateway.show_message(message)[0].error_code == "UNCERTAIN"
        assert await house.balance() == "1000.00"


@pytest.mark.parametrize("policy", [FAIL, RESEND])
async def test_where_nobody_can_ever_say_it_fails_and_others_leave_meanwhile(
    open_house, quick, carrier, policy
):
    delivery = DeliverySection(breaker_failures=2, breaker_open_s=600)
    driver = KnowsIds(fates=[Uncertain("", "The phone is gone.", is_final=True)] * 3)
    async with open_house(carrier(**policy), drivers={"fake": driver}, delivery=delivery) as house:
        lost = [await house.send(f"n{n}") for n in range(3)]
        await driver.wait_submitted(3)
        began_s = trio.current_time()
        await ends(house, await house.send("next"), "sent")
        assert trio.current_time() - began_s < 60  # the carrier counts as well
        for message in lost:
            await ends(house, message, "failed")
            assert lines(house, message)[1:] == [Kind.ATTEMPT, Kind.UNCERTAIN, Kind.FAILED]
        assert driver.asked == []
        assert await costs_one(house)


async def test_the_setting_says_how_often(open_house, quick):
    driver = KnowsIds(fates=[LOST] * 5)
    delivery = DeliverySection(uncertain_submits_max=2)
    async with open_house(drivers={"fake": driver}, delivery=delivery) as house:
        await ends(house, await house.send(), "failed")
        assert driver.is_one_attempt(2)


async def test_not_once_the_carrier_may_have_forgotten_the_id(open_house, quick):
    driver = KnowsIds(fates=[LOST], remembers_s=300.0, can_be_asked=False)
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        driver.set_health(HealthState.DOWN)
        await trio.sleep(200)  # a submit takes up to 125 s, and has to arrive within the 300 s
        driver.set_health(HealthState.UP)
        await ends(house, message, "failed")
        assert driver.is_one_attempt(1)


async def test_a_link_that_is_down_is_waited_for_beyond_the_policy(open_house, quick, carrier):
    driver, other = KnowsIds(fates=[LOST]), FakeDriver()
    carriers = carrier(**RESEND), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        driver.set_health(HealthState.DOWN)
        await trio.sleep(600)
        assert house.status(message) == "processing"
        driver.set_health(HealthState.UP)
        await trio.sleep(HANDED_S)
        assert house.status(message) == "sent"
        assert driver.is_one_attempt(2)
        assert other.submitted == []


async def test_a_link_that_falls_while_it_waits_for_its_turn_takes_it_nowhere(
    open_house, quick, carrier
):
    driver, other = KnowsIds(fates=[LOST], window_max=1), FakeDriver()
    carriers = carrier(**RESEND), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        driver.hold()
        other.set_health(HealthState.DOWN)
        await house.send()
        await driver.wait_submitted(2)
        other.set_health(HealthState.UP)
        await trio.sleep(REPEAT_AFTER_S + 1)  # it has been handed over, and there is no room
        driver.set_health(HealthState.DOWN)
        driver.let_go()
        await trio.sleep(60)
        assert house.status(message) == "processing"
        assert other.submitted == []
        driver.set_health(HealthState.UP)
        await ends(house, message, "sent")
        assert driver.submitted[-1] == driver.submitted[0]


@pytest.mark.parametrize(
    "answer",
    [
        Throttled("429"),
        Throttled("429", retry_after_s=90.0),
        Unsent("no link"),
        Refused(Scope.NOW, "503"),
        Refused(Scope.RECIPIENT, "busy"),
    ],
)
async def test_a_repeat_that_is_not_taken_now_is_made_again(open_house, quick, carrier, answer):
    driver, other = KnowsIds(fates=[TAKEN, answer, answer, answer]), FakeDriver()
    carriers = carrier(**RESEND), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await house.send()
        await driver.wait_submitted(2)
        await trio.sleep(1)
        assert house.status(message) == "processing"
        with pytest.raises(Exception, match="pending message can be withdrawn"):
            await house.gateway.perform("message.cancel", {"message_id": message})
        await ends(house, message, "sent")
        assert driver.is_one_attempt(5)
        assert driver.times[2] - driver.times[1] >= REPEAT_HELD_S
        assert other.submitted == []
        assert [*driver.texts.values()] == [1]


class RefusesAllDay(KnowsIds):
    """Its carrier takes the first submit without an answer, and refuses every other one for now."""

    async def submit(self, segment):
        self.fates = [Refused(Scope.NOW, "503") if self.times else TAKEN]
        return await super().submit(segment)


@pytest.mark.parametrize("same_id", [True, False])
async def test_a_day_of_refusals_fits_into_a_timeline(open_house, quick, carrier, same_id):
    driver = RefusesAllDay(same_id=same_id, remembers_s=2 * DAY_S)
    driver.query = asked_for_nothing
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(3)
        while driver.times[-1] < driver.times[0] + DAY_S:
            await trio.sleep(1)  # the answer is written
            # No wait is shorter than the one before it: a try that came would break the order.
            quick.jump(driver.times[-1] - driver.times[-2] - 10)
            await driver.wait_submitted(len(driver.times) + 1)
        waits = [after - before for before, after in pairwise(driver.times[1:])]
        assert waits == sorted(waits)
        assert waits[0] >= REPEAT_HELD_S
        assert waits[-1] == pytest.approx(REPEAT_HELD_MAX_S, abs=5)
        assert 24 <= len(driver.times) <= 34
        assert lines(house, message).count(Kind.REPEATED) == len(driver.times) - 1
        assert len(lines(house, message)) <= 2 * len(driver.times) + 2
        assert house.status(message) == "processing"


async def asked_for_nothing(carrier_id, *, sender):
    """Its carrier has nothing, whatever it took."""
    await trio.lowlevel.checkpoint()
    return NotTaken("404")


async def test_the_last_repeat_comes_before_its_id_is_forgotten(open_house, quick, carrier):
    driver = RefusesAllDay(remembers_s=HOUR_S / 2, can_be_asked=False)
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        message = await house.send()
        await ends(house, message, "failed")
        until_s = driver.times[0] + HOUR_S / 2 - driver.capabilities.submit_s
        assert until_s - 2 * REPEAT_HELD_S <= driver.times[-1] <= until_s
        assert driver.is_one_attempt(len(driver.times))


@pytest.mark.parametrize("scope", [Scope.CARRIER, Scope.FINAL])
async def test_a_repeat_that_is_refused_is_neither_refunded_at_once_nor_taken_elsewhere(
    open_house, quick, carrier, scope
):
    driver, other = KnowsIds(fates=[TAKEN, Refused(scope, "no credit")]), FakeDriver()
    carriers = carrier(**RESEND), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await house.send()
        await driver.wait_submitted(2)
        await trio.sleep(60)
        assert house.status(message) == "processing"
        (carrier_id,) = driver.texts
        await driver.receipt(carrier_id)
        assert house.status(message) == "delivered"
        assert (driver.is_one_attempt(2), other.submitted) == (True, [])
        assert await costs_one(house)


async def test_without_news_a_refused_repeat_ends_by_the_policys_time(open_house, quick, carrier):
    driver = KnowsIds(fates=[LOST, Refused(Scope.FINAL, "bad")], can_be_asked=False)
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        message = await house.send()
        await ends(house, message, "failed")
        assert trio.current_time() - driver.times[1] == pytest.approx(120, abs=2)
        assert driver.is_one_attempt(2)


@pytest.mark.parametrize(
    "late", [Refused(Scope.FINAL, "NO"), Throttled("X"), Unsent("X"), Uncertain("?")]
)
async def test_a_late_no_for_the_first_submit_says_nothing_of_the_second(open_house, quick, late):
    driver = KnowsIds(fates=[LOST])
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        driver.hold()
        await driver.wait_submitted(2)
        await driver.context.late_outcome(driver.submitted[0], late)
        assert house.status(message) == "processing"
        driver.let_go()
        await ends(house, message, "sent")
        assert lines(house, message).count(Kind.UNCERTAIN) == 1
        assert await costs_one(house)


async def test_a_late_no_after_two_submits_moves_nothing(open_house, quick):
    driver = KnowsIds(fates=[LOST, TAKEN])
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(2)
        await trio.sleep(0.5)
        await driver.context.late_outcome(driver.submitted[0], Refused(Scope.FINAL, "NO"))
        assert house.status(message) == "processing"
        await ends(house, message, "sent")


@pytest.mark.parametrize("while_it_leaves", [True, False])
async def test_receipts_of_both_submits_settle_it_once(open_house, quick, while_it_leaves):
    driver = KnowsIds(fates=[TAKEN])
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        driver.hold()
        await driver.wait_submitted(2)
        (carrier_id,) = driver.texts
        if while_it_leaves:
            await driver.receipt(carrier_id)
            assert house.status(message) == "delivered"
        driver.let_go()
        await trio.sleep(1)
        await driver.receipt(carrier_id)
        await driver.receipt(carrier_id)
        assert house.status(message) == "delivered"
        events = [event["type"] for event in await house.events()]
        assert events == ["sms.sent", "sms.delivered"]
        assert await costs_one(house)


async def test_each_part_is_repeated_by_itself(open_house, quick):
    driver = KnowsIds(fates=[None, LOST, TAKEN])
    async with open_house(drivers={"fake": driver}) as house:
        await ends(house, await house.send("x" * 400), "sent")
        assert [segment.number for segment in driver.submitted] == [1, 2, 2, 2, 3]
        assert {segment.attempt for segment in driver.submitted} == {1}
        assert len({*driver.submitted}) == 3


async def test_a_receipt_while_a_part_leaves_again_brings_each_part_once(open_house, quick):
    driver = KnowsIds(fates=[TAKEN])
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send("x" * 400)
        await driver.wait_submitted(1)
        driver.hold()
        await driver.wait_submitted(2)
        (carrier_id,) = driver.texts
        await driver.receipt(carrier_id)
        driver.let_go()
        await ends(house, message, "sent", "delivered")
        assert [*driver.texts.values()] == [1, 1, 1]
        assert [segment.number for segment in driver.submitted] == [1, 1, 2, 3]


async def test_a_code_whose_session_ended_is_not_repeated(open_house, quick):
    driver = KnowsIds(fates=[LOST])
    async with open_house(drivers={"fake": driver}) as house:
        await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        await driver.wait_submitted(1)
        driver.set_health(HealthState.DOWN)
        await trio.sleep(700)  # longer than the session
        driver.set_health(HealthState.UP)
        await trio.sleep(300)
        assert len(driver.submitted) == 1


async def test_a_code_that_was_entered_is_not_repeated(open_house, quick):
    driver = KnowsIds(fates=[TAKEN])
    async with open_house(drivers={"fake": driver}) as house:
        session = await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        await driver.wait_submitted(1)
        code = "".join(each for each in driver.submitted[0].text if each.isdigit())[:6]
        await house.gateway.check_code(house.principal, session, code)
        await trio.sleep(60)
        assert len(driver.submitted) == 1


async def test_a_suspended_organizations_message_waits(open_house, quick):
    driver = KnowsIds(fates=[LOST])
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        organization = {"organization_id": house.principal.organization_id}
        await house.gateway.perform("org.suspend", organization)
        await trio.sleep(300)
        assert (len(driver.submitted), house.status(message)) == (1, "processing")
        await house.gateway.perform("org.resume", organization)
        await ends(house, message, "sent")
        assert driver.is_one_attempt(2)


async def test_it_is_not_repeated_after_its_validity(open_house, quick):
    driver = KnowsIds(fates=[LOST], can_be_asked=False)
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send(validity_s=300)
        await driver.wait_submitted(1)
        driver.set_health(HealthState.DOWN)
        await trio.sleep(310)
        driver.set_health(HealthState.UP)
        await ends(house, message, "failed")
        assert driver.is_one_attempt(1)


async def test_it_waits_for_a_submit_that_has_not_ended(open_house, quick):
    driver = KnowsIds(submit_s=10.0)
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await trio.sleep(200)  # given up long ago
        assert len(driver.submitted) == 1
        driver.fates, driver.answers = [], [Uncertain("closed")]
        driver.let_go()
        await ends(house, message, "sent")
        assert driver.is_one_attempt(2)


async def test_a_drained_carrier_finishes_it_and_a_paused_one_keeps_it(open_house, quick, carrier):
    driver, other = KnowsIds(fates=[LOST]), FakeDriver()
    carriers = carrier(**RESEND), carrier("other", priority=1)
    async with open_house(*carriers, drivers={"fake": driver, "other": other}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        await trio.sleep(300)
        assert (len(driver.submitted), house.status(message)) == (1, "processing")
        await house.gateway.perform("carriers.drain", {"carrier": "fake"})
        await ends(house, message, "sent")
        assert (driver.is_one_attempt(2), other.submitted) == (True, [])


async def test_one_without_a_memory_for_ids_is_as_any_other(open_house, quick, carrier):
    driver = KnowsIds(fates=[LOST], remembers_s=0.0)
    async with open_house(carrier(**FAIL), drivers={"fake": driver}) as house:
        await ends(house, await house.send(), "failed")
        assert driver.is_one_attempt(1)


async def test_of_a_carrier_that_is_gone_it_goes_to_no_other(open_house, quick, carrier):
    driver, other = KnowsIds(fates=[TAKEN]), FakeDriver()
    async with open_house(carrier(), drivers={"fake": driver}, **STOPS_AT_ONCE) as house:
        await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        await driver.wait_submitted(1)
    async with open_house(carrier("other"), drivers={"other": other}):
        await trio.sleep(300)  # codes are sent again by the default policy, after 15 s
        assert other.submitted == []


# -- surely not taken --------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [FAIL, RESEND])
async def test_what_the_carrier_surely_does_not_have_is_submitted_again(
    open_house, quick, carrier, policy
):
    driver = asks(fates=[LOST])
    async with open_house(carrier(**policy), drivers={"fake": driver}) as house:
        message = await house.send()
        await ends(house, message, "sent")
        assert driver.is_one_attempt(2)
        assert driver.asked[0] - driver.times[0] == pytest.approx(SETTLE_S_MIN, abs=1)
        assert "does not have the message" in told(house, message)[3]
        assert await costs_one(house)


async def test_what_is_taken_five_seconds_later_is_not_doubled(open_house, quick, carrier):
    policy = {"on_uncertain_message": OnUncertain(action="resend", after_s=1)}
    driver = asks(fates=[LATER])
    async with open_house(carrier(**policy), drivers={"fake": driver}) as house:
        message = await house.send()
        await ends(house, message, "sent")
        # At once it is not known there, which is too early to count.
        assert [at - driver.times[0] for at in driver.asked] == [
            pytest.approx(1, abs=0.5),
            pytest.approx(SETTLE_S_MIN, abs=1),
        ]
        assert driver.is_one_attempt(1)
        assert [*driver.texts.values()] == [1]


async def test_a_carrier_that_reads_what_it_wrote_is_believed_at_once(open_house, quick):
    driver = asks(fates=[LOST], settle_s=0.0)
    async with open_house(drivers={"fake": driver}) as house:
        await ends(house, await house.send(), "sent")
        assert driver.times[1] - driver.times[0] < 1


async def test_a_shorter_time_than_the_least_counts_as_the_least(open_house, quick):
    driver = asks(fates=[LOST], settle_s=3.0)
    async with open_house(drivers={"fake": driver}) as house:
        await ends(house, await house.send(), "sent")
        assert driver.times[1] - driver.times[0] >= SETTLE_S_MIN


async def test_it_counts_only_once_the_submit_has_ended(open_house, quick, carrier):
    """The engine has given it up, and the driver still waits: the carrier may get it any moment."""
    driver = asks(submit_s=10.0, settle_s=0.0)
    driver.hold()
    async with open_house(carrier(**FAIL), drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        sent = driver.submitted[0]
        driver.texts.clear()
        carrier_id = f"{sent.message_id}-{sent.attempt}-{sent.number}"
        await trio.sleep(20)
        unanswered = Uncertain("timeout", carrier_id=carrier_id)
        await driver.context.late_outcome(sent, unanswered)
        await trio.sleep(300)
        assert len(driver.asked) > 1
        assert len(driver.submitted) == 1
        driver.answers = [unanswered]
        driver.let_go()
        await ends(house, message, "sent")
        assert driver.is_one_attempt(2)


async def test_one_that_does_not_say_is_left_to_the_policy_at_its_time(open_house, quick, carrier):
    driver = asks(fates=[LOST])

    async def silent(carrier_id, *, sender):
        driver.asked.append(trio.current_time())

    class Silent(KnowsIds):
        query = staticmethod(silent)

    driver = Silent(same_id=False, fates=[LOST])
    async with open_house(carrier(**FAIL), drivers={"fake": driver}) as house:
        message = await house.send()
        await ends(house, message, "failed")
        assert trio.current_time() - driver.times[0] == pytest.approx(120, abs=2)
        assert driver.is_one_attempt(1)


async def test_it_is_asked_again_after_each_submit_and_three_are_the_most(open_house, quick):
    driver = asks(fates=[LOST] * 5)
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await ends(house, message, "failed")
        assert driver.is_one_attempt(3)
        assert await house.balance() == "1000.00"


async def test_a_repeat_that_is_not_taken_now_is_asked_about_again(open_house, quick, carrier):
    driver = asks(fates=[LOST, Throttled("429"), LATER])
    async with open_house(carrier(**RESEND), drivers={"fake": driver}) as house:
        message = await house.send()
        await ends(house, message, "sent")
        assert driver.is_one_attempt(3)
        assert [*driver.texts.values()] == [1]


async def test_without_ids_that_it_remembers_it_changes_nothing(open_house, quick, carrier):
    driver = asks(fates=[LOST], remembers_s=0.0)
    async with open_house(carrier(**FAIL), drivers={"fake": driver}) as house:
        await ends(house, await house.send(), "failed")
        assert driver.is_one_attempt(1)
