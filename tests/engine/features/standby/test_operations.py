"""A whole engine whose answers wait for a second machine."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import trio
import trio.testing
from tests.engine.features.standby.stored.memory_store import MemoryStore

from patience import until_true
from risala.config.outward import StandbySection
from risala.engine.features.standby import named_stores
from risala.engine.features.standby.service import second_machine
from risala.engine.journal.audit.books import audit_file
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.errors import Conflict, LogSilent, OutcomeUnknown, SenderNotApproved

pytestmark = pytest.mark.slow

WAIT_S = 0.5
TO = "+22236123456"


@pytest.fixture
def store(tmp_path, monkeypatch) -> MemoryStore:
    made = MemoryStore(tmp_path)
    monkeypatch.setattr(named_stores, "pieces_of", lambda section, data_dir: made)
    return made


@pytest.fixture
async def awaited(open_house, store) -> AsyncIterator:
    section = StandbySection(
        copy="postgresql",
        lease="postgresql",
        replicate="before_answer",
        answer_wait_s=WAIT_S,
        every_s=0.1,
    )
    async with open_house(inline=False, standby=section) as house:
        try:
            yield house
        finally:
            store.open.set()


async def test_a_message_with_an_unknown_outcome_is_accepted_once(awaited, store):
    store.open.clear()
    command = SendMessage(to=TO, body="hello")
    with pytest.raises(OutcomeUnknown) as told:
        await awaited.gateway.send_message(awaited.principal, command)
    (key,) = told.value.keys
    assert key is not None
    assert awaited.gateway.readiness().reasons[0] == "the second machine does not answer"
    again = SendMessage(to=TO, body="hello", idempotency_key=key)
    with pytest.raises(OutcomeUnknown):  # it is stored here, and that proves nothing yet
        await awaited.gateway.send_message(awaited.principal, again)
    assert awaited.driver.submitted == []
    store.open.set()
    answer = json.loads(await awaited.gateway.send_message(awaited.principal, again))
    await awaited.wait_status(answer["messageId"], "sent")
    assert len(awaited.driver.submitted) == 1


async def send_at_once(house, commands) -> list:
    """The answers to sends that come in the same turn of the loop."""
    answers: list = [None] * len(commands)

    async def ask(n: int) -> None:
        try:
            answers[n] = await house.gateway.send_message(house.principal, commands[n])
        except (OutcomeUnknown, SenderNotApproved) as error:
            answers[n] = error

    async with trio.open_nursery() as nursery:
        for n in range(len(commands)):
            nursery.start_soon(ask, n)
    return answers


@pytest.fixture
def waits(awaited, monkeypatch) -> list[int]:
    """One for each work whose answer waited for the second machine."""
    window, seen = awaited.gateway.services.recorder.answers, []
    really = window.within

    async def within(work, doubt):
        seen.append(1)
        return await really(work, doubt)

    monkeypatch.setattr(window, "within", within)
    return seen


async def test_sends_of_one_turn_wait_together(awaited, waits):
    answers = await send_at_once(awaited, [SendMessage(TO, f"text {n}") for n in range(8)])
    assert len({json.loads(each)["messageId"] for each in answers}) == 8
    assert waits == [1]
    await awaited.driver.wait_submitted(8)


async def test_each_of_those_with_an_unknown_outcome_has_its_own_key(awaited, store):
    store.open.clear()
    given = [None, "mine", None, "yours"]
    commands = [SendMessage(TO, f"text {n}", idempotency_key=k) for n, k in enumerate(given)]
    doubts = await send_at_once(awaited, commands)
    keys = [key for doubt in doubts for key in doubt.keys]
    assert [keys[1], keys[3]] == ["mine", "yours"]
    assert len(set(keys) - {None}) == 4
    assert not any(doubt.of_batch for doubt in doubts)
    store.open.set()
    again = [SendMessage(TO, f"text {n}", idempotency_key=k) for n, k in enumerate(keys)]
    answers = await send_at_once(awaited, again)
    await awaited.driver.wait_submitted(4)
    assert len({json.loads(each)["messageId"] for each in answers}) == 4
    assert len(awaited.driver.submitted) == 4


async def test_a_used_key_among_new_ones_keeps_no_key_from_them(awaited, store):
    """What was answered before is answered again only once the second machine has it. New ones that
    came in the same turn are accepted meanwhile, and so have keys."""
    used = SendMessage(TO, "used", idempotency_key="used")
    await awaited.gateway.send_message(awaited.principal, used)
    await awaited.driver.wait_submitted(1)
    store.open.clear()
    ahead = SendMessage(TO, "ahead", idempotency_key="ahead")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(send_at_once, awaited, [ahead])
        await until_true(lambda: awaited.gateway.services.recorder.journal._log.behind)
        new = [SendMessage(TO, f"text {n}") for n in range(3)]
        doubts = await send_at_once(awaited, [*new, used])
    keys = [key for doubt in doubts for key in doubt.keys]
    assert keys.pop() == "used"
    assert len({*keys} - {None}) == 3
    again = [
        SendMessage(TO, each.body, idempotency_key=key) for each, key in zip(new, keys, strict=True)
    ]
    async with trio.open_nursery() as nursery:
        for each in again:
            nursery.start_soon(send_at_once, awaited, [each])
        await trio.testing.wait_all_tasks_blocked(0.05)
        store.open.set()
    await until_true(lambda: not awaited.gateway.services.intake._keys)
    sent = audit_file(awaited.gateway.services.recorder.journal.path)
    assert (sent.faults, sent.messages) == ((), 5)


async def test_one_that_is_refused_is_told_so_by_a_log_that_is_silent(awaited, store):
    store.open.clear()
    refused = SendMessage(TO, "text", sender="Nope")
    doubt, refusal = await send_at_once(awaited, [SendMessage(TO, "text"), refused])
    assert (type(doubt), type(refusal)) == (OutcomeUnknown, SenderNotApproved)
    (refusal,) = await awaited.gateway.send_batch(awaited.principal, [refused])
    assert isinstance(refusal, SenderNotApproved)


async def test_a_caller_who_goes_takes_nobody_along(awaited, store):
    rounds = 6  # one of three asks for all, by chance: here it is one of the two that go
    for n_round in range(rounds):
        store.open.clear()
        scopes = [trio.CancelScope() for _ in range(3)]

        async def ask(n: int, scopes=scopes) -> None:
            with scopes[n]:
                await awaited.gateway.send_message(awaited.principal, SendMessage(TO, f"text {n}"))

        async with trio.open_nursery() as nursery:
            for n in range(3):
                nursery.start_soon(ask, n)
            await trio.testing.wait_all_tasks_blocked()
            scopes[0].cancel()
            scopes[1].cancel()
            await trio.testing.wait_all_tasks_blocked()
            store.open.set()
        await awaited.driver.wait_submitted(3 * (n_round + 1))
    assert awaited.gateway.services.intake.accepted == 3 * rounds


async def test_items_of_a_batch_have_their_keys(awaited, store):
    store.open.clear()
    commands = [SendMessage(to=TO, body="1"), SendMessage(to=TO, body="2", idempotency_key="k")]
    with pytest.raises(OutcomeUnknown) as told:
        await awaited.gateway.send_batch(awaited.principal, commands)
    made, given = told.value.keys
    assert (given, told.value.of_batch) == ("k", True)
    assert made is not None


async def test_a_check_with_an_unknown_outcome_is_told_by_the_session(awaited, store):
    gateway, principal = awaited.gateway, awaited.principal
    made = await gateway.send_code(principal, SendCode(TO))
    await awaited.driver.wait_submitted(1)
    await until_true(
        lambda: gateway.services.part(second_machine).status.log.status().pieces_behind == 0
    )
    store.open.clear()
    with pytest.raises(OutcomeUnknown):
        await gateway.check_code(principal, made, "wrong")
    with pytest.raises(LogSilent):
        await gateway.settled()
    store.open.set()
    await until_true(lambda: not gateway.services.recorder.answers.is_late)
    await gateway.settled()
    row = gateway.services.repositories.verifications.owned(
        principal.organization_id, principal.mode, made
    )
    assert row.session.attempts == 1


async def test_new_work_is_refused_at_once_until_it_answers(awaited, store):
    store.open.clear()
    for _ in range(3):
        with pytest.raises(OutcomeUnknown):
            await awaited.send()
    await until_true(lambda: awaited.gateway.services.recorder.answers.log.refuses)
    before_s = trio.current_time()
    with pytest.raises(LogSilent):
        await awaited.send()
    with pytest.raises(LogSilent):
        await awaited.gateway.perform("org.create", {"name": "Another"})
    assert trio.current_time() - before_s < WAIT_S
    store.open.set()
    await until_true(lambda: not awaited.gateway.services.recorder.answers.log.refuses)
    await awaited.send("later")
    await awaited.driver.wait_submitted(4)


async def test_no_segment_leaves_before_its_attempt_is_in_the_log(awaited, store):
    log, now_ms = awaited.gateway.services.part(second_machine).status.log, awaited.clock.now_ms()
    message_id = await awaited.send(send_at=now_ms + 300)
    await until_true(lambda: log.status().pieces_behind == 0)
    store.open.clear()
    await until_true(lambda: log.status().pieces_behind > 0)
    await until_true(lambda: awaited.status(message_id) == "processing")
    assert awaited.driver.submitted == []
    store.open.set()
    await awaited.wait_status(message_id, "sent")


async def test_an_operator_lets_answers_go_and_wait_again(awaited, store):
    gateway = awaited.gateway
    shown = await gateway.perform("standby.log", {})
    assert (shown["mode"], shown["awaited"], shown["refuses"]) == ("before_answer", True, False)
    store.open.clear()
    with pytest.raises(Conflict, match="Answers go on waiting"):
        await gateway.perform("standby.async", {})
    store.open.set()
    shown = await gateway.perform("standby.async", {})
    assert (shown["mode"], shown["awaited"], store.awaited) == ("async", False, False)
    store.open.clear()
    await awaited.send()
    metrics = gateway.metrics().decode()
    assert "risala_standby_awaited 0.0" in metrics
    assert "risala_standby_wait_seconds_bucket" in metrics
    store.open.set()
    await gateway.perform("standby.before_answer", {})
    await until_true(lambda: store.awaited)
    trail = await gateway.perform("audit.list", {})
    done = [each["operation"] for each in trail["lines"]]
    assert done[1:3] == ["standby.before_answer", "standby.async"]
