"""A bank's texts as they are stored: what came to an operator's SIM, and its result."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.errors import Conflict
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, JsonName, Moment, Money

if TYPE_CHECKING:
    from risala.plugins.payment_texts import TextReading


class TextState(StrEnum):
    """The state of a text."""

    UNREAD = "unread"
    """Stored, and not processed yet."""
    UNMATCHED = "unmatched"
    """The text has nothing that can be trusted or understood: see :class:`TextWhy`."""
    NOTED = "noted"
    """The text is from the bank, and no payment: money that went out, or news."""
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
    """The text came through an unexpected service centre."""
    NO_PATTERN = "no_pattern"
    """The text seems to be from the bank, but no pattern fits."""
    REPEATED = "repeated"
    """An earlier text had the same reference."""
    NO_BALANCE = "no_balance"
    """The account's balance is not known yet, or the text does not have it."""
    BALANCE = "balance"
    """The text's balance does not continue the one before it."""
    CREDITED_BEFORE = "credited_before"
    """The text's reference was already credited, by any way."""
    BY_OPERATOR = "by_operator"
    """The settings allow no automatic credits."""
    UNCLAIMED = "unclaimed"
    """No customer has begun such a payment yet."""
    SEVERAL = "several"
    """Several payments fit."""
    PAYER_UNCHECKED = "payer_unchecked"
    """The payment's customer has not yet proved that the payer's number is theirs."""
    PAYER = "payer"
    """The payment was made from another number than its customer's."""
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


@dataclass(frozen=True, slots=True)
class BankText:
    seq: Annotated[int, UNAUDITED]
    """The text's place in the order of arrival."""
    id: Annotated[str, UNAUDITED]
    carrier: Annotated[str, UNAUDITED]
    sender: Annotated[str, UNAUDITED]
    service_centre: Annotated[str | None, UNAUDITED]
    body: Annotated[str, UNAUDITED] = field(repr=False)
    received_at: Annotated[int, UNAUDITED]
    sent_at: Annotated[int | None, UNAUDITED]
    """The text's own time, by the network."""
    method: Annotated[str | None, AUDITED]
    state: Annotated[TextState, AUDITED]
    why: Annotated[str | None, AUDITED]
    """A :class:`TextWhy`."""
    reference: Annotated[str | None, AUDITED]
    reference_key: Annotated[str | None, UNAUDITED]
    amount: Annotated[Money | None, AUDITED]
    payer: Annotated[str | None, UNAUDITED] = field(repr=False)
    balance: Annotated[int | None, UNAUDITED]
    """The account's balance after it, by the text, in minor units."""
    continues: Annotated[bool, UNAUDITED]
    payment_id: Annotated[str | None, UNAUDITED]
    """The payment that it settled."""
    decided_by: Annotated[str | None, UNAUDITED]
    decided_at: Annotated[int | None, UNAUDITED]


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text with what was read in it."""

    seq: int
    id: str
    carrier: str
    sender: str
    service_centre: str | None
    body: Annotated[str, JsonName("text")] = field(repr=False)
    received_at: Moment
    sent_at: Moment | None
    """The text's own time, which the network wrote on it; null where it wrote none."""
    state: TextState
    why: str | None
    method: str | None
    reference: str | None
    amount: Money | None
    payer: str | None = field(repr=False)
    balance: Money | None
    continues: bool
    payment_id: str | None
    fits: str | None
    """The payment that it settled, or would settle."""
    decided_by: str | None
    decided_at: Moment | None


@dataclass(frozen=True, slots=True)
class TextPage:
    texts: tuple[ShownText, ...]
    next: int | None
    """The ``before`` of the next page; None: this is the last one."""


@dataclass(frozen=True, slots=True)
class LineCaps:
    """The most that a method's texts alone may credit."""

    payment: Money
    organization_day: Money
    day: Money


@dataclass(frozen=True, slots=True)
class LineStatus:
    """The state of a method's texts."""

    method: str
    carrier: str
    by_itself: bool
    caps: LineCaps | None
    """None: nothing is credited automatically."""
    credited_day: Money
    """What texts alone have credited in the last 24 hours."""
    balance: Money | None
    """The account's balance, as far as the texts were followed; None: not known yet."""
    balance_at: Moment | None
    balance_said_by: str | None
    """The person who entered it; None: a text."""
    continues: bool | None
    """Whether the last text continued it; None: none came."""
    open: int
    """Texts that wait for the operator."""
    last_at: Moment | None
    """When the last text came."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The state of each payment method's texts, and how many are nobody's."""

    lines: tuple[LineStatus, ...]
    unmatched: int
    """Open ones that no method has read anything in."""


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """An account's balance, as far as the bank's texts were followed."""

    method: Annotated[str, UNAUDITED]
    balance: Annotated[Money, AUDITED]
    at: Annotated[int, UNAUDITED]
    said_by: Annotated[str | None, UNAUDITED]
    """The person who entered it; None: a text."""


LIST: Final = Ask("payment.texts", TextPage)
DISMISS: Final = Ask("payment.dismiss_text", ShownText)
LINES: Final = Ask("payment.lines", Lines)
RECONCILE: Final = Ask("payment.reconcile", Lines)
