"""Payments in the console: what waits, crediting once what came, and refusing with a reason."""

from __future__ import annotations

import pytest


@pytest.fixture
async def claim(post):
    """Begins payments, and says that they are paid."""

    async def claim(reference="TX-1001", amount="500", organization_id=None):
        whose = {"organization_id": organization_id or post.organization_id}
        begun = await post.do(
            "payment.begin", method="bankily", amount=amount, language="ar", **whose
        )
        entered = {"reference": reference}
        await post.do("payment.claim", payment_id=begun["id"], entered=entered)
        return begun["id"]

    return claim


async def balance(post):
    return (await post.do("org.show", organization_id=post.organization_id))["balance"]


async def test_what_is_claimed_waits_first(post, claim, operator):
    first, second = await claim(), await claim("<b>TX 1002", "7.50")
    whose = {"organization_id": post.organization_id}
    begun = await post.do("payment.begin", method="bankily", amount="9", **whose)
    page = await operator.get("/operator/payments")
    assert page.text.index(first) < page.text.index(second)
    assert begun["id"] not in page.text
    assert "&lt;b&gt;TX 1002" in page.text
    assert "payments wait for your decision" in page.text
    assert "Bankily" in page.text
    page = await operator.get("/operator/payments?status=open")
    assert begun["id"] in page.text
    assert first not in page.text
    page = await operator.get("/operator/payments?status=all&q=tx1001")
    assert first in page.text
    assert second not in page.text
    assert "No payment matches" in (await operator.get("/operator/payments?q=nobody")).text
    assert (await operator.get("/operator/payments?before=%3C")).status == 422


async def test_a_payment_is_credited_once_with_what_really_came(post, claim, operator):
    at = f"/operator/payments/{await claim()}"
    page = await operator.get(at)
    assert "The balance of <bdi>Baraka Market</bdi> is" in page.text
    assert "العربية" in page.text, "a reason is best written in what its reader reads"
    given = {"amount": "1 450,50", "reference": "TX-1001 "}
    done = await operator.submit(page, f"{at}/confirm", given)
    again = await operator.submit(page, f"{at}/confirm", given)
    assert done.location == again.location == "/operator/payments"
    assert await balance(post) == "1450.50"
    assert (
        "credited, and the owners are notified." in (await operator.get("/operator/payments")).text
    )
    page = await operator.get(at)
    assert "1,450.50" in page.text
    assert f"{at}/confirm" not in page.text
    assert f"{at}/refuse" not in page.text
    lines = (await post.do("audit.list", operation="payment.confirm"))["lines"]
    assert [(each["who"], each["face"]) for each in lines] == [("mariem@risala.example", "console")]


async def test_a_reference_that_was_credited_is_refused_in_words(post, claim, operator):
    other = (await post.do("org.create", name="Clinique Nasr"))["id"]
    first, second = await claim(), await claim("tx 1001", organization_id=other)
    at = f"/operator/payments/{second}"
    page = await operator.get(at)
    assert "<bdi>Baraka Market</bdi> reports the same reference." in page.text
    await post.do("payment.confirm", payment_id=first)
    refused = await operator.submit(page, f"{at}/confirm", {"amount": "500"})
    assert refused.status == 422
    assert "was already credited: <bdi>500.00</bdi> to" in refused.text
    page = await operator.get(at)
    assert "This reference was already credited." in page.text
    assert f'href="/operator/payments/{first}"' in page.text
    assert await balance(post) == "500.00"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"amount": "much"}, "Write an amount in digits"),
        ({"amount": "-5"}, "Write an amount in digits"),
    ],
)
async def test_what_is_no_amount_is_not_credited(post, claim, operator, given, told):
    at = f"/operator/payments/{await claim()}"
    page = await operator.submit(await operator.get(at), f"{at}/confirm", given)
    assert page.status == 422
    assert told in page.text
    assert f'value="{given["amount"]}"' in page.text
    assert await balance(post) == "0.00"


async def test_what_nobody_claimed_needs_a_reference(post, operator):
    whose = {"organization_id": post.organization_id}
    begun = await post.do("payment.begin", method="bankily", amount="9", **whose)
    at = f"/operator/payments/{begun['id']}"
    page = await operator.submit(await operator.get(at), f"{at}/confirm", {"amount": "9"})
    assert page.status == 422
    assert "Fill this in." in page.text
    assert (await operator.submit(page, f"{at}/confirm", {"reference": "TX-5"})).status == 303
    assert await balance(post) == "9.00"


async def test_a_payment_is_refused_with_a_reason_that_its_owners_read(post, claim, operator):
    payment_id = await claim()
    at = f"/operator/payments/{payment_id}"
    page = await operator.submit(await operator.get(at), f"{at}/refuse", {"reason": " "})
    assert page.status == 422
    assert "Fill this in." in page.text
    reason = "No such payment is in the account."
    done = await operator.submit(page, f"{at}/refuse", {"reason": reason})
    assert done.location == "/operator/payments"
    shown = await post.do("payment.show", payment_id=payment_id)
    assert (shown["state"], shown["why"], shown["decidedBy"]) == (
        "refused",
        {"en": reason},
        "mariem@risala.example",
    )
    page = await operator.get(at)
    assert reason in page.text
    assert f"{at}/refuse" not in page.text
    assert f"{at}/confirm" in page.text, "money may come after all"


async def test_there_is_no_such_payment(operator):
    assert (await operator.get("/operator/payments/pay_none")).status == 404
    assert "Nothing waits for you." in (await operator.get("/operator/payments")).text
    assert "No payments" in (await operator.get("/operator/payments?status=refused")).text
