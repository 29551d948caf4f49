"""The messages to billing: money is reserved, then settled or released (contract §6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.accounts import Entered
from risala.engine.model.records.ledger import LedgerEntry


class Reserve(NamedTuple):
    """Hold the price of a send until its commit is known; answers with :class:`Reservation`.

    Refused with ``InsufficientBalance`` if the balance, less what is held, is not positive or does
    not cover it, and with ``SpendCapReached`` if it exceeds the day's cap.
    """

    organization_id: str
    amount: int
    """Minor units; 0 needs a positive balance all the same."""
    day: int
    """Today, in the organization's own calendar, as days since 1970-01-01."""
    spend_cap: int | None
    """The most that may be charged per day, minor units; None: no cap."""


class Reservation(NamedTuple):
    """A held price; an actor never gives out two equal ones."""

    number: int
    organization_id: str
    amount: int
    day: int


class Settle(NamedTuple):
    """The held prices were charged; the last ledger entry of the commit contains the balance."""

    reservations: tuple[Reservation, ...]
    entered: Entered


class Release(NamedTuple):
    """The held prices are not charged: the send was refused, or its commit failed."""

    reservations: tuple[Reservation, ...]


class Doubt(NamedTuple):
    """A commit failed, and it is unknown whether it is on disk: read the ledger again."""

    organization_id: str


@dataclass(frozen=True, slots=True)
class TopUp:
    """Money came in: credited once for each reference, even if it is reported twice.

    Answers with the :class:`LedgerEntry` once it is on disk.
    """

    organization_id: str
    amount: int
    reference: str
    note: str | None = None
    by: AuditEntry | None = None


@dataclass(frozen=True, slots=True)
class Credit:
    """Money came in by a feature; answers as :class:`TopUp` does."""

    organization_id: str
    enter: Callable[[], Awaitable[LedgerEntry]]
    """The feature's command: it enters the money, and stores in the same transaction what it came
    for."""


@dataclass(frozen=True, slots=True)
class Adjust:
    """Correct a balance by a signed amount; answers as :class:`TopUp` does."""

    organization_id: str
    amount: int
    reference: str
    note: str
    """The reason."""
    by: AuditEntry | None = None


BillingMessage = Reserve | Settle | Release | Entered | Doubt | TopUp | Credit | Adjust
