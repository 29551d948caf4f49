"""Billing: the actor that owns every balance while the service runs.

It decides what is affordable: the price of a send is *reserved*, then *settled* once the commit is
on disk, or *released* if the commit failed. Refunds and top-ups are reported to it with the number
of their ledger entry. It does not wait while the disk syncs.

The transaction that charges checks the balance and the day's cap once more. If this actor crashes
during a send, its replacement reads the ledger and does not know of that send, and still nothing is
spent twice.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from risala.engine.actors.actor import Decider, Later, MailboxFull, Ref
from risala.engine.billing.accounts import HeldMoney
from risala.engine.billing.claims import (
    Adjust,
    BillingMessage,
    Credit,
    Doubt,
    Release,
    Reserve,
    Settle,
    TopUp,
)
from risala.engine.journal.repositories.ledger import LedgerRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Draining, OutcomeUnknown
from risala.engine.model.records.accounts import Entered
from risala.engine.model.records.ledger import LedgerEntry


class Billing(Decider[BillingMessage]):
    """The actor; see the module's text."""

    def __init__(
        self, ledger: LedgerRepository, clock: Clock, credited: Callable[[str], None]
    ) -> None:
        """
        Args:
            credited: told of an organization whose balance has grown.
        """
        self._credited = credited
        self._ledger = ledger
        self._clock = clock
        self._money = HeldMoney(ledger.balance_on)

    def decide(self, message: BillingMessage) -> object:
        match message:
            case Reserve():
                return self._money.reserve(message)
            case Settle():
                self._money.settle(message)
            case Release(reservations):
                self._money.release(reservations)
            case Entered():
                self._money.enter(message)
                self._credited(message.organization_id)
            case Doubt(organization_id):
                self._money.doubt(organization_id)
            case TopUp() | Credit() | Adjust():
                return Later(self._credit, message)
        return None

    async def _credit(self, message: TopUp | Credit | Adjust) -> LedgerEntry:
        try:
            entry = await self._enter(message)
        except OutcomeUnknown:
            self._money.doubt(message.organization_id)
            raise
        self._money.enter(Entered(entry.organization_id, entry.seq, entry.balance_after))
        self._credited(entry.organization_id)
        return entry

    async def _enter(self, message: TopUp | Credit | Adjust) -> LedgerEntry:
        if isinstance(message, Credit):
            return await message.enter()
        given = (message.organization_id, message.amount, message.reference, self._clock.now_ms())
        if isinstance(message, Adjust):
            return await self._ledger.adjust(message.by, *given, note=message.note)
        return await self._ledger.top_up(message.by, *given, note=message.note)


def tell_entered(billing: Ref[BillingMessage], entered: Entered) -> None:
    """Notify billing of a ledger entry. A lost message does no harm: billing reads the ledger
    before it refuses anything."""
    with suppress(MailboxFull, Draining):
        billing.tell_nowait(entered)
