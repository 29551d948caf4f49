"""The credit writer takes a payment one step further, and credits what came, once.

The answer of a method, an operator or a signed callback goes through one transaction that credits
the ledger and stores the payment together. So repetition, another order or a crash still credits
once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog
import trio

from risala.engine.billing.claims import CreditPayment
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, Invalid, Unavailable
from risala.engine.model.money import money
from risala.engine.model.records.paying.ledger import LedgerEntry
from risala.engine.model.records.paying.payments import (
    PaymentChange,
    PaymentCredit,
    PaymentState,
    StoredPayment,
)
from risala.engine.payments.forms import key_of
from risala.engine.payments.sources import PaymentSources
from risala.engine.payments.steps import of_progress, to_method
from risala.plugins.payment import (
    STEP_S,
    Payment,
    PaymentMethod,
    PaymentMethodError,
    PaymentPending,
    PaymentRefused,
    PaymentSettled,
    Progress,
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
        return to_method(found, self._have.public_url)

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
            return self.watch(await stored.decline(found.id, cause=cause, why=why, at=now_ms))
        offer, asks_payer = self._have.methods[found.method].offer, self._have.codes.are_sent
        change = of_progress(found, progress, offer, now_ms, polls, asks_payer)
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
        return await self.enter(CreditPayment(found.organization_id, given, by))

    async def enter(self, credit: CreditPayment) -> LedgerEntry:
        """Have billing credit an organization.

        Raises:
            Conflict: the reference was credited already.
        """
        entry: LedgerEntry = await self._have.billing.ask(credit)
        self._have.owed()
        return entry

    def watch(self, found: StoredPayment) -> StoredPayment:
        """Wake the polls of providers, in case this payment is the next."""
        if found.poll_at is not None:
            self._have.polls.expect(found.poll_at)
        return found
