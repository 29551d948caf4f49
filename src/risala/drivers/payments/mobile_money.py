"""Mobile money: the customer pays a merchant code and enters the transaction's reference. An
operator compares it with the account, or the bank's own SMS does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from string import Formatter
from typing import Annotated, Final, Literal

import trio
from pydantic import BaseModel, ConfigDict, Field, field_validator

from risala.drivers.payments.bank_sms import BankReader, BankSmsSettings
from risala.plugins.payment import (
    Confirmation,
    Payment,
    PaymentField,
    PaymentMethodFactory,
    PaymentOffer,
    PaymentPending,
)
from risala.plugins.payment_texts import CreditCaps, TextReading
from risala.sms.message import Inbound

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
PAYER: Final = PaymentField(
    "payer",
    {
        "en": "Number that you paid from",
        "fr": "Numéro depuis lequel vous avez payé",
        "ar": "الرقم الذي دفعت منه",
    },
    is_payer=True,
)
_HOW: Final = {
    "en": "In {title}, pay the amount to the merchant code {merchant}.",
    "fr": "Dans {title}, payez le montant au code marchand {merchant}.",
    "ar": "في {title}، ادفع المبلغ إلى رمز التاجر {merchant}.",
}
_HOLES: Final = frozenset({"title", "merchant"})
Language = Literal["en", "fr", "ar"]
Instruction = Annotated[str, Field(min_length=1, max_length=500)]


class MobileMoneySettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    merchant: Annotated[str, Field(min_length=1, max_length=40)]
    """The merchant code that customers pay to, as the app asks for it."""
    instructions: Mapping[Language, Instruction] = Field(default_factory=dict)
    """What customers read, by language, in place of the built-in sentence; ``{merchant}`` and
    ``{title}`` stand for the code and the wallet's name."""
    sms: BankSmsSettings | None = None
    """The bank's confirmations by SMS; not set: you confirm each payment."""

    @field_validator("instructions")
    @classmethod
    def _have_known_holes(cls, given: Mapping[Language, str]) -> Mapping[Language, str]:
        for language, text in given.items():
            try:
                holes = {name for _, name, spec, how in Formatter().parse(text) if name is not None}
            except ValueError:
                raise ValueError(f"{language} has a brace without its other one") from None
            if not holes <= _HOLES:
                raise ValueError(f"{language} knows {{merchant}} and {{title}} alone")
        return given


class MobileMoney:
    """One wallet; it is never queried, and has no data about payments."""

    def __init__(self, title: str, settings: MobileMoneySettings) -> None:
        self.offer = PaymentOffer({"en": title, "fr": title, "ar": title})
        texts: dict[str, str] = {**_HOW}
        texts |= {str(language): text for language, text in settings.instructions.items()}
        self._instructions = {
            language: text.format(title=title, merchant=settings.merchant)
            for language, text in texts.items()
        }

    async def begin(self, payment: Payment) -> PaymentPending:
        await trio.lowlevel.checkpoint()
        return PaymentPending(
            Confirmation.OPERATOR,
            instructions=self._instructions,
            asks=(REFERENCE, PAYER),
            expires_at_ms=payment.begun_at_ms + PAYABLE_MS,
        )

    async def claim(self, payment: Payment) -> PaymentPending:
        """From now on money may have come: it waits for the operator, without limit."""
        await trio.lowlevel.checkpoint()
        return PaymentPending(
            Confirmation.OPERATOR,
            reference=payment.entered[REFERENCE.name],
            instructions=self._instructions,
        )


class ConfirmedMobileMoney(MobileMoney):
    """A wallet whose bank confirms payments by SMS."""

    def __init__(self, title: str, settings: MobileMoneySettings, reader: BankReader) -> None:
        super().__init__(title, settings)
        self._reader = reader

    @property
    def carrier(self) -> str:
        return self._reader.carrier

    @property
    def caps(self) -> CreditCaps | None:
        return self._reader.caps

    def heard(self, message: Inbound) -> TextReading:
        return self._reader.read(message)


def build_wallet(name: str, title: str, settings: MobileMoneySettings) -> MobileMoney:
    """A wallet, with the bank's messages if it has the settings for them."""
    if settings.sms is None:
        return MobileMoney(title, settings)
    return ConfirmedMobileMoney(title, settings, BankReader(name, settings.sms))


def _factory(name: str, title: str) -> PaymentMethodFactory:
    build: Callable[[MobileMoneySettings], MobileMoney] = partial(build_wallet, name, title)
    return PaymentMethodFactory(
        name=name,
        settings=MobileMoneySettings,
        build=build,
        summary=f"{title}: paid to a merchant code, confirmed by you or by the bank's SMS",
    )


BANKILY: Final = _factory("bankily", "Bankily")
MASRVI: Final = _factory("masrvi", "Masrvi")
SEDAD: Final = _factory("sedad", "Sedad")
