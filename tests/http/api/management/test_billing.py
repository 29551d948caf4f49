"""Statements and invoices for programs with a secret key."""

import pytest

from made_invoices import age_entries, issued

STATEMENT, INVOICES = "/api/billing/statement", "/api/billing/invoices"


async def test_the_month_sums_up(bureau, autojump_clock):
    await bureau.send()
    month = await bureau.ask(STATEMENT)
    assert (month["charged"], month["credited"], month["closing"]) == ("0.50", "100.00", "99.50")
    assert [(each["source"], each["messages"]) for each in month["sources"]] == [("key", 1)]
    (day,) = month["days"]
    assert (day["balanceAfter"], day["sources"]) == ("99.50", month["sources"])
    assert month["senders"][0]["of"] == bureau.key_ids["sk_live"]
    assert "payments" not in month


async def test_a_month_is_named(bureau, autojump_clock):
    await bureau.send()
    month = await age_entries(bureau.gateway.services)
    assert (await bureau.ask(STATEMENT, {"month": month}))["charged"] == "0.50"
    assert (await bureau.ask(STATEMENT))["charged"] == "0.00"


@pytest.mark.parametrize("month", ["2026-13", "2026-1", "", 7, "٢٠٢٦-٠١"])
async def test_what_is_no_month_is_refused(bureau, autojump_clock, month):
    ((path, _),) = await bureau.refused(STATEMENT, {"month": month})
    assert path == ["month"]


async def test_a_test_key_sees_nothing_of_the_money(bureau, autojump_clock):
    await bureau.send()
    await issued(bureau.gateway.services, bureau.organization_id)
    month = await bureau.ask(STATEMENT, key="sk_test")
    assert {month[name] for name in ("opening", "closing", "charged", "credited")} == {"0.00"}
    assert month["days"] == month["senders"] == month["sources"] == []
    assert (await bureau.ask(INVOICES, key="sk_test"))["items"] == []


async def test_a_publishable_key_opens_neither(bureau, autojump_clock):
    for path in (STATEMENT, INVOICES):
        assert (await bureau.post(path, key="pk_live")).status_code == 403


async def test_invoices_are_those_of_the_key_s_organization(bureau, autojump_clock):
    await issued(bureau.gateway.services, bureau.other_id)
    invoice = await issued(bureau.gateway.services, bureau.organization_id)
    page = await bureau.ask(INVOICES)
    (told,) = page["items"]
    assert (told["number"], told["total"]) == (invoice.number, "0.50")
    assert (page["next"], page["previous"]) == (None, None)
    (other,) = (await bureau.ask(INVOICES, key="other_sk_live"))["items"]
    assert other["number"] != told["number"]


async def test_pages_lead_on_and_back(bureau, autojump_clock):
    numbers = [
        (await issued(bureau.gateway.services, bureau.organization_id, months=back)).number
        for back in range(5)
    ][::-1]
    seen, before = [], None
    while True:
        page = await bureau.ask(INVOICES, {"limit": 2, **({"before": before} if before else {})})
        seen += [each["number"] for each in page["items"]]
        if (before := page["next"]) is None:
            break
    assert seen == numbers
    back = await bureau.ask(INVOICES, {"limit": 2, "after": page["previous"]})
    assert [each["number"] for each in back["items"]] == numbers[2:4]
    first = await bureau.ask(INVOICES, {"limit": 2, "after": back["previous"]})
    assert [each["number"] for each in first["items"]] == numbers[:2]
    assert first["previous"] is None
    again = await bureau.ask(INVOICES, {"limit": 2, "before": first["next"]})
    assert [each["number"] for each in again["items"]] == numbers[2:4]
    assert await bureau.refused(INVOICES, {"before": "bTc0"}) == [(["before"], "invalid_cursor")]
