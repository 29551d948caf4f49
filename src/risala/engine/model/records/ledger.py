"""The ledger: the answers of operations on money, and the asks for them."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.ids import derived_id
from risala.engine.model.numbers import ENTRY_KINDS
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import Moment, Money, OneOf


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
