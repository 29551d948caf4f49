"""What a stick does on its bad days, and what becomes of texts then."""

from __future__ import annotations

from functools import partial

import pytest
import trio
from tests.drivers.hilink.stick_line import PASSWORD, living, quick, running, stick_and_driver

from risala.drivers.hilink import errors, life, pin, sender
from risala.plugins.contract import (
    Accepted,
    Cause,
    CommandRefusedError,
    HealthState,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

SENDER = "+33612345678"
whole = partial(segment, number=0)


# -- sessions and tokens -------------------------------------------------------------------------


@pytest.mark.parametrize("code", sorted(errors.STALE))
async def test_a_text_whose_token_is_stale_is_sent_once(code):
    async with running() as (stick, driver, _):
        stick.device.behaviour.errors["sms/send-sms"] = [code]
        assert isinstance(await driver.submit(whole("Once")), Accepted)
        assert [each.text for each in stick.device.sent] == ["Once"]


async def test_a_session_that_somebody_else_ended_begins_anew():
    config = quick(login="sha256", password=PASSWORD)
    async with running(config, password=PASSWORD) as (stick, driver, _):
        stick.device.gate.forget()
        assert isinstance(await driver.submit(whole()), Accepted)


async def test_a_stale_token_for_ever_leaves_the_text_unsent():
    async with running() as (stick, driver, _):
        stick.device.behaviour.errors["sms/send-sms"] = [125003] * 9
        assert isinstance(await driver.submit(whole()), Unsent)
        assert stick.device.sent == []


# -- passwords -------------------------------------------------------------------------------------


@pytest.mark.parametrize("login", ["base64", "sha256", "scram"])
async def test_a_wrong_password_is_tried_once(login):
    config = quick(login=login, password=PASSWORD)
    async with (
        stick_and_driver(config, password="wrong-horse") as (stick, driver),
        living(driver) as context,
    ):
        health = await context.wait_health(HealthState.SICK)
        assert health.text == errors.UNPROVED
        await driver.submit(whole())
        assert stick.device.gate.wrong_tries == 1


async def test_a_stick_that_wants_a_password_says_so():
    config = quick(login="sha256", password=PASSWORD)
    async with stick_and_driver(config) as (_, driver), living(driver) as context:
        assert (await context.wait_health(HealthState.SICK)).text == errors.UNNAMED


@pytest.mark.parametrize(
    ("code", "state", "text"),
    [(108007, HealthState.SICK, errors.LOCKED), (108003, HealthState.DOWN, errors.SOMEBODY)],
)
async def test_a_stick_that_lets_nobody_in_says_why(code, state, text):
    config = quick(login="sha256", password=PASSWORD)
    async with stick_and_driver(config, password=PASSWORD) as (stick, driver):
        stick.device.behaviour.errors["user/login"] = [code]
        async with living(driver) as context:
            assert (await context.wait_health(state)).text == text


# -- the PIN ---------------------------------------------------------------------------------------


async def test_a_wrong_pin_is_typed_once_also_after_a_restart():
    async with stick_and_driver(quick(pin="4711"), pin="1234") as (stick, driver):
        context = RecordingContext("stick")
        async with living(driver, context):
            assert (await context.wait_health(HealthState.SICK)).text == pin.WRONG
        async with living(driver, context):
            await stick.wait(lambda it: it.count("pin/status") > 1)
        assert stick.count("pin/operate") == 1
        assert stick.device.pin_tries == 2


async def test_the_operator_may_have_it_typed_once_more():
    async with stick_and_driver(quick(pin="4711"), pin="1234") as (stick, driver):
        async with living(driver) as context:
            await context.wait_health(HealthState.SICK)
            await driver.command("retry-pin", [])
            await stick.wait(lambda it: it.count("pin/operate") == 2)
            # The last try is never used up, whoever asks.
            await driver.command("retry-pin", [])
            await context.wait_until(lambda it: "1 try is left" in it.healths[-1].text)
        assert stick.device.pin_tries == 1


@pytest.mark.parametrize(
    ("tries", "given", "text"), [(3, None, pin.NEEDED), (0, "4711", pin.BLOCKED)]
)
async def test_a_sim_that_stays_locked_says_what_to_do(tries, given, text):
    async with stick_and_driver(quick(pin="4711"), pin=given) as (stick, driver):
        stick.device.pin_tries = tries
        async with living(driver) as context:
            assert (await context.wait_health(HealthState.SICK)).text == text
        assert stick.count("pin/operate") == 0


async def test_without_a_pin_there_is_none_to_type_again():
    async with running() as (_, driver, _context):
        with pytest.raises(CommandRefusedError):
            await driver.command("retry-pin", [])


async def test_a_missing_sim_is_told():
    async with stick_and_driver() as (stick, driver):
        stick.device.has_card = False
        async with living(driver) as context:
            assert (await context.wait_health(HealthState.SICK)).text == pin.NO_CARD


# -- sending ---------------------------------------------------------------------------------------


async def test_what_the_stick_says_of_itself():
    async with running() as (_, _driver, context):
        details = context.healths[-1].details
        assert details["model"] == "E3372h-320"
        assert details["operator"] == "Mauritel"
        assert details["signal_dbm"] == -71
        assert details["registration"] == "home"
        assert details["number"] == "+22236000017"
        assert details["storage"] == "0/500"


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (113018, Throttled("113018", "The stick is busy with another message.", 5.0, Cause.BUSY)),
        (100004, Throttled("100004", "The stick is busy.", 5.0, Cause.BUSY)),
        (
            100005,
            Refused(
                Scope.CARRIER,
                "100005",
                "The stick does not take this number or text.",
                Cause.UNSUPPORTED,
            ),
        ),
        (999999, Refused(Scope.NOW, "999999", cause=Cause.DEVICE_FAULT)),
    ],
)
async def test_an_error_is_an_outcome(code, outcome):
    async with running() as (stick, driver, _):
        stick.device.behaviour.errors["sms/send-sms"] = [code]
        assert await driver.submit(whole()) == outcome
        assert stick.device.sent == []


async def test_a_text_that_the_network_does_not_take_is_tried_again_later():
    async with running() as (stick, driver, _):
        stick.device.behaviour.fails_sends = True
        outcome = await driver.submit(whole())
        assert isinstance(outcome, Refused)
        assert outcome.scope is Scope.NOW


async def test_a_stick_that_writes_no_outbox_is_believed_by_its_word(monkeypatch):
    monkeypatch.setattr(sender, "SURE_S", 0.1)
    async with running() as (stick, driver, _):
        stick.device.behaviour.keeps_sent = False
        assert isinstance(await driver.submit(whole()), Accepted)
        stick.device.behaviour.fails_sends = True
        assert isinstance(await driver.submit(whole()), Refused)


async def test_a_lost_answer_is_settled_by_the_outbox():
    async with running() as (stick, driver, context):
        stick.device.behaviour.lose_answers = ["sms/send-sms"]
        outcome = await driver.submit(whole("Lost"))
        assert isinstance(outcome, Uncertain)
        await context.wait_until(lambda it: bool(it.late))
        [(late, fate)] = context.late
        assert (late.text, type(fate)) == ("Lost", Accepted)
        assert len(stick.device.sent) == 1


async def test_a_text_that_a_restart_ended_is_settled_too():
    async with running() as (stick, driver, context):
        stick.device.behaviour.stuck = True
        fates = []

        async def submit():
            fates.append(await driver.submit(whole("Half")))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit)
            await stick.wait(lambda it: it.count("sms/send-sms") == 1)
            stick.reboot(0.1)
        assert isinstance(fates[0], Uncertain)
        stick.device.behaviour.stuck = False
        await context.wait_until(lambda it: bool(it.late))
        assert isinstance(context.late[0][1], Refused)


async def test_a_full_stick_makes_room_by_what_it_has_sent():
    async with running(quick(storage_max=3)) as (stick, driver, _):
        for number in range(3):
            stick.device.boxes.add(2, SENDER, f"old {number}", state=3)
        assert isinstance(await driver.submit(whole("New")), Accepted)
        assert [each.text for each in stick.device.sent] == ["New"]


async def test_a_stick_that_is_full_of_others_texts_says_so():
    config = quick(storage_max=2)
    async with stick_and_driver(config, inbound=False) as (stick, driver):
        for _ in range(2):
            stick.device.receive(SENDER, "Kept")
        async with living(driver) as context:
            await context.wait_health(HealthState.UP)
            assert context.healths[-1].details["attention"] == life.FULL
            outcome = await driver.submit(whole())
            assert isinstance(outcome, Refused)
            assert outcome.cause is Cause.DEVICE_FAULT
        assert stick.device.boxes.count(1) == 2


async def test_a_restart_is_noticed_and_survived():
    async with running() as (stick, driver, context):
        stick.reboot(0.1)
        await context.wait_health(HealthState.DOWN)
        assert isinstance(await driver.submit(whole()), Unsent)
        await context.wait_until(lambda it: it.healths[-1].state is HealthState.UP)
        assert isinstance(await driver.submit(whole()), Accepted)


async def test_no_network_is_down():
    async with running() as (stick, _, context):
        stick.device.behaviour.has_service = False
        await context.wait_until(lambda it: it.healths[-1].text == life.NO_SERVICE)
        stick.device.behaviour.has_service = True
        await context.wait_until(lambda it: it.healths[-1].state is HealthState.UP)


async def test_a_slow_stick_is_waited_for():
    async with running() as (stick, driver, _):
        stick.device.behaviour.slow_s = 0.05
        assert isinstance(await driver.submit(whole()), Accepted)


async def test_two_sticks_have_addresses_of_their_own():
    async with running() as (left, first, _), running() as (right, second, _context):
        await first.submit(whole("Left"))
        await second.submit(whole("Right"))
        assert [each.text for each in left.device.sent] == ["Left"]
        assert [each.text for each in right.device.sent] == ["Right"]


# -- receiving -------------------------------------------------------------------------------------


async def test_a_text_is_deleted_only_when_it_is_stored():
    async with running() as (stick, _, context):
        context.refusals = 2
        stick.device.receive(SENDER, "Été 😀 <&>")
        await context.wait_until(lambda it: it.refused == 2)
        assert stick.device.boxes.count(1) == 1
        await stick.wait(lambda it: it.device.boxes.count(1) == 0)
        [text] = context.inbounds
        assert (text.sender, text.text, text.recipient) == (SENDER, "Été 😀 <&>", "+22236000017")


async def test_texts_on_the_sim_are_taken_too():
    async with running() as (stick, _, context):
        stick.device.receive(SENDER, "On the SIM", box=5)
        await context.wait_until(lambda it: bool(it.inbounds))
        await stick.wait(lambda it: it.device.boxes.count(5) == 0)


async def test_a_crowd_of_texts_is_taken_in_their_order():
    async with running() as (stick, _, context):
        for number in range(45):
            stick.device.receive(SENDER, f"{number}")
        await context.wait_until(lambda it: len(it.inbounds) == 45)
        assert [each.text for each in context.inbounds] == [f"{each}" for each in range(45)]


async def test_without_inbound_texts_stay_where_they_are():
    async with running(inbound=False) as (stick, driver, context):
        stick.device.receive(SENDER, "Stays")
        await driver.submit(whole())
        await context.wait_receipts(1)  # reports are taken all the same
        await stick.wait(lambda it: it.device.boxes.count(1) == 1)
        assert context.inbounds == []


async def test_a_report_ends_the_oldest_text_of_its_number():
    async with running(quick(has_reports=True)) as (stick, driver, context):
        stick.device.uses_reports = False  # the network sends them when it likes
        first = await driver.submit(whole("One"))
        await driver.submit(whole("Two"))
        stick.device.report(segment().recipient, is_delivered=False)
        [receipt] = await context.wait_receipts(1)
        assert receipt.carrier_id == first.carrier_id
        assert receipt.state is ReceiptState.UNDELIVERABLE


async def test_a_report_finds_its_text_after_a_restart_of_ours():
    async with stick_and_driver() as (stick, driver):
        context = RecordingContext("stick")
        async with living(driver, context):
            await context.wait_health(HealthState.UP)
            stick.device.uses_reports = False
            sent = await driver.submit(whole())
        async with living(driver, context):
            # Without its country, as some sticks write it.
            stick.device.report(segment().recipient[-8:])
            [receipt] = await context.wait_receipts(1)
        assert receipt.carrier_id == sent.carrier_id


async def test_a_stick_without_reports_says_so():
    async with running(quick(has_reports=False)) as (_, _driver, context):
        assert context.healths[-1].receipts is False
        assert context.healths[-1].details["attention"] == life.NO_REPORTS
