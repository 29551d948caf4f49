"""Drivers that never answer, or say what is no outcome: no message is stranded by them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from cases import first
from risala.engine.delivery.queries import ASK_AFTER_S
from risala.engine.delivery.worker import calls as questions
from risala.engine.delivery.worker.calls import LATE_MAX, LATE_S, SPARE_S, limit_of
from risala.engine.delivery.worker.link import TRUST_AGAIN_S
from risala.plugins.contract import (
    SUBMIT_S_MAX,
    Accepted,
    Capabilities,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.fits import fault_of
from risala.plugins.testing.fake_driver import FakeDriver

SUBMIT_S = 10.0
GIVEN_UP_S = SUBMIT_S + SPARE_S
SECRET = "the code is 271828"


@dataclass(slots=True)
class Deaf(FakeDriver):
    """Does not heed a cancellation while it is held: as one that waits in a thread."""

    async def submit(self, segment):
        with trio.CancelScope(shield=True):
            return await FakeDriver.submit(self, segment)


def carriers_of(house) -> dict[str, dict]:
    return {each.name: each for each in house.gateway.services.delivery.carriers()}


# -- no answer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [FakeDriver, Deaf])
async def test_a_submit_without_an_answer_is_uncertain_and_its_place_is_free(
    open_house, quick, kind
):
    driver = kind(window_max=1, submit_s=SUBMIT_S)
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        first = await house.send()
        await driver.wait_submitted(1)
        second = await house.send()
        await trio.sleep(GIVEN_UP_S - 1)
        assert (house.status(first), house.status(second)) == ("processing", "pending")
        await driver.wait_submitted(2)
        assert house.gateway.show_message(first)[1][-1].status == "processing"
        await house.wait_status(first, "failed")
        assert house.gateway.show_message(first)[0].error_code == "UNCERTAIN"
        driver.let_go()
        assert await house.wait_status(second, "sent")
        await house.wait_status(await house.send(), "sent")
        assert (await house.gateway.perform("audit", {}))["clean"]


@pytest.mark.parametrize("kind", [FakeDriver, Deaf])
@pytest.mark.parametrize(
    ("late", "status"),
    [
        (Accepted("late"), "sent"),
        (Refused(Scope.FINAL, "NO", "No."), "failed"),
        (Unsent("down"), "sent"),  # nothing had left: it goes out once more
        (Uncertain("?"), "processing"),
    ],
)
async def test_an_answer_that_comes_after_all_settles_it(open_house, quick, kind, late, status):
    driver = kind(submit_s=SUBMIT_S, answers=[late])
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await trio.sleep(GIVEN_UP_S + 20)
        assert house.status(message) == "processing"
        driver.let_go()
        await trio.sleep(10)
        assert house.status(message) == status
        if status == "sent":
            await driver.receipt("late" if late == Accepted("late") else "2")
            assert house.status(message) == "delivered"
        if status == "processing":  # no news: its wait goes on as it was
            await house.wait_status(message, "failed")
            shown = house.gateway.show_message(message)[0]
            assert shown.updated_at - shown.created_at == pytest.approx(
                (GIVEN_UP_S + 120) * 1000, abs=1000
            )


async def test_an_answer_after_the_message_has_ended_is_a_line_in_its_timeline(open_house, quick):
    driver = FakeDriver(submit_s=SUBMIT_S)
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await house.wait_status(message, "failed")
        lines = len(house.timeline(message))
        driver.let_go()
        await trio.sleep(1)
        assert house.status(message) == "failed"
        assert len(house.timeline(message)) == lines + 1


async def test_it_is_seen_in_health_readiness_and_log_until_an_answer_comes(open_house, quick):
    driver = FakeDriver(submit_s=SUBMIT_S)
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        with capture_logs() as logs:
            await house.send(SECRET)
            await trio.sleep(GIVEN_UP_S + 1)
        assert SECRET not in str(logs)
        assert [entry["limit_s"] for entry in logs if entry["event"] == "driver.silent"] == [
            GIVEN_UP_S
        ]
        told = carriers_of(house)["fake"]
        assert (told.state, told.silent) == ("sick", 1)
        assert "not answered" in told.text
        assert any("not answered" in line.text for line in told.trace)
        assert not house.gateway.readiness().ready
        driver.let_go()
        await trio.sleep(1)
        told = carriers_of(house)["fake"]
        assert (told.state, told.silent, "attention" in told.details) == ("up", 0, False)
        assert house.gateway.readiness().ready


async def test_a_carrier_of_a_driver_that_is_silent_leaves_its_messages_to_the_next(
    open_house, quick, carrier
):
    drivers = {"first": FakeDriver(submit_s=SUBMIT_S), "reserve": FakeDriver()}
    drivers["first"].hold()
    async with open_house(
        carrier("first"), carrier("reserve", priority=1), drivers=drivers
    ) as house:
        await house.send()
        await trio.sleep(GIVEN_UP_S + 1)
        await house.wait_status(await house.send(), "sent")
        assert len(drivers["reserve"].submitted) == 1
        # Its time comes again: one message tries it, and no more than that.
        await trio.sleep(TRUST_AGAIN_S)
        for _ in range(3):
            await house.send()
        await trio.sleep(1)
        assert len(drivers["first"].submitted) == 2


async def test_calls_that_never_come_back_have_a_bound_and_an_end(open_house, quick):
    driver = FakeDriver(submit_s=SUBMIT_S)
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        messages = [await house.send() for _ in range(LATE_MAX * 2)]
        await trio.sleep(LATE_S - 1)
        assert carriers_of(house)["fake"].silent <= LATE_MAX
        await trio.sleep(LATE_S + LATE_MAX * GIVEN_UP_S)
        begun = len(driver.submitted)
        assert begun > LATE_MAX  # those that were cancelled made room
        driver.let_go()
        for message in messages[begun + 1 :]:
            await house.wait_status(message, "sent")


@pytest.mark.parametrize("told_s", [0, -1, float("nan"), float("inf"), "soon", None])
def test_a_driver_that_tells_no_time_gets_the_longest(told_s):
    capabilities = replace(FakeDriver().capabilities, submit_s=told_s)
    assert limit_of(capabilities) == SUBMIT_S_MAX + SPARE_S


# -- no outcome --------------------------------------------------------------------------------

WRONG: list[Any] = [
    None, True, SECRET, 7, {"raw": SECRET}, Accepted, Receipt("1", ReceiptState.DELIVERED, "x"),
    Accepted(None), Accepted(7), Accepted(b"1"), Accepted("\ud800"),
    Accepted("1", raw=SECRET.encode()), Refused("final", "x", "y"), Refused(Scope.NOW, "x", None),
    Throttled("x", retry_after_s="1"),
    Throttled("x", retry_after_s=-1), Throttled("x", retry_after_s=float("nan")), Throttled(None),
    Uncertain("x", carrier_id=7), Unsent(3), Unsent("x", cause="LINK_DOWN"),
]  # fmt: skip


@pytest.mark.parametrize("wrong", first(8, WRONG), ids=repr)
async def test_what_is_no_outcome_is_uncertain(open_house, quick, wrong):
    driver = FakeDriver(answers=[lambda _: wrong])
    async with open_house(drivers={"fake": driver}) as house:
        with capture_logs() as logs:
            message = await house.send()
            await trio.sleep(1)
        told = [entry for entry in logs if entry["event"] == "driver.wrong_outcome"]
        assert [entry["carrier"] for entry in told] == ["fake"]
        assert SECRET not in str(logs)
        assert house.status(message) == "processing"
        assert carriers_of(house)["fake"].state == "sick"
        assert not house.gateway.readiness().ready
        await trio.sleep(TRUST_AGAIN_S)
        told = carriers_of(house)["fake"]
        assert told.state == "up"
        assert "log" in told.details["attention"]  # which the doctor shows
        await house.wait_status(await house.send(), "sent")
        assert "attention" not in carriers_of(house)["fake"].details
        await house.wait_status(message, "failed")


@pytest.mark.parametrize("wrong", first(3, WRONG), ids=repr)
async def test_a_late_outcome_that_is_none_changes_nothing(open_house, quick, wrong):
    driver = FakeDriver(answers=[Uncertain("?")])
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        await trio.sleep(1)
        await driver.context.late_outcome(driver.submitted[0], wrong)
        assert house.status(message) == "processing"
        await driver.context.late_outcome(driver.submitted[0], Accepted("1"))
        assert house.status(message) == "sent"


def test_every_right_outcome_is_one():
    for right in (
        Accepted(""), Accepted("é"), Throttled("x", retry_after_s=1), Throttled("x"), Unsent("x"),
        Refused(Scope.RECIPIENT, "x", "y"), Uncertain("x"), Uncertain("x", carrier_id="1"),
    ):  # fmt: skip
        assert fault_of(right) is None


# -- questions ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Questioned(FakeDriver):
    answer: Any = None
    deaf: trio.Event | None = None
    asked: int = 0

    @property
    def capabilities(self) -> Capabilities:
        return replace(FakeDriver.capabilities.fget(self), query=True)

    async def query(self, carrier_id, *, sender):
        self.asked += 1
        if self.deaf is not None:
            with trio.CancelScope(shield=True):
                await self.deaf.wait()
        return self.answer


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [True, "DELIVRD", 7])
async def test_an_answer_to_a_question_that_is_no_receipt_is_none(open_house, quick, wrong):
    driver = Questioned(answer=wrong)
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        with capture_logs() as logs:
            await trio.sleep(ASK_AFTER_S[0] + 60)
        assert driver.asked == 1
        assert [entry["event"] for entry in logs if "wrong" in entry["event"]] == [
            "driver.wrong_receipt"
        ]
        assert house.status(message) == "sent"


@pytest.mark.slow
async def test_a_question_without_an_end_holds_up_no_deadline(open_house, quick, monkeypatch):
    monkeypatch.setattr(questions, "OPEN_MAX", 2)
    driver = Questioned(deaf=trio.Event())
    driver.always = Uncertain("?", carrier_id="7")
    async with open_house(drivers={"fake": driver}) as house:
        try:
            messages = [await house.send() for _ in range(4)]
            for message in messages:
                assert await house.wait_status(message, "failed") == "failed"
            assert 1 <= driver.asked <= 2  # it answers nothing: it is not asked for ever
        finally:
            driver.deaf.set()
