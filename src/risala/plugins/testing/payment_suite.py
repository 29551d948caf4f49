"""The base of the suite of payment methods: what an author overrides, and what checks call."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from typing import ClassVar, Final

from risala.plugins.payment import (
    CalledBack,
    Confirmation,
    ForgedCallbackError,
    Payment,
    PaymentCallback,
    PaymentMethod,
    PaymentMethodError,
    PaymentOffer,
    PaymentPending,
    PaymentRefused,
    PaymentReport,
    PaymentSettled,
    Polled,
    Progress,
    normalised_reference,
)
from risala.plugins.testing.checks import NotApplicable, PluginFaultError
from risala.plugins.testing.step_suite import StepSuite
from risala.sms.numbering.plan import EXAMPLE

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_LANGUAGES: Final = frozenset({"en", "fr", "ar"})
_numbers = count(1)


class PaymentSuite(StepSuite):
    """What the author of a payment method overrides, and what its checks call."""

    risala_suite: ClassVar[str] = "payment method"
    currency: ClassVar[str] = "MRU"
    """The currency of the payments in the checks."""
    entered: ClassVar[Mapping[str, str]] = {"reference": "TX12345678", "payer": EXAMPLE}
    """What a customer enters in the fields that the method asks for."""

    def open_method(self) -> AbstractAsyncContextManager[PaymentMethod]:
        """A built method, with its provider ready."""
        raise NotImplementedError

    async def pay(self, payment: Payment) -> PaymentCallback | None:
        """Have this payment paid at the provider. Return the callback that follows, or None if the
        provider sends none and ``poll`` asks it. Needed if the provider settles payments."""
        raise NotImplementedError

    async def decline(self, payment: Payment) -> PaymentCallback | None:
        """Have the provider decline this payment; returns as :meth:`pay` does. Optional."""
        raise NotImplementedError

    async def break_provider(self) -> None:
        """Make the provider unreachable from now on. Optional."""
        raise NotImplementedError

    def now_ms(self) -> int:
        """UTC epoch milliseconds, as method and provider know them."""
        return time.time_ns() // 1_000_000

    def payment(self, method: PaymentMethod) -> Payment:
        """A payment to begin, of an amount that the method takes."""
        number = next(_numbers)
        least, most = method.offer.amount_min, method.offer.amount_max
        amount = max(least, 50_000) if most is None else min(max(least, 50_000), most)
        base = "https://sms.example"
        return Payment(
            payment_id=f"pay_conformance_{number}",
            organization_id="org_conformance",
            amount=amount,
            currency=self.currency,
            language="fr",
            begun_at_ms=self.now_ms(),
            return_url=f"{base}/app/org_conformance/billing/payments/pay_conformance_{number}",
            callback_url=f"{base}/pay/conformance/callback",
            entered={field.name: self.entered[field.name] for field in method.offer.asks_first},
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[PaymentMethod]:
        async with self.open_method() as method:
            if not isinstance(method, PaymentMethod):
                raise PluginFaultError(
                    "test_has_its_shape",
                    f"{type(method).__name__} is not a payment method: it lacks offer or begin.",
                )
            if fault := _fault_of_offer(method.offer):
                raise PluginFaultError("test_has_its_shape", f"Its offer has {fault}.")
            self.tell_about(method, title=method.offer.title["en"])
            yield method

    async def begin(self, method: PaymentMethod, payment: Payment) -> Progress:
        """Begin a payment while the provider can be reached."""
        try:
            answer: object = await self.step(
                partial(method.begin, payment), "begin", PaymentMethodError
            )
        except PaymentMethodError as error:
            raise PluginFaultError(
                "test_begins",
                f"begin raised PaymentMethodError({str(error)!r}), though the provider answers.",
            ) from error
        return self.progress(answer, "begin")

    def progress(self, answer: object, call: str) -> Progress:
        if not isinstance(answer, PaymentPending | PaymentSettled | PaymentRefused):
            raise PluginFaultError(
                "test_answers_with_progress",
                f"{call} answered with a {type(answer).__name__}: return PaymentPending, "
                "PaymentSettled or PaymentRefused.",
            )
        if fault := _fault_of_progress(answer):
            raise PluginFaultError("test_answers_with_progress", f"{call} answered with {fault}.")
        return answer

    async def pending(self, method: PaymentMethod, payment: Payment) -> Payment:
        """The payment as it is stored once it has begun."""
        progress = await self.begin(method, payment)
        if not isinstance(progress, PaymentPending):
            raise NotApplicable("begin settles or refuses a payment at once")
        return replace(payment, reference=progress.reference)

    async def settle(self, name: str, method: PaymentMethod) -> tuple[Payment, PaymentSettled]:
        """Begin a payment, have it paid, and get its PaymentSettled by callback or poll."""
        payment, callback = await self.paid(name, method)
        if callback is not None:
            reports = self.heard(name, method, callback)
            settled = [one.result for one in reports if isinstance(one.result, PaymentSettled)]
        else:
            progress = await self.poll(method, payment)
            settled = [progress] if isinstance(progress, PaymentSettled) else []
        if not settled:
            raise PluginFaultError(
                name,
                "The provider has the money, but the method returned no PaymentSettled: the "
                "customer paid for nothing.",
            )
        return payment, settled[0]

    async def paid(
        self, name: str, method: PaymentMethod
    ) -> tuple[Payment, PaymentCallback | None]:
        if not isinstance(method, Polled | CalledBack):
            raise NotApplicable("the operator or the bank's texts settle payments")
        payment = await self.pending(method, self.payment(method))
        return payment, await self.shown("payments", name, "pay", partial(self.pay, payment))

    async def poll(self, method: PaymentMethod, payment: Payment) -> Progress:
        if not isinstance(method, Polled):
            raise PluginFaultError(
                "test_what_is_paid_is_settled",
                "The provider calls nobody, and the method has no poll.",
            )
        answer: object = await self.step(partial(method.poll, payment), "poll", PaymentMethodError)
        return self.progress(answer, "poll")

    def heard(
        self, name: str, method: PaymentMethod, callback: PaymentCallback
    ) -> tuple[PaymentReport, ...]:
        if not isinstance(method, CalledBack):
            raise PluginFaultError(name, "The provider calls back, but the plugin has no callback.")
        try:
            heard: object = method.callback(callback)
        except ForgedCallbackError as error:
            raise PluginFaultError(
                name, f"callback took the provider's own callback for a forged one: {error}."
            ) from error
        except Exception as error:
            raise PluginFaultError(
                "test_raises_what_the_contract_names",
                f"callback raised {type(error).__name__}. It may raise only ForgedCallbackError.",
            ) from error
        if not isinstance(heard, tuple) or not all(isinstance(one, PaymentReport) for one in heard):
            raise PluginFaultError(
                "test_answers_with_progress",
                "callback returned something other than a tuple of PaymentReports.",
            )
        return heard


def _fault_of_offer(offer: object) -> str:
    if not isinstance(offer, PaymentOffer):
        return f"the type {type(offer).__name__}, not PaymentOffer"
    if "en" not in offer.title or not {*offer.title} <= _LANGUAGES:
        return "a title without English, or in a language that the pages do not have"
    if offer.amount_min < 1 or (offer.amount_max or offer.amount_min) < offer.amount_min:
        return "an amount_min below 1, or an amount_max below its amount_min"
    wrong = [one.name for one in offer.asks_first if not _NAME.fullmatch(one.name)]
    return f"a field named {wrong[0]!r}: use a-z, 0-9 and _" if wrong else ""


def _fault_of_progress(progress: Progress) -> str:
    """What is wrong with it; empty: nothing."""
    if isinstance(progress, PaymentSettled):
        if not isinstance(progress.amount, int) or progress.amount <= 0 or not progress.provider:
            return "a PaymentSettled without a provider or a positive amount"
        try:
            normalised_reference(progress.reference)
        except ValueError:
            return "a PaymentSettled whose reference has no letters or digits, or too many"
        return ""
    if isinstance(progress, PaymentRefused):
        fits = "en" in progress.text and progress.cause
        return "" if fits else "a PaymentRefused without a cause or an English text"
    word: object = progress.confirmation
    if not isinstance(word, Confirmation):
        return "a PaymentPending whose confirmation is not a Confirmation"
    if progress.instructions and "en" not in progress.instructions:
        return "instructions without English"
    url = progress.checkout_url
    if url is not None and not url.startswith(("https://", "/pay/")):
        return f"a checkout at {url.partition(':')[0]}:, which is neither https:// nor /pay/"
    return ""
