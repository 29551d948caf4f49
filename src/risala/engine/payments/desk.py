"""The desk: where payments are begun, claimed, confirmed or refused, and credited once.

Each step is stored before it is shown. A method is only asked what it knows; what it says, or an
operator, or a signed callback, goes through one unit of work that credits the ledger and writes the
payment down together. So whatever is repeated, reordered or killed credits once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog
import trio

from risala.config.model import Settings
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Ref
from risala.engine.billing.claims import BillingMessage, CreditPayment
from risala.engine.journal.payments import payments
from risala.engine.journal.payments.stored import PaymentState, StoredPayment
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.store.signature import Signature, signed
from risala.engine.model.commands import LedgerEntry
from risala.engine.model.errors import Conflict, Invalid, NotFound, Unavailable
from risala.engine.model.ids import IdSource
from risala.engine.model.money import minor_units
from risala.engine.payments.forms import entered_of, key_of, reference_of
from risala.engine.payments.steps import of_progress, to_method
from risala.plugins.payment import (
    STEP_S,
    CalledBack,
    Claimed,
    Payment,
    PaymentCallback,
    PaymentMethod,
    PaymentMethodError,
    PaymentOffer,
    PaymentPending,
    PaymentRefused,
    PaymentReport,
    PaymentSettled,
    Played,
    Progress,
)

log = structlog.get_logger(__name__)

UNANSWERED_MS: Final = 86_400_000
"""How long a method may take to answer the first step, before the payment is over."""
BEGUN_AT_ONCE: Final = 100
"""Payments that are read at once when a start looks for those that a crash has cut off."""
_NO_ANSWER: Final = "The payment's provider does not answer. Try again."
OPERATOR: Final = "operator"
"""The cause of a refusal by an operator."""


@dataclass(frozen=True, slots=True)
class DeskSources:
    settings: Settings
    recorder: Recorder
    reader: sqlite3.Connection
    ids: IdSource
    accounts: Accounts
    billing: Ref[BillingMessage]
    methods: Mapping[str, PaymentMethod]
    """By the names of their tables."""
    public_url: str
    """Where people find the pages."""
    owed: Callable[[], None]
    """Told that a mail is owed."""

    def now_ms(self) -> int:
        return self.recorder.clock.now_ms()


_Step = Callable[[Payment], Awaitable[Progress]]


@dataclass(frozen=True, slots=True)
class PaymentWish:
    """What a customer wants to pay."""

    organization_id: str
    method: str
    amount: int
    language: str
    entered: Mapping[str, str]


class Desk:
    def __init__(self, sources: DeskSources) -> None:
        self._have = sources
        self._turns: dict[str, trio.Lock] = {}

    # -- looks

    @property
    def offers(self) -> Mapping[str, PaymentOffer]:
        """How each method is offered, by its name."""
        return {name: method.offer for name, method in self._have.methods.items()}

    @property
    def amount_max(self) -> int:
        return minor_units(self._have.settings.payments.amount_max)

    def payment(self, payment_id: str) -> StoredPayment:
        """One payment. Raises ``NotFound``."""
        return payments.payment(self._have.reader, payment_id)

    def now_ms(self) -> int:
        return self._have.now_ms()

    # -- steps

    def draft(self, wish: PaymentWish, begun_by: str) -> StoredPayment:
        """A payment that is not stored yet.

        Raises:
            Invalid: there is no such method, it does not take this amount, or wants something
                entered first.
            NotFound: there is no such organization.
        """
        method = self._have.methods.get(wish.method)
        if method is None:
            raise Invalid("method", "unknown_method", "There is no such payment method.")
        offer, now_ms = method.offer, self._have.now_ms()
        most = min(each for each in (offer.amount_max, self.amount_max) if each is not None)
        if not offer.amount_min <= wish.amount <= most:
            text = "The amount is less, or more, than can be paid at once."
            raise Invalid("amount", "amount_out_of_range", text)
        organization = self._have.accounts.organization(wish.organization_id)
        return StoredPayment(
            id=self._have.ids.new("pay"),
            organization_id=organization.id,
            method=wish.method,
            amount=wish.amount,
            currency=organization.currency,
            language=wish.language,
            state=PaymentState.BEGUN,
            by_operator=False,
            reference=None,
            reference_key=None,
            instructions={},
            checkout_url=None,
            asks=(),
            entered=entered_of(offer.asks_first, wish.entered),
            cause=None,
            why={},
            provider=None,
            paid=None,
            payer=None,
            entry=None,
            begun_by=begun_by,
            decided_by=None,
            begun_at=now_ms,
            claimed_at=None,
            decided_at=None,
            expires_at=now_ms + UNANSWERED_MS,
        )

    async def begin(self, drafted: StoredPayment, by: Signature) -> StoredPayment:
        """Store a payment, then ask its method. Where that cannot answer the payment stays begun.

        Raises:
            Conflict: too many are under way.
        """
        open_max = self._have.settings.payments.open_max
        stored = await self._commit(signed(by, lambda conn: payments.add(conn, drafted, open_max)))
        try:
            return await self.go_on(stored.id)
        except Unavailable:
            return self.payment(stored.id)

    async def go_on(self, payment_id: str) -> StoredPayment:
        """Ask the method for the first step, where it has not answered yet.

        Raises:
            NotFound: there is no such payment.
            Unavailable: the method cannot be asked.
        """
        async with self._turn(payment_id):
            found = self.payment(payment_id)
            if found.state_at(self._have.now_ms()) is not PaymentState.BEGUN:
                return found
            return await self._step(found, self._method(found).begin)

    async def claim(
        self, payment_id: str, entered: Mapping[str, str], by: Signature
    ) -> StoredPayment:
        """The customer has paid, and enters what the method asks.

        Raises:
            NotFound: there is no such payment.
            Conflict: nothing is asked any more.
            Invalid: something is missing, or its reference was credited or waits already.
            Unavailable: the method cannot be asked; what was entered is kept.
        """
        async with self._turn(payment_id):
            found, now_ms = self.payment(payment_id), self._have.now_ms()
            if found.state_at(now_ms) is not PaymentState.WAITING or not found.asks:
                raise Conflict("Nothing is asked of this payment any more.")
            method = self._method(found)
            given = entered_of(found.asks, entered)
            asked, reference = reference_of(found.asks, given)
            values: dict[str, Any] = {
                "entered": {**found.entered, **given},
                "claimed_at": now_ms,
            }
            if reference is not None:
                key = key_of(asked, reference)
                self._refuse_used(found, asked, key)
                values |= {"reference": reference, "reference_key": key}
            unit = signed(by, lambda conn: payments.change(conn, payment_id, values))
            stored = await self._commit(unit)
            if not isinstance(method, Claimed):
                return stored
            return await self._step(stored, method.claim)

    def _refuse_used(self, found: StoredPayment, asked: str, key: str) -> None:
        reader, path = self._have.reader, f"entered.{asked}"
        if payments.is_credited(reader, found.method, key):
            text = "This reference was credited already."
            raise Invalid(path, "reference_used", text)
        for each in payments.matching(reader, found.method, key):
            if each.id != found.id and each.organization_id == found.organization_id:
                text = "This reference waits for confirmation already."
                raise Invalid(path, "reference_waits", text)

    # -- decisions

    async def confirm(
        self,
        payment_id: str,
        reference: str | None,
        amount: int | None,
        who: str,
        by: Signature,
    ) -> StoredPayment:
        """An operator says that the money is there: it is credited, once.

        Args:
            reference: the transaction's own; None: the one that the customer entered.
            amount: what really came; None: what the customer wanted to pay.

        Raises:
            NotFound: there is no such payment.
            Invalid: nobody has said the reference.
            Conflict: the reference was credited already.
        """
        found = self.payment(payment_id)
        reference = reference or found.reference
        if reference is None:
            text = "`reference` is required: the customer has not entered it."
            raise Invalid("reference", "missing", text)
        settled = PaymentSettled(
            found.method, reference, found.amount if amount is None else amount, found.currency
        )
        await self._credit(found, settled, who, by)
        return self.payment(payment_id)

    async def refuse(self, payment_id: str, reason: str, who: str, by: Signature) -> StoredPayment:
        """An operator says that no money came.

        Raises:
            NotFound: there is no such payment.
            Conflict: it is credited.
        """
        at = self._have.now_ms()
        unit = signed(
            by,
            lambda conn: payments.refuse(
                conn, payment_id, cause=OPERATOR, why={"en": reason}, by=who, at=at
            ),
        )
        refused = await self._commit(unit)
        self._have.owed()
        return refused

    async def callback(self, name: str, callback: PaymentCallback) -> int:
        """Take a provider's callback; how many payments it told of.

        Returns once all of it is on disk.

        Raises:
            NotFound: there is no such method, or it is called by nobody; or no payment fits.
            ForgedCallbackError: it is not the provider's.
            Unavailable: it could not be stored; the provider calls again.
        """
        method: object = self._have.methods.get(name)
        if not isinstance(method, CalledBack):
            raise NotFound("There is no such payment method.")
        reports = method.callback(callback)
        for report in reports:
            await self._take(name, report)
        return len(reports)

    async def _take(self, name: str, report: PaymentReport) -> None:
        found = self._reported(name, report)
        if report.needs_operator:
            values = {"by_operator": True}
            await self._commit(lambda conn: payments.change(conn, found.id, values))
            return
        await self._apply(found, report.result)

    def _reported(self, name: str, report: PaymentReport) -> StoredPayment:
        """The payment that a provider tells of.

        Raises:
            NotFound: none fits, or several.
        """
        if report.payment_id is not None:
            found = self.payment(report.payment_id)
            if found.method == name:
                return found
        elif isinstance(report.result, PaymentSettled):
            key = key_of("reference", report.result.reference)
            fitting = payments.matching(self._have.reader, name, key)
            if len(fitting) == 1:
                return fitting[0]
        log.error("payment.unmatched", method=name)
        raise NotFound("There is no such payment.")

    async def play(self, payment_id: str, card: str) -> StoredPayment:
        """Pay at the checkout that is only played: its provider's callback comes at once.

        Raises:
            NotFound: there is no such payment, or its checkout is not ours.
            Invalid: it is no card of the sandbox.
        """
        found = self.playable(payment_id)
        method = self._method(found)
        assert isinstance(method, Played), "only what is played is playable"
        try:
            told = method.played(self._handed(found), card, self._have.now_ms())
        except ValueError:
            raise Invalid("card", "no_test_card", "It is no card of the sandbox.") from None
        await self.callback(found.method, told)
        return self.payment(payment_id)

    def playable(self, payment_id: str) -> StoredPayment:
        """A payment whose checkout is a page of ours.

        Raises:
            NotFound: there is none of this id.
        """
        found = self.payment(payment_id)
        if not isinstance(self._have.methods.get(found.method), Played):
            raise NotFound("There is no such payment.")
        return found

    # -- for life

    async def run(self) -> None:
        """Ask again about payments that a crash has cut off before their method answered."""
        after = ""
        while cut_off := payments.begun(self._have.reader, BEGUN_AT_ONCE, after):
            for each in cut_off:
                after = each.id
                try:
                    await self.go_on(each.id)
                except (Unavailable, NotFound, Conflict) as error:
                    log.warning("payment.begin", payment_id=each.id, reason=str(error))
        await trio.sleep_forever()

    # -- within

    async def _step(self, found: StoredPayment, ask: _Step) -> StoredPayment:
        """One step of a method, and what follows from it."""
        try:
            with trio.fail_after(STEP_S):
                progress = await ask(self._handed(found))
            if not isinstance(progress, PaymentPending | PaymentSettled | PaymentRefused):
                raise TypeError(f"a {type(progress).__name__} is no progress of a payment")
        except (trio.TooSlowError, PaymentMethodError) as error:
            log.warning("payment.method", method=found.method, reason=str(error))
            raise Unavailable(_NO_ANSWER) from error
        except Exception as error:
            # A bug of a plugin is no bug of ours: the payment stays as it was, and others go on.
            log.exception("payment.method_bug", method=found.method)
            raise Unavailable(_NO_ANSWER) from error
        return await self._apply(found, progress)

    async def _apply(self, found: StoredPayment, progress: Progress) -> StoredPayment:
        if isinstance(progress, PaymentSettled):
            if progress.currency == found.currency and progress.amount > 0:
                await self._credit(found, progress, None, None)
            else:
                # Nobody here knows what it is worth: the operator decides.
                log.error("payment.currency", payment_id=found.id, currency=progress.currency)
                values = {"by_operator": True, "reference": progress.reference}
                await self._commit(lambda conn: payments.change(conn, found.id, values))
            return self.payment(found.id)
        offer = self.offers[found.method]
        return await self._commit(partial(of_progress, found, progress, offer, self._have.now_ms()))

    async def _credit(
        self,
        found: StoredPayment,
        settled: PaymentSettled,
        who: str | None,
        by: Signature | None,
    ) -> LedgerEntry:
        unit = partial(
            payments.credit,
            payment_id=found.id,
            provider=settled.provider,
            reference=settled.reference,
            key=key_of("reference", settled.reference),
            amount=settled.amount,
            payer=settled.payer,
            by=who,
            at=self._have.now_ms(),
        )
        entry: LedgerEntry = await self._have.billing.ask(
            CreditPayment(found.organization_id, signed(by, unit))
        )
        self._have.owed()
        return entry

    async def _commit(self, unit: Callable[[sqlite3.Connection], StoredPayment]) -> StoredPayment:
        return await self._have.recorder.journal.commit(unit)

    def _method(self, found: StoredPayment) -> PaymentMethod:
        """Raises ``Unavailable``: it is offered no more, or this is a command beside no service."""
        method = self._have.methods.get(found.method)
        if method is None:
            raise Unavailable("The payment's method is not offered here.")
        return method

    def _handed(self, found: StoredPayment) -> Payment:
        return to_method(found, self._have.public_url)

    @asynccontextmanager
    async def _turn(self, payment_id: str) -> AsyncIterator[None]:
        """One step of a payment after the other."""
        lock = self._turns.setdefault(payment_id, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked() and not lock.statistics().tasks_waiting:
                self._turns.pop(payment_id, None)
