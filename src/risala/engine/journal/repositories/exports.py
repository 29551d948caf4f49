"""Files with all data of an organization."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from risala.engine.journal.repositories.store import Store
from risala.engine.journal.upkeep import account_export, exports
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.upkeep.exports import Export, ExportedPart, ExportFault


@dataclass(frozen=True, slots=True)
class ExportRepository:
    """Exports: asked for, written, fetched, gone. All reads are on the loop's thread: few rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    def find(self, export_id: str) -> Export:
        """One of them.

        Raises:
            NotFound: the id is unknown.
        """
        return exports.find(self._store.reader, export_id)

    def of_organization(self, organization_id: str, limit: int) -> list[Export]:
        """The latest of an organization."""
        return exports.of_organization(self._store.reader, organization_id, limit)

    def current(self) -> list[Export]:
        """Exports that have a file, or will have one; the oldest first."""
        return exports.current(self._store.reader)

    def parts(self, organization_id: str, rows_at_once: int) -> Generator[ExportedPart]:
        """All data of an organization, part by part; read it on a separate thread.

        Raises:
            StorageFailed: the disk refused; the sentence says why.
        """
        return account_export.parts(self._store.journal.path, organization_id, rows_at_once)

    async def begin(
        self, export_id: str, organization_id: str, asked_by: str, now_ms: int, *, by: AuditEntry
    ) -> Export:
        """Request a file.

        Raises:
            Conflict: one is being written, or there are as many as there may be.
        """
        given = (export_id, organization_id, asked_by, now_ms)
        return await self._store.commit(lambda conn: exports.begin(conn, *given), by)

    async def note(self, export_id: str, written: int) -> bool:
        """Note how many rows are written; False if it is no longer wanted."""
        return await self._store.commit(lambda conn: exports.note(conn, export_id, written))

    async def finish(self, export_id: str, written: int, size_bytes: int, now_ms: int) -> bool:
        """It can be downloaded; False if it is no longer wanted."""
        given = (export_id, written, size_bytes, now_ms)
        return await self._store.commit(lambda conn: exports.finish(conn, *given))

    async def fail(self, export_id: str, fault: ExportFault, now_ms: int) -> None:
        """There is no file, and why."""
        await self._store.commit(lambda conn: exports.fail(conn, export_id, fault, now_ms))

    async def drop(self, export_id: str, now_ms: int, *, by: AuditEntry) -> Export:
        """It is no longer wanted: its file is removed soon afterwards.

        Raises:
            NotFound: the id is unknown.
        """
        return await self._store.commit(lambda conn: exports.drop(conn, export_id, now_ms), by)

    async def drop_expired(self, now_ms: int) -> None:
        """Drop expired exports."""
        await self._store.commit(lambda conn: exports.drop_expired(conn, now_ms))
