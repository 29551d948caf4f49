"""Converts between the stored payment and its method's input and answers."""

from __future__ import annotations

import structlog

from risala.engine.model.records.paying.payments import (
    AskedField,
    PaymentChange,
    PaymentState,
    StoredPayment,
)
from risala.engine.rules.paying.polling import PolledSoFar, next_poll
from risala.engine.rules.paying.references import comparable
from risala.plugins.payment import (
    Confirmation,
    Payment,
    PaymentField,
    PaymentOffer,
    PaymentPending,
)

log = structlog.get_logger(__name__)


def to_method(found: StoredPayment, public_url: str) -> Payment:
    """A payment in the form for its method."""
    return Payment(
        payment_id=found.id,
        organization_id=found.organization_id,
        amount=found.amount,
        currency=found.currency,
        language=found.language,
        begun_at_ms=found.begun_at,
        return_url=f"{public_url}/app/{found.organization_id}/billing/payments/{found.id}",
        callback_url=f"{public_url}/pay/{found.method}/callback",
        reference=found.reference,
        entered=dict(found.entered),
    )


def asked_field(asked: PaymentField) -> AskedField:
    """A method's field as it is stored and shown."""
    return AskedField(asked.name, dict(asked.label), asked.is_reference, asked.is_payer)


def of_progress(
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
