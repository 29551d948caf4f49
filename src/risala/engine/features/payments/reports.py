"""What providers report of payments: by signed callbacks, whose signature alone makes them trusted,
and when they are asked."""

from __future__ import annotations

from typing import Final

import structlog
import trio

from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.payments.credit_writer import CreditWriter, MethodSilent, key_of
from risala.engine.features.payments.records import StoredPayment
from risala.engine.features.payments.rules import EVERY_MIN_MS, PolledSoFar, next_poll
from risala.engine.features.payments.sources import PaymentSources
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, Invalid, NotFound, Unavailable
from risala.plugins.payment import (
    CalledBack,
    ForgedCallbackError,
    PaymentCallback,
    PaymentReport,
    PaymentSettled,
    Played,
    Polled,
)

log = structlog.get_logger(__name__)

AT_ONCE: Final = 8
"""Providers that are asked at the same time: each may take half a minute."""


class Callbacks:
    """See :class:`PaymentAccess`."""

    def __init__(self, sources: PaymentSources, writer: CreditWriter) -> None:
        self._have = sources
        self._writer = writer

    async def callback(self, name: str, callback: PaymentCallback) -> int:
        method: object = self._have.methods.get(name)
        if not isinstance(method, CalledBack):
            raise NotFound("There is no such payment method.")
        try:
            reports = method.callback(callback)
        except ForgedCallbackError:
            raise
        except Exception as error:
            # A plugin's bug, or a provider's new kind of message.
            log.exception("payment.callback_bug", method=name)
            raise ForgedCallbackError("a callback could not be read") from error
        for report in reports:
            await self._take(name, report)
        return len(reports)

    async def _take(self, name: str, report: PaymentReport) -> None:
        payment = self._reported(name, report)
        if payment is None:
            return
        if report.needs_operator:
            await self._have.payments.change(None, payment.id, {"by_operator": True})
            return
        await self._writer.apply(payment, report.result)

    def _reported(self, name: str, report: PaymentReport) -> StoredPayment | None:
        """The payment in a provider's report; None: it is already credited, and this is a repeat.

        Raises:
            NotFound: no payment fits, or several.
        """
        if report.payment_id is not None:
            payment = self._have.payments.payment(report.payment_id)
            if payment.method == name:
                return payment
        elif isinstance(report.result, PaymentSettled):
            key = key_of("reference", report.result.reference)
            fitting = self._have.payments.matching(name, key)
            if len(fitting) == 1:
                return fitting[0]
            if self._have.payments.is_credited(report.result.provider, key):
                return None
        log.error("payment.unmatched", method=name)
        raise NotFound("There is no such payment.")

    async def play(self, payment_id: str, card: str) -> StoredPayment:
        payment = self.playable(payment_id)
        method = self._writer.method(payment)
        assert isinstance(method, Played), "only what is played is playable"
        try:
            callback = method.played(self._writer.handed(payment), card, self._have.now_ms())
        except ValueError:
            raise Invalid("card", "no_test_card", "This is not a sandbox card.") from None
        await self.callback(payment.method, callback)
        return self._have.payments.payment(payment_id)

    def playable(self, payment_id: str) -> StoredPayment:
        payment = self._have.payments.payment(payment_id)
        if not isinstance(self._have.methods.get(payment.method), Played):
            raise NotFound("There is no such payment.")
        return payment


class Polls:
    """Asks providers for the state of payments without callbacks."""

    def __init__(self, sources: PaymentSources, writer: CreditWriter) -> None:
        self._have = sources
        self._writer = writer
        self._items = sources.set_aside.loop("payment_polls")

    async def run(self) -> None:
        """Ask about each payment when its time has come, until cancelled."""
        while True:
            next_ms = await retry_until_committed("payments' polls", self._poll_due)
            await self._have.polls.wait(next_ms)

    async def _poll_due(self) -> int | None:
        """Ask about all that are due; returns when the next one is.

        Raises:
            Unavailable: the disk does not take the answers.
        """
        while due := self._due():
            failed: list[Unavailable] = []
            async with trio.open_nursery() as nursery:
                for each in due:
                    nursery.start_soon(self._poll_one, each.id, failed)
            if failed:
                raise failed[0]
        return self._have.payments.next_poll(self._items.held())

    def _due(self) -> list[StoredPayment]:
        at_once = AT_ONCE + len(self._items)
        due = self._have.payments.to_poll(self._have.now_ms(), at_once, self._items.broken_row)
        return self._items.free(due, lambda each: each.id)[:AT_ONCE]

    async def _poll_one(self, payment_id: str, failed: list[Unavailable]) -> None:
        try:
            with self._items.item(payment_id):
                await self._poll_due_one(payment_id)
        except Unavailable as error:
            failed.append(error)

    async def _poll_due_one(self, payment_id: str) -> None:
        async with self._writer.turn(payment_id):
            payment = self._have.payments.payment(payment_id)
            if payment.poll_at is not None and payment.poll_at <= self._have.now_ms():
                await self._poll(payment)

    async def now(self, payment_id: str, by: AuditEntry) -> StoredPayment:
        """Ask about one at once, for an operator, whose request is already in the audit trail.

        Raises:
            NotFound: the payment does not exist.
            Conflict: it is decided, or its method has no polls.
            Unavailable: its provider does not answer.
        """
        async with self._writer.turn(payment_id):
            payment = self._have.payments.payment(payment_id)
            method = self._writer.method(payment)
            if not payment.is_open or not isinstance(method, Polled):
                raise Conflict("The provider cannot be asked about this payment.")
            await self._have.payments.note_asked(by, payment_id)
            return await self._writer.step(payment, method.poll, polls=payment.polls)

    async def _poll(self, payment: StoredPayment) -> None:
        """Ask about one, and return when to ask again."""
        method: object = self._have.methods.get(payment.method)
        polls = payment.polls + 1
        if not isinstance(method, Polled):
            await self._have.payments.change(None, payment.id, {"poll_at": None})
            return
        try:
            after = await self._writer.step(payment, method.poll, polls=polls)
        except MethodSilent:
            after = await self._put_off(payment, polls)
        if after.is_open and after.poll_at is None and after.expires_at is None:
            # No answer will ever come: the operator sees it.
            await self._have.payments.change(None, payment.id, {"by_operator": True})

    async def _put_off(self, payment: StoredPayment, polls: int) -> StoredPayment:
        every = payment.poll_every or EVERY_MIN_MS
        so_far = PolledSoFar(payment.begun_at, payment.expires_at, every, polls)
        at = next_poll(so_far, self._have.now_ms())
        return await self._have.payments.change(None, payment.id, {"poll_at": at, "polls": polls})
