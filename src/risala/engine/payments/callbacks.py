"""Providers' signed callbacks; only the signature makes a callback trusted."""

from __future__ import annotations

import structlog

from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.records.paying.payments import StoredPayment
from risala.engine.payments.credit_writer import CreditWriter
from risala.engine.payments.forms import key_of
from risala.engine.payments.sources import PaymentSources
from risala.plugins.payment import (
    CalledBack,
    ForgedCallbackError,
    PaymentCallback,
    PaymentReport,
    PaymentSettled,
    Played,
)

log = structlog.get_logger(__name__)


class Callbacks:
    def __init__(self, sources: PaymentSources, cashier: CreditWriter) -> None:
        self._have = sources
        self._cashier = cashier

    async def take(self, name: str, callback: PaymentCallback) -> int:
        """Take a provider's callback; returns how many payments it was about, once all is on disk.

        Raises:
            NotFound: the method does not exist, or has no callbacks; or no payment fits.
            ForgedCallbackError: it is not the provider's.
            Unavailable: it could not be stored; the provider calls again.
        """
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
        found = self._reported(name, report)
        if found is None:
            return
        if report.needs_operator:
            await self._have.payments.change(None, found.id, {"by_operator": True})
            return
        await self._cashier.apply(found, report.result)

    def _reported(self, name: str, report: PaymentReport) -> StoredPayment | None:
        """The payment in a provider's report; None: it is already credited, and this is a repeat.

        Raises:
            NotFound: no payment fits, or several.
        """
        if report.payment_id is not None:
            found = self._have.payments.payment(report.payment_id)
            if found.method == name:
                return found
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
        """Pay at the simulated checkout: its provider's callback comes at once.

        Raises:
            NotFound: the payment does not exist, or its checkout is not ours.
            Invalid: it is no card of the sandbox.
        """
        found = self.playable(payment_id)
        method = self._cashier.method(found)
        assert isinstance(method, Played), "only what is played is playable"
        try:
            told = method.played(self._cashier.handed(found), card, self._have.now_ms())
        except ValueError:
            raise Invalid("card", "no_test_card", "This is not a sandbox card.") from None
        await self.take(found.method, told)
        return self._have.payments.payment(payment_id)

    def playable(self, payment_id: str) -> StoredPayment:
        """A payment whose checkout is a page of ours.

        Raises:
            NotFound: no such payment has this id.
        """
        found = self._have.payments.payment(payment_id)
        if not isinstance(self._have.methods.get(found.method), Played):
            raise NotFound("There is no such payment.")
        return found
