"""Nobody sends abroad until an operator opens the country, and then at that number's price."""

import json

import pytest

from risala.config.numbers import NumbersSection, PriceSection
from risala.engine.model.commands import Principal, SendCode, SendMessage
from risala.engine.model.errors import CountryNotOpen, SenderNotApproved
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope

HOME = "+22236123456"
DAKAR = "+221771234567"
PRICED = {
    "numbers": NumbersSection(countries=("MR", "SN")),
    "prices": (PriceSection(prefix="+221", price="12.00"),),
}


async def about(house, name, **given):
    whose = {"organization_id": house.principal.organization_id}
    return await house.gateway.perform(name, {**whose, **given})


async def opened(house, *uses):
    await about(house, "country.open", country="SN", uses=list(uses))


async def code(house, type_, to=DAKAR, mode=Mode.LIVE):
    whose = Principal(house.principal.organization_id, "key", type_, mode)
    return await house.gateway.send_code(whose, SendCode(to=to))


@pytest.mark.parametrize("mode", Mode)
async def test_home_alone_is_reached_until_a_country_is_opened(open_house, mode):
    async with open_house(**PRICED) as house:
        whose = Principal(house.principal.organization_id, "key", KeyType.SECRET, mode)
        await house.send(principal=whose)
        with pytest.raises(CountryNotOpen, match=r"Senegal is not open .* operator"):
            await house.send(to=DAKAR, principal=whose, sender="Unknown")
        await opened(house, "send")
        with pytest.raises(SenderNotApproved):
            await house.send(to=DAKAR, principal=whose, sender="Unknown")
        sent = await house.send(to=DAKAR, principal=whose)
        price = house.gateway.show_message(sent)[0].price
        assert price == (1200 if mode is Mode.LIVE else 0)


async def test_a_message_costs_what_its_number_costs(open_house):
    async with open_house(**PRICED, balance="30") as house:
        await opened(house, "send")
        await house.send()
        assert await house.balance() == "29.50"
        await house.send(to=DAKAR)
        assert await house.balance() == "17.50"
        await about(house, "price.set", prefix="+22177", price="9.00")
        sent = await house.send(to=DAKAR)
        assert house.gateway.show_message(sent)[0].price == 900
        assert await house.balance() == "8.50"
        estimates = [
            (await about(house, "message.estimate", body="hello", **more))["price"]
            for more in ({}, {"to": HOME}, {"to": DAKAR})
        ]
        assert estimates == ["0.50", "0.50", "9.00"]


async def test_statement_refund_and_event_say_the_price_of_the_number(open_house, carrier):
    refusal = Refused(Scope.FINAL, "NO", cause=Cause.UNKNOWN_NUMBER)
    there, drivers = carrier(prefixes=["+221"]), {"fake": FakeDriver(always=refusal)}
    async with open_house(there, drivers=drivers, **PRICED, balance="30") as house:
        await opened(house, "send")
        sent = await house.send(to=DAKAR)
        await house.wait_status(sent, "failed")
        entries = (await about(house, "ledger.list"))["entries"]
        told = [(each["kind"], each["amount"]) for each in reversed(entries)]
        assert told == [("topup", "30.00"), ("charge", "-12.00"), ("refund", "12.00")]
        (event,) = await house.events()
        assert (event["type"], event["price"], event["currency"]) == ("sms.failed", "12.00", "MRU")
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_known_key_is_answered_though_the_country_is_closed_since(open_house):
    async with open_house(**PRICED) as house:
        await opened(house, "send")
        first = await house.send(to=DAKAR, idempotency_key="k")
        await about(house, "country.close", country="SN", uses=["send"])
        assert await house.send(to=DAKAR, idempotency_key="k") == first
        commands = [SendMessage(to=DAKAR, body="hello", idempotency_key=key) for key in "kn"]
        known, new = await house.gateway.send_batch(house.principal, commands)
        assert json.loads(known)["messageId"] == first
        assert isinstance(new, CountryNotOpen)
        assert await house.balance() == "988.00"


async def test_a_batch_refuses_each_number_that_is_not_open(open_house):
    async with open_house(**PRICED) as house:
        commands = [SendMessage(to=to, body="hello") for to in (HOME, DAKAR)]
        good, bad = await house.gateway.send_batch(house.principal, commands)
    assert json.loads(good)["messageId"]
    assert isinstance(bad, CountryNotOpen)


@pytest.mark.parametrize(
    ("use", "opens"),
    [("send", ()), ("verify", (KeyType.SECRET,)), ("publishable", (KeyType.PUBLISHABLE,))],
)
async def test_codes_are_opened_by_themselves(open_house, use, opens):
    async with open_house(**PRICED) as house:
        await opened(house, use)
        for type_ in KeyType:
            if type_ in opens:
                await code(house, type_)
            else:
                with pytest.raises(CountryNotOpen):
                    await code(house, type_)
        assert await house.balance() == ("988.00" if opens else "1000.00")


async def test_a_country_whose_price_is_gone_is_not_reached(open_house):
    async with open_house(**{**PRICED, "prices": ()}) as house:
        await about(house, "price.set", prefix="+221", price="9.00")
        await opened(house, "send")
        await house.send(to=DAKAR)
        await about(house, "price.drop", prefix="+221")
        with pytest.raises(CountryNotOpen):
            await house.send(to=DAKAR)


async def test_a_price_that_changes_while_it_runs_is_that_of_the_next_message(open_house):
    async with open_house(**PRICED, balance="30") as house:
        await opened(house, "send")
        services = house.gateway.services
        for price, balance in (("9.00", "21.00"), (None, "21.00"), ("1.00", "20.00")):
            new = () if price is None else (PriceSection(prefix="+221", price=price),)
            services.intake.retune(services.settings.model_copy(update={"prices": new}))
            if price is None:
                with pytest.raises(CountryNotOpen):
                    await house.send(to=DAKAR)
            else:
                await house.send(to=DAKAR)
            assert await house.balance() == balance


async def test_where_no_names_are_taken_a_number_is_sent(open_house):
    numbers = NumbersSection(countries=("MR", "SN"), SN={"sender": "+221770000000"})
    async with open_house(**{**PRICED, "numbers": numbers}) as house:
        await opened(house, "send")

        async def answer(to, sender):
            command = SendMessage(to=to, body="hello", sender=sender)
            return json.loads(await house.gateway.send_message(house.principal, command))

        usual = (await answer(HOME, None))["from"]
        assert "notice" not in await answer(HOME, usual)
        abroad = await answer(DAKAR, usual)
        assert (abroad["from"], abroad["notice"]["code"]) == (
            "+221770000000",
            "SENDER_NOT_POSSIBLE",
        )
        assert abroad["notice"]["requestedFrom"] == usual
        assert "notice" not in await answer(DAKAR, None)
