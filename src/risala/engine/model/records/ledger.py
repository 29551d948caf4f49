"""The ledger: the answers of operations on money, and the asks for them; and the payer of messages:
customers, or nobody, because the service's owner sends for themselves."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.ids import derived_id
from risala.engine.model.numbers import ENTRY_KINDS
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment, Money, OneOf, SnakeCase


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A change of the balance."""

    id: str = field(init=False)
    seq: int
    organization_id: str
    kind: Annotated[str, OneOf(ENTRY_KINDS.words)]
    amount: Money
    """Below zero for a charge."""
    balance_after: Money
    reference: str
    """The (first) message's id for a charge or refund; the payment's reference for a top-up."""
    messages: int | None
    """How many messages a charge pays for; ``reference`` is the first of them. None: no charge."""
    note: str | None
    """The purpose of a top-up; the reason for an adjustment."""
    at: Moment

    def __post_init__(self) -> None:
        made = derived_id("led", self.at, self.organization_id, self.seq, self.reference)
        object.__setattr__(self, "id", made)


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """Ledger entries, the newest first, and the present balance."""

    organization_id: str
    balance: Money
    currency: str
    entries: tuple[LedgerEntry, ...]
    next: int | None
    """The ``before`` of the next page; None: this is the last one."""
    previous: int | None
    """The ``after`` of the page of newer ones; None: this is the first one."""
    looked_to: Moment | None
    """The search came this far; the rest is on the next page."""
    spent_a_day: Money
    """Charged on a day of the last seven whole ones, on the average: how long the balance lasts."""


@dataclass(frozen=True, slots=True)
class PriceList:
    """The general price of a segment and low balance."""

    per_segment: Money
    low_balance: Money
    currency: str


TOP_UP: Final = Ask("topup", LedgerEntry)
ADJUST: Final = Ask("adjust", LedgerEntry)
LIST: Final = Ask("ledger.list", LedgerPage)
PRICE: Final = Ask("price", PriceList)


CUSTOMERS: Final = "customers"
SELF: Final = "self"
PAYERS: Final = (CUSTOMERS, SELF)


class DayAllowance(NamedTuple):
    """What an organization that sends for itself may send in one day."""

    parts: int
    ends_at: int
    """The midnight after it, in UTC epoch milliseconds."""


class PartsToday(NamedTuple):
    """What an organization that sends for itself has sent today, of what it may."""

    sent: int
    limit: int


@dataclass(frozen=True, slots=True)
class StoredPayer:
    """What operators chose while the service ran."""

    payer: str
    self_parts_per_day: int
    at: int
    """UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class Payer(SnakeCase):
    """The payer of messages now."""

    payer: Annotated[str, OneOf(PAYERS), AUDITED]
    self_parts_per_day: Annotated[int, AUDITED]
    """The most parts that an organization may send in a day, with `self`."""
    settings_payer: Annotated[str, OneOf(PAYERS), UNAUDITED]
    """What the settings' file says."""
    changed_at: Annotated[Moment | None, UNAUDITED]
    """When an operator changed it; None: the settings' file applies."""
    organizations: Annotated[int, UNAUDITED]
    """How many there are, without the deleted ones."""


SHOW_PAYER: Final = Ask("payer.show", Payer)
SET_PAYER: Final = Ask("payer.set", Payer)
