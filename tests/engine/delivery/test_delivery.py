"""The way of a message through the engine, with carriers that say all there is to say."""

from __future__ import annotations

from dataclasses import replace

import pytest
import trio

from risala.config.model import DeliverySection, EngineSection, OnUncertain, RetrySection
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import InsufficientBalance
from risala.engine.model.sentences import sentence
from risala.engine.model.states import PRIORITY_CODE
from risala.plugins.contract import (
    Cause,
    Health,
    HealthState,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.fake_driver import FakeDriver

NO_SUCH_NUMBER = Refused(Scope.FINAL, "ESME_RINVDSTADR", cause=Cause.UNKNOWN_NUMBER)
ARABIC_200 = ("رسالة عربية طويلة جدا " * 10)[:200]


async def test_a_message_is_sent_and_delivered(open_house, quick):
    async with open_house() as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        await house.driver.receipt("1")
        assert house.status(message_id) == "delivered"
        view, timeline = house.gateway.show_message(message_id)
        assert [entry.status for entry in timeline] == [
            "pending",
            "processing",
            "sent",
            "delivered",
        ]
        assert (view.carrier, view.provider_message_id, view.attempts) == ("fake", "1", 1)
        assert view.sent_at is not None
        assert view.delivered_at is not None
        assert await house.balance() == "999.50"
        assert [event["type"] for event in await house.events()] == ["sms.sent", "sms.delivered"]


async def test_three_parts_are_one_delivered_message(open_house, quick):
    async with open_house() as house:
        message_id = await house.send(ARABIC_200)
        await house.wait_status(message_id, "sent")
        parts = house.driver.submitted
        assert "".join(part.text for part in parts) == ARABIC_200
        assert [(part.number, part.total) for part in parts] == [(1, 3), (2, 3), (3, 3)]
        assert len({part.reference for part in parts}) == 1
        for carrier_id in ("3", "1"):
            await house.driver.receipt(carrier_id)
        assert house.status(message_id) == "sent"
        await house.driver.receipt("2")
        assert house.status(message_id) == "delivered"
        assert [event["type"] for event in await house.events()] == ["sms.sent", "sms.delivered"]
        assert await house.balance() == "998.50"


async def test_refused_for_good_fails_and_refunds_in_full(open_house, quick):
    driver = FakeDriver(always=NO_SUCH_NUMBER)
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await house.wait_status(message_id, "failed")
        view, _ = house.gateway.show_message(message_id)
        assert (view.error_code, view.carrier_code) == ("UNKNOWN_NUMBER", "ESME_RINVDSTADR")
        assert await house.balance() == "1000.00"
        (event,) = await house.events()
        assert (event["type"], event["status"]) == ("sms.failed", "failed")
        told = [event[name] for name in ("errorCode", "errorText", "carrierCode")]
        assert told == ["UNKNOWN_NUMBER", "This number is not in use.", "ESME_RINVDSTADR"]
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_part_refused_after_others_were_accepted_refunds_everything(open_house, quick):
    driver = FakeDriver()
    driver.answers = [
        lambda _: _accepted("a"),
        Refused(Scope.FINAL, "ESME_RSUBMITFAIL", "Refused."),
    ]
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send(ARABIC_200)
        await house.wait_status(message_id, "failed")
        assert len(driver.submitted) == 2
        assert await house.balance() == "1000.00"
        await driver.receipt("a")
        assert house.status(message_id) == "failed"


async def test_refused_for_now_is_tried_again_with_growing_waits(open_house, quick):
    driver = FakeDriver()
    driver.answers = [Refused(Scope.NOW, "ESME_RSYSERR", "A fault of the carrier.")] * 2
    delivery = DeliverySection(retry=RetrySection(first_wait_s=10, factor=3))
    async with open_house(drivers={"fake": driver}, delivery=delivery) as house:
        started = trio.current_time()
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        assert trio.current_time() - started == pytest.approx(10 + 30, abs=0.5)
        view, _ = house.gateway.show_message(message_id)
        assert view.attempts == 3


async def test_retries_end(open_house, quick):
    driver = FakeDriver(always=Refused(Scope.NOW, "ESME_RSYSERR", "A fault of the carrier."))
    delivery = DeliverySection(retry=RetrySection(attempts_max=3))
    async with open_house(drivers={"fake": driver}, delivery=delivery) as house:
        message_id = await house.send()
        await house.wait_status(message_id, "failed")
        view, _ = house.gateway.show_message(message_id)
        assert (view.attempts, view.error_code) == (3, "RETRIES_EXHAUSTED")
        assert await house.balance() == "1000.00"


async def test_throttled_slows_the_lane_and_keeps_the_place(open_house, quick):
    driver = FakeDriver(window_max=1)
    driver.answers = [Throttled("ESME_RTHROTTLED")]
    async with open_house(drivers={"fake": driver}) as house:
        first = await house.send("first")
        await driver.wait_submitted(1)
        second = await house.send("second")
        await house.wait_status(second, "sent")
        assert [segment.text for segment in driver.submitted] == ["first", "first", "second"]
        assert ("pending", "ESME_RTHROTTLED") in house.timeline(first)
        (lane,) = (await house.gateway.perform("carriers", {}))["carriers"]
        assert lane["throttled"] == 1
        assert lane["rate_per_s"] < lane["rate_max_per_s"]


class Stick(FakeDriver):
    """Sends from its own number, whatever is asked for."""

    @property
    def capabilities(self):
        return replace(FakeDriver.capabilities.fget(self), alphanumeric_sender=False)


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"number": "+22236000001"}, "The sender is its own number, +22236000001."),
        ({"number": None}, "The sender is its own number."),
    ],
)
async def test_a_line_that_cannot_set_the_sender_says_which_was_used(
    open_house, quick, details, words
):
    driver = Stick()
    async with open_house(drivers={"fake": driver}) as house:
        driver.context.health(Health(HealthState.UP, "Ready.", details))
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        view, timeline = house.gateway.show_message(message_id)
        assert view.sender == "RISALA"  # as the customer was answered
        assert sentence(timeline[1]) == f"Attempt 1 through fake. {words}"


class Deaf(FakeDriver):
    """A line that gives no reports."""

    @property
    def capabilities(self):
        return replace(FakeDriver.capabilities.fget(self), receipts=False)


@pytest.mark.parametrize("by", ["capabilities", "health"])
async def test_a_line_without_reports_says_so(open_house, quick, by):
    driver = Deaf() if by == "capabilities" else FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        if by == "health":
            driver.context.health(Health(HealthState.UP, "Ready.", receipts=False))
        message_id = await house.send(ARABIC_200)
        await house.wait_status(message_id, "sent")
        _, timeline = house.gateway.show_message(message_id)
        assert sentence(timeline[-1]) == (
            "Accepted by fake. This line gives no delivery reports, so it will not be known "
            "whether it arrives."
        )
        (lane,) = (await house.gateway.perform("carriers", {}))["carriers"]
        assert lane["receipts"] is False
        assert "gives no delivery reports" in lane["text"]


async def test_an_accepted_message_without_an_id_says_that_no_receipt_can_match_it(
    open_house, quick
):
    driver = FakeDriver(answers=[lambda _: _accepted("1"), lambda _: _accepted("")])
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send(ARABIC_200)
        await house.wait_status(message_id, "sent")
        _, timeline = house.gateway.show_message(message_id)
        assert sentence(timeline[-1]).endswith("It gave no id, so no receipt can be matched to it.")


async def test_nothing_left_means_no_refusal_and_no_loss(open_house, quick):
    driver = FakeDriver()
    driver.answers = [Unsent("LINK_DOWN")]
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        assert ("pending", "LINK_DOWN") in house.timeline(message_id)


async def test_a_driver_that_is_up_and_sends_nothing_is_asked_ever_less(open_house, quick):
    driver = FakeDriver(always=Unsent("LINK_DOWN"))
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await trio.sleep(60)
        # 0.2, 0.4, 0.8, 1.6, 3.2 s, then every 5.
        assert len(driver.submitted) == pytest.approx(6 + 54 / 5, abs=2)
        # A link that comes back is believed at once.
        driver.set_health(HealthState.DOWN)
        driver.set_health(HealthState.UP)
        await trio.sleep(5.5)
        before, driver.always = len(driver.submitted), None
        await house.wait_status(message_id, "sent")
        assert len(driver.submitted) == before + 1


async def test_an_uncertain_message_fails_after_its_wait_and_says_so(open_house, quick):
    driver = FakeDriver(always=Uncertain("TIMEOUT"))
    async with open_house(drivers={"fake": driver}) as house:
        started = trio.current_time()
        message_id = await house.send()
        await driver.wait_submitted(1)
        await trio.testing.wait_all_tasks_blocked()
        assert house.status(message_id) == "processing"
        await house.wait_status(message_id, "failed")
        assert trio.current_time() - started == pytest.approx(120, abs=1)
        view, timeline = house.gateway.show_message(message_id)
        assert view.error_code == "UNCERTAIN"
        assert any("Uncertain" in sentence(entry) for entry in timeline)
        assert await house.balance() == "1000.00"


async def test_an_uncertain_message_is_resent_where_the_policy_says_so(open_house, carrier, quick):
    resend = carrier(on_uncertain_message=OnUncertain(action="resend", after_s=15))
    driver = FakeDriver(answers=[Uncertain("TIMEOUT")])
    async with open_house(resend, drivers={"fake": driver}) as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        assert len(driver.submitted) == 2
        _, timeline = house.gateway.show_message(message_id)
        assert any("may arrive twice" in sentence(entry) for entry in timeline)


async def test_a_late_answer_resolves_the_uncertain(open_house, quick):
    driver = FakeDriver(answers=[Uncertain("TIMEOUT")])
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send(ARABIC_200)
        await driver.wait_submitted(1)
        await trio.testing.wait_all_tasks_blocked()
        await driver.context.late_outcome(driver.submitted[0], _accepted("late"))
        await house.wait_status(message_id, "sent")
        assert [segment.number for segment in driver.submitted] == [1, 2, 3]
        assert await house.balance() == "998.50"


async def test_a_late_answer_to_a_single_part_says_once_that_it_was_accepted(open_house, quick):
    driver = FakeDriver(answers=[Uncertain("TIMEOUT")])
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await driver.wait_submitted(1)
        await trio.testing.wait_all_tasks_blocked()
        await driver.context.late_outcome(driver.submitted[0], _accepted("late"))
        await house.wait_status(message_id, "sent")
        _, timeline = house.gateway.show_message(message_id)
        assert [sentence(entry) for entry in timeline][-1:] == ["Accepted by fake."]
        assert sum(sentence(entry).startswith("Accepted by") for entry in timeline) == 1


async def test_an_answer_after_the_end_is_only_noted(open_house, quick):
    driver = FakeDriver(answers=[Uncertain("TIMEOUT")])
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await house.wait_status(message_id, "failed")
        await driver.context.late_outcome(driver.submitted[0], _accepted("late"))
        assert house.status(message_id) == "failed"
        _, timeline = house.gateway.show_message(message_id)
        assert "late answer" in sentence(timeline[-1])
        assert await house.balance() == "1000.00"


async def test_a_receipt_before_the_answer_passes_through_sent(open_house, quick):
    driver = FakeDriver()
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await driver.wait_submitted(1)
        await driver.receipt("1")
        assert house.status(message_id) == "processing"
        driver.let_go()
        await house.wait_status(message_id, "delivered")
        assert [entry[0] for entry in house.timeline(message_id)] == [
            "pending",
            "processing",
            "sent",
            "delivered",
        ]


@pytest.mark.parametrize(
    ("given", "receipt"), [("00A1", "a1"), ("1234", "0000001234"), ("AbC", "ABC")]
)
async def test_receipts_match_whatever_case_and_zeros(open_house, quick, given, receipt):
    driver = FakeDriver(answers=[lambda _: _accepted(given)])
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        await driver.receipt(receipt)
        assert house.status(message_id) == "delivered"


async def test_states_never_move_backwards(open_house, quick):
    async with open_house() as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        for state in (ReceiptState.ENROUTE, ReceiptState.DELIVERED, ReceiptState.UNDELIVERABLE):
            await house.driver.receipt("1", state)
        assert house.status(message_id) == "delivered"
        await house.driver.receipt("1")
        assert len(await house.events()) == 2


async def test_undelivered_is_told_once_and_not_refunded(open_house, quick):
    async with open_house() as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        await house.driver.receipt("1", ReceiptState.EXPIRED)
        assert house.status(message_id) == "undelivered"
        assert await house.balance() == "999.50"
        assert [(e["type"], e["status"]) for e in await house.events()] == [
            ("sms.sent", "sent"),
            ("sms.failed", "undelivered"),
        ]


async def test_validity_ends_while_no_carrier_is_up(open_house, quick):
    async with open_house(delivery=DeliverySection(validity_s=3600)) as house:
        house.driver.set_health(HealthState.DOWN)
        started = trio.current_time()
        message_id = await house.send()
        await house.wait_status(message_id, "failed")
        assert trio.current_time() - started == pytest.approx(3600, abs=1)
        view, _ = house.gateway.show_message(message_id)
        assert view.error_code == "VALIDITY_OVER"
        assert await house.balance() == "1000.00"


@pytest.mark.parametrize(
    ("first", "said", "code"),
    [
        (
            Refused(Scope.NOW, "ESME_RSYSERR", cause=Cause.CARRIER_FAULT),
            "The carrier has a technical fault.",
            "ESME_RSYSERR",
        ),
        (
            Unsent("the connection broke"),
            "The carrier's link is down; nothing was sent.",
            None,
        ),
    ],
)
async def test_what_the_carrier_said_last_outlives_the_validity(
    open_house, quick, first, said, code
):
    async with open_house(delivery=DeliverySection(validity_s=3600)) as house:
        house.driver.answers = [first]
        message_id = await house.send()
        await house.driver.wait_submitted(1)
        house.driver.set_health(HealthState.DOWN)
        await house.wait_status(message_id, "failed")
        view, timeline = house.gateway.show_message(message_id)
        assert (view.error_code, view.carrier_code) == ("VALIDITY_OVER", code)
        ended = f"{said} It expired before a carrier accepted it. Refunded."
        assert (sentence(timeline[-1]), timeline[-1].raw) == (ended, code)


async def test_failover_to_the_next_tier_and_back(open_house, carrier, quick):
    first, second = carrier("first"), carrier("second", priority=1)
    async with open_house(first, second) as house:
        await house.wait_status(await house.send(), "sent")
        house.drivers["first"].set_health(HealthState.DOWN)
        await house.wait_status(await house.send(), "sent")
        house.drivers["first"].set_health(HealthState.UP)
        await house.wait_status(await house.send(), "sent")
        assert len(house.drivers["first"].submitted) == 2
        assert len(house.drivers["second"].submitted) == 1


async def test_another_carrier_takes_what_one_refuses_for_itself(open_house, carrier, quick):
    drivers = {
        "first": FakeDriver(always=Refused(Scope.CARRIER, "ESME_RINVSRCADR", "Bad sender.")),
        "second": FakeDriver(),
    }
    async with open_house(
        carrier("first"), carrier("second", priority=1), drivers=drivers
    ) as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        assert house.gateway.show_message(message_id)[0].carrier == "second"
        assert ("pending", "ESME_RINVSRCADR") in house.timeline(message_id)


async def test_weights_share_the_traffic(open_house, carrier, quick):
    heavy = carrier("heavy", weight=3, rate_per_s=10_000)
    light = carrier("light", weight=1, rate_per_s=10_000)
    async with open_house(heavy, light) as house:
        for n in range(40):
            last = await house.send(f"n{n}")
            await house.wait_status(last, "sent")
        await house.wait_status(last, "sent")
        assert len(house.drivers["heavy"].submitted) == pytest.approx(30, abs=2)


async def test_the_most_exact_prefix_serves(open_house, carrier, quick):
    general, mattel = carrier("general"), carrier("mattel", prefixes=("+2223",))
    async with open_house(general, mattel) as house:
        await house.wait_status(await house.send(to="+22236000000"), "sent")
        await house.wait_status(await house.send(to="+22246000000"), "sent")
        assert [s.recipient for s in house.drivers["mattel"].submitted] == ["+22236000000"]
        assert [s.recipient for s in house.drivers["general"].submitted] == ["+22246000000"]


async def test_the_breaker_leaves_a_sick_carrier_alone(open_house, carrier, quick):
    sick = FakeDriver(always=Refused(Scope.NOW, "ESME_RSYSERR", "Sick."))
    drivers = {"sick": sick, "well": FakeDriver()}
    delivery = DeliverySection(breaker_failures=3, breaker_open_s=60)
    async with open_house(
        carrier("sick"), carrier("well", priority=1), drivers=drivers, delivery=delivery
    ) as house:
        sent = [await house.send(f"n{n}") for n in range(20)]
        for message_id in sent:
            await house.wait_status(message_id, "sent")
        assert len(sick.submitted) <= 10 + 3


async def test_pause_resume_and_a_window(open_house, carrier, quick):
    async with open_house(carrier(window_max=2)) as house:
        house.driver.hold()
        ids = [await house.send(f"n{n}") for n in range(6)]
        await house.driver.wait_submitted(2)
        await trio.testing.wait_all_tasks_blocked()
        assert len(house.driver.submitted) == 2
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        house.driver.let_go()
        await trio.testing.wait_all_tasks_blocked()
        assert len(house.driver.submitted) == 2
        await house.gateway.perform("carriers.resume", {"carrier": "fake"})
        for message_id in ids:
            await house.wait_status(message_id, "sent")
        assert house.driver.in_flight_peak == 2


@pytest.mark.parametrize("said", ["pause", "drain"])
async def test_a_pause_holds_over_restarts(open_house, carrier, quick, said):
    """The page promises that nothing leaves until somebody resumes."""
    async with open_house(carrier()) as house:
        await house.gateway.perform(f"carriers.{said}", {"carrier": "fake"})
        ids = [await house.send(f"n{n}") for n in range(5)]
    for _ in range(2):
        async with open_house(carrier()) as house:
            await trio.sleep(120)
            assert house.driver.submitted == []
            (lane,) = (await house.gateway.perform("carriers", {}))["carriers"]
            assert lane["gate"] == ("paused" if said == "pause" else "draining")
    async with open_house(carrier()) as house:
        await house.gateway.perform("carriers.resume", {"carrier": "fake"})
        for message_id in ids:
            await house.wait_status(message_id, "sent")
    async with open_house(carrier()) as house:
        await house.wait_status(await house.send(), "sent")


async def test_a_suspended_organization_is_held(open_house, quick):
    async with open_house() as house:
        house.driver.set_health(HealthState.DOWN)
        other = await house.organization()
        held = await house.send()
        passes = await house.send(principal=other)
        await house.gateway.perform(
            "org.suspend", {"organization_id": house.principal.organization_id}
        )
        house.driver.set_health(HealthState.UP)
        await house.wait_status(passes, "sent")
        assert house.status(held) == "pending"
        await house.gateway.perform(
            "org.resume", {"organization_id": house.principal.organization_id}
        )
        await house.wait_status(held, "sent")


async def test_a_drivers_bug_is_uncertain_and_the_engine_lives(open_house, quick):
    def bug(_):
        raise ZeroDivisionError

    driver = FakeDriver(answers=[bug])
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await driver.wait_submitted(1)
        await house.wait_status(await house.send("next"), "sent")
        assert house.status(message_id) == "processing"
        _, timeline = house.gateway.show_message(message_id)
        assert timeline[-1].line.cause is Cause.DRIVER_FAULT


async def test_rate_is_kept(open_house, carrier, quick):
    async with open_house(carrier(rate_per_s=2)) as house:
        started = trio.current_time()
        last = [await house.send(f"n{n}") for n in range(11)][-1]
        await house.wait_status(last, "sent")
        assert trio.current_time() - started == pytest.approx(5, abs=0.2)


@pytest.mark.slow
@pytest.mark.long
async def test_fairness_and_priority_behind_five_thousand(open_house, carrier, quick):
    """One organization's 5,000 wait; another's message and a code take their fair turn."""
    async with open_house(
        carrier(rate_per_s=10), balance="5000", engine=EngineSection(buffer_rows_max=64)
    ) as house:
        bulk = [SendMessage("+22236123456", f"bulk {n}") for n in range(5_000)]
        for begin in range(0, len(bulk), 500):
            await house.gateway.send_batch(house.principal, bulk[begin : begin + 500])
        other = await house.organization()
        bulk_before = len(house.driver.submitted)
        single = await house.send("single", principal=other)
        urgent = await house.send("urgent", principal=other, priority=PRIORITY_CODE)
        await house.wait_status(single, "sent")
        texts = [segment.text for segment in house.driver.submitted[bulk_before:]]
        assert texts.index("urgent") <= 1
        assert texts.index("single") <= 3
        assert house.status(urgent) == "sent"
        statistics = await house.gateway.perform("statistics", {})
        assert statistics["queue"]["rows_buffered_peak"] <= 64
        assert statistics["queue"]["rows_held"] <= 64 + 10


async def test_two_hundred_sends_against_a_balance_for_one_hundred(open_house):
    async with open_house(balance="50", inline=False) as house:
        results: list[str] = []

        async def send(n: int) -> None:
            try:
                await house.send(f"n{n}")
                results.append("accepted")
            except InsufficientBalance:
                results.append("InsufficientBalance")

        async with trio.open_nursery() as nursery:
            for n in range(200):
                nursery.start_soon(send, n)
        assert results.count("accepted") == 100
        assert results.count("InsufficientBalance") == 100
        assert await house.balance() == "0.00"
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_fifty_of_one_key_at_once_are_one_message(open_house):
    async with open_house(inline=False) as house:
        command = SendMessage("+22236123456", "once", idempotency_key="order-0001")
        answers: set[bytes] = set()

        async def send() -> None:
            answers.add(await house.gateway.send_message(house.principal, command))

        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(send)
        assert len(answers) == 1
        assert await house.balance() == "999.50"
        other = await house.organization()
        answers.add(await house.gateway.send_message(other, command))
        assert len(answers) == 2


async def test_a_crash_leaves_uncertain_what_was_under_way(open_house, quick):
    driver = FakeDriver()
    driver.hold()
    async with open_house(drivers={"fake": driver}, engine=EngineSection(drain_s=0)) as house:
        message_id = await house.send()
        waiting = await house.send("second", to="+22246000000")
        await driver.wait_submitted(2)
    async with open_house() as house:
        assert house.status(message_id) == "processing"
        _, timeline = house.gateway.show_message(message_id)
        assert "stopped while waiting" in sentence(timeline[-1])
        await house.wait_status(message_id, "failed")
        assert house.gateway.show_message(message_id)[0].error_code == "UNCERTAIN"
        assert house.status(waiting) == "failed"
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_what_waited_goes_out_after_a_restart_also_on_other_routes(
    open_house, carrier, quick
):
    async with open_house(carrier("old", prefixes=("+2223",))) as house:
        house.driver.set_health(HealthState.DOWN)
        message_id = await house.send()
    async with open_house(carrier("new", prefixes=("+222",))) as house:
        await house.wait_status(message_id, "sent")
        assert house.gateway.show_message(message_id)[0].carrier == "new"


def _accepted(carrier_id: str):
    from risala.plugins.contract import Accepted

    return Accepted(carrier_id)
