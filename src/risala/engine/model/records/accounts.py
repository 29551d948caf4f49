"""Organizations, their senders and credentials: what changes balances and settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

DELETED: Final = "deleted"
"""The status of an organization that is no more; its row stays with the ledger."""
WEEKLY_MESSAGES: Final = 2000
"""Accepted live messages of seven days that approve a cleared sender (specification §3.2)."""
WEEK_HOURS: Final = 168


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


@dataclass(frozen=True, slots=True)
class Proof:
    """What a password is compared with."""

    hash: bytes = field(repr=False)
    salt: bytes | None = field(repr=False)
    """None: the hash is a plain one."""
    signer: bytes | None = field(repr=False)
