"""Proof of the payer's number by a code; and asking a provider at once."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from risala.engine.model.audit import AuditImage
from risala.engine.model.records.paying import payments
from risala.engine.model.records.paying.payments import ShownPayment
from risala.engine.operations.arguments import MaybeText, Text
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.operations.paying.payments import STEP, OfPayment, shown
from risala.engine.rules.roles import FINANCE, OPERATORS, OWNERS


class SendPayerCode(OfPayment):
    """Send another code to the number that the customer says they paid from."""

    number: MaybeText = None
    """Another number; None: the number already entered."""


class CheckPayer(OfPayment):
    """Prove that the number is the customer's, by the code that was sent to it."""

    code: Text = Field(repr=False)


async def _send(call: Call[SendPayerCode]) -> ShownPayment:
    given = call.given
    by = call.audit(AuditImage.PAYMENT, given.payment_id, always=True)
    found = await call.services.payments.payers.send(given.payment_id, given.number, by)
    return shown(call, found)


async def _check(call: Call[CheckPayer]) -> ShownPayment:
    given = call.given
    by = call.audit(AuditImage.PAYMENT, given.payment_id)
    found = await call.services.payments.payers.check(given.payment_id, given.code.strip(), by)
    return shown(call, found)


async def _poll(call: Call[OfPayment]) -> ShownPayment:
    """Ask the provider for the payment's state now."""
    payment_id = call.given.payment_id
    by = call.audit(AuditImage.PAYMENT, payment_id, always=True)
    found = await call.services.payments.polls.now(payment_id, by)
    return shown(call, found)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(payments.SEND_CODE, SendPayerCode, _send, roles=OWNERS, operators=FINANCE, **STEP),
    operation(payments.CHECK_PAYER, CheckPayer, _check, roles=OWNERS, operators=FINANCE, **STEP),
    operation(payments.POLL, OfPayment, _poll, roles=OPERATORS, operators=FINANCE, **STEP),
)
