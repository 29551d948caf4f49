"""Policies are asked before a message is accepted; who fails refuses, and blames nobody."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from risala.config.model import PoliciesSection
from risala.engine.intake.policies import STUCK_MAX
from risala.engine.model.commands import CutPart, Principal, SendCode, SendMessage
from risala.engine.model.errors import PolicyFailed, PolicyRefused, SenderNotApproved
from risala.engine.model.records.keys import KeyType
from risala.engine.model.sentences import sentence
from risala.engine.model.states import Mode
from risala.engine.wiring.connections import Connections
from risala.http.common.problems import problem_of
from risala.plugins.policy import (
    PolicyMessage,
    PolicyPass,
    PolicyRefusal,
    PolicyRewrite,
    PolicyVerdict,
)
from risala.sms.message import Alphabet, Concatenation

TO = "+22236123456"
REFUSAL = PolicyRefusal("no_prizes", "Nobody has won anything.")


class Policy:
    """Says what it is told to say, by a message's text."""

    def __init__(self, **verdicts: PolicyVerdict) -> None:
        self.verdicts = verdicts
        self.seen: list[list[PolicyMessage]] = []
        self.fault: Callable[[], Any] | None = None

    async def judge(self, messages: Sequence[PolicyMessage]) -> Sequence[PolicyVerdict]:
        self.seen.append(list(messages))
        if self.fault is not None:
            return await self.fault()
        return [self.verdicts.get(each.text or "code", PolicyPass()) for each in messages]


@pytest.fixture
def open_ruled(open_house):
    @asynccontextmanager
    async def open_one(**policies: Policy):
        tables = {name: {"policy": "some", "codes": True} for name in policies}
        section = PoliciesSection.model_validate(tables)
        outside = Connections(policies=policies)
        async with open_house(outside=outside, policies=section) as house:
            yield house

    return open_one


def numbers(house) -> dict[str, Any]:
    (found,) = house.gateway.services.intake.policies.standings()
    return found


async def test_a_refusal_is_a_400_and_leaves_nothing(open_ruled, quick):
    policy = Policy(prize=REFUSAL)
    async with open_ruled(rules=policy) as house:
        before = await house.balance()
        with pytest.raises(PolicyRefused) as caught:
            await house.send("prize", metadata={"a": "b"})
        problem = problem_of(caught.value)
        assert (problem.status, problem.message) == (400, "Nobody has won anything.")
        assert problem.data == {"code": "POLICY", "reason": "no_prizes"}
        assert await house.balance() == before
        await house.send("hello", sender="RISALA")
        shown, plain = (call[0] for call in policy.seen)
        whose = ("message", house.principal.organization_id, False, TO)
        assert shown == PolicyMessage(*whose, None, "prize", {"a": "b"})
        assert plain.sender == "RISALA"
        assert (numbers(house)["asked"], numbers(house)["refused"]) == (2, 1)


async def test_what_is_rewritten_is_cut_and_priced_as_it_stands(open_ruled, quick):
    long = PolicyRewrite(text="ش" * 71)
    async with open_ruled(first=Policy(hello=long), second=Policy()) as house:
        before = float(await house.balance())
        message_id = await house.send("hello")
        view, entries = house.gateway.show_message(message_id)
        assert (view.body, view.segments, view.encoding) == ("ش" * 71, 2, "ucs2")
        assert float(await house.balance()) == before - 1
        assert (
            sentence(entries[0])
            == "Accepted. Rewritten by the policy first. It waits for its turn."
        )


async def test_each_sees_what_those_before_it_left(open_ruled, quick):
    first, second = Policy(a=PolicyRewrite(text="b")), Policy(b=PolicyRewrite(text="c"))
    async with open_ruled(first=first, second=second) as house:
        view, entries = house.gateway.show_message(await house.send("a"))
        assert view.body == "c"
        assert "the policy first, second." in sentence(entries[0])
        second.verdicts["b"] = REFUSAL
        with pytest.raises(PolicyRefused):
            await house.send("a")


async def test_a_repeat_never_asks_again(open_ruled, quick):
    policy = Policy()
    async with open_ruled(rules=policy) as house:
        first = await house.send("hello", idempotency_key="key-0001")
        policy.verdicts["hello"] = REFUSAL
        assert await house.send("hello", idempotency_key="key-0001") == first
        commands = [
            SendMessage(to=TO, body="hello", idempotency_key="key-0001"),
            SendMessage(to=TO, body="other"),
            SendMessage(to=TO, body="hello"),
        ]
        answers = await house.gateway.send_batch(house.principal, commands)
        assert [type(each) for each in answers] == [bytes, bytes, PolicyRefused]
        assert json.loads(answers[0])["messageId"] == first
        assert [[each.text for each in call] for call in policy.seen] == [
            ["hello"],
            ["other", "hello"],
        ]


async def _raise() -> None:
    raise LookupError("hello")


async def _exit() -> None:
    raise SystemExit(3)


async def _give(verdicts: object) -> object:
    return verdicts


FAULTS = {
    "raises": (_raise, "It raised LookupError, at intake/test_policies.py:"),
    "exits": (_exit, "It raised SystemExit, at intake/test_policies.py:"),
    "hangs": (trio.sleep_forever, "It took longer than 1 s."),
    "none": (lambda: _give(None), "It did not give a verdict on each message."),
    "few": (lambda: _give([]), "It did not give a verdict on each message."),
    "junk": (lambda: _give([True]), "It returned something that is not a verdict."),
    "empty": (
        lambda: _give([PolicyRewrite(text="")]),
        "Its rewritten text cannot be sent: a text has",
    ),
    "nul": (
        lambda: _give([PolicyRewrite(text="\0")]),
        "Its rewritten text cannot be sent: its text",
    ),
    "long": (
        lambda: _give([PolicyRewrite(sender="A" * 99)]),
        "Its rewritten text cannot be sent: ",
    ),
    "unknown": (lambda: _give([PolicyRewrite(sender="SHOP")]), "Its sender is not allowed."),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_one_that_fails_refuses_and_blames_nobody(open_ruled, quick, name):
    fault, reason = FAULTS[name]
    policy = Policy()
    async with open_ruled(rules=policy) as house:
        policy.fault = fault
        before = await house.balance()
        with pytest.raises(PolicyFailed) as caught:
            await house.send("hello")
        assert problem_of(caught.value).status == 503
        with pytest.raises(PolicyFailed):
            await house.gateway.send_batch(house.principal, [SendMessage(to=TO, body="hello")])
        assert await house.balance() == before
        assert numbers(house)["last_error"].startswith(reason)
        assert numbers(house)["failed"] == 2
        policy.fault = None
        await house.send("hello")


async def test_a_part_that_a_customer_cut_stays_within_its_room(open_ruled, quick):
    part = CutPart(Concatenation(7, 2, 1, 8), Alphabet.GSM7)
    policy = Policy(a=PolicyRewrite(text="b" * 153), c=PolicyRewrite(text="d" * 154))
    async with open_ruled(rules=policy) as house:
        view, _ = house.gateway.show_message(await house.send("a", part=part))
        assert (view.body, view.segments, view.encoding) == ("b" * 153, 1, "gsm7")
        with pytest.raises(PolicyFailed):
            await house.send("c", part=part)


async def test_a_sender_that_the_customer_wrote_is_the_customers(open_ruled, quick):
    async with open_ruled(rules=Policy(hello=PolicyRewrite(text="hi"))) as house:
        with pytest.raises(SenderNotApproved):
            await house.send("hello", sender="SHOP")


async def test_one_that_swallows_its_cancellation_holds_up_nobody(open_ruled, quick):
    policy, free = Policy(), trio.Event()

    async def deaf() -> list[PolicyVerdict]:
        with trio.CancelScope(shield=True):
            await free.wait()
        return [PolicyPass()]

    async with open_ruled(rules=policy) as house:
        policy.fault = deaf
        for _ in range(STUCK_MAX + 3):
            with pytest.raises(PolicyFailed):
                await house.send("hello")
        assert len(policy.seen) == STUCK_MAX  # it is asked no more
        assert numbers(house)["state"] == "stuck"
        free.set()
        await trio.testing.wait_all_tasks_blocked()
        policy.fault = None
        await house.send("hello")
        assert numbers(house)["state"] == "running"


async def test_codes_may_be_refused_and_are_not_shown(open_ruled, quick):
    policy = Policy()
    async with open_ruled(rules=policy) as house:
        principal = Principal(house.principal.organization_id, "key", KeyType.SECRET, Mode.LIVE)
        await house.gateway.send_code(principal, SendCode(to=TO))
        assert policy.seen == [
            [PolicyMessage("code", principal.organization_id, False, TO, None, "")]
        ]
        policy.verdicts["code"] = REFUSAL
        with pytest.raises(PolicyRefused):
            await house.gateway.send_code(principal, SendCode(to="+22236123457"))
        arguments = {"organization_id": principal.organization_id, "to": "+22236123458"}
        with pytest.raises(PolicyRefused):
            await house.gateway.perform("verify.send", arguments)
        policy.verdicts["code"] = PolicyRewrite(text="1234")
        with pytest.raises(PolicyFailed):
            await house.gateway.send_code(principal, SendCode(to="+22236123457"))


async def test_what_only_the_service_can_ask_is_not_sent_without_it(open_house, quick):
    section = PoliciesSection.model_validate({"rules": {"policy": "some"}})
    async with open_house(policies=section) as house:
        with pytest.raises(PolicyFailed):
            await house.send("hello")
        assert "start the service" in numbers(house)["last_error"]
