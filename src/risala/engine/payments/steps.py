"""Between what is stored of a payment and what its method is handed and answers."""

from __future__ import annotations

import sqlite3
from typing import Any

import structlog

from risala.engine.journal.payments import payments
from risala.engine.journal.payments.stored import AskedField, PaymentState, StoredPayment
from risala.engine.rules.paying.polling import PolledSoFar, next_poll
from risala.plugins.payment import (
    Confirmation,
    Payment,
    PaymentOffer,
    PaymentPending,
    PaymentRefused,
    normalised_reference,
)

log = structlog.get_logger(__name__)


def to_method(found: StoredPayment, public_url: str) -> Payment:
    """A payment as its method is handed it."""
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


def of_progress(
    found: StoredPayment,
    progress: PaymentPending | PaymentRefused,
    offer: PaymentOffer,
    now_ms: int,
    polls: int,
    asks_payer: bool,
    conn: sqlite3.Connection,
) -> StoredPayment:
    """The unit of work that writes down what a method answered. One that is decided stays so.

    Args:
        polls: how often its provider was asked.
        asks_payer: whether payers' numbers are asked for: somebody sends codes to them.
    """
    if isinstance(progress, PaymentRefused):
        if not payments.payment(conn, found.id).is_open:
            return payments.payment(conn, found.id)
        cause, why = progress.cause, dict(progress.text)
        return payments.refuse(conn, found.id, cause=cause, why=why, by=None, at=now_ms)
    values: dict[str, Any] = {
        "state": PaymentState.WAITING.value,
        "by_operator": progress.confirmation is Confirmation.OPERATOR,
        "instructions": dict(progress.instructions),
        "checkout_url": _link(found, progress.checkout_url, offer),
        "asks": tuple(
            AskedField(each.name, dict(each.label), each.is_reference, each.is_payer)
            for each in progress.asks
            if asks_payer or not each.is_payer
        ),
        "expires_at": progress.expires_at_ms,
        **_polled(found, progress, now_ms, polls),
    }
    if progress.reference is not None:
        values["reference"] = progress.reference
        values["reference_key"] = _key(progress.reference)
    return payments.change(conn, found.id, values)


def _polled(
    found: StoredPayment, progress: PaymentPending, now_ms: int, polls: int
) -> dict[str, Any]:
    if progress.poll_after_s is None or progress.poll_after_s < 0:
        return {"poll_at": None, "polls": polls, "poll_every": None}
    every = round(progress.poll_after_s * 1000)
    at = next_poll(PolledSoFar(found.begun_at, progress.expires_at_ms, every, polls), now_ms)
    return {"poll_at": at, "polls": polls, "poll_every": every}


def _key(reference: str) -> str | None:
    try:
        return normalised_reference(reference)
    except ValueError:
        return None  # no report can be matched by it: the operator decides


def _link(found: StoredPayment, url: str | None, offer: PaymentOffer) -> str | None:
    """Where the customer pays: nothing that a page could not safely link to."""
    if url is None or url.startswith("https://"):
        return url
    if offer.only_in_demo and url.startswith("/pay/"):
        return url
    log.error("payment.checkout", payment_id=found.id, method=found.method)
    return None
