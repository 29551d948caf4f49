"""Money of organizations, for the actor that owns it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import trio

from risala.engine.journal.accounts import balances, ledger
from risala.engine.journal.pages import statement
from risala.engine.journal.payments import by_hand, payments, reading
from risala.engine.journal.repositories.store import Store, read
from risala.engine.journal.upkeep import audit
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.paying.bank_texts import TextCredit
from risala.engine.model.records.paying.ledger import LedgerEntry
from risala.engine.model.records.paying.payments import PaymentCredit
from risala.engine.model.records.upkeep.books import AuditReport


@dataclass(frozen=True, slots=True)
class LedgerRepository:
    """Balances and what changes them. All reads are by an index, on the loop's thread;
    ``audit`` reads every row, on a thread of its own.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    balance_on = read(balances.balance_state)
    statement = read(statement.page)

    async def audit(self) -> AuditReport:
        """Check all books against each other.

        Raises:
            StorageUnusable: the database is halfway to this version.
        """
        return await trio.to_thread.run_sync(audit.audit_file, self._store.journal.path)

    async def credit(
        self, given: PaymentCredit | TextCredit, *, by: AuditEntry | None = None
    ) -> LedgerEntry:
        """Credit a payment, once, in one transaction with its stored state.

        Raises:
            NotFound: the payment does not exist.
            Conflict: the reference was credited already.
            Withheld: the text does not fit in every respect, or a cap is in the way.
        """
        if isinstance(given, TextCredit):
            return await self._store.commit(partial(reading.credit, given=given), by)
        return await self._store.commit(partial(payments.credit, given=given), by)

    async def top_up(
        self,
        organization_id: str,
        amount: int,
        reference: str,
        at: int,
        *,
        note: str | None,
        by: AuditEntry | None = None,
    ) -> LedgerEntry:
        """Credit an operator's entry, once for each reference.

        Raises:
            NotFound: no such organization.
            Conflict: the reference was credited already.
        """
        given = (organization_id, amount, reference, at)
        return await self._store.commit(lambda conn: by_hand.top_up(conn, *given, note=note), by)

    async def adjust(
        self,
        organization_id: str,
        amount: int,
        reference: str,
        at: int,
        *,
        note: str,
        by: AuditEntry | None = None,
    ) -> LedgerEntry:
        """Correct a balance by a signed amount.

        Raises:
            NotFound: no such organization.
            Conflict: the balance would become negative.
        """
        given = (organization_id, amount, reference, at)
        return await self._store.commit(lambda conn: ledger.adjust(conn, *given, note=note), by)
