"""Organizations, their senders and ledgers: their changes, and pages of them."""

from __future__ import annotations

from typing import Final, NamedTuple

from risala.dataclass import dataclass

DELETED: Final = "deleted"
"""The status of a deleted organization; its row stays with the ledger."""
WEEKLY_MESSAGES: Final = 2000
"""Accepted live messages of seven days that approve a cleared sender (specification §3.2)."""
WEEK_HOURS: Final = 168
REQUESTED: Final = "waiting"
CLEARED: Final = "cleared"
REQUEST_STATES: Final = frozenset({REQUESTED, CLEARED, "approved", "denied"})
UNDECIDED_MAX: Final = 1000
"""The most requests for senders that are counted; more are shown as this many."""


class Entered(NamedTuple):
    """An entry of the ledger is on disk: a charge, a refund, a top-up, an adjustment."""

    organization_id: str
    seq: int
    balance_after: int


class BalanceState(NamedTuple):
    """An organization's balance, as of one entry of its ledger."""

    seq: int
    """The entry's number: the state with the higher number is the later one. 0: none yet."""
    balance: int
    """Minor units."""
    day: int
    """The day of ``spent``, in the organization's own calendar."""
    spent: int
    """Charged on that day, minor units; refunds do not give it back."""


@dataclass(frozen=True, slots=True)
class OrganizationFilter:
    """Which organizations are in a list; None: any."""

    search: str | None = None
    """Part of the name or of the id, or an owner's whole address."""
    status: str | None = None


@dataclass(frozen=True, slots=True)
class OrganizationFacts:
    """Facts that are not in an organization's own row."""

    spent_today: int
    last_send_at: int | None
    """When its latest message was accepted, UTC epoch milliseconds; of a test key too."""
    owners: tuple[str, ...]
    """Addresses of its first owners."""


@dataclass(frozen=True, slots=True)
class SenderRequestFilter:
    """Which requests are in a list."""

    state: str
    """One of :data:`REQUEST_STATES`."""
    search: str | None = None
    """Part of the sender's name, or of its organization's name or id; None: any."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Requests that wait for the operator."""

    count: int
    """Counted up to :data:`UNDECIDED_MAX`."""
    oldest: int | None
    """When the oldest was made, UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFilter:
    organization_id: str
    kinds: frozenset[int]
    """Numbers of kinds; empty: all."""
    since: int | None = None
    until: int | None = None
    """Entered at or after, and before: UTC epoch milliseconds."""
