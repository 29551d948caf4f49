"""The built-in payment methods pass the suite that we ship to plugin authors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import trio

from patience import HANG_S
from risala.drivers.payments.mobile_money import BANKILY, MobileMoneySettings
from risala.drivers.payments.sandbox import DECLINED, TAKEN, SandboxCard, SandboxSettings
from risala.drivers.payments.stripe import StripeCheckout, StripeSettings
from risala.plugins.payment import Payment, PaymentCallback, PaymentMethod
from risala.plugins.testing.payments import PaymentConformance
from stripe_stand_in import NOW_MS, SECRET, StandIn, event, signature


class BuiltIn(PaymentConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S


class TestMobileMoney(BuiltIn):
    @asynccontextmanager
    async def open_method(self) -> AsyncIterator[PaymentMethod]:
        yield BANKILY.build(MobileMoneySettings(merchant="012345"))


class TestMobileMoneyBySms(BuiltIn):
    @asynccontextmanager
    async def open_method(self) -> AsyncIterator[PaymentMethod]:
        settings = {
            "merchant": "012345",
            "sms": {
                "carrier": "bank-sim",
                "senders": ["BANK"],
                "patterns": [
                    {"text": "Vous avez recu {amount} MRU de {payer}. Ref {reference}."},
                    {"kind": "notice", "text": r"\d+"},
                ],
            },
        }
        yield BANKILY.build(MobileMoneySettings.model_validate(settings))


class TestSandbox(BuiltIn):
    @asynccontextmanager
    async def open_method(self) -> AsyncIterator[PaymentMethod]:
        self.card = SandboxCard(SandboxSettings())
        yield self.card

    async def pay(self, payment: Payment) -> PaymentCallback:
        return self.card.played(payment, TAKEN, self.now_ms())

    async def decline(self, payment: Payment) -> PaymentCallback:
        return self.card.played(payment, DECLINED, self.now_ms())


class TestStripe(BuiltIn):
    secrets = ("sk_live_of_the_test", SECRET)

    def now_ms(self) -> int:
        return NOW_MS

    @asynccontextmanager
    async def open_method(self) -> AsyncIterator[PaymentMethod]:
        self.api = StandIn()
        async with trio.open_nursery() as nursery:
            serve = partial(trio.serve_tcp, self.api.serve, 0, host="127.0.0.1")
            (listener,) = await nursery.start(serve)
            given = {
                "secret_key": self.secrets[0],
                "webhook_secret": SECRET,
                "api": f"http://127.0.0.1:{listener.socket.getsockname()[1]}",
            }
            yield StripeCheckout(StripeSettings.model_validate(given))
            nursery.cancel_scope.cancel()

    def signed(self, body: bytes) -> PaymentCallback:
        headers = {"stripe-signature": signature(body, NOW_MS // 1000)}
        return PaymentCallback(headers, {}, body, NOW_MS)

    async def pay(self, payment: Payment) -> PaymentCallback:
        session = self.api.pay(payment.reference)
        return self.signed(event("checkout.session.completed", session))

    async def decline(self, payment: Payment) -> PaymentCallback:
        session = self.api.pay(payment.reference, payment_status="unpaid", status="expired")
        return self.signed(event("checkout.session.expired", session))

    async def break_provider(self) -> None:
        self.api.spoil = b"what"


class TestStripeThatIsAsked(TestStripe):
    """No callback reaches it: what was paid is found by asking."""

    async def pay(self, payment: Payment) -> None:
        self.api.pay(payment.reference)

    async def decline(self, payment: Payment) -> None:
        self.api.pay(payment.reference, payment_status="unpaid", status="expired")
