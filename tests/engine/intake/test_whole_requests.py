"""A batch that is judged, held and written as a whole comes to what its items come to alone."""

from __future__ import annotations

from random import Random

import pytest
import trio

from cases import seeds
from risala.config.model import LimitsSection
from risala.engine.billing.claims import Reserve
from risala.engine.limits.claims import TakeSms
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import InsufficientBalance, RateLimited, Refusal

TO = "+22236123456"
LONG = "x" * 400
"""Three segments."""
SMS_PER_S = 6
BALANCES = ("0.20", "0.50", "1.00", "2.00", "3.50", "100")
KEYS = (None, None, None, "order-0001", "order-0002")


def commands(random: Random) -> list[SendMessage]:
    return [
        SendMessage(
            TO,
            random.choice(("hi", "hi", LONG)),
            sender="Nope" if random.random() < 0.1 else None,
            idempotency_key=random.choice(KEYS),
        )
        for _ in range(random.randint(1, 9))
    ]


async def singly(house, principal, some) -> list:
    answers: list = []
    for command in some:
        try:
            answers.append(await house.gateway.send_message(principal, command))
        except Refusal as refusal:
            answers.append(refusal)
    return answers


async def left(house, principal) -> tuple[str, int]:
    """The balance, and how many tokens are left in the bucket."""
    services, tokens = house.gateway.services, 0
    try:
        while tokens <= SMS_PER_S:
            await services.limits.ask(TakeSms(principal.organization_id, None))
            tokens += 1
    except RateLimited:
        pass
    return await house.balance(principal), tokens


def told(results) -> list:
    """How each item was answered: by which of the accepted messages, or by which refusal."""
    accepted = [each for each in dict.fromkeys(results) if isinstance(each, bytes)]
    return [
        accepted.index(each) if isinstance(each, bytes) else (type(each), str(each))
        for each in results
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(2, 6))
async def test_a_batch_comes_to_what_its_items_come_to_alone(open_house, quick, seed):
    random = Random(seed)
    async with open_house(limits=LimitsSection(sms_per_s=SMS_PER_S)) as house:
        for _ in range(10):
            some, balance = commands(random), random.choice(BALANCES)
            together = await house.organization(balance)
            alone = await house.organization(balance)
            results = await house.gateway.send_batch(together, some)
            expected = await singly(house, alone, some)
            assert told(results) == told(expected)
            assert await left(house, together) == await left(house, alone)
            await nothing_is_held(house, together)
        assert (await house.gateway.perform("audit", {}))["clean"]


async def nothing_is_held(house, principal) -> None:
    """All that is there can be reserved at once, and a unit more cannot."""
    balance = round(100 * float(await house.balance(principal)))
    ask = house.gateway.services.billing.ask
    with pytest.raises(InsufficientBalance):
        await ask(Reserve(principal.organization_id, balance + 1, 0, None))
    if balance:
        await ask(Reserve(principal.organization_id, balance, 0, None))


async def test_a_whole_batch_asks_its_owners_once(open_house, quick):
    """However many messages it has: a question for tokens, one for the price, and the news."""
    async with open_house() as house:
        services = house.gateway.services
        handled = []
        for count in (2, 200):
            before = [each.statistics().handled for each in (services.limits, services.billing)]
            await house.gateway.send_batch(house.principal, [SendMessage(TO, "hi")] * count)
            await trio.testing.wait_all_tasks_blocked()
            after = [each.statistics().handled for each in (services.limits, services.billing)]
            handled.append([b - a for a, b in zip(before, after, strict=True)])
        assert handled == [[1, 2], [1, 2]]
