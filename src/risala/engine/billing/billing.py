"""Billing: the actor that owns every balance while the service runs.

It decides what is affordable: the price of a send is *reserved*, then *settled* once the commit is
on disk, or *released* if the commit failed. Refunds and top-ups are reported to it with the number
of their ledger entry. It does not wait while the disk syncs.

The transaction that charges checks the balance and the day's cap once more. If this actor crashes
during a send, its replacement reads the ledger and does not know of that send, and still nothing is
spent twice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from risala.engine.actors.actor import Decider, Later, MailboxFull, Ref
from risala.engine.billing.claims import (
    Adjust,
    BillingMessage,
    Credit,
    Doubt,
    Release,
    Reservation,
    Reserve,
    Settle,
    TopUp,
)
from risala.engine.journal.accounts.balances import LedgerRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import (
    Draining,
    InsufficientBalance,
    OutcomeUnknown,
    SpendCapReached,
)
from risala.engine.model.records.accounts import BalanceState, Entered
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
        entry = (message.organization_id, message.amount, message.reference, self._clock.now_ms())
        if isinstance(message, Adjust):
            return await self._ledger.adjust(message.by, *entry, note=message.note)
        return await self._ledger.top_up(message.by, *entry, note=message.note)


def tell_entered(billing: Ref[BillingMessage], entered: Entered) -> None:
    """Notify billing of a ledger entry. A lost message does no harm: billing reads the ledger
    before it refuses anything."""
    with suppress(MailboxFull, Draining):
        billing.tell_nowait(entered)


# Billing's memory of each organization: its balance and spending, and the held prices. Pure.

ACCOUNTS_MAX: Final = 20_000
"""Organizations whose standing is in memory; any other is read again at its next send.

About 400 bytes each.
"""

Look = Callable[[str, int], BalanceState]
"""Reads the standing of an organization on a day from the journal; raises NotFound."""


@dataclass(slots=True)
class _Account:
    standing: BalanceState | None = None
    """Balance and today's spending; None: to be read before the next reservation."""
    read_seq: int = 0
    """Number of the last ledger entry when the standing was read: its ``spent`` includes charges up
    to that entry."""
    held: dict[int, Reservation] = field(default_factory=dict)
    held_amount: int = 0
    is_doubtful: bool = False
    """True: the journal is read before the next reservation."""


class HeldMoney:
    """Balances and reservations of all organizations.

    A standing is replaced only by that of a later ledger entry, by the entries' numbers: so entries
    may arrive twice, late or in any order.
    """

    def __init__(self, look: Look) -> None:
        self._look = look
        self._accounts: OrderedDict[str, _Account] = OrderedDict()
        self._last_number = 0

    def reserve(self, claim: Reserve) -> Reservation:
        """Hold a price.

        Raises:
            InsufficientBalance, SpendCapReached: nothing is held.
            NotFound: the organization does not exist.
        """
        account = self._account(claim.organization_id)
        known = account.standing
        if known is None or known.day != claim.day:
            self._look_up(account, claim)
        elif account.is_doubtful or _refusal(account, known, claim) is not None:
            # Before a refusal the journal is read: the news of a top-up may be lost.
            self._look_again(account, known, claim)
        standing = account.standing
        assert standing is not None
        if (refusal := _refusal(account, standing, claim)) is not None:
            raise refusal
        self._last_number += 1
        held = Reservation(self._last_number, claim.organization_id, claim.amount, claim.day)
        account.held[held.number] = held
        account.held_amount += held.amount
        return held

    def settle(self, message: Settle) -> None:
        """Record that held prices were charged."""
        charged_by_day: dict[int, int] = {}
        known = True
        for reservation in message.reservations:
            known &= self._let_go(reservation)
            day = reservation.day
            charged_by_day[day] = charged_by_day.get(day, 0) + reservation.amount
        account = self._account(message.entered.organization_id)
        if not known:
            # An actor that has crashed since made this reservation: only the journal shows whether
            # its charge is in our standing, which is therefore read again.
            account.standing = None
        elif account.standing is not None:
            self.enter(message.entered)
            standing = account.standing
            if message.entered.seq > account.read_seq:
                spent = standing.spent + charged_by_day.get(standing.day, 0)
                account.standing = BalanceState(standing.seq, standing.balance, standing.day, spent)

    def release(self, reservations: tuple[Reservation, ...]) -> None:
        for reservation in reservations:
            self._let_go(reservation)

    def enter(self, entered: Entered) -> None:
        """Take over the balance after a ledger entry, unless a later entry is known."""
        account = self._accounts.get(entered.organization_id)
        if account is None or account.standing is None:
            return
        standing = account.standing
        if entered.seq > standing.seq:
            account.standing = BalanceState(
                entered.seq, entered.balance_after, standing.day, standing.spent
            )

    def doubt(self, organization_id: str) -> None:
        """Read the standing again before the next reservation."""
        account = self._accounts.get(organization_id)
        if account is not None:
            account.is_doubtful = True

    def held_amount(self, organization_id: str) -> int:
        account = self._accounts.get(organization_id)
        return 0 if account is None else account.held_amount

    def _look_up(self, account: _Account, claim: Reserve) -> None:
        account.standing = self._look(claim.organization_id, claim.day)
        account.read_seq = account.standing.seq
        account.is_doubtful = False

    def _look_again(self, account: _Account, known: BalanceState, claim: Reserve) -> None:
        """Read the journal, and take over what it says unless that would count held prices twice.

        Of the held prices some may be charged already, and be settled in a moment. A balance that
        has fallen by no more than what is held says that. If it fell for another reason, the
        journal refuses what it does not cover.
        """
        read_seq = account.read_seq
        self._look_up(account, claim)
        assert account.standing is not None
        if 0 < known.balance - account.standing.balance <= account.held_amount:
            account.standing, account.read_seq = known, read_seq

    def _account(self, organization_id: str) -> _Account:
        account = self._accounts.get(organization_id)
        if account is None:
            account = self._accounts[organization_id] = _Account()
            self._forget_one_but(organization_id)
        self._accounts.move_to_end(organization_id)
        return account

    def _forget_one_but(self, new: str) -> None:
        """Keep within :data:`ACCOUNTS_MAX`; an organization with a held price is not forgotten."""
        if len(self._accounts) <= ACCOUNTS_MAX:
            return
        oldest = (name for name, each in self._accounts.items() if not each.held and name != new)
        if (name := next(oldest, None)) is not None:
            del self._accounts[name]

    def _let_go(self, reservation: Reservation) -> bool:
        """Drop a reservation; False if it is from another actor, which has crashed since."""
        account = self._accounts.get(reservation.organization_id)
        if account is None or account.held.get(reservation.number) is not reservation:
            return False
        del account.held[reservation.number]
        account.held_amount -= reservation.amount
        return True


def _refusal(
    account: _Account, standing: BalanceState, claim: Reserve
) -> InsufficientBalance | SpendCapReached | None:
    """The reason why a price cannot be paid, or None. Held prices count as spent: their commits may
    be under way."""
    left = standing.balance - account.held_amount
    if left <= 0 or left < claim.amount:
        return InsufficientBalance()
    spent = standing.spent + account.held_amount
    if claim.spend_cap is not None and spent + claim.amount > claim.spend_cap:
        return SpendCapReached()
    return None
