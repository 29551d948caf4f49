"""Operators open countries for an organization and set its prices there; the trail shows it."""

import json

import pytest

from risala.config.numbers import NumbersSection, PriceSection
from risala.engine.model.errors import Invalid
from risala.engine.model.times import iso

SERVED = {"numbers": NumbersSection(countries=("MR", "SN"))}
PRICED = {**SERVED, "prices": (PriceSection(prefix="+221", price="12.00"),)}
ALL = ["send", "verify", "publishable"]


def facts(code, name, *, home):
    return {"code": code, "name": name, "home": home}


async def about(house, name, **given):
    whose = {"organization_id": house.principal.organization_id}
    return await house.gateway.perform(name, {**whose, **given})


async def senegal(house):
    _, found = (await about(house, "country.list"))["countries"]
    return found


async def test_home_alone_is_open_to_a_new_organization(open_house):
    async with open_house(**PRICED) as house:
        home, abroad = (await about(house, "country.list"))["countries"]
    assert home == {
        **facts("MR", "Mauritania", home=True),
        **dict.fromkeys(ALL, True),
        "prices": [{"prefix": "+222", "price": "0.50"}],
    }
    assert abroad == {
        **facts("SN", "Senegal", home=False),
        **dict.fromkeys(ALL, False),
        "prices": [{"prefix": "+221", "price": "12.00"}],
    }


async def test_each_use_is_opened_and_closed_by_itself(open_house):
    async with open_house(**PRICED) as house:
        await about(house, "country.open", country="SN", uses=["send", "publishable"])
        await about(house, "country.open", country="sn", uses=["send"])
        assert [(await senegal(house))[use] for use in ALL] == [True, False, True]
        await about(house, "country.close", country="SN", uses=["publishable", "verify"])
        assert [(await senegal(house))[use] for use in ALL] == [True, False, False]


async def test_a_country_without_a_price_is_not_opened(open_house):
    async with open_house(**SERVED) as house:
        with pytest.raises(Invalid, match="Senegal has no price"):
            await about(house, "country.open", country="SN", uses=["send"])
        await about(house, "price.set", prefix="+22177", price="9.00")
        await about(house, "country.open", country="SN", uses=["send"])


async def test_own_prices_go_before_general_ones(open_house):
    async with open_house(**PRICED) as house:
        await about(house, "price.set", prefix="+22177", price="9.00")
        await about(house, "price.set", prefix="+221", price="11.00")
        await about(house, "price.set", prefix="+221", price="10.00")
        assert (await senegal(house))["prices"] == [
            {"prefix": "+221", "price": "10.00"},
            {"prefix": "+22177", "price": "9.00"},
        ]
        await about(house, "price.drop", prefix="+221")
        assert (await senegal(house))["prices"] == [
            {"prefix": "+221", "price": "12.00"},
            {"prefix": "+22177", "price": "9.00"},
        ]


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("country.open", {"country": "MR", "uses": ["send"]}, "home"),
        ("country.open", {"country": "FR", "uses": ["send"]}, "invalid_country"),
        ("country.open", {"country": "SN", "uses": ["fax"]}, "invalid_use"),
        ("country.open", {"country": "SN", "uses": []}, "invalid_use"),
        ("price.set", {"prefix": "+222", "price": "1"}, "home"),
        ("price.set", {"prefix": "221", "price": "1"}, "invalid_prefix"),
        ("price.set", {"prefix": "+221", "price": "-1"}, "invalid_amount"),
    ],
)
async def test_what_cannot_be_is_refused(open_house, name, given, code):
    async with open_house(**PRICED) as house:
        with pytest.raises(Invalid) as refused:
            await about(house, name, **given)
    assert refused.value.code == code


async def test_the_trail_shows_what_changed(open_house):
    async with open_house(**PRICED) as house:
        await about(house, "country.open", country="SN", uses=["send"])
        await about(house, "price.set", prefix="+221", price="9.00")
        found = await house.gateway.perform("audit.list", {})
    entries = {each["operation"]: each for each in found["lines"]}
    told = json.dumps(entries["country.open"])
    assert "SN" in told, told
    assert "9.00" in json.dumps(entries["price.set"])
    assert entries["country.open"]["organizationId"] == house.principal.organization_id


async def test_figures_lists_and_exports_are_by_country_and_network(open_house, carrier, quick):
    dakar = "+221771234567"
    async with open_house(carrier(prefixes=["+221", "+222"]), **PRICED) as house:
        await about(house, "country.open", country="SN", uses=["send"])
        for to in (dakar, dakar, "+22236123456"):
            await house.wait_status(await house.send(to=to), "sent")
        now_ms = house.gateway.services.recorder.clock.now_ms()
        span = {"since": iso(now_ms - 3_600_000), "until": iso(now_ms + 1)}
        found = await about(house, "overview.show", **span)
        counts = {each["network"]: each["accepted"] for each in found["networks"]}
        assert counts == {"SN/Orange": 2, "mattel": 1}
        for typed in ("+221 77 123 45 67", "00221 77123"):
            listed = await about(house, "message.list", mode="live", contains=typed)
            assert [each["to"] for each in listed["messages"]] == [dakar] * 2
        part = await about(house, "message.export", mode="live", to="+221 77 123 45 67")
        assert [each["to"] for each in part["messages"]] == [dakar] * 2


@pytest.mark.parametrize(
    ("countries", "zone"), [(("FR", "MR"), "Europe/Paris"), (("MR", "FR"), "Africa/Nouakchott")]
)
async def test_a_new_organization_has_the_time_zone_of_home(open_house, countries, zone):
    async with open_house(numbers=NumbersSection(countries=countries)) as house:
        found = await house.gateway.perform("org.create", {"name": "Boulangerie"})
    assert found["timeZone"] == zone
