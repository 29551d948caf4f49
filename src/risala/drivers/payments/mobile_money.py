"""Mobile money: the customer pays a merchant code and enters the transaction's reference. An
operator compares it with the account, or the bank's own SMS does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from string import Formatter
from typing import Annotated, Final, Literal, Self

import trio
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from risala.config.kinds import Currency, Money, Name
from risala.drivers.payments.patterns import (
    TEXT_CHARACTERS_MAX,
    PatternError,
    TextPattern,
    amount_of,
    parse_pattern,
    plain,
)
from risala.plugins.payment import (
    Confirmation,
    Payment,
    PaymentField,
    PaymentMethodFactory,
    PaymentOffer,
    PaymentPending,
    PaymentSettled,
)
from risala.plugins.payment_texts import CreditCaps, TextKind, TextReading
from risala.sms.currencies import currency_counted
from risala.sms.message import Inbound

# A bank's messages to the operator's SIM, read by the patterns of the settings.

_STRICT: Final = ConfigDict(
    frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
)
_CREDIT_HOLES: Final = frozenset({"amount", "reference"})
_BY_ITSELF_HOLES: Final = frozenset({"amount", "reference", "payer", "balance"})
_SENDERS_MAX: Final = 20
PATTERNS_MAX: Final = 50
"""Every pattern is tried on every text: some banks have one for each kind and language."""
READ_CHARACTERS_MAX: Final = 4 * TEXT_CHARACTERS_MAX
"""Characters of a text, before marks and blanks are taken away: anybody can write one of 255 parts
under the bank's name."""


class PatternKind(StrEnum):
    """The kind of a text that fits a pattern."""

    CREDIT = "credit"
    DEBIT = "debit"
    NOTICE = "notice"


class BankPattern(BaseModel):
    """How one kind of the bank's texts is written, in one language."""

    model_config = _STRICT

    kind: PatternKind = PatternKind.CREDIT
    """``credit``: money came; ``debit``: money went; ``notice``: neither."""
    language: Literal["fr", "ar", "en"] = "fr"
    """For those who read the settings: each pattern is tried on each text."""
    text: str
    """The whole text, with what is to be read in it in braces; see the how-to."""

    @field_validator("text")
    @classmethod
    def _is_allowed(cls, text: str) -> str:
        try:
            parse_pattern(text)
        except PatternError as error:
            raise ValueError(str(error)) from None
        return text

    @model_validator(mode="after")
    def _reads_enough(self) -> Self:
        lacks = self.needs - parse_pattern(self.text).holes
        if lacks:
            raise ValueError(f"lacks {', '.join(f'{{{each}}}' for each in sorted(lacks))}")
        return self

    @property
    def needs(self) -> frozenset[str]:
        if self.kind is PatternKind.CREDIT:
            return _CREDIT_HOLES
        return frozenset({"amount", "balance"}) if self.kind is PatternKind.DEBIT else frozenset()


def _centre(text: object) -> object:
    return "".join(text.split()) if isinstance(text, str) else text


Centre = Annotated[str, BeforeValidator(_centre), Field(pattern=r"^\+?[0-9]{3,20}$")]
Sender = Annotated[str, Field(min_length=1, max_length=20)]


class BankSmsSettings(BaseModel):
    """``[payments.METHOD.sms]``: the bank's confirmations, on a SIM that gets nothing else."""

    model_config = _STRICT

    carrier: Name
    """The modem, by its name in ``[[carriers]]``; it needs ``receives_only = true``. What comes to
    its SIM goes to no customer."""
    senders: Annotated[tuple[Sender, ...], Field(min_length=1, max_length=_SENDERS_MAX)]
    """Names or numbers that the bank writes from. Anybody can forge them."""
    service_centres: Annotated[tuple[Centre, ...], Field(max_length=_SENDERS_MAX)] = ()
    """Numbers of the service centres that the bank's texts come by, which the network tells."""
    patterns: Annotated[tuple[BankPattern, ...], Field(min_length=1, max_length=PATTERNS_MAX)]
    """How the bank's texts are written."""
    currency: Currency | None = None
    """What the amounts in the texts are in; not set: the currency of balances."""
    by_itself: bool = False
    """Credit by the bank's text alone what fits in every respect, up to the three amounts below,
    which it needs, as a service centre. Else each payment waits for you."""
    payment_max: Money | None = None
    """The most that one text credits by itself."""
    organization_day_max: Money | None = None
    """The most that texts credit by themselves to one organization in any 24 hours."""
    day_max: Money | None = None
    """The most that they credit to all together in any 24 hours."""

    @model_validator(mode="after")
    def _credits_within_bounds(self) -> Self:
        if not self.by_itself:
            return self
        if not self.service_centres:
            raise ValueError("by_itself needs service_centres")
        for name in ("payment_max", "organization_day_max", "day_max"):
            if getattr(self, name) is None:
                raise ValueError(f"by_itself needs {name}")
        for number, each in enumerate(self.patterns):
            lacks = _BY_ITSELF_HOLES - parse_pattern(each.text).holes
            if each.kind is PatternKind.CREDIT and lacks:
                holes = ", ".join(f"{{{hole}}}" for hole in sorted(lacks))
                raise ValueError(f"by_itself needs {holes} in patterns[{number}]")
        return self


class BankReader:
    """Reads one bank's texts."""

    def __init__(self, provider: str, settings: BankSmsSettings) -> None:
        self.carrier = settings.carrier
        self.caps = _caps(settings)
        self._provider = provider
        self._currency = settings.currency or currency_counted()
        self._senders = frozenset(_folded(each) for each in settings.senders)
        self._centres = frozenset(_digits(each) for each in settings.service_centres)
        self._patterns: tuple[tuple[PatternKind, TextPattern], ...] = tuple(
            (each.kind, parse_pattern(each.text)) for each in settings.patterns
        )

    def read(self, message: Inbound) -> TextReading:
        """The content of a text."""
        if _folded(message.sender) not in self._senders:
            return TextReading(TextKind.FOREIGN_SENDER)
        if self._centres and _digits(message.service_centre or "") not in self._centres:
            return TextReading(TextKind.FOREIGN_CENTRE)
        if len(message.text) > READ_CHARACTERS_MAX:
            return TextReading(TextKind.NO_PATTERN)
        text = plain(message.text)
        for kind, pattern in self._patterns:
            values = pattern.read(text)
            if values is not None:
                return self._reading_of(kind, values)
        return TextReading(TextKind.NO_PATTERN)

    def _reading_of(self, kind: PatternKind, values: Mapping[str, str]) -> TextReading:
        if kind is PatternKind.NOTICE:
            return TextReading(TextKind.NOTICE)
        try:
            amount, fee = amount_of(values["amount"]), amount_of(values.get("fee", "0"))
            balance = amount_of(values["balance"]) if "balance" in values else None
        except ValueError:
            return TextReading(TextKind.NO_PATTERN)
        if amount <= 0:
            return TextReading(TextKind.NO_PATTERN)
        if kind is PatternKind.DEBIT:
            return TextReading(TextKind.DEBIT, moved=-amount - fee, balance=balance)
        payer = values.get("payer")
        settled = PaymentSettled(self._provider, values["reference"], amount, self._currency, payer)
        return TextReading(TextKind.CREDIT, settled, amount - fee, balance)


def _caps(settings: BankSmsSettings) -> CreditCaps | None:
    if not settings.by_itself:
        return None
    maxima = (settings.payment_max, settings.organization_day_max, settings.day_max)
    return CreditCaps(*(amount_of(each or "0") for each in maxima))


def _folded(sender: str) -> str:
    return " ".join(sender.casefold().split())


def _digits(number: str) -> str:
    return re.sub(r"[^0-9]", "", number)


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
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    merchant: Annotated[str, Field(min_length=1, max_length=40)]
    """The merchant code that customers pay to, as the app asks for it."""
    instructions: Mapping[Language, Instruction] = Field(default_factory=dict)
    """What customers read, by language, in place of the built-in sentence; ``{merchant}`` and
    ``{title}`` stand for the code and the wallet's name."""
    sms: BankSmsSettings | None = None
    """The bank's confirmations by SMS; not set: you confirm each payment."""

    @field_validator("instructions")
    @classmethod
    def _have_known_holes(cls, texts: Mapping[Language, str]) -> Mapping[Language, str]:
        for language, text in texts.items():
            try:
                holes = {name for _, name, spec, how in Formatter().parse(text) if name is not None}
            except ValueError:
                raise ValueError(f"{language} has a brace without its other one") from None
            if not holes <= _HOLES:
                raise ValueError(f"{language} knows {{merchant}} and {{title}} alone")
        return texts


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
