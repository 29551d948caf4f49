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

    def method(self, found: StoredPayment) -> PaymentMethod:
        """Raises ``Unavailable``: it is no longer offered, or no service runs."""
        method = self._have.methods.get(found.method)
        if method is None:
            raise Unavailable("This payment method is not offered here.")
        return method

    def handed(self, found: StoredPayment) -> Payment:
        """A payment in the form for its method."""
        url = self._have.public_url
        return Payment(
            payment_id=found.id,
            organization_id=found.organization_id,
            amount=found.amount,
            currency=found.currency,
            language=found.language,
            begun_at_ms=found.begun_at,
            return_url=f"{url}/app/{found.organization_id}/billing/payments/{found.id}",
            callback_url=f"{url}/pay/{found.method}/callback",
            reference=found.reference,
            entered=dict(found.entered),
        )

    async def step(self, found: StoredPayment, ask: Step, *, polls: int = 0) -> StoredPayment:
        """One step of a method, and its consequences.

        Args:
            polls: how often its provider was asked, including this time.

        Raises:
            Unavailable: the method cannot be asked, or the disk did not take it.
        """
        return await self.apply(found, await self._answer(found, ask), polls=polls)

    async def _answer(self, found: StoredPayment, ask: Step) -> Progress:
        try:
            with trio.fail_after(STEP_S):
                progress = await ask(self.handed(found))
            if not isinstance(progress, PaymentPending | PaymentSettled | PaymentRefused):
                raise TypeError(f"a {type(progress).__name__} is no progress of a payment")
        except (trio.TooSlowError, PaymentMethodError) as error:
            log.warning("payment.method", method=found.method, reason=str(error))
            raise MethodSilent(_NO_ANSWER) from error
        except Exception as error:
            # A plugin's bug: the payment stays as it was, and others go on.
            log.exception("payment.method_bug", method=found.method)
            raise MethodSilent(_NO_ANSWER) from error
        return progress

    async def apply(
        self, found: StoredPayment, progress: Progress, *, polls: int = 0
    ) -> StoredPayment:
        """Store the answer of a method or its provider.

        Raises:
            Unavailable: the disk did not take it.
        """
        if isinstance(progress, PaymentSettled):
            return await self._settle(found, progress)
        stored, now_ms = self._have.payments, self._have.now_ms()
        if isinstance(progress, PaymentRefused):
            cause, why = progress.cause, dict(progress.text)
            return self.watch(
                await stored.refuse(None, found.id, cause=cause, why=why, who=None, at=now_ms)
            )
        offer, asks_payer = self._have.methods[found.method].offer, self._have.codes.are_sent
        change = _of_progress(found, progress, offer, now_ms, polls, asks_payer)
        return self.watch(await stored.change(None, found.id, change))

    async def _settle(self, found: StoredPayment, settled: PaymentSettled) -> StoredPayment:
        """Credit what a provider reports as paid, if it is the requested amount.

        Another sum or currency waits for the operator: anybody with access to the provider's
        account may have changed it, and only the stored payment is ours.
        """
        asked = (found.amount, found.currency)
        if (settled.amount, settled.currency) == asked:
            try:
                await self.credit(found, settled, None, None)
            except (Conflict, Invalid) as error:
                # Its reference was credited to another, or is invalid: only a person can judge
                # this.
                log.error("payment.conflict", payment_id=found.id, reason=str(error))
            else:
                return self._have.payments.payment(found.id)
        elif found.state is PaymentState.CONFIRMED:
            return found
        else:
            log.error(
                "payment.mismatch",
                payment_id=found.id,
                asked=f"{money(found.amount)} {found.currency}",
                paid=f"{money(settled.amount)} {settled.currency}",
            )
        change: PaymentChange = {
            "by_operator": True,
            "reference": settled.reference,
            "poll_at": None,
        }
        return await self._have.payments.change(None, found.id, change)

    async def credit(
        self,
        found: StoredPayment,
        settled: PaymentSettled,
        who: str | None,
        by: AuditEntry | None,
    ) -> LedgerEntry:
        """Credit what came, once.

        Raises:
            Conflict: the reference was credited already.
        """
        given = PaymentCredit(
            payment_id=found.id,
            provider=settled.provider,
            reference=settled.reference,
            key=key_of("reference", settled.reference),
            amount=settled.amount,
            payer=settled.payer,
            by=who,
            at=self._have.now_ms(),
        )
        return await self.enter(
            found.organization_id, partial(self._have.payments.credit, by, given)
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

    def watch(self, found: StoredPayment) -> StoredPayment:
        """Wake the polls of providers, in case this payment is the next."""
        if found.poll_at is not None:
            self._have.polls.expect(found.poll_at)
        return found


# -- what methods answer


def asked_field(asked: PaymentField) -> AskedField:
    """A method's field as it is stored and shown."""
    return AskedField(asked.name, dict(asked.label), asked.is_reference, asked.is_payer)


def _of_progress(
    found: StoredPayment,
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
        "checkout_url": _link(found, progress.checkout_url, offer),
        "asks": tuple(
            asked_field(each) for each in progress.asks if asks_payer or not each.is_payer
        ),
        "expires_at": progress.expires_at_ms,
        **_polled(found, progress, now_ms, polls),
    }
    if progress.reference is not None:
        change["reference"] = progress.reference
        # None: no report can be matched by it, and the operator decides.
        change["reference_key"] = comparable(progress.reference)
    return change


def _polled(
    found: StoredPayment, progress: PaymentPending, now_ms: int, polls: int
) -> PaymentChange:
    if progress.poll_after_s is None or progress.poll_after_s < 0:
        return {"poll_at": None, "polls": polls, "poll_every": None}
    every = round(progress.poll_after_s * 1000)
    at = next_poll(PolledSoFar(found.begun_at, progress.expires_at_ms, every, polls), now_ms)
    return {"poll_at": at, "polls": polls, "poll_every": every}


def _link(found: StoredPayment, url: str | None, offer: PaymentOffer) -> str | None:
    """Where the customer pays: only a link that is safe on a page."""
    if url is None or url.startswith("https://"):
        return url
    if offer.only_in_demo and url.startswith("/pay/"):
        return url
    log.error("payment.checkout", payment_id=found.id, method=found.method)
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
