"""A bank's texts as they are stored: what came to an operator's SIM, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from risala.engine.model.errors import Conflict
from risala.plugins.payment_texts import CreditCaps, TextReading


class TextState(StrEnum):
    """How a text stands."""

    UNREAD = "unread"
    """Stored, and not looked at yet."""
    UNMATCHED = "unmatched"
    """It tells nothing that can be believed or understood: see :class:`TextWhy`."""
    NOTED = "noted"
    """The bank's, and no payment: money that went out, or news."""
    WAITING = "waiting"
    """A payment that is not credited: for its customer, or for the operator."""
    CREDITED = "credited"
    DISMISSED = "dismissed"
    """The operator says that there is nothing to be done about it."""


class TextWhy(StrEnum):
    """Why a text credits nothing by itself."""

    NO_METHOD = "no_method"
    """No payment method listens to its carrier any more."""
    FOREIGN_SENDER = "foreign_sender"
    FOREIGN_CENTRE = "foreign_centre"
    """It came by a service centre that is not the expected one."""
    NO_PATTERN = "no_pattern"
    """The bank's, as it seems, and no pattern fits."""
    REPEATED = "repeated"
    """An earlier text told of the same reference."""
    NO_BALANCE = "no_balance"
    """Nobody has said yet what the account's balance is, or the text does not."""
    BALANCE = "balance"
    """Its balance does not continue the one before it."""
    CREDITED_BEFORE = "credited_before"
    """Its reference was credited already, by whatever way."""
    BY_OPERATOR = "by_operator"
    """Nothing is credited by itself: the settings say so."""
    UNCLAIMED = "unclaimed"
    """No customer has begun such a payment yet."""
    SEVERAL = "several"
    """Several payments fit."""
    PAYER_UNCHECKED = "payer_unchecked"
    """Its customer has not shown yet that the payer's number is theirs."""
    PAYER = "payer"
    """It was paid from another number than its customer's."""
    AMOUNT = "amount"
    """Another amount than its customer wanted to pay."""
    CAP_PAYMENT = "cap_payment"
    CAP_ORGANIZATION = "cap_organization"
    CAP_DAY = "cap_day"


MAY_YET: Final = (TextWhy.UNCLAIMED, TextWhy.PAYER_UNCHECKED, TextWhy.SEVERAL)
"""Where the next step of a customer may still make a payment of it."""


class Withheld(Conflict):
    """A text credits nothing by itself; ``why`` says why. Nothing was written."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Read:
    """What a method reads in a text."""

    method: str
    reading: TextReading
    key: str | None
    """The reference as it is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCredit:
    """The payment that a text tells of is credited by the text alone."""

    text_id: str
    provider: str
    """Whose reference it is."""
    caps: CreditCaps
    at: int


@dataclass(frozen=True, slots=True)
class BankText:
    seq: int
    """In the order in which they came."""
    id: str
    carrier: str
    sender: str
    service_centre: str | None
    body: str = field(repr=False)
    received_at: int
    state: TextState
    why: str | None
    """A :class:`TextWhy`."""
    method: str | None
    reference: str | None
    reference_key: str | None
    amount: int | None
    payer: str | None = field(repr=False)
    balance: int | None
    """Of the account after it, as it tells, in minor units."""
    continues: bool
    payment_id: str | None
    """The payment that it settled."""
    decided_by: str | None
    decided_at: int | None


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """What an account has, as far as the bank's texts were followed."""

    method: str
    balance: int
    at: int
    said_by: str | None
    """Who said it; None: a text."""
