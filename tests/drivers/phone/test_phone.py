"""Whether a phone is there, which one it is, its SIMs, its limits, and what it receives."""

from __future__ import annotations

import json

import pytest
import trio

from risala.drivers.phone.quota import PhoneQuota
from risala.drivers.phone.settings import PhoneSettings
from risala.lab.phone.events import (
    MessageFetched,
    NetworkLost,
    PhoneRegistered,
    StreamChanged,
    TextSent,
    TextUploaded,
)
from risala.plugins.contract import Accepted, CommandRefusedError, HealthState, Uncertain, Unsent

TOKEN = "private0token0of0the0phone"
MINUTE_MS = 60_000


async def test_without_a_phone_an_operator_must_act(new_line, autojump_clock):
    async with new_line() as line:
        line.phone.kill()
        health = await line.context.wait_health(HealthState.SICK)
        assert health.text == "No phone is registered yet: risala phone pair phone says how."
        assert isinstance(await line.submit(), Unsent)


async def test_a_phone_says_what_it_is(new_line, autojump_clock):
    async with new_line(config={"sims": ("Mauritel", "Chinguitel")}) as line:
        await line.up()
        health = line.context.healths[-1]
        assert health.text == "samsung/a14 is connected."
        assert health.details["phone"] == "samsung/a14"
        assert health.details["SIMs"] == "1: Mauritel, 2: Chinguitel"


async def test_a_phone_that_is_silent_is_ill_and_comes_back(line, autojump_clock):
    line.phone.kill()
    await line.context.wait_health(HealthState.DOWN)
    health = await line.context.wait_health(HealthState.SICK)
    assert "has not called for 15 minutes" in health.text
    line.phone.open()
    await line.context.wait_health(HealthState.UP)


async def test_a_phone_that_has_nothing_to_do_calls_and_stays_up(line, autojump_clock):
    known = len(line.context.healths)
    await trio.sleep(24 * 3600)
    assert {each.state for each in line.context.healths[known - 1 :]} == {HealthState.UP}


async def test_a_stream_that_only_seems_open_is_found(line, autojump_clock):
    line.phone.doze(is_dozing=True)  # the connection stays, and nobody is there
    await line.context.wait_health(HealthState.SICK)


async def test_a_phone_is_known_again_after_a_restart(new_line, autojump_clock):
    async with new_line() as line:
        await line.up()
        notes, phone = dict(line.context.notes), line.phone
    async with new_line(notes=notes, phone=phone) as again:
        await again.up()
        assert sum(isinstance(each, PhoneRegistered) for each in phone.events) == 1


async def test_a_registration_whose_answer_was_lost_is_made_again(new_line, autojump_clock):
    async with new_line() as line:
        line.phone.network.drop_answers = 1
        await line.up()
        assert any(isinstance(each, NetworkLost) for each in line.phone.events)
        assert line.attention == ""


async def test_no_secret_is_in_the_notes(line, autojump_clock):
    own = line.phone.account["token"]
    written = " ".join(line.context.notes.values())
    assert own not in written
    assert TOKEN not in written


# -- another phone ----------------------------------------------------------------------------


async def test_another_phone_waits_for_the_operator(line, autojump_clock):
    other = await line.another_phone(name="xiaomi/redmi")
    await other.wait(StreamChanged, lambda it: it.is_open)
    await line.context.wait_until(lambda _: "Another phone (xiaomi/redmi)" in line.attention)
    assert isinstance(await line.submit("Before"), Accepted)
    assert not [each for each in other.events if isinstance(each, MessageFetched)]
    results = await line.driver.command("replace", [])
    assert results == {"phone": "xiaomi/redmi", "replaced": "samsung/a14"}
    await line.context.wait_until(lambda it: it.healths[-1].text == "xiaomi/redmi is connected.")
    assert isinstance(await line.submit("After"), Accepted)
    assert [each.text for each in other.events if isinstance(each, TextSent)] == ["After"]
    assert line.sent == ["Before"]


async def test_the_stream_of_a_phone_that_waits_does_not_count(line, autojump_clock):
    other = await line.another_phone()
    await other.wait(StreamChanged, lambda it: it.is_open)
    line.phone.kill()
    await line.context.wait_health(HealthState.DOWN)


async def test_a_phone_let_in_while_its_stream_opens_is_there(line, autojump_clock):
    line.phone.kill()
    call = line.network.call
    body = json.dumps({"name": "xiaomi/redmi"}).encode()
    answer = await call("POST", "/device", {"Authorization": f"Bearer {TOKEN}"}, body)
    own = {"Authorization": f"Bearer {json.loads(answer.body)['token']}"}
    stream = await call("GET", "/events", own)  # asked for, and not begun
    await line.driver.command("replace", [])
    line.nursery.start_soon(stream.write, ignored)
    await line.context.wait_until(lambda it: it.healths[-1].state is HealthState.DOWN)
    await call("GET", "/message", own)
    await line.context.wait_until(lambda it: it.healths[-1].text == "xiaomi/redmi is connected.")
    await trio.sleep(60)  # and does not live by the grace that a new phone has
    assert line.context.healths[-1].state is HealthState.UP


async def ignored(_: bytes) -> None:
    await trio.lowlevel.checkpoint()


async def test_a_wiped_phone_gets_nothing_that_it_had_before(new_line, autojump_clock):
    async with new_line(config={"sent_after_s": 30.0}) as line:
        await line.up()
        submitting = line.begin("Once")
        await line.phone.wait(MessageFetched)
        line.phone.wipe()
        await line.context.wait_until(lambda _: "Another phone" in line.attention)
        begun_s = trio.current_time()
        await line.driver.command("replace", [])
        outcome = await submitting.end()
        assert isinstance(outcome, Uncertain)
        assert outcome.text == "A phone that is no longer this carrier's had fetched it."
        assert trio.current_time() - begun_s < 1  # no report of it can come any more
        await line.up()
        assert await line.driver.submit(submitting.segment) == outcome
        assert line.context.healths[-1].state is HealthState.UP  # it is no fault of the new phone
        await trio.sleep(600)
        assert line.sent == []
        line.phone.config.sent_after_s = 1.0
        assert isinstance(await line.submit("New"), Accepted)


async def test_a_phone_that_is_wiped_while_it_fetches_keeps_nothing_of_the_answer(
    new_line, autojump_clock, monkeypatch
):
    async with new_line() as line:
        await line.up()
        phone = line.phone
        phone.behaviour.is_mute = True  # so that what it has sent is listed again
        line.begin("Once")
        await phone.wait(TextSent)
        ask = phone.network.ask

        async def wiped_meanwhile(method, path, headers, body):
            answer = await ask(method, path, headers, body)
            if path.startswith("/message"):
                assert json.loads(answer[1])
                monkeypatch.undo()
                phone.wipe()
            return answer

        monkeypatch.setattr(phone.network, "ask", wiped_meanwhile)
        phone.restart()
        await line.context.wait_until(lambda _: "Another phone" in line.attention)
        assert phone.store.texts == {}
        assert line.sent == ["Once"]


async def test_replace_without_another_phone_changes_nothing(line, autojump_clock):
    with pytest.raises(CommandRefusedError, match="No other phone"):
        await line.driver.command("replace", [])
    assert isinstance(await line.submit(), Accepted)


async def test_a_phone_that_is_forgotten_can_no_longer_call(line, autojump_clock):
    await line.driver.command("forget", [])
    await line.context.wait_health(HealthState.SICK)
    line.phone.restart()
    await line.context.wait_health(HealthState.UP)
    assert sum(isinstance(each, PhoneRegistered) for each in line.phone.events) == 2


async def test_pair_waits_for_a_phone(new_line, autojump_clock):
    async with new_line() as line:
        line.phone.kill()
        results = {}

        async def pair() -> None:
            results.update(await line.driver.command("pair", []))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pair)
            await trio.sleep(10)
            assert not results
            line.phone.open()
        assert results == {"phone": "samsung/a14", "state": "registered", "strangers": 0}


async def test_pair_tells_of_a_wrong_token(new_line, autojump_clock):
    async with new_line() as line:
        line.phone.config.token = "another0token0than0that"
        line.phone.restart()
        results = await line.driver.command("pair", [])
        assert results["state"] == "none"
        assert results["strangers"] > 0


# -- SIMs and limits -----------------------------------------------------------------------------


async def test_the_second_sim_sends_and_receives(new_line, autojump_clock):
    sims = ("Mauritel", "Chinguitel")
    async with new_line(config={"sims": sims}, sim=2, number="+22233344556") as line:
        await line.up()
        await line.submit()
        assert (await line.phone.wait(TextSent)).sim == 2
        line.phone.receive("+22244556677", "To the first", sim=1)
        line.phone.receive("+22244556677", "To the second", sim=2)
        await line.context.wait_until(lambda it: bool(it.inbounds))
        assert [(each.text, each.recipient) for each in line.context.inbounds] == [
            ("To the second", "+22233344556")
        ]


async def test_a_sim_that_is_not_there_is_told(new_line, autojump_clock):
    async with new_line(sim=2) as line:
        await line.up()
        assert line.attention == "The phone has no SIM 2, which the settings name."


async def test_the_day_is_counted_over_a_restart(new_line, autojump_clock):
    async with new_line(per_day_max=2) as line:
        await line.up()
        await line.submit("One")
        await line.submit("Two")
        declined = line.driver.declines("+22244556677", 1)
        assert "per_day_max = 2" in declined.text
        assert isinstance(await line.submit("Three"), Unsent)
        notes, phone = dict(line.context.notes), line.phone
    async with new_line(notes=notes, phone=phone, per_day_max=2) as again:
        await again.up()
        assert again.driver.declines("+22244556677", 1) is not None


def quota(**settings) -> PhoneQuota:
    return PhoneQuota(PhoneSettings(token=TOKEN, **settings))


def test_half_an_hour_is_enough_for_thirty():
    it = quota(per_minute=1, per_day_max=None)
    it.count(29, 0)
    assert it.declines(1, 0) is None
    it.count(1, 5 * MINUTE_MS)
    declined = it.declines(1, 6 * MINUTE_MS)
    assert "per_minute = 1" in declined.text
    assert declined.until_ms == 31 * MINUTE_MS
    assert it.declines(1, declined.until_ms) is None
    assert it.declines(30, declined.until_ms).until_ms == 36 * MINUTE_MS


def test_what_was_not_fetched_is_given_back():
    it = quota(per_day_max=3)
    it.count(3, 0)
    assert it.declines(1, 0) is not None
    it.give_back(3, 0)
    assert it.declines(3, 0) is None


def test_a_text_longer_than_a_days_share_goes_on_an_empty_day():
    it = quota(per_day_max=2, per_minute=0.1)
    assert it.declines(5, 0) is None
    it.count(5, 0)
    assert it.declines(1, MINUTE_MS).until_ms == 86_400_000


@pytest.mark.parametrize("token", ["short", "with a blank and long enough", "é" * 20])
def test_a_weak_token_is_refused(token):
    with pytest.raises(ValueError, match="letters and digits"):
        PhoneSettings(token=token)


# -- what it receives ----------------------------------------------------------------------------


async def test_a_received_text_comes_once_though_it_is_tried_again(line, autojump_clock):
    line.phone.network.drop_answers = 2
    line.context.refusals = 1
    line.phone.receive("+22244556677", "Bonjour \u0645\u0631\u062d\u0628\u0627")
    brought = await line.phone.wait(TextUploaded)
    assert brought.tries > 1
    texts = {(each.carrier_ids, each.text) for each in line.context.inbounds}
    assert len(texts) == 1  # the engine stores one of each id
    assert line.context.inbounds[0].sender == "+22244556677"
    assert line.context.inbounds[0].sent_at_ms is not None


async def test_a_clock_that_is_off_is_told_and_texts_come_once_it_is_right(line, autojump_clock):
    line.phone.behaviour.clock_off_s = -7200
    line.phone.receive("+22244556677", "Late")
    await line.context.wait_until(lambda _: "clock is 120 minutes behind" in line.attention)
    assert line.context.inbounds == []
    line.phone.behaviour.clock_off_s = 0
    await line.phone.wait(TextUploaded)
    assert [each.text for each in line.context.inbounds] == ["Late"]
    await line.context.wait_until(lambda _: line.attention == "")
