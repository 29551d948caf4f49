"""Cards by Stripe Checkout: the customer pays on a page of Stripe's, reached by a link.

Only two calls and a signature of its API are needed, so they are made here, by the HTTP client that
the rest of the service uses; Stripe's own package would add a second one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from ipaddress import ip_address
from math import ceil
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from risala.config.kinds import Currency, Money
from risala.drivers.payments.patterns import amount_of
from risala.plugins.payment import (
    Confirmation,
    ForgedCallbackError,
    Payment,
    PaymentCallback,
    PaymentMethodError,
    PaymentMethodFactory,
    PaymentOffer,
    PaymentPending,
    PaymentRefused,
    PaymentReport,
    PaymentSettled,
    Progress,
)
from risala.sms.currencies import USUAL, decimals_of

NAME: Final = "stripe"
SIGNED_FOR_MS: Final = 300_000
"""The maximum age of a callback, as Stripe recommends: limits the replay of a captured one."""
POLL_S: Final = 60.0
"""When callbacks do not come: the first look after a minute, then ever later."""
_SESSIONS: Final = "/v1/checkout/sessions"
_PAID: Final = frozenset({"checkout.session.completed", "checkout.session.async_payment_succeeded"})
_OVER: Final = {
    "checkout.session.expired": "expired",
    "checkout.session.async_payment_failed": "declined",
}
_WHY: Final = {
    "expired": {
        "en": "The payment was not made in time. Start again.",
        "fr": "Personne n’a payé à temps. Recommencez.",
        "ar": "لم يدفع أحد في الوقت المحدد. ابدأ من جديد.",
    },
    "declined": {
        "en": "The payment was declined. Start again with another card.",
        "fr": "Le paiement a été refusé. Recommencez avec une autre carte.",
        "ar": "رُفض الدفع. ابدأ من جديد ببطاقة أخرى.",
    },
}
_PRODUCT: Final = {"en": "Top-up", "fr": "Recharge", "ar": "تعبئة الرصيد"}


_DECIMALS: Final = {"ISK": 2, "MGA": 0, "UGX": 2}
"""Currencies whose decimals are not ISO 4217's in Stripe's API."""
Rate = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,12}(\.[0-9]{1,6})?$",
        json_schema_extra={"words": 'an amount in quotes, such as "0.50"'},
    ),
]


class StripeSettings(BaseModel):
    """``[payments.stripe]``."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    secret_key: SecretStr
    """The account's secret key, given as ``secret_key_env``; a restricted one that may write
    Checkout Sessions is enough."""
    webhook_secret: SecretStr
    """What Stripe signs callbacks with (``whsec_…``), given as ``webhook_secret_env``."""
    currency: Currency | None = None
    """What cards are charged in; not set: the currency of balances. Stripe does not know every
    one."""
    rate: Rate = "1"
    """What one of that currency is worth in the currency of balances."""
    decimals: Annotated[int, Field(ge=0, le=3)] | None = None
    """Decimals of the card's currency; not set: as Stripe counts it, 0 for yens and CFA francs."""
    amount_min: Money = "100"
    """The least that may be paid, in the currency of balances: Stripe refuses small sums."""
    api: str = "https://api.stripe.com"
    """Stripe's address; another one only for tries on this machine."""

    @field_validator("api")
    @classmethod
    def _is_safe(cls, api: str) -> str:
        url = urlsplit(api)
        try:
            local = ip_address(url.hostname or "").is_loopback
        except ValueError:
            local = False
        if url.scheme != "https" and not (url.scheme == "http" and local):
            raise ValueError("must begin with https://")
        return api.rstrip("/")

    @field_validator("rate")
    @classmethod
    def _is_worth_something(cls, rate: str) -> str:
        if not Fraction(rate):
            raise ValueError("must be above 0")
        return rate


class StripeCheckout:
    def __init__(self, settings: StripeSettings) -> None:
        # Imported here, so that a service without Stripe has no client to ask it with.
        from risala.drivers.payments.stripe_calls import call

        self._settings = settings
        self._call = partial(call, settings.api, settings.secret_key)
        self._rate = Fraction(settings.rate)
        self._is_test = "_test_" in settings.secret_key.get_secret_value()
        self.offer = PaymentOffer(
            {"en": "Card", "fr": "Carte", "ar": "بطاقة"},
            amount_min=max(1, amount_of(settings.amount_min)),
        )

    def __repr__(self) -> str:
        return "StripeCheckout()"

    # -- requests to the provider

    async def begin(self, payment: Payment) -> Progress:
        charged = self._charged(payment.amount, payment.currency)
        currency = self._currency(payment)
        fields = {
            "mode": "payment",
            "client_reference_id": payment.payment_id,
            "success_url": payment.return_url,
            "cancel_url": payment.return_url,
            "locale": payment.language if payment.language in ("en", "fr") else "auto",
            "line_items[0][quantity]": "1",
            "line_items[0][price_data][currency]": currency,
            "line_items[0][price_data][unit_amount]": str(charged),
            "line_items[0][price_data][product_data][name]": _PRODUCT.get(
                payment.language, _PRODUCT["en"]
            ),
            "metadata[payment]": payment.payment_id,
            "metadata[amount]": str(payment.amount),
            "metadata[currency]": payment.currency,
        }
        # The same key for each repetition: a crash makes no second session.
        headers = {"Idempotency-Key": payment.payment_id}
        session = await self._call("POST", _SESSIONS, urlencode(fields).encode(), headers)
        return self._progress(session, payment.payment_id)

    async def poll(self, payment: Payment) -> Progress:
        if payment.reference is None:
            raise PaymentMethodError("Stripe does not know the session")
        path = f"{_SESSIONS}/{quote(payment.reference, safe='')}"
        session = await self._call("GET", path)
        return self._progress(session, payment.payment_id)

    def _charged(self, amount: int, payment_currency: str) -> int:
        """The amount charged to the card, in the smallest unit of its currency: never less than the
        value of the payment: ``amount`` minor units of ``payment_currency``."""
        currency, places = self._settings.currency or payment_currency, self._settings.decimals
        if places is None:
            places = _DECIMALS.get(currency, decimals_of(currency))
        value = Fraction(amount, 10 ** decimals_of(payment_currency)) / self._rate
        # Stripe takes only tens of the units of a currency with three decimals.
        step: int = 10 if places > USUAL else 1
        units: int = 10**places
        return step * ceil(value * units / step)

    def _currency(self, payment: Payment) -> str:
        return (self._settings.currency or payment.currency).lower()

    def _progress(self, session: Mapping[str, Any], payment_id: str) -> Progress:
        """The state of a session.

        Raises:
            PaymentMethodError: it is not the payment's.
        """
        try:
            if session["client_reference_id"] != payment_id:
                raise PaymentMethodError("Stripe answered with another session")
            settled = self._settled(session)
            if settled is not None:
                return settled
            if session["status"] == "expired":
                return PaymentRefused("expired", _WHY["expired"])
            return PaymentPending(
                Confirmation.PROVIDER,
                reference=str(session["id"]),
                checkout_url=session["url"],
                poll_after_s=POLL_S,
                expires_at_ms=int(session["expires_at"]) * 1000,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise PaymentMethodError("Stripe's answer cannot be read") from error

    def _settled(self, session: Mapping[str, Any]) -> PaymentSettled | None:
        """The paid amount; None: nothing yet.

        Raises:
            ValueError: another sum was paid than requested, or the rate was changed meanwhile.
        """
        if session["payment_status"] != "paid":
            return None
        # The session's metadata can be edited at Stripe: it is compared with the sum that was paid,
        # and by the engine with the payment that it stored.
        metadata = session["metadata"]
        amount, currency = int(metadata["amount"]), str(metadata["currency"])
        paid = (int(session["amount_total"]), str(session["currency"]).upper())
        if paid != (self._charged(amount, currency), self._settings.currency or currency):
            raise ValueError("another amount was paid than requested")
        return PaymentSettled(NAME, str(session["id"]), amount, currency)

    # -- the provider calls

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        self._refuse_forged(callback)
        event = json.loads(callback.body)
        session = event["data"]["object"]
        metadata = session.get("metadata") or {}
        # The purpose of a session never changes at Stripe; its metadata can be edited.
        kind, payment_id = event["type"], session.get("client_reference_id")
        if payment_id is None or bool(event["livemode"]) is self._is_test:
            return ()  # of another shop of the same account, or of its test mode
        if metadata.get("payment") is None:
            return ()  # of another shop that names its sessions too
        if kind in _OVER:
            cause = _OVER[kind]
            return (PaymentReport(PaymentRefused(cause, _WHY[cause]), payment_id),)
        if kind not in _PAID:
            return ()
        try:
            if metadata["payment"] != payment_id:
                raise ValueError("the session was made for another payment")
            settled = self._settled(session)
        except ValueError:
            nothing = PaymentRefused("declined", _WHY["declined"])
            return (PaymentReport(nothing, payment_id, needs_operator=True),)
        return () if settled is None else (PaymentReport(settled, payment_id),)

    def _refuse_forged(self, callback: PaymentCallback) -> None:
        """
        Raises:
            ForgedCallbackError: it is not Stripe's, or was signed long ago.
        """
        signature = callback.headers.get("stripe-signature", "")
        pairs = [each.strip().partition("=") for each in signature.split(",")]
        at = next((value for name, _, value in pairs if name == "t"), "")
        if not (at.isascii() and at.isdigit() and len(at) <= 12):
            raise ForgedCallbackError("a callback from Stripe has no signature")
        secret = self._settings.webhook_secret.get_secret_value().encode()
        signed = hmac.new(secret, f"{at}.".encode() + callback.body, hashlib.sha256).hexdigest()
        if not any(
            name == "v1" and hmac.compare_digest(value.encode(), signed.encode())
            for name, _, value in pairs
        ):
            raise ForgedCallbackError("a callback from Stripe has a wrong signature")
        if abs(callback.received_at_ms - int(at) * 1000) > SIGNED_FOR_MS:
            raise ForgedCallbackError("a callback from Stripe was signed too long ago")


STRIPE: Final = PaymentMethodFactory(
    name=NAME,
    settings=StripeSettings,
    build=StripeCheckout,
    summary="Cards through Stripe Checkout, paid on a Stripe page",
)
