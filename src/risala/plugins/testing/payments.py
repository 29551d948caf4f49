"""The tests that every payment method must pass. Subclass, say how to build yours, run pytest.

::

    class TestMyCard(PaymentConformance):
        @asynccontextmanager
        async def open_method(self):
            async with my_provider() as self.provider:
                yield MyCard(MySettings(api=self.provider.url))

        async def pay(self, payment):
            self.provider.pay(payment.payment_id)
            return PaymentCallback(*self.provider.callback(), received_at_ms=self.now_ms())
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from risala.plugins.payment import (
    STEP_S,
    CalledBack,
    Claimed,
    Confirmation,
    ForgedCallbackError,
    PaymentCallback,
    PaymentMethodError,
    PaymentPending,
    PaymentSettled,
    Polled,
    normalised_reference,
)
from risala.plugins.payment_texts import HearsTexts, TextReading
from risala.plugins.testing.apart import Leftovers
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.payment_suite import PaymentSuite
from risala.sms.message import Inbound


class PaymentConformance(PaymentSuite):
    """Subclass it as ``class TestSomething(PaymentConformance)``."""

    @check("payment-contract.md#paymentoffer")
    async def test_has_its_shape(self) -> None:
        """The method has the shape of a PaymentMethod, and its offer can be shown."""
        async with self.opened():
            pass

    @check("payment-contract.md#paymentmethodbegin")
    async def test_lets_the_loop_run(self) -> None:
        """The method never blocks the event loop."""
        await self._begin_one()

    @check("payment-contract.md#paymentmethodbegin")
    async def test_answers_in_time(self) -> None:
        """``begin`` returns soon if the provider answers at once."""
        await self._begin_one()

    @check("payment-contract.md#paymentmethoderror")
    async def test_raises_what_the_contract_names(self) -> None:
        """The only exception of a step is PaymentMethodError."""
        await self._begin_one()

    @check("payment-contract.md#paymentpending")
    async def test_answers_with_progress(self) -> None:
        """A step returns PaymentPending, PaymentSettled or PaymentRefused, with valid fields."""
        await self._begin_one()

    @check("payment-contract.md#paymentmethodbegin")
    async def test_begins(self) -> None:
        """A payment can be begun."""
        await self._begin_one()

    async def _begin_one(self) -> None:
        async with self.opened() as method:
            await self.begin(method, self.payment(method))

    @check("payment-contract.md#paymentmethodbegin")
    async def test_begun_again_it_is_the_same_payment(self) -> None:
        """``begin``, called again after a crash, makes no second payment at the provider."""
        async with self.opened() as method:
            payment = self.payment(method)
            first = await self.begin(method, payment)
            second = await self.begin(method, payment)
            answers = [(one.reference, one.checkout_url) for one in (first, second)
                    if isinstance(one, PaymentPending)]  # fmt: skip
            if len(answers) == 2 and answers[0] != answers[1]:
                raise PluginFaultError(
                    "test_begun_again_it_is_the_same_payment",
                    "begin was called twice with the same payment_id, and made two payments at the "
                    "provider: a customer could pay both. Use payment_id as the idempotency key.",
                )

    @check("payment-contract.md#claimedclaim")
    async def test_a_claim_is_no_proof(self) -> None:
        """If the operator confirms payments, ``claim`` settles nothing."""
        name = "test_a_claim_is_no_proof"
        async with self.opened() as method:
            if not isinstance(method, Claimed):
                raise NotApplicable("customers enter nothing after they have paid")
            begun = await self.begin(method, self.payment(method))
            if not isinstance(begun, PaymentPending):
                raise NotApplicable("begin settles or refuses a payment at once")
            entered = {one.name: self.entered[one.name] for one in begun.asks}
            payment = replace(self.payment(method), entered=entered)
            answer: object = await self.step(
                partial(method.claim, payment), "claim", PaymentMethodError
            )
            progress = self.progress(answer, "claim")
            by_operator = begun.confirmation is Confirmation.OPERATOR
            if by_operator and isinstance(progress, PaymentSettled):
                raise PluginFaultError(
                    name,
                    "claim settled a payment by what the customer entered, but anybody can enter "
                    "anything. Only the provider or the operator can say that the money came.",
                )

    @check("payment-contract.md#paymentsettled")
    async def test_what_is_paid_is_settled(self) -> None:
        """A payment that the provider took is settled, with its amount and a reference."""
        name = "test_what_is_paid_is_settled"
        async with self.opened() as method:
            payment, settled = await self.settle(name, method)
            if (settled.amount, settled.currency) != (payment.amount, payment.currency):
                raise PluginFaultError(
                    name,
                    f"{payment.amount} {payment.currency} were paid, but PaymentSettled says "
                    f"{settled.amount} {settled.currency}. The customer gets what it says.",
                )

    @check("payment-contract.md#paymentsettled")
    async def test_told_twice_it_is_the_same(self) -> None:
        """A payment reported twice keeps its provider and reference: it is credited once."""
        name = "test_told_twice_it_is_the_same"
        async with self.opened() as method:
            payment, callback = await self.paid(name, method)
            settled = []
            for _ in range(2):
                if callback is not None:
                    results = [one.result for one in self.heard(name, method, callback)]
                else:
                    results = [await self.poll(method, payment)]  # type: ignore[list-item]
                settled += [one for one in results if isinstance(one, PaymentSettled)]
            pairs = {(one.provider, normalised_reference(one.reference)) for one in settled}
            if len(pairs) > 1:
                raise PluginFaultError(
                    name,
                    "One payment came twice, under two references: it would be credited twice.",
                )

    @check("payment-contract.md#calledbackcallback")
    async def test_forged_callbacks_are_refused(self) -> None:
        """``callback`` raises ForgedCallbackError unless the signature fits the body and time."""
        name = "test_forged_callbacks_are_refused"
        async with self.opened() as method:
            if not isinstance(method, CalledBack):
                raise NotApplicable("the method has no callback")
            _, callback = await self.paid(name, method)
            if callback is None:
                raise NotApplicable("the stand-in sends no callback")
            changed = callback.body.replace(b"0", b"9") + b" "
            forged = {
                "without its headers": replace(callback, headers={}),
                "with another body": replace(callback, body=changed),
                "of 30 days ago": replace(
                    callback, received_at_ms=callback.received_at_ms + 30 * 86_400_000
                ),
                "with nothing in it": PaymentCallback({}, {}, b"", callback.received_at_ms),
            }
            for what, each in forged.items():
                try:
                    method.callback(each)
                except ForgedCallbackError:
                    continue
                except Exception as error:
                    raise PluginFaultError(
                        name,
                        f"callback raised {type(error).__name__} for a callback {what}: the "
                        "service answers as if the fault were its own. Raise ForgedCallbackError.",
                    ) from error
                raise PluginFaultError(
                    name,
                    f"callback accepted a callback {what}: anybody could credit themselves. "
                    "Check the signature over the body as it came, and its time.",
                )

    @check("payment-contract.md#paymentrefused")
    async def test_what_is_declined_is_refused(self) -> None:
        """A payment that the provider declines is never settled."""
        name = "test_what_is_declined_is_refused"
        async with self.opened() as method:
            if not isinstance(method, Polled | CalledBack):
                raise NotApplicable("the operator or the bank's texts settle payments")
            payment = await self.pending(method, self.payment(method))
            callback = await self.optional(partial(self.decline, payment), "decline")
            if callback is not None:
                results = [one.result for one in self.heard(name, method, callback)]
            else:
                results = [await self.poll(method, payment)]  # type: ignore[list-item]
            if any(isinstance(one, PaymentSettled) for one in results):
                raise PluginFaultError(
                    name, "The provider declined the payment, but the method reports it as paid."
                )

    @check("payment-contract.md#paymentmethoderror")
    async def test_says_why(self) -> None:
        """If the provider cannot be reached, a step raises PaymentMethodError with a reason."""
        async with self.opened() as method:
            payment = await self.pending(method, self.payment(method))
            await self.optional(self.break_provider, "break_provider")
            steps = {"begin": partial(method.begin, self.payment(method))}
            if isinstance(method, Polled):
                steps["poll"] = partial(method.poll, payment)
            for name, step in steps.items():
                try:
                    progress = await self.step(step, name, PaymentMethodError, STEP_S)
                except PaymentMethodError as error:
                    self.look_at_reason(error, ())
                else:
                    raise PluginFaultError(
                        "test_says_why",
                        f"The provider could not be reached, but {name} returned "
                        f"{type(progress).__name__}. Nothing is known: raise PaymentMethodError.",
                    )

    @check("payment-contract.md#hearstextsheard")
    async def test_hears_any_text(self) -> None:
        """``heard`` reads any text without an exception."""
        name = "test_hears_any_text"
        async with self.opened() as method:
            if not isinstance(method, HearsTexts):
                raise NotApplicable("the method reads no bank SMS")
            for text in ("", "مرحبا", "0" * 2000, "{amount} \x00 \\d+", "Vous avez recu 1 MRU"):
                message = Inbound("BANK", None, text, self.now_ms())
                try:
                    reading: object = method.heard(message)
                except Exception as error:
                    raise PluginFaultError(
                        name,
                        f"heard raised {type(error).__name__} for an odd text. It must not raise, "
                        "or all later texts wait. Return a reading with TextKind.NO_PATTERN.",
                    ) from error
                if not isinstance(reading, TextReading):
                    raise PluginFaultError(
                        name, f"heard returned a {type(reading).__name__}, not a TextReading."
                    )

    @check("payment-contract.md#paymentmethod")
    async def test_leaves_nothing_running(self) -> None:
        """Once a step is over, no task and no thread of the method runs on."""
        leftovers = Leftovers()
        await self._begin_one()
        if left := await leftovers.wait(self.patience_s):
            raise PluginFaultError(
                "test_leaves_nothing_running",
                f"The step is over, but this still runs: {', '.join(left)}.",
            )
