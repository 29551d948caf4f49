"""The console shows which countries an organization reaches, where several are served, and opens
them."""

from __future__ import annotations

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
    await operator.submit(page, f"{one}/countries", {**fields, "way": "close"})
    assert await is_open() == [False, False, False]
