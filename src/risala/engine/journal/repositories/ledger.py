"""Money of organizations, for the actor that owns it."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from risala.dataclass import dataclass
from risala.engine.journal.accounts import balances, ledger, references
from risala.engine.journal.pages import statement
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.upkeep import audit
from risala.engine.model.records.upkeep.books import AuditReport
from risala.engine.rules.trail.heads import Head


@dataclass(frozen=True, slots=True)
class LedgerRepository:
    """Balances and what changes them. All reads are by an index, on the loop's thread;
    ``audit`` reads every row, on a thread of its own.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    balance_on = read(balances.balance_state)
    statement = read(statement.page)

    async def audit(self, heads: Sequence[Head] = ()) -> AuditReport:
        """Check all books against each other, and the audit trail.

        Args:
            heads: signed heads of the trail that went out, besides those of the data directory.

        Raises:
            StorageUnusable: the database is halfway to this version.
        """
        return await trio.to_thread.run_sync(audit.audit_file, self._store.journal.path, heads)

    top_up = audited_command(references.top_up)
    adjust = audited_command(ledger.adjust)
