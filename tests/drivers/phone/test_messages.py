"""What becomes of a message that a phone is to send, whatever the phone and its network do."""

from __future__ import annotations

import pytest
import trio
from tests.drivers.phone.conftest import Submitting

from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.messages import FetchedMessages
from risala.lab.phone.events import (
    MessageFetched,
    NetworkLost,
    PhoneRefused,
    StateReported,
    TextSent,
)
from risala.plugins.contract import (
    Accepted,
    Cause,
    HealthState,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)


async def test_a_message_is_sent_once_and_its_receipt_comes(line, autojump_clock):
    outcome = await line.submit("Your code is 4711", urgent=True)
    assert isinstance(outcome, Accepted)
    receipts = await line.context.wait_receipts(1)
    assert [(each.carrier_id, each.state) for each in receipts] == [
        (outcome.carrier_id, ReceiptState.DELIVERED)
    ]
    assert line.sent == ["Your code is 4711"]


async def test_each_attempt_has_an_id_of_its_own(line, autojump_clock):
    first = await line.submit("One", message_id="msg_1")
    second = await line.submit("One", message_id="msg_1", attempt=2)
    assert first.carrier_id != second.carrier_id
    assert line.sent == ["One", "One"]


async def test_a_long_text_goes_whole(line, autojump_clock):
    await line.submit("ab" * 300, number=0)
    assert line.sent == ["ab" * 300]


async def test_an_answer_to_a_fetch_that_was_lost_is_fetched_again(line, autojump_clock):
    line.phone.network.drop_answers = 1
    assert isinstance(await line.submit(), Accepted)
    assert line.sent == ["Hello"]
    assert any(isinstance(each, NetworkLost) for each in line.phone.events)


async def test_answers_to_reports_that_were_lost_are_reported_again(line, autojump_clock):
    submitting = line.begin()
    await line.phone.wait(MessageFetched)
    line.phone.network.drop_answers = 3
    assert isinstance(await submitting.end(), Accepted)
    await line.context.wait_receipts(1)
    await trio.sleep(600)
    assert len(line.context.receipts) == 1
    assert line.sent == ["Hello"]


async def test_states_out_of_order_and_twice_say_the_same(line, autojump_clock):
    line.phone.behaviour.is_out_of_order = line.phone.behaviour.reports_twice = True
    outcome = await line.submit()
    assert isinstance(outcome, Accepted)
    await trio.sleep(60)
    assert [each.state for each in line.context.receipts] == [ReceiptState.DELIVERED]
    assert line.sent == ["Hello"]


async def test_a_phone_that_dozes_gets_nothing_late(line, autojump_clock):
    line.phone.doze(is_dozing=True)
    outcome = await line.submit()
    assert isinstance(outcome, Unsent)
    await line.context.wait_health(HealthState.DOWN)
    line.phone.doze(is_dozing=False)
    await line.context.wait_health(HealthState.UP)
    await trio.sleep(3600)
    assert line.sent == []  # it was taken back: the engine has sent it elsewhere
    assert isinstance(await line.submit("Later"), Accepted)


async def test_an_app_that_is_killed_leaves_it_uncertain_and_tells_later(new_line, autojump_clock):
    async with new_line(config={"sent_after_s": 30.0}) as line:
        await line.up()
        submitting = line.begin()
        await line.phone.wait(StateReported, lambda it: it.state == "Processed")
        line.phone.kill()
        outcome = await submitting.end()
        assert isinstance(outcome, Uncertain)
        line.phone.open()
        await line.context.wait_until(lambda it: bool(it.late))
        assert isinstance(line.context.late[0][1], Accepted)
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(submitting.segment), Accepted)
        await trio.sleep(300)
        assert line.sent == ["Hello"]


async def test_a_report_after_the_wait_is_a_late_outcome(line, autojump_clock):
    line.phone.behaviour.late_s = 400.0
    submitting = line.begin()
    assert isinstance(await submitting.end(), Uncertain)
    await line.context.wait_until(lambda it: bool(it.late))
    each, outcome = line.context.late[0]
    assert each == submitting.segment
    assert isinstance(outcome, Accepted)
    await line.context.wait_receipts(1)
    assert len(line.context.late) == 1


async def test_the_same_attempt_again_is_not_sent_again(line, autojump_clock):
    line.phone.behaviour.late_s = 400.0
    submitting = line.begin()
    assert isinstance(await submitting.end(), Uncertain)
    line.phone.behaviour.late_s = 0.0
    assert isinstance(await line.driver.submit(submitting.segment), Accepted)
    assert line.sent == ["Hello"]


@pytest.mark.parametrize("late_s", [0.0, 250.0])
@pytest.mark.parametrize(
    ("mood", "cause"),
    [
        ({"fails_with": "RESULT_ERROR_NO_SERVICE (…)"}, Cause.NO_SERVICE),
        ({"half_hour_max": 0}, None),
    ],
)
async def test_an_attempt_that_failed_is_refused_for_good_if_it_comes_again(
    line, late_s, mood, cause, autojump_clock
):
    """The phone never sends its id again: it would be asked each minute for a day."""
    for name, value in {"late_s": late_s, **mood}.items():
        setattr(line.phone.behaviour, name, value)
    submitting = line.begin()
    first = await submitting.end()
    assert isinstance(first, Uncertain if late_s else Refused | Throttled)
    again = await line.driver.submit(submitting.segment)
    assert isinstance(again, Refused)
    assert again.scope is Scope.CARRIER
    assert again.cause is (cause or again.cause)
    assert line.sent == []


async def test_a_submit_that_is_cancelled_is_called_back(new_line, autojump_clock):
    async with new_line(config={"sent_after_s": 30.0}) as line:
        await line.up()
        first = line.begin("First")
        await line.phone.wait(MessageFetched)
        second = line.begin("Second")
        its_id = second.segment.message_id
        await line.phone.wait(MessageFetched, lambda it: it.id.startswith(its_id))
        second.scope.cancel()
        await line.phone.wait(StateReported, lambda it: it.state == "Cancelled")
        assert isinstance(await first.end(), Accepted)
        await trio.sleep(300)
        assert line.sent == ["First"]


async def test_a_message_that_nobody_fetched_leaves_no_trace(line, autojump_clock):
    line.phone.doze(is_dozing=True)
    submitting = line.begin()
    await trio.sleep(1)
    submitting.scope.cancel()
    await submitting.is_over.wait()
    line.phone.doze(is_dozing=False)
    await trio.sleep(300)
    assert line.sent == []
    assert not any(isinstance(each, MessageFetched) for each in line.phone.events)


async def test_nothing_leaves_that_could_not_be_written(line, autojump_clock):
    line.context.note_refusals = 2
    assert isinstance(await line.submit(), Accepted)
    refused = [each for each in line.phone.events if isinstance(each, PhoneRefused)]
    assert [each.status for each in refused] == [503, 503]
    assert line.sent == ["Hello"]


async def test_what_the_engine_withdrew_does_not_leave(line, autojump_clock):
    line.context.fetch_refusals = 1
    submitting = line.begin()
    await trio.sleep(10)
    assert not any(isinstance(each, MessageFetched) for each in line.phone.events)
    assert not [key for key in line.context.notes if key.startswith("fetched/")]
    assert isinstance(await submitting.end(), Accepted)  # the phone is reminded of it
    assert line.context.fetches == [submitting.segment]
    assert line.sent == ["Hello"]


async def test_a_repeat_that_is_not_fetched_is_neither_sent_nor_called_back(line, autojump_clock):
    line.phone.behaviour.late_s = 4000.0
    submitting = line.begin()
    assert isinstance(await submitting.end(), Uncertain)
    line.context.fetch_refusals = 100
    assert isinstance(await line.driver.submit(submitting.segment), Unsent)
    again = Submitting(submitting.segment)
    line.nursery.start_soon(again.run, line.driver)
    await trio.sleep(1)
    again.scope.cancel()
    await trio.sleep(60)
    assert all(each.state == "Delivered" for each in line.phone.store.texts.values())
    assert line.context.fetches == [submitting.segment]


async def test_a_long_text_that_no_longer_fits_lets_shorter_ones_go(new_line, autojump_clock):
    async with new_line(per_day_max=3) as line:
        await line.up()
        assert isinstance(await line.submit("One"), Accepted)
        outcome = await line.submit("ab" * 300, number=0)
        assert (outcome.scope, outcome.cause) == (Scope.RECIPIENT, Cause.QUOTA_USED)
        assert isinstance(await line.submit("Two"), Accepted)
        assert line.context.healths[-1].details["today"] == 2


async def test_a_receipt_that_could_not_be_stored_comes_again(line, autojump_clock):
    line.context.refusals = 2
    await line.submit()
    await line.context.wait_receipts(1)
    assert [each.state for each in line.context.receipts] == [ReceiptState.DELIVERED]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("RESULT_ERROR_NO_SERVICE (…)", (Refused, Scope.NOW, Cause.NO_SERVICE)),
        ("RESULT_NETWORK_REJECT (…)", (Refused, Scope.CARRIER, Cause.REJECTED)),
        ("RESULT_ERROR_GENERIC_FAILURE (…)", (Refused, Scope.NOW, Cause.CARRIER_FAULT)),
        ("Unknown error code: 77.", (Refused, Scope.NOW, Cause.DEVICE_FAULT)),
    ],
)
async def test_a_failure_is_refused_for_its_cause(line, error, expected, autojump_clock):
    line.phone.behaviour.fails_with = error
    outcome = await line.submit()
    assert (type(outcome), outcome.scope, outcome.cause) == expected


async def test_androids_own_limit_slows_down(line, autojump_clock):
    line.phone.behaviour.half_hour_max = 1
    assert isinstance(await line.submit("One"), Accepted)
    outcome = await line.submit("Two")
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after_s == 120


async def test_a_clock_that_is_ahead_is_told_and_the_message_kept(line, autojump_clock):
    line.phone.behaviour.clock_off_s = 7200
    expires_at_ms = line.driver._now_ms() + 3_600_000
    outcome = await line.submit(expires_at_ms=expires_at_ms)
    assert isinstance(outcome, Refused)
    assert outcome.scope is Scope.NOW
    assert "its clock is wrong" in outcome.text
    await line.context.wait_until(lambda _: "clock" in line.attention)


async def test_a_query_is_answered_and_sends_nothing(line, autojump_clock):
    line.phone.behaviour.gives_receipts = False
    outcome = await line.submit()
    receipt = await line.driver.query(outcome.carrier_id, sender="RISALA")
    assert (receipt.carrier_id, receipt.state) == (outcome.carrier_id, ReceiptState.ENROUTE)
    line.phone.store.texts[outcome.carrier_id].become("Delivered", line.phone.now_ms())
    receipt = await line.driver.query(outcome.carrier_id, sender="RISALA")
    assert receipt.state is ReceiptState.DELIVERED
    assert line.sent == ["Hello"]


async def test_a_query_after_the_phones_data_was_wiped_sends_nothing(line, autojump_clock):
    line.phone.behaviour.gives_receipts = False
    outcome = await line.submit()
    line.phone.store.texts.clear()
    await line.driver.query(outcome.carrier_id, sender="RISALA")
    await trio.sleep(300)
    assert line.sent == ["Hello"]


async def test_states_after_a_restart_name_the_submit(new_line, autojump_clock):
    async with new_line(config={"sent_after_s": 30.0}) as line:
        await line.up()
        submitting = line.begin()
        await line.phone.wait(MessageFetched)
        notes, phone = dict(line.context.notes), line.phone
    async with new_line(notes=notes, phone=phone) as again:
        [receipt, *_] = await again.context.wait_receipts(1)
        assert receipt.reference == submitting.segment.submit_reference
        assert receipt.recipient == submitting.segment.recipient
        await trio.sleep(300)
        assert [each.text for each in phone.events if isinstance(each, TextSent)] == ["Hello"]
        states = [each.state for each in again.context.receipts]
        assert states == [ReceiptState.ENROUTE, ReceiptState.DELIVERED]


async def test_what_waits_at_the_end_is_unsent_and_what_is_out_uncertain(new_line, autojump_clock):
    async with new_line(config={"sent_after_s": 30.0}) as line:
        await line.up()
        out = line.begin("Out")
        await line.phone.wait(MessageFetched)
        line.phone.doze(is_dozing=True)
        await trio.sleep(1)
        waiting = line.begin("Waiting")
        await trio.sleep(1)
        driver: PhoneDriver = line.driver
        driver._line.end()
        assert isinstance(await waiting.end(), Unsent)
        outcome = await out.end()
        assert isinstance(outcome, Uncertain)
        assert outcome.cause is Cause.SERVICE_STOPPED


async def test_the_same_attempt_after_a_restart_is_sent_once(new_line, autojump_clock):
    async with new_line(config={"sent_after_s": 30.0}) as line:
        await line.up()
        submitting = line.begin()
        await line.phone.wait(MessageFetched)
        notes, phone = dict(line.context.notes), line.phone
    async with new_line(notes=notes, phone=phone) as again:
        await again.up()
        assert isinstance(await again.driver.submit(submitting.segment), Accepted)
        assert again.context.fetches == [submitting.segment]
        await trio.sleep(300)
        assert again.sent == ["Hello"]
        assert again.context.healths[-1].details["today"] == 1


async def test_another_phone_never_gets_an_attempt_again(new_line, autojump_clock):
    async with new_line(config={"sent_after_s": 30.0}) as line:
        await line.up()
        submitting = line.begin()
        await line.phone.wait(MessageFetched)
        notes, phone = dict(line.context.notes), line.phone
    phone.wipe()
    async with new_line(notes=notes, phone=phone) as again:
        await again.context.wait_until(lambda _: "Another phone" in again.attention)
        await again.driver.command("replace", [])
        await again.context.wait_health(HealthState.UP)
        outcome = await again.driver.submit(submitting.segment)
        assert isinstance(outcome, Uncertain)
        await trio.sleep(300)
        assert again.sent == []


def test_what_was_fetched_is_forgotten_after_a_day():
    fetched = FetchedMessages({"fetched/a": "1000 one", "fetched/b": "2000 two"})
    assert (fetched.phone_of("a"), fetched.phone_of("c")) == ("one", None)
    assert fetched.give([], "two", 86_401_001) == {"fetched/a": None}
    assert (fetched.phone_of("a"), fetched.phone_of("b")) == (None, "two")
