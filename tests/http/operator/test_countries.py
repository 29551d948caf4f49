"""The console shows which countries an organization reaches, where several are served, and opens
them."""

from __future__ import annotations

import re

import pytest

from risala.config.numbers import NumbersSection, PriceSection
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

SERVED = {
    "numbers": NumbersSection(countries=("MR", "SN")),
    "prices": (PriceSection(prefix="+221", price="12.00"),),
}


IN_FRANCE = {"numbers": NumbersSection(countries=("FR",))}


@pytest.mark.parametrize("post", [IN_FRANCE], indirect=True)
async def test_examples_and_reasons_are_of_home(post, operator):
    assert 'placeholder="06 12 34 56 78"' in (await operator.get("/operator/carriers")).text
    whose = {"organization_id": post.organization_id}
    found = await post.do("sender.request", **whose, name="PROMO", description="x")
    at = f"/operator/senders/{found['id']}"
    page = await operator.get(at)
    assert "with the country&#39;s telecommunications regulations" in page.text
    await operator.submit(page, f"{at}/deny", {"reason": "regulations"})
    (sender,) = (await post.do("sender.requests", sender_id=found["id"]))["senders"]
    french = load_words(Language.FRENCH)(sender["reason"])
    assert "réglementation des télécommunications du pays" in french
    assert "Mauritan" not in page.text


async def test_home_alone_has_no_panel(post, operator):
    page = await operator.get(f"/operator/organizations/{post.organization_id}")
    assert "h-countries" not in page.text


@pytest.mark.parametrize("post", [SERVED], indirect=True)
async def test_prices_abroad_are_set_and_dropped(post, operator):
    one = f"/operator/organizations/{post.organization_id}"

    async def prices() -> list[tuple[str, str]]:
        found = await post.do("country.list", organization_id=post.organization_id)
        return [(each["prefix"], each["price"]) for each in found["countries"][1]["prices"]]

    page = await operator.get(one)
    assert "general price" in page.text
    refused = await operator.submit(page, f"{one}/prices", {"prefix": "221", "price": "x"})
    assert refused.status == 422
    assert "Write a plus sign and digits" in refused.text
    home = await operator.submit(page, f"{one}/prices", {"prefix": "+222", "price": "1"})
    assert "These are numbers at home" in home.text
    await operator.submit(page, f"{one}/prices", {"prefix": "+22177", "price": "9,50"})
    assert await prices() == [("+221", "12.00"), ("+22177", "9.50")]
    page = await operator.get(one)
    assert "own price" in page.text
    await operator.submit(page, f"{one}/prices", {"prefix": "+22177", "way": "drop"})
    assert await prices() == [("+221", "12.00")]


@pytest.mark.parametrize("post", [{**SERVED, "prices": ()}], indirect=True)
async def test_a_country_without_a_price_is_not_opened(post, operator):
    one = f"/operator/organizations/{post.organization_id}"
    page = await operator.get(one)
    fields = {"country": "SN", "use": "send", "way": "open"}
    refused = await operator.submit(page, f"{one}/countries", fields)
    assert "This country has no price" in refused.text


@pytest.mark.parametrize("post", [SERVED], indirect=True)
async def test_a_country_is_opened_and_closed(post, operator):
    one = f"/operator/organizations/{post.organization_id}"

    async def is_open() -> list[bool]:
        found = (await post.do("country.list", organization_id=post.organization_id))["countries"]
        return [found[1][use] for use in ("send", "verify", "publishable")]

    page = await operator.get(one)
    assert "Senegal" in page.text
    assert "+221" in page.text
    fields = {"country": "SN", "use": "verify", "way": "open"}
    await operator.submit(page, f"{one}/countries", fields)
    assert await is_open() == [False, True, False]
    page = await operator.get(one)
    panel = page.text.partition("h-countries")[2].partition("</section>")[0]
    assert re.findall(r'aria-pressed="(\w+)"', panel) == ["false", "true", "false"]
    assert panel.count("#s-sent") == 1
    await operator.submit(page, f"{one}/countries", {**fields, "way": "close"})
    assert await is_open() == [False, False, False]


TWO = {
    "numbers": NumbersSection(countries=("SN", "MR")),
    "prices": (PriceSection(prefix="+222", price="2.00"),),
}
TYPED = [
    (TWO, "70 123 45 67", "+221701234567", "+221 70 123 45 67", "SN/Expresso"),
    (TWO, "00222 36 12 34 56", "+22236123456", "+222 36 12 34 56", "Mattel"),
    (IN_FRANCE, "06 07 12 34 56", "+33607123456", "+33 6 07 12 34 56", "FR/Orange France"),
]


@pytest.mark.parametrize(("post", "typed", "number", "shown", "network"), TYPED, indirect=["post"])
async def test_numbers_are_typed_and_shown_as_people_write_them(
    post, operator, typed, number, shown, network
):
    mine = {"organization_id": post.organization_id}
    await post.do("topup", amount="100", **mine)
    if number.startswith("+222"):
        await post.do("country.open", country="MR", uses=["send"], **mine)
    sent = await post.do("send", to=number, body="hello", **mine)
    query = typed.replace(" ", "+")
    route = unbroken((await operator.get(f"/operator/carriers?to={query}")).text)
    assert shown in route
    for text in (query, number.removeprefix("+")[-6:]):
        found = unbroken((await operator.get(f"/operator/messages?q={text}&by=to")).text)
        assert shown in found
        assert network in found
    page = unbroken((await operator.get(f"/operator/messages/{sent['messageId']}")).text)
    assert shown in page


@pytest.mark.parametrize("post", [IN_FRANCE], indirect=True)
async def test_a_part_of_a_number_has_as_many_digits_as_its_country_needs(post, operator):
    page = await operator.get("/operator/messages?q=1234&by=to")
    assert page.status == 422
    assert "Type at least 5 digits of the number." in page.text


def unbroken(text):
    return text.replace("\u00a0", " ").replace("\u202f", " ")
