"""A bank's texts as they are stored: what came to an operator's SIM, and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from risala.engine.model.errors import Conflict
from risala.plugins.payment_texts import CreditCaps, TextReading


class TextState(StrEnum):
    """The state of a text."""

    UNREAD = "unread"
    """Stored, and not processed yet."""
    UNMATCHED = "unmatched"
    """It has nothing that can be trusted or understood: see :class:`TextWhy`."""
    NOTED = "noted"
    """From the bank, and no payment: money that went out, or news."""
    WAITING = "waiting"
    """A payment that is not credited: for its customer, or for the operator."""
    CREDITED = "credited"
    DISMISSED = "dismissed"
    """The operator has closed it without action."""


class TextWhy(StrEnum):
    """Why a text credits nothing automatically."""

    NO_METHOD = "no_method"
    """No payment method uses its carrier any longer."""
    FOREIGN_SENDER = "foreign_sender"
    FOREIGN_CENTRE = "foreign_centre"
    """It came through an unexpected service centre."""
    NO_PATTERN = "no_pattern"
    """It seems to be from the bank, but no pattern fits."""
    REPEATED = "repeated"
    """An earlier text had the same reference."""
    NO_BALANCE = "no_balance"
    """The account's balance is not known yet, or the text does not have it."""
    BALANCE = "balance"
    """Its balance does not continue the one before it."""
    CREDITED_BEFORE = "credited_before"
    """Its reference was already credited, by any way."""
    BY_OPERATOR = "by_operator"
    """The settings allow no automatic credits."""
    UNCLAIMED = "unclaimed"
    """No customer has begun such a payment yet."""
    SEVERAL = "several"
    """Several payments fit."""
    PAYER_UNCHECKED = "payer_unchecked"
    """Its customer has not yet proved that the payer's number is theirs."""
    PAYER = "payer"
    """It was paid from another number than its customer's."""
    AMOUNT = "amount"
    """The amount differs from what its customer wanted to pay."""
    CAP_PAYMENT = "cap_payment"
    CAP_ORGANIZATION = "cap_organization"
    CAP_DAY = "cap_day"


MAY_YET: Final = (TextWhy.UNCLAIMED, TextWhy.PAYER_UNCHECKED, TextWhy.SEVERAL)
"""The states in which a customer's next step may still make it a payment."""


class Withheld(Conflict):
    """A text credits nothing automatically; ``why`` is the reason. Nothing was written."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Read:
    """What a method reads in a text."""

    method: str
    reading: TextReading
    key: str | None
    """The reference in comparable form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCredit:
    """A text's payment is credited from the text alone."""

    text_id: str
    provider: str
    """The owner of the reference."""
    caps: CreditCaps
    at: int


@dataclass(frozen=True, slots=True)
class BankText:
    seq: int
    """In the order of arrival."""
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
    """The account's balance after it, by the text, in minor units."""
    continues: bool
    payment_id: str | None
    """The payment that it settled."""
    decided_by: str | None
    decided_at: int | None


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """An account's balance, as far as the bank's texts were followed."""

    method: str
    balance: int
    at: int
    said_by: str | None
    """Who entered it; None: a text."""
