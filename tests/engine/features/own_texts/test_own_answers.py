"""What short codes and service numbers write back to own texts: it is on the carrier's page, and no
customer's."""

from __future__ import annotations

from itertools import count

import pytest
import trio

from risala.config.model import RetentionSection
from risala.engine.features.own_texts.stored import ANSWER_MS, ANSWERS_MAX, NUMBERS_MAX, SHOWN_MAX
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.message import Inbound

CODE = "1234"
PHONE = "+22236123456"
DAY_S = 86_400
_ids = count()


@pytest.fixture
async def house(open_house, quick, carrier):
    """Two carriers, and an organization that gets all incoming texts."""
    drivers = {"a": FakeDriver(), "b": FakeDriver()}
    async with open_house(*map(carrier, drivers), drivers=drivers) as house:
        await house.gateway.perform(
            "inbound.route", {"organization_id": house.principal.organization_id}
        )
        yield house


async def ask(house, number=CODE, carrier="a"):
    await house.gateway.perform(
        "carriers.text", {"carrier": carrier, "number": number, "text": "BALANCE"}
    )


async def came(house, text="You have 500.", sender=CODE, carrier="a", ids=None):
    now_ms = house.clock.now_ms()
    ids = (f"mo{next(_ids)}",) if ids is None else ids
    await house.drivers[carrier].context.inbound(Inbound(sender, "222", text, now_ms, ids))
    await trio.sleep(0.1)


async def answers(house, carrier="a"):
    listed = await house.gateway.perform("carriers.answers", {"carrier": carrier})
    return [(each["from"], each["text"]) for each in listed["answers"]]


async def routed(house):
    """The texts that the organization got."""
    listed = await house.gateway.perform("inbound.list", {})
    whose = {each["organizationId"] for each in listed["messages"]}
    assert whose <= {house.principal.organization_id}
    return [each["text"] for each in listed["messages"]]


async def test_an_answer_is_the_operators_and_no_customers(house, quick):
    await ask(house)
    await came(house)
    assert await answers(house) == [(CODE, "You have 500.")]
    assert await routed(house) == []
    assert await house.events() == []
    talks = {"organization_id": house.principal.organization_id}
    assert (await house.gateway.perform("conversation.list", talks))["conversations"] == []


async def test_a_text_that_answers_nothing_is_the_customers(house, quick):
    await came(house, "before")
    await ask(house)
    await came(house, "of another number", sender="5678")
    await came(house, "by another carrier", carrier="b")
    assert await answers(house) == await answers(house, "b") == []
    assert sorted(await routed(house)) == ["before", "by another carrier", "of another number"]


async def test_a_phone_that_was_texted_writes_to_customers_as_ever(house, quick):
    """`carriers try` goes to a phone: what that writes is no service's answer."""
    await ask(house, PHONE)
    await came(house, "STOP", sender=PHONE)
    assert await answers(house) == []
    assert await routed(house) == ["STOP"]


async def test_after_a_month_it_is_no_answer(house, quick):
    await ask(house)
    house.pass_s(ANSWER_MS / 1000 - 60)
    await came(house, "Your bundle ends.")
    house.pass_s(120)
    await came(house, "Buy another one.")
    assert await answers(house) == [(CODE, "Your bundle ends.")]
    assert await routed(house) == ["Buy another one."]
    await ask(house)
    await came(house, "Done.")
    assert (await answers(house))[0] == (CODE, "Done.")


async def test_one_that_comes_again_is_kept_once(house, quick):
    await ask(house)
    await came(house, ids=("mo-7",))
    await came(house, ids=("mo-7",))
    assert len(await answers(house)) == 1
    await came(house, ids=())
    await came(house, ids=())
    assert len(await answers(house)) == 3  # nothing tells these from two of the same words


async def test_no_more_are_kept_and_shown_than_there_may_be(house, quick):
    await ask(house)
    for n in range(ANSWERS_MAX + 5):
        await came(house, f"answer {n}")
        house.pass_s(1)
    shown = await answers(house)
    assert shown == [(CODE, f"answer {ANSWERS_MAX + 4 - n}") for n in range(SHOWN_MAX)]
    reader = house.gateway.services.repositories._store.reader
    assert reader.execute("SELECT count(*) FROM own_answers").fetchone() == (ANSWERS_MAX,)
    for n in range(NUMBERS_MAX + 5):
        await ask(house, f"{2000 + n}")
        house.pass_s(1)
    numbers = [number for (number,) in reader.execute("SELECT number FROM own_texts")]
    assert sorted(numbers) == [f"{2005 + n}" for n in range(NUMBERS_MAX)]


async def test_they_go_as_incoming_texts_do(open_house, quick, carrier):
    days = RetentionSection(inbound_days=7)
    drivers = {"a": FakeDriver()}
    async with open_house(carrier("a"), drivers=drivers, retention=days) as house:
        await ask(house)
        await came(house, "old")
        house.pass_s(8 * DAY_S)
        await came(house, "new")
        await trio.sleep(2 * 3600)
        assert await answers(house) == [(CODE, "new")]


async def test_the_trail_has_neither_number_nor_answer(house, quick):
    await ask(house)
    await came(house)
    trail = repr(await house.gateway.perform("audit.list", {}))
    assert "You have" not in trail
    assert f"'{CODE}'" not in trail
