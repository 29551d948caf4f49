"""Who pays: with ``self`` nobody does, and a number of parts a day is the limit."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from risala.config.model import PricingSection
from risala.config.numbers import NumbersSection
from risala.config.payments import BillingSection
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import Conflict, RateLimited, Refusal
from risala.engine.model.states import Mode
from risala.engine.rules.days import next_midnight
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope

SELF = {"billing": BillingSection(payer="self", self_parts_per_day=3), "balance": "0"}


async def about(house, name, /, **given):
    return await house.gateway.perform(name, given)


async def entries(house):
    whose = {"organization_id": house.principal.organization_id}
    return (await about(house, "ledger.list", **whose))["entries"]


async def clean(house):
    return (await about(house, "audit"))["faults"] == []


async def test_nobody_pays_and_the_day_has_a_limit(open_house):
    async with open_house(**SELF) as house:
        for _ in range(3):
            sent = await house.send()
            assert house.gateway.show_message(sent)[0].price == 0
        with pytest.raises(RateLimited) as refused:
            await house.send()
        assert refused.value.limit == "day"
        now_ms = house.clock.now_ms()
        wait_ms = next_midnight("Africa/Nouakchott", now_ms) - now_ms
        assert abs(refused.value.retry_after_s * 1000 - wait_ms) <= 5000
        assert house.gateway.parts_today(house.principal.organization_id) == (3, 3)
        assert await entries(house) == []
        assert await clean(house)


async def test_a_batch_takes_what_the_day_leaves_and_a_long_text_counts_its_parts(open_house):
    async with open_house(**SELF) as house:
        await house.send(body="x" * 161)
        commands = [SendMessage(to="+22236123456", body=each) for each in ("x" * 161, "x", "x")]
        results = await house.gateway.send_batch(house.principal, commands)
        assert [isinstance(each, Refusal) for each in results] == [True, False, True]
        assert await clean(house)


async def test_what_failed_is_not_refunded_and_stays_counted(open_house, carrier):
    refusal = Refused(Scope.FINAL, "NO", cause=Cause.UNKNOWN_NUMBER)
    drivers = {"fake": FakeDriver(always=refusal)}
    async with open_house(carrier(), drivers=drivers, **SELF) as house:
        sent = await house.send()
        await house.wait_status(sent, "failed")
        assert await entries(house) == []
        assert house.gateway.parts_today(house.principal.organization_id) == (1, 3)
        assert await clean(house)


async def test_operators_see_parts_in_place_of_money(open_house):
    async with open_house(**SELF) as house:
        await house.send()
        (listed,) = (await about(house, "org.list"))["organizations"]
        assert (listed["partsToday"], listed["partsPerDay"]) == (1, 3)
        assert listed["balance"] == "0.00"  # as it was, for programs that read it
        await about(house, "payer.set", payer="customers")
        (listed,) = (await about(house, "org.list"))["organizations"]
        assert (listed["partsToday"], listed["partsPerDay"]) == (None, None)


async def test_a_change_holds_from_the_next_message_on(open_house):
    async with open_house(balance="1") as house:
        await house.send()
        await about(house, "payer.set", payer="self", self_parts_per_day=2)
        await house.send()
        whose = house.principal.organization_id
        with pytest.raises(Conflict, match="Nobody pays"):
            await about(house, "topup", organization_id=whose, amount="1")
        await about(house, "payer.set", payer="customers")
        await house.send()
        assert await house.balance() == "0.00"
        assert [each["kind"] for each in await entries(house)] == ["charge", "charge", "topup"]
        assert await clean(house)
        trail = (await about(house, "audit.list", operation="payer.set"))["lines"]
        assert [each["after"]["before"] for each in trail] == ["self", "customers"]


async def test_customers_pay_the_price_from_the_next_message_on(open_house):
    async with open_house(**SELF) as house:
        await house.send()
        await about(house, "payer.set", payer="customers")
        await about(house, "topup", organization_id=house.principal.organization_id, amount="1")
        sent = await house.send()
        assert house.gateway.show_message(sent)[0].price == 50
        assert await house.balance() == "0.50"
        assert await clean(house)


async def test_messages_of_tests_are_not_counted(open_house):
    async with open_house(**SELF) as house:
        test = replace(house.principal, mode=Mode.TEST)
        for _ in range(4):
            await house.gateway.send_message(test, SendMessage(to="+22236123456", body="x"))
        assert house.gateway.parts_today(test.organization_id) == (0, 3)
        assert await clean(house)


async def test_customers_pay_only_where_there_is_a_price(open_house):
    free = {"pricing": PricingSection(per_segment="0")}
    async with open_house(**SELF, **free) as house:
        with pytest.raises(Conflict, match="no price"):
            await about(house, "payer.set", payer="customers")
        assert (await about(house, "payer.show"))["payer"] == "self"


async def test_several_organizations_are_asked_about_twice(open_house):
    async with open_house(balance="1") as house:
        await about(house, "org.create", name="Another")
        with pytest.raises(Conflict) as refused:
            await about(house, "payer.set", payer="self")
        assert refused.value.code == "SEVERAL_ORGANIZATIONS"
        found = await about(house, "payer.set", payer="self", sure=True)
        assert (found["payer"], found["organizations"]) == ("self", 2)


async def test_the_audit_finds_parts_that_were_not_counted(open_house, tmp_path):
    async with open_house(**SELF) as house:
        await house.send()
        with closing(sqlite3.connect(tmp_path / "risala.db")) as conn, conn:
            conn.execute("UPDATE day_parts SET parts = 2")
        faults = (await about(house, "audit"))["faults"]
        assert [each.partition(": ")[2] for each in faults] == [
            "1 parts for which nobody pays, and 2 are counted by day"
        ]


async def test_the_day_of_a_new_organization_is_that_of_home(open_house):
    abroad = {"numbers": NumbersSection(countries=("FR",))}
    async with open_house(**SELF, **abroad) as house:
        for _ in range(3):
            await house.send(to="+33612345678")
        with pytest.raises(RateLimited) as refused:
            await house.send(to="+33612345678")
        now_ms = house.clock.now_ms()
        wait_ms = next_midnight("Europe/Paris", now_ms) - now_ms
        assert abs(refused.value.retry_after_s * 1000 - wait_ms) <= 5000
