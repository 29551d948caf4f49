"""A card with a hosted checkout that simulates both sides: for demos, no money moves.

The page that asks for the card is ours. Its provider's answer comes as any provider's would: as a
signed callback. A card's number is checked and forgotten; it is never stored, signed or shown.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import Final

import trio
from pydantic import BaseModel, ConfigDict

from risala.plugins.payment import (
    Confirmation,
    ForgedCallbackError,
    Payment,
    PaymentCallback,
    PaymentMethodFactory,
    PaymentOffer,
    PaymentPending,
    PaymentRefused,
    PaymentReport,
    PaymentSettled,
)

NAME: Final = "sandbox"
TAKEN: Final = "4242424242424242"
"""The card that is charged."""
DECLINED: Final = "4000000000000002"
"""The card that its bank declines."""
PAYABLE_MS: Final = 3_600_000
"""How long a checkout can be paid."""
SIGNED_FOR_MS: Final = 300_000
"""The maximum age of a callback: a captured one can be replayed only for this time."""
_TIME: Final = "x-sandbox-time"
_SIGNATURE: Final = "x-sandbox-signature"
_WHY: Final = {
    "en": "The bank declined the card. Start again with another card.",
    "fr": "La banque a refusé la carte. Recommencez avec une autre.",
    "ar": "رفض المصرف البطاقة. ابدأ من جديد ببطاقة أخرى.",
}


class SandboxSettings(BaseModel):
    """Settings of the sandbox: none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SandboxCard:
    def __init__(self, _: SandboxSettings, secret: bytes | None = None) -> None:
        self.offer = PaymentOffer(
            {"en": "Card (sandbox)", "fr": "Carte (essai)", "ar": "بطاقة (تجربة)"},
            only_in_demo=True,
        )
        self._secret = secret or secrets.token_bytes(32)

    async def begin(self, payment: Payment) -> PaymentPending:
        await trio.lowlevel.checkpoint()
        return PaymentPending(
            Confirmation.PROVIDER,
            reference=_reference(payment),
            checkout_url=f"/pay/{NAME}/checkout/{payment.payment_id}",
            expires_at_ms=payment.begun_at_ms + PAYABLE_MS,
        )

    def played(self, payment: Payment, card: str, now_ms: int) -> PaymentCallback:
        """The provider's callback after this card.

        Raises:
            ValueError: it is neither of the two cards of the sandbox.
        """
        if card not in (TAKEN, DECLINED):
            raise ValueError("it is no card of the sandbox")
        body = json.dumps(
            {
                "payment": payment.payment_id,
                "reference": _reference(payment),
                "amount": payment.amount,
                "currency": payment.currency,
                "paid": card == TAKEN,
            }
        ).encode()
        headers = {_TIME: str(now_ms), _SIGNATURE: self._signature(str(now_ms), body)}
        return PaymentCallback(headers, {}, body, now_ms)

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        signed_at = callback.headers.get(_TIME, "")
        signature = callback.headers.get(_SIGNATURE, "")
        if not hmac.compare_digest(
            signature.encode(), self._signature(signed_at, callback.body).encode()
        ):
            raise ForgedCallbackError("a callback of the sandbox has a wrong signature")
        if abs(callback.received_at_ms - int(signed_at)) > SIGNED_FOR_MS:
            raise ForgedCallbackError("a callback of the sandbox was signed long ago")
        event = json.loads(callback.body)
        result: PaymentSettled | PaymentRefused = PaymentRefused("declined", _WHY)
        if event["paid"]:
            reference, amount, currency = event["reference"], event["amount"], event["currency"]
            result = PaymentSettled(NAME, reference, amount, currency)
        return (PaymentReport(result, payment_id=event["payment"]),)

    def _signature(self, signed_at: str, body: bytes) -> str:
        return hmac.new(self._secret, f"{signed_at}.".encode() + body, hashlib.sha256).hexdigest()


def _reference(payment: Payment) -> str:
    """A payment's reference, equal in each repetition: the payment is charged once."""
    return f"CARD-{payment.payment_id.removeprefix('pay_')[-12:]}"


SANDBOX: Final = PaymentMethodFactory(
    name=NAME,
    settings=SandboxSettings,
    build=SandboxCard,
    summary="A simulated card for demos: no money moves",
)
