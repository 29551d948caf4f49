"""Sends that come in one turn of the loop are taken by one unit, and answered as if alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
import trio

from risala.config.model import LimitsSection
from risala.engine.intake import together
from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.messages.acceptance import accept_each
from risala.engine.journal.store.transaction import Group
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import (
    EngineError,
    InsufficientBalance,
    OutcomeUnknown,
    RateLimited,
    Refusal,
    SenderNotApproved,
    StorageFailed,
)

TO = "+22236123456"
LONG = "x" * 400
"""Three segments."""
OWN = {"organizationId", "messageId", "idempotencyKey", "createdAt"}
"""What differs from one answer to the other."""


@pytest.fixture
async def house(open_house):
    async with open_house(inline=False) as house:
        yield house


def texts(count: int) -> list[SendMessage]:
    return [SendMessage(TO, f"text {n}") for n in range(count)]


async def at_once(house, commands: Sequence[SendMessage], principals=None) -> list:
    """The answers to requests that come in the same turn."""
    answers: list = [None] * len(commands)

    async def ask(n: int, command: SendMessage) -> None:
        principal = house.principal if principals is None else principals[n]
        try:
            answers[n] = await house.gateway.send_message(principal, command)
        except (EngineError, RuntimeError) as error:
            answers[n] = error

    async with trio.open_nursery() as nursery:
        for n, command in enumerate(commands):
            nursery.start_soon(ask, n, command)
    return answers


@pytest.fixture
def units(house, monkeypatch) -> list[int]:
    """How many sends each unit had that took sends."""
    journal, seen = house.gateway.services.recorder.journal, []
    really = journal.commit_shielded

    async def commit(unit):
        if getattr(unit, "work", None) is accept_each:
            seen.append(len(unit.items) if isinstance(unit, Group) else 1)
        return await really(unit)

    monkeypatch.setattr(journal, "commit_shielded", commit)
    return seen


def kinds(answers) -> Counter:
    return Counter("sent" if isinstance(each, bytes) else type(each).__name__ for each in answers)


def books(house) -> tuple[int, int]:
    report = audit_file(house.gateway.services.recorder.journal.path)
    assert report.faults == ()
    return report.messages, report.entries


async def test_those_of_one_turn_are_one_unit_and_each_is_charged(house, units):
    answers = await at_once(house, texts(10))
    assert units == [10]
    assert len({json.loads(each)["messageId"] for each in answers}) == 10
    assert books(house) == (10, 11)
    assert await house.balance() == "995.00"


async def test_one_alone_is_a_unit_of_its_own(house, units):
    await house.send("alone")
    assert units == [1]


async def test_each_has_its_own_answer(house):
    commands = [
        SendMessage(TO, "one"),
        SendMessage(TO, "two", sender="Nope"),
        SendMessage(TO, LONG),
        SendMessage("+33612345678", "abroad"),
    ]
    answers = await at_once(house, commands)
    alone = []
    for command in commands:
        alone += await at_once(house, [command])
    assert [shape(each) for each in answers] == [shape(each) for each in alone]
    ids = [json.loads(each)["messageId"] for each in answers if isinstance(each, bytes)]
    assert [house.gateway.show_message(each)[0].segments for each in ids] == [1, 3, 1]


async def test_organizations_are_taken_apart(house, units):
    other = await house.organization("0.50")
    principals = [house.principal, other, house.principal, other]
    answers = await at_once(house, texts(4), principals)
    assert kinds(answers) == {"sent": 3, "InsufficientBalance": 1}
    assert await house.balance() == "999.00"
    assert await house.balance(other) == "0.00"
    assert 2 in units


async def test_where_not_all_can_be_paid_each_is_asked_alone(open_house):
    async with open_house(inline=False, balance="1.50") as house:
        answers = await at_once(house, texts(8))
        assert kinds(answers) == {"sent": 3, "InsufficientBalance": 5}
        assert await house.balance() == "0.00"
        assert books(house) == (3, 4)


async def test_where_there_are_not_tokens_for_all_each_is_asked_alone(open_house):
    async with open_house(inline=False, limits=LimitsSection(sms_per_s=4)) as house:
        answers = await at_once(house, texts(10))
        refused = [each for each in answers if isinstance(each, RateLimited)]
        assert 4 <= kinds(answers)["sent"] <= 6  # some may come back meanwhile
        assert len(refused) == 10 - kinds(answers)["sent"]


async def test_keys_of_their_own_are_taken_together(house, units):
    commands = [SendMessage(TO, "hi", idempotency_key=f"order-000{n}") for n in range(5)]
    answers = await at_once(house, commands)
    assert [json.loads(each)["idempotencyKey"] for each in answers] == [
        each.idempotency_key for each in commands
    ]
    assert units == [5]
    assert await at_once(house, commands) == answers
    assert books(house) == (5, 6)
    assert await house.balance() == "997.50"


async def test_one_key_that_comes_many_times_is_one_message(house):
    commands = [SendMessage(TO, "same", idempotency_key="order-0001")] * 4
    others = texts(3)
    answers = await at_once(house, [*commands, *others])
    assert len(set(answers[:4])) == 1
    assert kinds(answers) == {"sent": 7}
    assert books(house) == (4, 5)
    assert await house.balance() == "998.00"
    assert not house.gateway.services.intake._keys


async def test_a_key_that_was_used_is_answered_among_new_ones(house):
    used = SendMessage(TO, "same", idempotency_key="order-0001")
    (first,) = await at_once(house, [used])
    answers = await at_once(house, [*texts(2), used, *texts(1)])
    assert answers[2] == first
    assert kinds(answers) == {"sent": 4}
    assert books(house) == (4, 5)


@pytest.mark.parametrize("fault", [RuntimeError("a bug"), StorageFailed()])
async def test_what_breaks_a_unit_gives_its_keys_back(house, monkeypatch, fault):
    journal = house.gateway.services.recorder.journal
    really = journal.commit_shielded

    async def breaks(unit):
        if isinstance(unit, Group):
            raise fault
        return await really(unit)

    monkeypatch.setattr(journal, "commit_shielded", breaks)
    commands = [SendMessage(TO, "hi", idempotency_key=f"order-000{n}") for n in range(3)]
    assert kinds(await at_once(house, commands)) == {"sent": 3}
    assert books(house) == (3, 4)
    assert not house.gateway.services.intake._keys


async def test_an_unknown_outcome_tells_each_its_own_key(house, monkeypatch):
    journal = house.gateway.services.recorder.journal
    really = journal.commit_shielded

    async def doubted(unit):
        monkeypatch.setattr(journal, "commit_shielded", really)
        await really(unit)
        raise OutcomeUnknown

    monkeypatch.setattr(journal, "commit_shielded", doubted)
    answers = await at_once(house, texts(4))
    assert kinds(answers) == {"OutcomeUnknown": 4}
    keys = [each.keys for each in answers]
    assert len(set(keys)) == 4
    again = [SendMessage(TO, f"text {n}", idempotency_key=key) for n, (key,) in enumerate(keys)]
    assert kinds(await at_once(house, again)) == {"sent": 4}
    assert books(house) == (4, 5)
    assert await house.balance() == "998.00"


async def test_a_used_key_is_settled_for_itself_beside_what_is_in_doubt(house, monkeypatch):
    journal, settled = house.gateway.services.recorder.journal, []
    really_settled, really = journal.settled, journal.commit_shielded
    used = SendMessage(TO, "same", idempotency_key="order-0001")
    (first,) = await at_once(house, [used])

    async def note():
        settled.append(1)
        await really_settled()

    async def doubted(unit):
        await really(unit)
        raise OutcomeUnknown

    monkeypatch.setattr(journal, "settled", note)
    assert kinds(await at_once(house, [*texts(2), used])) == {"sent": 3}
    assert not settled  # the commit of the others did that
    monkeypatch.setattr(journal, "commit_shielded", doubted)
    *doubts, answer = await at_once(house, [*texts(2), used])
    assert (kinds(doubts), answer, settled) == ({"OutcomeUnknown": 2}, first, [1])


@pytest.mark.parametrize("fault", [RuntimeError("a bug"), StorageFailed()])
async def test_what_breaks_one_unit_is_met_by_each_alone(house, monkeypatch, fault):
    journal = house.gateway.services.recorder.journal
    really = journal.commit_shielded

    async def breaks(unit):
        if isinstance(unit, Group):
            raise fault
        return await really(unit)

    monkeypatch.setattr(journal, "commit_shielded", breaks)
    assert kinds(await at_once(house, texts(5))) == {"sent": 5}
    assert books(house) == (5, 6)
    assert await house.balance() == "997.50"
    assert house.gateway.services.intake.statistics().intake == 0


async def test_what_breaks_after_the_commit_sends_nothing_again(house, monkeypatch):
    intake = house.gateway.services.intake

    def breaks(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(intake._steps, "settled", breaks)
    assert kinds(await at_once(house, texts(5))) == {"RuntimeError": 5}
    assert books(house) == (5, 6)
    assert intake.statistics().intake == 0


@pytest.mark.parametrize("gone", [0, 1, 4])
async def test_a_caller_who_goes_takes_nobody_along(house, gone):
    answers: dict[int, bytes] = {}
    scopes = [trio.CancelScope() for _ in range(5)]

    async def ask(n: int) -> None:
        with scopes[n]:
            answers[n] = await house.gateway.send_message(house.principal, texts(5)[n])

    async with trio.open_nursery() as nursery:
        for n in range(5):
            nursery.start_soon(ask, n)
        await trio.lowlevel.checkpoint()
        scopes[gone].cancel()
    assert {*range(5)} - {gone} <= answers.keys()
    assert books(house) == (5, 6)
    assert house.gateway.services.intake.statistics().intake == 0


async def test_no_more_than_so_many_are_taken_together(house, units, monkeypatch):
    monkeypatch.setattr(together, "TOGETHER_MAX", 4)
    assert kinds(await at_once(house, texts(10))) == {"sent": 10}
    assert max(units) == 4
    assert sum(units) == 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
async def test_together_comes_to_what_they_come_to_alone(open_house, seed):
    """Every second history has idempotency keys, some of them twice. Then there is money for all:
    who comes twice comes last."""
    random, keyed = Random(seed), seed % 2
    money = "1000" if keyed else "100"
    async with open_house(inline=False, balance=money) as house:
        other = await house.organization(money)
        for _ in range(6):
            commands = [command_of(random) for _ in range(random.randint(1, 12))]
            if keyed:
                keys = [random.randint(1, 20) for _ in commands]
                commands = [command_of(Random(key), f"order-{key:04d}") for key in keys]
            answers = await at_once(house, commands)
            alone = []
            for command in commands:
                alone += await at_once(house, [command], [other])
            assert [shape(each) for each in answers] == [shape(each) for each in alone]
        assert await house.balance() == await house.balance(other)
        books(house)


def command_of(random: Random, key: str | None = None) -> SendMessage:
    return SendMessage(
        random.choice((TO, TO, TO, "+33612345678")),
        random.choice(("hi", "hi", LONG, "é" * 80)),
        sender="Nope" if random.random() < 0.2 else None,
        idempotency_key=key,
    )


def shape(answer) -> object:
    """An answer without what is its own: its id, its key and its time."""
    if not isinstance(answer, bytes):
        assert isinstance(answer, SenderNotApproved | InsufficientBalance | Refusal)
        return type(answer), str(answer)
    told = json.loads(answer)
    return {name: told[name] for name in told.keys() - OWN}
