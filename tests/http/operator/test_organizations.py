"""Organizations in the console: found, made, suspended, their price and limits, and their money."""

from __future__ import annotations

import re

import pytest

from cases import sweep
from made_invoices import age_entries
from risala.config.payments import LegalSection
from web_browser import Reader

LIST = "/operator/organizations"


@pytest.fixture
def one(post) -> str:
    return f"{LIST}/{post.organization_id}"


async def line(post, operation: str) -> dict:
    """The newest line of the audit trail about an operation."""
    return (await post.do("audit.list", operation=operation))["lines"][0]


def plain(text: str) -> str:
    """A page's text without the isolates around its numbers."""
    return text.replace('<bdi class="num">', "").replace("</bdi>", "")


def names(text: str) -> set[str]:
    return set(re.findall(r"Shop \d\d", text))


async def typed_and_checked(operator: Reader, path: str, fields: dict[str, str]):
    """The page that says what would happen."""
    page = await operator.get(path)
    return await operator.submit(page, f"{path}/check", fields)


async def test_an_organization_is_found_by_its_name_its_id_and_its_owner(post, operator):
    await post.do("org.create", name="Clinique Nasr")
    text = (await operator.get(LIST)).text
    assert "Baraka Market" in text
    assert "Clinique Nasr" in text
    assert "aicha@baraka.example" in text
    for search in ("baraka", post.organization_id, "aicha@baraka.example"):
        text = (await operator.get(f"{LIST}?search={search}")).text
        assert "Baraka Market" in text
        assert "Clinique Nasr" not in text
    assert "No organization matches" in (await operator.get(f"{LIST}?search=nobody")).text
    assert "No organization matches" in (await operator.get(f"{LIST}?status=deleted")).text
    assert (await operator.get(f"{LIST}?status=odd")).status == 422


async def test_the_list_goes_on_page_by_page(post, operator):
    for number in range(51):
        await post.do("org.create", name=f"Shop {number:02}")
    page = await operator.get(f"{LIST}?search=Shop")
    assert "50 organizations, newest first" in plain(page.text)
    seen = names(page.text)
    older = next(each["href"] for tag, each in page.tags if each.get("rel") == "next")
    assert "search=Shop" in older
    page = await operator.get(older)
    assert len(names(page.text)) == 1
    assert len(seen | names(page.text)) == 51


async def test_one_is_made_once_and_gets_its_owner(post, operator):
    page = await operator.get(f"{LIST}/new")
    fields = {"name": "Clinique Nasr", "price_per_segment": "0,75"}
    made = await operator.submit(page, f"{LIST}/new", fields)
    again = await operator.submit(page, f"{LIST}/new", fields)
    assert again.location == made.location
    found = (await post.do("org.list", search="Nasr"))["organizations"]
    assert [(each["name"], each["pricePerSegment"]) for each in found] == [
        ("Clinique Nasr", "0.75")
    ]
    page = await operator.get(made.location)
    assert "Add an owner." in page.text
    assert "It has no owner." in page.text
    members = f"{made.location}/members"
    wrong = await operator.submit(page, members, {"email": "nasr", "role": "owner"})
    assert wrong.status == 422
    assert "This is not an e-mail address." in wrong.text
    done = await operator.submit(wrong, members, {"email": "nasr@nasr.example", "role": "owner"})
    assert done.location == made.location
    text = (await operator.get(made.location)).text
    assert "They are a member now." in text
    assert "It has no owner." not in text
    assert (await line(post, "member.add"))["who"] == "mariem@risala.example"


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"name": ""}, "Fill this in."),
        ({"name": "A", "price_per_segment": "free"}, "Write an amount in digits"),
    ],
)
async def test_what_is_no_organization_is_not_made(post, operator, fields, fault):
    page = await operator.get(f"{LIST}/new")
    refused = await operator.submit(page, f"{LIST}/new", fields)
    assert refused.status == 422
    assert fault in refused.text
    assert len((await post.do("org.list"))["organizations"]) == 1


async def test_its_page_tells_how_it_stands(post, operator, one):
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="100", reference="MS-1", **whose)
    await post.do("key.create", type="secret", name="Shop server", **whose)
    await post.do("sender.request", name="BARAKA", description="Orders", **whose)
    text = (await operator.get(one)).text
    for told in ("MS-1", "Shop server", "BARAKA", "aicha@baraka.example", "Africa/Nouakchott"):
        assert told in text
    assert "sk_live_" not in text
    statement = (await operator.get(f"{one}/statement")).text
    assert "MS-1" in statement
    assert 'id="h-month"' in statement
    assert (await operator.get(f"{one}/statement?month=2026-13")).status == 422
    assert (await operator.get(f"{LIST}/org_none")).status == 404


async def test_suspending_says_what_it_means_and_is_undone(post, operator, one):
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="100", reference="MS-1", **whose)
    await post.do("key.create", type="secret", **whose)
    await post.do("carriers.pause", carrier="fake")
    await post.do("send", to="+22236123456", body="Later", **whose)
    page = await operator.get(f"{one}/suspend")
    text = plain(page.text)
    assert "1 message that has not left is held; it leaves when you resume" in text
    assert "1 API key is refused, with the status 403." in text
    assert "1 member can read and top up" in text
    done = await operator.submit(page, f"{one}/suspend")
    assert done.location == one
    assert (await post.do("org.show", **whose))["status"] == "suspended"
    page = await operator.get(one)
    assert "It is suspended." in page.text
    assert (await operator.get(f"{one}/suspend")).location == one
    assert (await line(post, "org.suspend"))["face"] == "console"
    leads = next(
        each["href"] for tag, each in page.tags if "/audit?thing" in (each.get("href") or "")
    )
    assert "org.suspend" in (await operator.get(leads)).text
    done = await operator.submit(page, f"{one}/resume")
    assert done.location == one
    assert (await post.do("org.show", **whose))["status"] == "active"


async def test_price_and_limits_are_set_and_taken_away(post, operator, one):
    whose = {"organization_id": post.organization_id}
    page = await operator.get(one)
    fields = {"price_per_segment": "0.40", "sms_per_s": "2,5", "spend_cap": "1 000"}
    assert (await operator.submit(page, f"{one}/limits", fields)).location == one
    found = await post.do("org.show", **whose)
    told = (found["pricePerSegment"], found["smsPerSecond"], found["operatorSpendCap"])
    assert told == ("0.40", 2.5, "1000.00")
    page = await operator.get(one)
    assert 'value="2.5"' in page.text
    kept = {"price_per_segment": "", "sms_per_s": "", "spend_cap": "1000"}
    await operator.submit(page, f"{one}/limits", kept)
    found = await post.do("org.show", **whose)
    told = (found["pricePerSegment"], found["smsPerSecond"], found["operatorSpendCap"])
    assert told == (None, None, "1000.00")
    page = await operator.get(one)
    wrong = {"price_per_segment": "cheap", "sms_per_s": "0"}
    refused = await operator.submit(page, f"{one}/limits", wrong)
    assert refused.status == 422
    assert "Write an amount in digits" in refused.text
    assert "Write a number above 0." in refused.text


async def test_where_nobody_pays_there_are_no_prices(post, operator, one):
    whose = {"organization_id": post.organization_id}
    page = await operator.get(one)
    await operator.submit(page, f"{one}/limits", {"price_per_segment": "0.40", "spend_cap": "9"})
    await post.do("payer.set", payer="self")
    page = await operator.get(one)
    for path in (one, LIST, f"{LIST}/new"):
        text = (await operator.get(path)).text
        assert "price_per_segment" not in text
        assert "spend_cap" not in text
        assert "Balance" not in text
    assert "Parts today" in (await operator.get(LIST)).text
    await operator.submit(page, f"{one}/limits", {"sms_per_s": "3"})
    found = await post.do("org.show", **whose)
    told = (found["pricePerSegment"], found["smsPerSecond"], found["operatorSpendCap"])
    assert told == ("0.40", 3, "9.00")


async def test_what_somebody_else_set_meanwhile_is_shown_first(post, operator, one):
    page = await operator.get(one)
    await post.do("org.set", organization_id=post.organization_id, price_per_segment="0.30")
    fields = {"price_per_segment": "0.90"}
    refused = await operator.submit(page, f"{one}/limits", fields)
    assert refused.status == 422
    assert "changed this meanwhile." in refused.text
    assert "Present values:" in refused.text
    await operator.submit(refused, f"{one}/limits", fields)
    found = await post.do("org.show", organization_id=post.organization_id)
    assert found["pricePerSegment"] == "0.90"


async def test_cash_is_credited_once_after_its_figures_were_shown(post, operator, one):
    asked = await typed_and_checked(
        operator, f"{one}/topup", {"amount": "1 500,50", "reference": "R-17", "note": "Cash"}
    )
    assert asked.status == 200
    for told in ("Credit ", "1,500.50", "R-17", "Balance after"):
        assert told in asked.text
    balance = {"organization_id": post.organization_id}
    assert (await post.do("org.show", **balance))["balance"] == "0.00"
    fields = {"amount": "1 500,50", "reference": "R-17", "note": "Cash"}
    done = await operator.submit(asked, f"{one}/topup", fields)
    again = await operator.submit(asked, f"{one}/topup", fields)
    assert again.location == done.location == one
    assert (await post.do("org.show", **balance))["balance"] == "1500.50"
    told = await line(post, "topup")
    assert (told["who"], told["face"]) == ("mariem@risala.example", "console")


async def test_a_reference_is_not_credited_to_a_second(post, operator, one):
    other = (await post.do("org.create", name="Other"))["id"]
    await post.do("topup", organization_id=other, amount="5", reference="R-17")
    asked = await typed_and_checked(operator, f"{one}/topup", {"amount": "5", "reference": "r-17"})
    fields = {"amount": "5", "reference": "r-17"}
    refused = await operator.submit(asked, f"{one}/topup", fields)
    assert refused.status == 422
    assert "was already credited" in refused.text
    assert other in refused.text
    whose = {"organization_id": post.organization_id}
    assert (await post.do("org.show", **whose))["balance"] == "0.00"


@sweep("amount", ["", "0", "-5", "many", "1.234"])
@sweep("way", ["topup", "adjust"])
async def test_what_is_no_amount_is_asked_again(operator, one, way, amount):
    fields = {"amount": amount, "reason": "x", "way": "give"}
    refused = await typed_and_checked(operator, f"{one}/{way}", fields)
    assert refused.status == 422
    assert "Write an amount in digits" in refused.text


async def test_a_balance_is_adjusted_with_its_reason(post, operator, one):
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="100", reference="MS-1", **whose)
    fields = {"amount": "30", "way": "take", "reason": "Charged to another"}
    asked = await typed_and_checked(operator, f"{one}/adjust", fields)
    assert "−30.00" in asked.text
    back = next(each["href"] for tag, each in asked.tags if "reason=" in (each.get("href") or ""))
    again = (await operator.get(back)).text
    assert all(f'value="{typed}"' in again for typed in ("30", "Charged to another"))
    assert "70.00" in asked.text
    done = await operator.submit(asked, f"{one}/adjust", fields)
    await operator.submit(asked, f"{one}/adjust", fields)
    assert done.location == one
    assert (await post.do("org.show", **whose))["balance"] == "70.00"
    assert "Charged to another" in (await operator.get(one)).text
    assert (await line(post, "adjust"))["after"]["reason"] == "Charged to another"


async def test_a_balance_is_not_taken_below_nothing(post, operator, one):
    fields = {"amount": "30", "way": "take", "reason": "Too much"}
    asked = await typed_and_checked(operator, f"{one}/adjust", fields)
    assert "A balance cannot go below zero." in asked.text
    assert "Adjust it" not in asked.text
    page = await operator.get("/operator/account")
    with_key = {**fields, "once": asked.field("once")}
    refused = await operator.submit(page, f"{one}/adjust", with_key, drawn=False)
    assert refused.status == 422
    assert "this adjustment would make it negative." in refused.text
    assert (
        "Fill this in."
        in (await typed_and_checked(operator, f"{one}/adjust", {"amount": "3"})).text
    )


async def test_a_month_as_pdf(post, operator, one):
    page = await operator.get(f"{one}/months/2026-11")
    assert page.status == 200
    assert page.text.startswith("%PDF-")
    assert (await operator.get(f"{one}/months/2026-1")).status == 404


async def test_a_month_that_is_over_gets_its_invoice(post, operator, one, monkeypatch):
    """There is a button where the settings name an issuer and the month cost something."""
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="100", **whose)
    await post.do("send", to="+22236123456", body="Bonjour", **whose)
    month = await age_entries(post.gateway.services)
    statement = f"{one}/statement?month={month}"
    assert "Issue the invoice" not in (await operator.get(statement)).text
    monkeypatch.setattr(LegalSection, "can_invoice", True)
    assert "Issue the invoice" not in (await operator.get(f"{one}/statement")).text
    page = await operator.get(statement)
    assert "Issue the invoice" in page.text
    assert (await operator.submit(page, f"{one}/invoices", {"month": month})).status == 303
    issued = await operator.get(statement)
    assert "The invoice is issued." in issued.text
    assert "Issue the invoice" not in issued.text
    (invoice,) = (await post.do("invoice.list", **whose))["invoices"]
    assert f"{one}/invoices/{invoice['id']}" in issued.text
    page = await operator.get(f"{one}/invoices/{invoice['id']}")
    assert page.text.startswith("%PDF-")
    assert (await line(post, "invoice.issue"))["after"]["number"] == invoice["number"]


async def test_of_a_deleted_one_the_statement_stays(post, operator, one):
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="100", reference="MS-1", **whose)
    await post.do("org.delete", name="Baraka Market", **whose)
    page = await operator.get(one)
    assert "It is deleted." in page.text
    assert "MS-1" in page.text
    assert f"{one}/topup" not in page.text
    assert f"{one}/limits" not in page.text
    assert "Baraka Market" in (await operator.get(f"{LIST}?status=deleted")).text


@pytest.mark.parametrize(("language", "word"), [("fr", "Suspendre"), ("ar", "إيقاف")])
async def test_it_speaks_the_readers_language(operator, one, language, word):
    page = await operator.get("/operator/account")
    await operator.submit(page, "/operator/language", {"language": language, "next": one})
    assert word in (await operator.get(one)).text


async def test_domains_that_wait_are_shown_and_those_of_several_scripts_warn(post, operator, one):
    whose = {"organization_id": post.organization_id, "issuer": "https://id.example.org"}
    domains = ["shop.example", "b\u0430nk.mr"]
    await post.do("provider.set", client_id="us", domains=domains, **whose)
    page = await operator.get(one)
    assert page.status == 200
    assert "shop.example" in page.text
    assert page.text.count('name="mixed_scripts"') == 1
    assert "<bdi>b\u0430nk.mr</bdi>" in page.text
    assert "Cyrillic letters <bdi>\u0430</bdi>" in page.text
    confirmed = await operator.submit(page, f"{one}/domains/confirm", {"domain": "shop.example"})
    assert confirmed.status == 303
