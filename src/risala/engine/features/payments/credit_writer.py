"""The credit writer takes a payment one step further, and credits what came, once.

The answer of a method, an operator or a signed callback goes through one transaction that credits
the ledger and stores the payment together. So repetition, another order or a crash still credits
once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.billing.claims import Credit
from risala.engine.features.payments.records import (
    AskedField,
    PaymentChange,
    PaymentCredit,
    PaymentState,
    StoredPayment,
)
from risala.engine.features.payments.rules import PolledSoFar, next_poll
from risala.engine.features.payments.sources import PaymentSources
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, Invalid, Unavailable
from risala.engine.model.money import money
from risala.engine.model.records.ledger import LedgerEntry
from risala.engine.rules.references import comparable
from risala.plugins.payment import (
    STEP_S,
    Confirmation,
    Payment,
    PaymentField,
    PaymentMethod,
    PaymentMethodError,
    PaymentOffer,
    PaymentPending,
    PaymentRefused,
    PaymentSettled,
    Progress,
    normalised_reference,
)

log = structlog.get_logger(__name__)

_NO_ANSWER: Final = "The payment provider does not answer. Try again."

Step = Callable[[Payment], Awaitable[Progress]]


class MethodSilent(Unavailable):
    """A method gave no answer, or an invalid one: nothing is known, nothing was written."""


class CreditWriter:
    def __init__(self, sources: PaymentSources) -> None:
        self._have = sources
        self._turns: dict[str, trio.Lock] = {}

    @asynccontextmanager
    async def turn(self, payment_id: str) -> AsyncIterator[None]:
        """The steps of one payment run one after the other."""
        lock = self._turns.setdefault(payment_id, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked() and not lock.statistics().tasks_waiting:
                self._turns.pop(payment_id, None)

    def method(self, payment: StoredPayment) -> PaymentMethod:
        """Raises ``Unavailable``: it is no longer offered, or no service runs."""
        method = self._have.methods.get(payment.method)
        if method is None:
            raise Unavailable("This payment method is not offered here.")
        return method

    def handed(self, payment: StoredPayment) -> Payment:
        """A payment in the form for its method."""
        url = self._have.public_url
        return Payment(
            payment_id=payment.id,
            organization_id=payment.organization_id,
            amount=payment.amount,
            currency=payment.currency,
            language=payment.language,
            begun_at_ms=payment.begun_at,
            return_url=f"{url}/app/{payment.organization_id}/billing/payments/{payment.id}",
            callback_url=f"{url}/pay/{payment.method}/callback",
            reference=payment.reference,
            entered=dict(payment.entered),
        )

    async def step(self, payment: StoredPayment, ask: Step, *, polls: int = 0) -> StoredPayment:
        """One step of a method, and its consequences.

        Args:
            polls: how often its provider was asked, including this time.

        Raises:
            Unavailable: the method cannot be asked, or the disk did not take it.
        """
        return await self.apply(payment, await self._answer(payment, ask), polls=polls)

    async def _answer(self, payment: StoredPayment, ask: Step) -> Progress:
        try:
            with trio.fail_after(STEP_S):
                progress = await ask(self.handed(payment))
            if not isinstance(progress, PaymentPending | PaymentSettled | PaymentRefused):
                raise TypeError(f"a {type(progress).__name__} is no progress of a payment")
        except (trio.TooSlowError, PaymentMethodError) as error:
            log.warning("payment.method", method=payment.method, reason=str(error))
            raise MethodSilent(_NO_ANSWER) from error
        except Exception as error:
            # A plugin's bug: the payment stays as it was, and others go on.
            log.exception("payment.method_bug", method=payment.method)
            raise MethodSilent(_NO_ANSWER) from error
        return progress

    async def apply(
        self, payment: StoredPayment, progress: Progress, *, polls: int = 0
    ) -> StoredPayment:
        """Store the answer of a method or its provider.

        Raises:
            Unavailable: the disk did not take it.
        """
        if isinstance(progress, PaymentSettled):
            return await self._settle(payment, progress)
        stored, now_ms = self._have.payments, self._have.now_ms()
        if isinstance(progress, PaymentRefused):
            cause, why = progress.cause, dict(progress.text)
            return self.watch(
                await stored.refuse(None, payment.id, cause=cause, why=why, who=None, at=now_ms)
            )
        offer, asks_payer = self._have.methods[payment.method].offer, self._have.codes.are_sent
        change = _of_progress(payment, progress, offer, now_ms, polls, asks_payer)
        return self.watch(await stored.change(None, payment.id, change))

    async def _settle(self, payment: StoredPayment, settled: PaymentSettled) -> StoredPayment:
        """Credit what a provider reports as paid, if it is the requested amount.

        Another sum or currency waits for the operator: anybody with access to the provider's
        account may have changed it, and only the stored payment is ours.
        """
        requested = (payment.amount, payment.currency)
        if (settled.amount, settled.currency) == requested:
            try:
                await self.credit(payment, settled, None, None)
            except (Conflict, Invalid) as error:
                # Its reference was credited to another, or is invalid: only a person can judge
                # this.
                log.error("payment.conflict", payment_id=payment.id, reason=str(error))
            else:
                return self._have.payments.payment(payment.id)
        elif payment.state is PaymentState.CONFIRMED:
            return payment
        else:
            log.error(
                "payment.mismatch",
                payment_id=payment.id,
                asked=f"{money(payment.amount)} {payment.currency}",
                paid=f"{money(settled.amount)} {settled.currency}",
            )
        change: PaymentChange = {
            "by_operator": True,
            "reference": settled.reference,
            "poll_at": None,
        }
        return await self._have.payments.change(None, payment.id, change)

    async def credit(
        self,
        payment: StoredPayment,
        settled: PaymentSettled,
        who: str | None,
        by: AuditEntry | None,
    ) -> LedgerEntry:
        """Credit what came, once.

        Raises:
            Conflict: the reference was credited already.
        """
        new_credit = PaymentCredit(
            payment_id=payment.id,
            provider=settled.provider,
            reference=settled.reference,
            key=key_of("reference", settled.reference),
            amount=settled.amount,
            payer=settled.payer,
            by=who,
            at=self._have.now_ms(),
        )
        return await self.enter(
            payment.organization_id, partial(self._have.payments.credit, by, new_credit)
        )

    async def enter(
        self, organization_id: str, enter: Callable[[], Awaitable[LedgerEntry]]
    ) -> LedgerEntry:
        """Have billing credit an organization by a command.

        Raises:
            Conflict: the reference was credited already.
        """
        entry: LedgerEntry = await self._have.billing.ask(Credit(organization_id, enter))
        self._have.owed()
        return entry

    def watch(self, payment: StoredPayment) -> StoredPayment:
        """Wake the polls of providers, in case this payment is the next."""
        if payment.poll_at is not None:
            self._have.polls.expect(payment.poll_at)
        return payment


# -- what methods answer


def asked_field(payment_field: PaymentField) -> AskedField:
    """A method's field as it is stored and shown."""
    return AskedField(
        payment_field.name,
        dict(payment_field.label),
        payment_field.is_reference,
        payment_field.is_payer,
    )


def _of_progress(
    payment: StoredPayment,
    progress: PaymentPending,
    offer: PaymentOffer,
    now_ms: int,
    polls: int,
    asks_payer: bool,
) -> PaymentChange:
    """The changes to a payment from its method's answer.

    Args:
        polls: how often its provider was asked.
        asks_payer: whether payers' numbers are asked for, because codes can be sent to them.
    """
    change: PaymentChange = {
        "state": PaymentState.WAITING,
        "by_operator": progress.confirmation is Confirmation.OPERATOR,
        "instructions": dict(progress.instructions),
        "checkout_url": _link(payment, progress.checkout_url, offer),
        "asks": tuple(
            asked_field(each) for each in progress.asks if asks_payer or not each.is_payer
        ),
        "expires_at": progress.expires_at_ms,
        **_polled(payment, progress, now_ms, polls),
    }
    if progress.reference is not None:
        change["reference"] = progress.reference
        # None: no report can be matched by it, and the operator decides.
        change["reference_key"] = comparable(progress.reference)
    return change


def _polled(
    payment: StoredPayment, progress: PaymentPending, now_ms: int, polls: int
) -> PaymentChange:
    if progress.poll_after_s is None or progress.poll_after_s < 0:
        return {"poll_at": None, "polls": polls, "poll_every": None}
    every = round(progress.poll_after_s * 1000)
    at = next_poll(PolledSoFar(payment.begun_at, progress.expires_at_ms, every, polls), now_ms)
    return {"poll_at": at, "polls": polls, "poll_every": every}


def _link(payment: StoredPayment, url: str | None, offer: PaymentOffer) -> str | None:
    """The link where the customer pays, if it is safe on a page."""
    if url is None or url.startswith("https://"):
        return url
    if offer.only_in_demo and url.startswith("/pay/"):
        return url
    log.error("payment.checkout", payment_id=payment.id, method=payment.method)
    return None


def key_of(name: str, reference: str) -> str:
    """A reference in comparable form.

    Args:
        name: the name of its field.

    Raises:
        Invalid: it has neither letters nor digits, or too many.
    """
    try:
        return normalised_reference(reference)
    except ValueError:
        text = "A reference has at most 100 letters and digits."
        raise Invalid(f"entered.{name}", "invalid_reference", text) from None
