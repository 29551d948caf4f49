"""Stripe Checkout against a stand-in of its API here: what is asked, and what is believed."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio
from pydantic import ValidationError

from risala.drivers.payments.stripe import StripeCheckout, StripeSettings
from risala.plugins.payment import (
    ForgedCallbackError,
    Payment,
    PaymentCallback,
    PaymentMethodError,
    PaymentPending,
    PaymentRefused,
    PaymentSettled,
)
from stripe_stand_in import NOW_MS, SECRET, StandIn, event, signature

PAYMENT = Payment(
    payment_id="pay_1",
    organization_id="org_1",
    amount=50_000,
    currency="MRU",
    language="fr",
    begun_at_ms=NOW_MS,
    return_url="https://sms.example/app/org_1/billing/payments/pay_1",
    callback_url="",
)


@asynccontextmanager
async def standing_in():
    api = StandIn()
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, api.serve, 0, host="127.0.0.1")
        listeners = await nursery.start(serve)
        port = listeners[0].socket.getsockname()[1]
        api.url = f"http://127.0.0.1:{port}"
        yield api
        nursery.cancel_scope.cancel()


def checkout(api: str = "https://api.stripe.example", **settings: Any) -> StripeCheckout:
    given = {"secret_key": "sk_live_1", "webhook_secret": SECRET, "api": api, **settings}
    return StripeCheckout(StripeSettings.model_validate(given))


def signed(body: bytes, secret: str = SECRET, at_s: int = NOW_MS // 1000) -> PaymentCallback:
    headers = {"stripe-signature": signature(body, at_s, secret)}
    return PaymentCallback(headers, {}, body, NOW_MS)


async def test_a_session_is_made_once_and_paid():
    async with standing_in() as api:
        card = checkout(api.url)
        pending = await card.begin(PAYMENT)
        assert isinstance(pending, PaymentPending)
        assert pending.checkout_url == "https://checkout.stripe.example/cs_test_0"
        assert pending.reference == "cs_test_0"
        assert pending.expires_at_ms == NOW_MS + 86_400_000
        assert (await card.begin(PAYMENT)).reference == "cs_test_0"
        _, path, headers, fields = api.asked[0]
        assert path == "/v1/checkout/sessions"
        assert headers["authorization"] == "Bearer sk_live_1"
        assert headers["idempotency-key"] == "pay_1"
        assert fields["mode"] == ["payment"]
        assert fields["success_url"] == [PAYMENT.return_url]
        known = Payment(**{**vars_of(PAYMENT), "reference": "cs_test_0"})
        assert isinstance(await card.poll(known), PaymentPending)
        api.pay()
        settled = PaymentSettled("stripe", "cs_test_0", 50_000, "MRU")
        assert await card.poll(known) == settled
        api.pay(payment_status="unpaid", status="expired")
        refused = await card.poll(known)
        assert isinstance(refused, PaymentRefused)
        assert refused.cause == "expired"


def vars_of(payment: Payment) -> dict[str, Any]:
    return {name: getattr(payment, name) for name in Payment.__dataclass_fields__}


async def test_another_currency_is_charged_rounded_up_and_the_wish_is_credited():
    async with standing_in() as api:
        card = checkout(api.url, currency="EUR", rate="43.20")
        await card.begin(PAYMENT)
        fields = api.asked[0][3]
        assert fields["line_items[0][price_data][unit_amount]"] == ["1158"]
        assert fields["line_items[0][price_data][currency]"] == ["eur"]
        (report,) = card.callback(signed(event("checkout.session.completed", api.pay())))
        assert report.result == PaymentSettled("stripe", "cs_test_0", 50_000, "MRU")
        yens = checkout(api.url, currency="JPY", rate="0.25", decimals=0)
        await yens.begin(Payment(**{**vars_of(PAYMENT), "payment_id": "pay_2"}))
        assert api.asked[-1][3]["line_items[0][price_data][unit_amount]"] == ["2000"]


@pytest.mark.parametrize(
    "spoil",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nno",
        b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b" " * 300_000,
        b"what",
        b"",
    ],
)
async def test_what_is_no_answer_tells_nothing(spoil):
    async with standing_in() as api:
        api.spoil = spoil
        with pytest.raises(PaymentMethodError):
            await checkout(api.url).begin(PAYMENT)


async def test_a_refusal_is_told_by_its_code_and_without_secrets():
    async with standing_in() as api:
        api.status = 402
        with pytest.raises(PaymentMethodError) as refused:
            await checkout(api.url).begin(PAYMENT)
        assert str(refused.value) == "Stripe answered 402 (amount_too_small)"
    with pytest.raises(PaymentMethodError, match="cannot be reached"):
        await checkout(api.url).begin(PAYMENT)
    assert "sk_live" not in repr(checkout())


SESSION = {
    "id": "cs_1",
    "payment_status": "paid",
    "amount_total": 50_000,
    "currency": "mru",
    "client_reference_id": "pay_1",
    "metadata": {"payment": "pay_1", "amount": "50000", "currency": "MRU"},
}


@pytest.mark.parametrize(
    "told",
    [
        signed(event("checkout.session.completed", SESSION), "whsec_of_another"),
        signed(event("checkout.session.completed", SESSION), at_s=NOW_MS // 1000 - 301),
        signed(event("checkout.session.completed", SESSION), at_s=NOW_MS // 1000 + 301),
        PaymentCallback({}, {}, event("checkout.session.completed", SESSION), NOW_MS),
        PaymentCallback({"stripe-signature": "t=x,v1=y"}, {}, b"{}", NOW_MS),
        PaymentCallback({"stripe-signature": "t=²,v1=y"}, {}, b"{}", NOW_MS),
    ],
)
def test_what_stripe_did_not_sign_is_not_believed(told):
    with pytest.raises(ForgedCallbackError):
        checkout().callback(told)


def test_what_was_signed_holds_to_the_last_octet():
    told = signed(event("checkout.session.completed", SESSION))
    more = PaymentCallback(told.headers, {}, told.body.replace(b"50000", b"90000"), NOW_MS)
    with pytest.raises(ForgedCallbackError):
        checkout().callback(more)


@pytest.mark.parametrize(
    ("kind", "changes", "found"),
    [
        ("checkout.session.completed", {}, PaymentSettled("stripe", "cs_1", 50_000, "MRU")),
        ("checkout.session.async_payment_succeeded", {}, PaymentSettled),
        ("checkout.session.completed", {"payment_status": "unpaid"}, None),
        ("checkout.session.expired", {}, PaymentRefused),
        ("checkout.session.async_payment_failed", {}, PaymentRefused),
        ("charge.succeeded", {}, None),
        ("checkout.session.completed", {"metadata": {}}, None),
        ("checkout.session.completed", {"metadata": None}, None),
    ],
)
def test_what_an_event_tells(kind, changes, found):
    reports = checkout().callback(signed(event(kind, {**SESSION, **changes})))
    if found is None:
        assert reports == ()
    else:
        (report,) = reports
        assert report.payment_id == "pay_1"
        assert report.result == found or isinstance(report.result, found)


@pytest.mark.parametrize(
    "edited",
    [
        {"amount_total": 5},
        {"currency": "eur"},
        {"metadata": {**SESSION["metadata"], "amount": "5000000"}},
        {"metadata": {**SESSION["metadata"], "amount": "5000000", "charged": "50000"}},
        {"metadata": {**SESSION["metadata"], "payment": "pay_2"}},
        {"metadata": {**SESSION["metadata"], "currency": "EUR"}},
    ],
)
def test_another_sum_waits_for_the_operator(edited):
    """Who has the account at Stripe can edit what a session says, and not what was paid for it."""
    session = {**SESSION, **edited}
    (report,) = checkout().callback(signed(event("checkout.session.completed", session)))
    assert report.needs_operator
    assert report.payment_id == "pay_1"


def test_test_mode_and_live_mode_do_not_know_each_other():
    body = event("checkout.session.completed", SESSION, livemode=False)
    assert checkout().callback(signed(body)) == ()
    assert checkout(secret_key="sk_test_1").callback(signed(body)) != ()


@pytest.mark.parametrize("api", ["http://stripe.example", "ftp://x", "stripe", "http://10.0.0.1"])
def test_its_keys_go_nowhere_unencrypted(api):
    with pytest.raises(ValidationError) as refused:
        checkout(api)
    assert "sk_live" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "asked", "units"),
    [
        ({}, (5_000, "XOF"), "5000"),
        ({}, (12_345, "TND"), "12350"),  # Stripe takes tens of millimes
        ({"currency": "EUR", "rate": "655.957"}, (5_000, "XOF"), "763"),
        ({"currency": "JPY", "rate": "0.25"}, (50_000, "MRU"), "2000"),
        ({}, (5_000, "UGX"), "500000"),  # with two decimals at Stripe alone
    ],
)
async def test_a_card_is_charged_in_the_units_of_its_currency(settings, asked, units):
    async with standing_in() as api:
        wanted = {**vars_of(PAYMENT), "amount": asked[0], "currency": asked[1]}
        await checkout(api.url, **settings).begin(Payment(**wanted))
        assert api.asked[-1][3]["line_items[0][price_data][unit_amount]"] == [units]
