"""Files with all data of an organization."""

from __future__ import annotations

from collections.abc import Generator

from risala.dataclass import dataclass
from risala.engine.journal.repositories.store import Store, audited_command, command, read
from risala.engine.journal.upkeep import account_export, exports
from risala.engine.model.records.upkeep.exports import ExportedPart


@dataclass(frozen=True, slots=True)
class ExportRepository:
    """Exports: asked for, written, fetched, gone. All reads are on the loop's thread: few rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    find = read(exports.find)
    of_organization = read(exports.of_organization)
    current = read(exports.current)

    def parts(self, organization_id: str, rows_at_once: int) -> Generator[ExportedPart]:
        """All data of an organization, part by part; read it on a separate thread.

        Raises:
            StorageFailed: the disk refused; the sentence says why.
        """
        return account_export.parts(self._store.journal.path, organization_id, rows_at_once)

    begin = audited_command(exports.begin)
    note = command(exports.note)
    finish = command(exports.finish)
    fail = command(exports.fail)
    drop = audited_command(exports.drop)
    drop_expired = command(exports.drop_expired)
