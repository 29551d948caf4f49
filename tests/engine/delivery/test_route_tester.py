"""Where would this number go now, and why; and which numbers nobody serves."""

from __future__ import annotations

import time

import pytest

from patience import HANG_S
from risala.config.model import CarrierSection
from risala.config.numbers import NumbersSection, PriceSection
from risala.engine.delivery.route_tester import tell_unserved
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.records.carriers.state import CarrierCondition
from risala.engine.rules.router import Router
from risala.plugins.contract import Declined, HealthState
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.numbering.plan import plan_of

MATTEL = "+22236123456"
CHINGUITEL = "+22226123456"


async def ask(house, to=MATTEL, **fields):
    return await house.gateway.perform("route.test", {"to": to, **fields})


async def unserved(house):
    return await house.gateway.perform("route.unserved", {})


def reasons(told):
    return {each["carrier"]: each["reason"]["code"] for each in told["candidates"]}


async def test_the_carriers_stand_in_the_order_in_which_they_are_asked(open_house, carrier, quick):
    tables = (
        carrier("all", weight=1),
        carrier("mattel", prefixes=["+2223"], weight=3),
        carrier("second", prefixes=["+2223"], priority=5),
        carrier("others", prefixes=["+2224"]),
    )
    async with open_house(*tables) as house:
        told = await ask(house)
        assert (told["goes"], told["network"]) == ("mattel", "mattel")
        assert [each["carrier"] for each in told["candidates"]] == ["mattel", "second", "all"]
        assert [each["tier"] for each in told["candidates"]] == [1, 2, 3]
        assert reasons(told) == {"mattel": "chosen", "second": "later", "all": "later"}
        assert told["candidates"][0]["match"] == {"code": "prefix", "values": {"prefix": "+2223"}}
        assert told["others"] == [
            {"carrier": "others", "reason": {"code": "other_numbers", "values": {}}}
        ]


async def test_those_of_one_tier_share_by_weight(open_house, carrier, quick):
    async with open_house(carrier("a", weight=1), carrier("b", weight=3)) as house:
        told = await ask(house)
        assert {each["carrier"]: each["share"] for each in told["candidates"]} == {"a": 25, "b": 75}
        assert sorted(reasons(told).values()) == ["chosen", "shares"]


async def test_a_carrier_of_a_network_is_found_by_it_and_one_of_a_prefix_by_that(
    open_house, carrier, quick
):
    tables = (
        carrier("mattel", networks=["mattel"]),
        carrier("fine", networks=["mattel"], prefixes=["+222361"]),
        carrier("off", enabled=False),
    )
    async with open_house(*tables) as house:
        for to, fine in (("+22237123456", "network"), (MATTEL, "prefix")):
            told = await ask(house, to)
            matches = {each["carrier"]: each["match"]["code"] for each in told["candidates"]}
            assert matches == {"fine": fine, "mattel": "network"}
            assert told["others"] == [
                {"carrier": "off", "reason": {"code": "disabled", "values": {}}}
            ]


async def test_what_speaks_against_each_is_told(open_house, carrier, quick):
    drivers = {name: FakeDriver() for name in ("a", "b", "c")}
    tables = (carrier("a"), carrier("b", priority=1), carrier("c", priority=2))
    async with open_house(*tables, drivers=drivers) as house:
        await house.gateway.perform("carriers.pause", {"carrier": "a"})
        drivers["b"].set_health(HealthState.DOWN)
        told = await ask(house)
        assert reasons(told) == {"a": "paused", "b": "link_down", "c": "chosen"}
        drivers["c"].set_health(HealthState.SICK)
        told = await ask(house)
        assert (told["goes"], told["verdict"]["code"]) == (None, "waits")
        assert reasons(told)["c"] == "needs_a_hand"


async def test_a_driver_that_would_not_take_it_says_why(open_house, quick):
    class Choosy(FakeDriver):
        def declines(self, recipient, segments, *, is_next=False):
            return Declined("The day is used up.", 1) if segments > 1 else None

    async with open_house(drivers={"fake": Choosy()}) as house:
        assert (await ask(house))["goes"] == "fake"
        told = await ask(house, segments=2)
        assert told["goes"] is None
        assert told["candidates"][0]["reason"]["values"]["note"] == "The day is used up."


async def test_the_answer_is_what_happens(open_house, carrier, quick):
    drivers = {name: FakeDriver() for name in ("a", "b")}
    async with open_house(carrier("a", weight=2), carrier("b"), drivers=drivers) as house:
        for _ in range(12):
            foretold = (await ask(house))["goes"]
            message_id = await house.send()
            await house.wait_status(message_id, "sent")
            assert house.gateway.show_message(message_id)[0].carrier == foretold


async def test_the_organization_and_its_sender(open_house, quick):
    async with open_house() as house:
        mine = {"organization_id": house.principal.organization_id}
        told = await ask(house, **mine)
        assert told["organization"]["reason"]["code"] == "sends"
        assert told["sender"]["name"] == "RISALA"
        told = await ask(house, sender="Nobody", **mine)
        assert told["sender"]["reason"]["code"] == "not_approved"
        await house.gateway.perform("org.suspend", mine)
        assert (await ask(house, **mine))["organization"]["reason"]["code"] == "suspended"
        with pytest.raises(NotFound):
            await ask(house, organization_id="org_nobody")
        with pytest.raises(Invalid):
            await ask(house, sender="Shop")


async def test_a_country_that_takes_no_names_or_is_not_open(open_house, quick):
    dakar, number = "+221771234567", "+221770000000"
    settings = {
        "numbers": NumbersSection(countries=("MR", "SN"), SN={"sender": number}),
        "prices": (PriceSection(prefix="+221", price="12.00"),),
    }
    async with open_house(**settings) as house:
        mine = {"organization_id": house.principal.organization_id}

        async def told(**more):
            found = await ask(house, dakar, **more)
            whose = found["organization"]
            sender = (found["sender"]["name"], found["sender"]["reason"]["code"])
            return whose and whose["reason"]["code"], sender

        assert await told() == (None, (number, "numeric"))
        assert await told(**mine) == ("country_not_open", (number, "numeric"))
        assert await told(sender="Nobody", **mine) == ("country_not_open", (None, "not_approved"))
        await house.gateway.perform("country.open", {**mine, "country": "SN", "uses": ["send"]})
        assert await told(**mine) == ("sends", (number, "numeric"))
        assert (await ask(house, **mine))["sender"]["reason"]["code"] == "approved"


async def test_numbers_that_nobody_serves_are_named_by_their_beginnings(open_house, carrier, quick):
    tables = (carrier("m", networks=["mattel"]), carrier("few", prefixes=["+22246"]))
    async with open_house(*tables) as house:
        told = await unserved(house)
        names = {each["prefix"]: (each["state"], each["network"]) for each in told["numbers"]}
        assert names["+2222"] == ("unserved", "chinguitel")
        assert names["+22235"] == ("unserved", None)  # a fixed line
        assert names["+22244"] == ("unserved", "mauritel")
        assert "+22246" not in names
        assert not any(each.startswith("+2223") and each != "+22235" for each in names)
        assert (await ask(house, CHINGUITEL))["verdict"]["code"] == "unserved"
        await house.send(to=CHINGUITEL)
        told = await unserved(house)
        assert (told["waiting"], told["waiting_prefixes"]) == (1, ["+22226"])


async def test_numbers_whose_carriers_are_all_down_are_named_with_them(open_house, carrier, quick):
    driver = FakeDriver()
    async with open_house(carrier(), drivers={"fake": driver}) as house:
        assert (await unserved(house))["numbers"] == []
        driver.set_health(HealthState.DOWN)
        told = (await unserved(house))["numbers"]
        assert [each["prefix"] for each in told] == ["+2222", "+2223", "+2224"]
        assert {each["state"] for each in told} == {"down"}
        (one,) = told[0]["carriers"]
        assert (one["carrier"], one["reason"]["code"]) == ("fake", "link_down")


@pytest.mark.parametrize(
    ("countries", "network", "named", "to", "other"),
    [
        (("SN", "MR"), "SN/Orange", "+22176", "+221771234567", "+221761234567"),
        (("FR",), "FR/Orange France", "+3361", "+33607123456", "+33612345678"),
    ],
)
async def test_a_carrier_of_a_network_abroad(
    open_house, carrier, quick, countries, network, named, to, other
):
    served = NumbersSection(countries=countries)
    async with open_house(carrier("o", networks=[network]), numbers=served) as house:
        told = await ask(house, to)
        assert (told["goes"], told["network"]) == ("o", network)
        assert told["candidates"][0]["match"]["values"] == {"network": network}
        assert (await ask(house, other))["verdict"]["code"] == "unserved"
        found = [each["prefix"] for each in (await unserved(house))["numbers"]]
        assert any(each.startswith(named) for each in found)
        assert not any(to.startswith(each) for each in found)
        assert any(other.startswith(each) for each in found)


def served_by(countries, **fields):
    plan, sections = plan_of(countries), [CarrierSection(name="a", driver="fake", **fields)]
    found = tell_unserved(
        Router(sections), sections, lambda *_: (True, CarrierCondition("up", {})), plan
    )
    return {each.prefix: each.network for each in found}


@pytest.mark.slow
def test_ten_thousand_blocks_of_numbers_are_searched_in_a_moment():
    begun = time.process_time()
    assert served_by(("BR",), prefixes=("+55",)) == {}
    gaps = served_by(("BR",), prefixes=(), networks=("BR/Claro",))
    assert len(gaps) > 100
    assert time.process_time() - begun < HANG_S / 10


def test_of_a_country_with_few_known_blocks_no_number_is_missed():
    assert set(served_by(("US",), prefixes=("+1201",))) > {"+1202", "+13"}
    assert plan_of(("US",)).networks() == {"US/Fractel", "US/Onvoy"}, "and none of the Caribbean"
