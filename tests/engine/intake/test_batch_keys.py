"""A batch's items are answered as single requests in their order, also where a key comes again."""

from __future__ import annotations

import json

import pytest
import trio

from risala.config.model import LimitsSection
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import InsufficientBalance, RateLimited
from risala.engine.model.errors import SenderNotApproved as NotApproved

TO = "+22236123456"
KEY = "order-0001"
LONG = "x" * 400
"""Three segments."""


def send(body: str = "hi", **fields) -> SendMessage:
    return SendMessage(TO, body, **{"idempotency_key": KEY, **fields})


def kind(result) -> object:
    """What matters of an answer: which message it names, or how it is refused."""
    return json.loads(result)["messageId"] if isinstance(result, bytes) else type(result)


async def singly(house, commands) -> list:
    answers = []
    for command in commands:
        try:
            answers.append(await house.gateway.send_message(house.principal, command))
        except (NotApproved, RateLimited, InsufficientBalance) as refusal:
            answers.append(refusal)
    return answers


def pattern(answers) -> list:
    """Answers, each message under the number of its first appearance."""
    numbers: dict[object, int] = {}
    return [
        known if isinstance(known := kind(each), type) else numbers.setdefault(known, len(numbers))
        for each in answers
    ]


CASES = {
    "the same twice": ([send(), send()], [0, 0]),
    "another sender": ([send(), send(sender="Nope")], [0, 0]),
    "a refused one leaves no trace": ([send(sender="Nope"), send()], [NotApproved, 0]),
    "unpaid, then paid": ([send(LONG), send()], [InsufficientBalance, 0]),
    "unpaid, then refused": (
        [send(LONG), send(sender="Nope"), send(), send(sender="Nope")],
        [InsufficientBalance, NotApproved, 0, 0],
    ),
    "paid, then unpayable": ([send(), send(LONG)], [0, 0]),
    "two keys": (
        [send(), send(idempotency_key="order-0002"), send()],
        [0, InsufficientBalance, 0],
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_repeated_key_is_answered_as_by_single_requests(open_house, quick, name):
    commands, expected = CASES[name]
    async with open_house(balance="0.50") as house:
        results = await house.gateway.send_batch(house.principal, commands)
        assert pattern(results) == expected
        assert await house.balance() == "0.00"
        alone = await house.organization("0.50")
        house.principal = alone
        assert pattern(await singly(house, commands)) == expected


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([send(), send(), send(sender="Nope")], [0, 0, 0]),
        ([send(), send(idempotency_key="order-0002"), send()], [0, RateLimited, 0]),
    ],
)
async def test_a_repeat_takes_no_token(open_house, quick, commands, expected):
    async with open_house(limits=LimitsSection(sms_per_s=1)) as house:
        assert pattern(await house.gateway.send_batch(house.principal, commands)) == expected
        await trio.sleep(1)
        await house.send("the next second has its token")


async def test_the_token_of_a_key_is_used_once_and_given_back_once(open_house, quick):
    async with open_house(limits=LimitsSection(sms_per_s=3), balance="1") as house:
        # Both could be paid alone; the second cannot after the first, its repeat can.
        commands = [
            send(idempotency_key="order-0000"),
            send("x" * 200),
            send(),
            send("poor", idempotency_key="order-0002"),
        ]
        results = await house.gateway.send_batch(house.principal, commands)
        assert pattern(results) == [0, InsufficientBalance, 1, InsufficientBalance]
        await house.gateway.perform(
            "topup", {"organization_id": house.principal.organization_id, "amount": "10"}
        )
        await house.send("of three tokens one is left")
        with pytest.raises(RateLimited):
            await house.send("and no more")


async def test_a_batch_waits_for_a_key_that_is_being_accepted(open_house):
    async with open_house(inline=False) as house:
        answers: list[bytes] = []

        async def single() -> None:
            answers.append(await house.gateway.send_message(house.principal, send()))

        async def batch(*commands: SendMessage) -> None:
            answers.extend(await house.gateway.send_batch(house.principal, commands))

        other = send(idempotency_key="order-0002")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(single)
            while not house.gateway.services.intake._keys:  # it has its key before the others come
                await trio.lowlevel.checkpoint()
            nursery.start_soon(batch, send(sender="Nope"))
            nursery.start_soon(batch, other, send())
            nursery.start_soon(batch, send(), other)
        ids = [kind(each) for each in answers]
        assert len(ids) == 6
        assert len(set(ids)) == 2
        assert await house.balance() == "999.00"
