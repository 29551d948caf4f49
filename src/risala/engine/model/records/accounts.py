"""Organizations: what changes their balances and their settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Entered(NamedTuple):
    """An entry of the ledger is on disk: a charge, a refund, a top-up, an adjustment."""

    organization_id: str
    seq: int
    balance_after: int


class BalanceState(NamedTuple):
    """What an organization has, as of one entry of its ledger."""

    seq: int
    """Of the entry: of two standings the one with the higher number is the later. 0: none yet."""
    balance: int
    """Minor units."""
    day: int
    """The organization's own calendar day that ``spent`` is about."""
    spent: int
    """Charged on that day, minor units; refunds do not give it back."""


@dataclass(frozen=True, slots=True)
class OrganizationChange:
    """What of an organization's settings is to change; the rest stays."""

    name: str | None = None
    smart_encoding: bool | None = None
    sets_price: bool = False
    price_per_segment: int | None = None
    sets_rate: bool = False
    sms_per_s: float | None = None
    sets_low_balance: bool = False
    low_balance: int | None = None
    sets_operator_spend_cap: bool = False
    operator_spend_cap: int | None = None
    sets_owner_spend_cap: bool = False
    owner_spend_cap: int | None = None
    time_zone: str | None = None
    lean_answers: bool | None = None
