"""The payer's number: a code is sent to it, and the person with the code may claim its payment.

A transaction's reference is no secret: it is in the receipts of both sides. Without this check, the
first reader of a receipt could claim another's payment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import structlog

from risala.engine.features.payments.credit_writer import CreditWriter
from risala.engine.features.payments.records import (
    AskedField,
    PayerState,
    PayerStatus,
    PaymentChange,
    StoredPayment,
)
from risala.engine.features.payments.sources import PaymentSources
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, Invalid, Refusal, Unavailable
from risala.engine.model.states import SessionState
from risala.sms.numbering.plan import NumberingPlan

log = structlog.get_logger(__name__)

CODES_MAX: Final = 3
"""Codes of one payment: they cost money, and may reach a person who did not ask for them."""


class Payers:
    def __init__(self, sources: PaymentSources, writer: CreditWriter) -> None:
        self._have = sources
        self._writer = writer

    def is_owed(self, payment: StoredPayment) -> bool:
        """Whether the customer was asked for the payer's number, and has not yet proved that it is
        theirs."""
        payer = self.status(payment)
        return payer is not None and payer.state in (PayerState.UNSENT, PayerState.SENT)

    def status(self, payment: StoredPayment) -> PayerStatus | None:
        """None: nobody was asked for the payer's number."""
        if payment.payer_number is None:
            return None
        left = max(0, CODES_MAX - payment.payer_codes)
        return PayerStatus(payment.payer_number, self._state(payment), left)

    def _state(self, payment: StoredPayment) -> PayerState:
        if payment.payer_checked_at is not None:
            return PayerState.CHECKED
        if not self._have.codes.are_sent:
            return PayerState.NONE
        if payment.payer_session is None:
            return PayerState.UNSENT
        pending = self._have.codes.status(payment.payer_session) is SessionState.PENDING
        return PayerState.SENT if pending else PayerState.UNSENT

    async def begin(self, claimed: StoredPayment) -> StoredPayment:
        """Send the first code, if the claim has a number. A claim is valid even if it cannot be
        sent: the customer may ask again."""
        if claimed.payer_number is None or not self._have.codes.are_sent:
            return claimed
        try:
            return await self._send(claimed, claimed.payer_number, None)
        except (Refusal, Unavailable) as error:
            log.warning("payment.payer", payment_id=claimed.id, reason=str(error))
            return self._have.payments.payment(claimed.id)

    async def send(self, payment_id: str, number: str | None, by: AuditEntry) -> StoredPayment:
        """Send another code, to another number if it was mistyped.

        Raises:
            NotFound: the payment does not exist.
            Conflict: it needs no code, or all its codes were sent.
            Invalid: it is no number.
            RateLimited: the number got enough codes.
            Unavailable: no code can be sent now.
        """
        async with self._writer.turn(payment_id):
            payment = self._have.payments.payment(payment_id)
            self._refuse_over(payment)
            if payment.payer_codes >= CODES_MAX:
                raise Conflict("No further codes are sent for this payment. We check it by hand.")
            to_number = (
                payment.payer_number
                if number is None
                else payer_number(self._have.settings.plan, "number", number)
            )
            assert to_number is not None, "what is asked for has a number"
            return await self._send(payment, to_number, by)

    async def _send(
        self, payment: StoredPayment, number: str, by: AuditEntry | None
    ) -> StoredPayment:
        # Counted first: a crash in between loses a code, but never sends one too many.
        change: PaymentChange = {
            "payer_number": number,
            "payer_codes": payment.payer_codes + 1,
            "payer_session": None,
        }
        await self._have.payments.change(by, payment.id, change)
        session_id = await self._have.codes.send(number, payment.language)
        return await self._have.payments.change(None, payment.id, {"payer_session": session_id})

    async def check(self, payment_id: str, code: str, by: AuditEntry) -> StoredPayment:
        """Judge a code that the customer typed.

        Raises:
            NotFound: the payment does not exist.
            Conflict: no code is awaited.
            Invalid: it is not the code.
            Unavailable: not possible now.
        """
        async with self._writer.turn(payment_id):
            payment = self._have.payments.payment(payment_id)
            self._refuse_over(payment)
            if payment.payer_session is None:
                raise Conflict("No code was sent for this payment. Request one.")
            approved = await self._have.codes.judge(payment.payer_session, code)
            if not approved and not self._was_approved(payment.payer_session):
                raise Invalid("code", "wrong_code", "This is not the code.")
            change: PaymentChange = {"payer_checked_at": self._have.now_ms()}
            checked = await self._have.payments.change(by, payment_id, change)
        self._have.texts.ring()
        return checked

    def _was_approved(self, session_id: str) -> bool:
        """Whether it was the code, in case a crash came before that was stored here."""
        return self._have.codes.status(session_id) is SessionState.APPROVED

    def _refuse_over(self, payment: StoredPayment) -> None:
        if not payment.is_open or not self.is_owed(payment):
            raise Conflict("This payment no longer needs anything from you.")


def payer_of(
    plan: NumberingPlan, asks: Sequence[AskedField], entered: Mapping[str, str]
) -> str | None:
    """The entered number of the payer; None if no field asks for it.

    Raises:
        Invalid: it is no number.
    """
    for each in asks:
        if each.is_payer:
            return payer_number(plan, f"entered.{each.name}", entered[each.name])
    return None


def payer_number(plan: NumberingPlan, path: str, text: str) -> str:
    """A number in people's spelling, in its one form.

    Raises:
        Invalid: it is no mobile number of this country.
    """
    try:
        return plan.read(text)
    except ValueError as error:
        raise Invalid(path, "invalid_phone_number", str(error)) from None
