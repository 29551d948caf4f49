"""Billing: what a message costs, and the actor through whom money comes in.

Charges and refunds are part of the unit of work of the message that they pay for
(:mod:`risala.engine.journal.accounts.ledger`): no actor stands between a message and its money.
What does not belong to a message — top-ups, adjustments — goes through here, one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from risala.engine.actors.actor import Decider, Later
from risala.engine.journal.accounts import ledger
from risala.engine.journal.store.signature import Signature, signed
from risala.engine.journal.store.writer import Journal
from risala.engine.model.clock import Clock
from risala.engine.model.commands import LedgerEntry, Organization


@dataclass(frozen=True, slots=True)
class TopUp:
    """Money came in: credited once for each reference, whoever brings it."""

    organization_id: str
    amount: int
    reference: str
    note: str | None = None
    by: Signature | None = None


@dataclass(frozen=True, slots=True)
class Adjust:
    """Correct a balance by a signed amount."""

    organization_id: str
    amount: int
    reference: str
    note: str
    """Why."""
    by: Signature | None = None


BillingMessage = TopUp | Adjust


class Billing(Decider[BillingMessage]):
    """Answers with the :class:`LedgerEntry` once it is on disk."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    def decide(self, message: BillingMessage) -> object:
        return Later(self._enter, message)

    async def _enter(self, message: BillingMessage) -> LedgerEntry:
        at = self._clock.now_ms()
        write = ledger.top_up if isinstance(message, TopUp) else ledger.adjust
        return await self._journal.commit(
            signed(
                message.by,
                lambda conn: write(
                    conn,
                    message.organization_id,
                    message.amount,
                    message.reference,
                    at,
                    note=message.note,
                ),
            )
        )


def price(organization: Organization, per_segment: int, segments: int) -> int:
    """What a message costs, in minor units: the organization's own price, or the general one."""
    own = organization.price_per_segment
    return segments * (per_segment if own is None else own)


def low_balance(organization: Organization, general: int) -> int:
    """Below which balance, in minor units, an organization is told that it is low; 0: never."""
    own = organization.low_balance
    return general if own is None else own
