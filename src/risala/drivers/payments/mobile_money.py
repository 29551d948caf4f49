"""Mobile money by hand: the customer pays a merchant code and enters the transaction's reference,
an operator compares it with the account."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Final

import trio
from pydantic import BaseModel, ConfigDict, Field

from risala.plugins.payment import (
    Confirmation,
    Payment,
    PaymentField,
    PaymentMethodFactory,
    PaymentOffer,
    PaymentPending,
)

PAYABLE_MS: Final = 3 * 86_400_000
"""How long a payment waits for its customer to come back with the reference: over a weekend."""
REFERENCE: Final = PaymentField(
    "reference",
    {
        "en": "Reference of the payment",
        "fr": "Référence du paiement",
        "ar": "مرجع الدفعة",
    },
    is_reference=True,
)
_HOW: Final = {
    "en": "In {title}, pay the amount to the merchant code {merchant}.",
    "fr": "Dans {title}, payez le montant au code marchand {merchant}.",
    "ar": "في {title}، ادفع المبلغ إلى رمز التاجر {merchant}.",
}


class MobileMoneySettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    merchant: Annotated[str, Field(min_length=1, max_length=40)]
    """The merchant code that customers pay to, as the app asks for it."""


class MobileMoney:
    """One wallet; it is asked nothing, and knows nothing of what was paid."""

    def __init__(self, title: str, settings: MobileMoneySettings) -> None:
        self.offer = PaymentOffer({"en": title, "fr": title, "ar": title})
        self._instructions = {
            language: text.format(title=title, merchant=settings.merchant)
            for language, text in _HOW.items()
        }

    async def begin(self, payment: Payment) -> PaymentPending:
        await trio.lowlevel.checkpoint()
        return PaymentPending(
            Confirmation.OPERATOR,
            instructions=self._instructions,
            asks=(REFERENCE,),
            expires_at_ms=payment.begun_at_ms + PAYABLE_MS,
        )

    async def claim(self, payment: Payment) -> PaymentPending:
        """From now on money may have come: it waits for the operator, however long."""
        await trio.lowlevel.checkpoint()
        return PaymentPending(
            Confirmation.OPERATOR,
            reference=payment.entered[REFERENCE.name],
            instructions=self._instructions,
        )


def _factory(name: str, title: str) -> PaymentMethodFactory:
    build: Callable[[MobileMoneySettings], MobileMoney] = partial(MobileMoney, title)
    return PaymentMethodFactory(
        name=name,
        settings=MobileMoneySettings,
        build=build,
        summary=f"{title}: paid to a merchant code, confirmed by an operator",
    )


BANKILY: Final = _factory("bankily", "Bankily")
MASRVI: Final = _factory("masrvi", "Masrvi")
SEDAD: Final = _factory("sedad", "Sedad")
