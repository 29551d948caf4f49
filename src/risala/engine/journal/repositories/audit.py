"""The audit trail: lines about manual actions."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from risala.engine.journal.audit.audited import audited
from risala.engine.journal.pages import trail
from risala.engine.journal.repositories.store import Store
from risala.engine.journal.upkeep import audit_log
from risala.engine.model.audit import AuditEntry, TrailFilter
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.upkeep.trail import AuditLine


@dataclass(frozen=True, slots=True)
class AuditRepository:
    """Lines of the trail. All reads are on the loop's thread, by an index."""

    _store: Store

    def page(self, wanted: TrailFilter, steps: Steps) -> CursorPage[AuditLine]:
        """One page of lines, the newest first."""
        return trail.page(self._store.reader, wanted, steps)

    def line(self, seq: int) -> AuditLine | None:
        """One line by its number; None if it does not exist."""
        return audit_log.line(self._store.reader, seq)

    def version_of(self, subject: str, family: str, organization_id: str | None = None) -> int:
        """The number of the last line about an object, which an edit sends back; 0: no line."""
        return audit_log.version_of(self._store.reader, subject, family, organization_id)

    async def note(self, entry: AuditEntry) -> int:
        """Write a line alone, for what is done elsewhere or only shown; its number.

        Raises:
            EditConflict: somebody else changed the thing since the entry's version.
            Unavailable: the line could not be written.
        """

        def unit(conn: sqlite3.Connection) -> int:
            audited(entry, _nothing)(conn)
            return audit_log.last_number(conn)

        return await self._store.commit(unit)


def _nothing(_: sqlite3.Connection) -> None:
    """The line's effect is elsewhere."""
