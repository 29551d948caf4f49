"""The statement of a month, and the ask for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import Count, Moment, Money
from risala.engine.model.records.ledger import LedgerEntry

SENDERS_MAX: Final = 50
"""Keys and mailings that a statement names; what the others cost is summed in one line."""
ENTRIES_MAX: Final = 1_000_000
"""Entries of one statement: some seconds of a thread. A month with more is told up to a day."""
PAYMENTS_MAX: Final = 500
"""Payments and adjustments that a statement lists: hardly anybody has one a day."""


class CostSource(StrEnum):
    """What was sent for the money."""

    MAILING = "mailing"
    KEY = "key"
    """Messages of API keys, of other gateways' credentials, and of hooks."""
    CODES = "codes"
    """Codes of verification sessions."""
    OTHER = "other"
    """Messages that people wrote on the pages, answers, and what can no longer be told."""


@dataclass(frozen=True, slots=True)
class SourceCost:
    """What one source cost."""

    source: CostSource
    messages: Count
    amount: Money
    """What was charged, above zero."""


@dataclass(frozen=True, slots=True)
class SenderCost:
    """What one key or mailing cost in the month."""

    source: CostSource
    of: str | None
    """The id of the key or mailing. Null: all others together."""
    name: str | None
    """The sender's name; null: it has none, or is deleted."""
    messages: Count
    amount: Money


@dataclass(frozen=True, slots=True)
class StatementDay:
    """A day on which the balance changed."""

    day: str
    """`2026-11-28`, of the organization's time zone."""
    sources: tuple[SourceCost, ...]
    refunded: Money
    """For messages that were not delivered, also those of earlier days."""
    credited: Money
    """Payments and adjustments together; below zero if more was taken than given."""
    balance_after: Money
    """After the last entry of the day."""


@dataclass(frozen=True, slots=True)
class PartsDay:
    """What an organization sent on a day for which nobody pays."""

    day: str
    """`2026-11-28`, of the organization's time zone."""
    parts: Count


@dataclass(frozen=True, slots=True)
class Issuer:
    """The company that runs the service, as the settings' `legal` say; empty: not said."""

    name: str
    address: tuple[str, ...]
    tax_id: str
    trade_register: str


@dataclass(frozen=True, slots=True)
class MonthStatement:
    """A month of the ledger, day by day. The opening balance and all changes make the closing
    one."""

    organization_id: str
    organization_name: str
    issuer: Issuer
    time_zone: str
    month: str
    """`2026-11`, of the organization's time zone."""
    currency: str
    opening: Money
    """The balance as the month began."""
    closing: Money
    """The balance as it ended, or now."""
    sources: tuple[SourceCost, ...]
    """What each source cost in the month, in the order of the sources."""
    senders: tuple[SenderCost, ...]
    """Keys and mailings, the most expensive first."""
    charged: Money
    refunded: Money
    credited: Money
    days: tuple[StatementDay, ...]
    """Days with entries, in their order."""
    payments: tuple[LedgerEntry, ...]
    """Payments and adjustments, the oldest first."""
    own_parts: tuple[PartsDay, ...]
    """Days on which something left for which nobody pays, in their order."""
    first_month: str
    """The month of the organization's first entry or part: there is nothing before it."""
    ends_at: Moment
    """When the month ends."""
    counted_until: Moment | None
    """Entries from here on are not in the statement, because the month has too many to read at
    once. Null: all are."""


STATEMENT: Final = Ask("statement.get", MonthStatement)
