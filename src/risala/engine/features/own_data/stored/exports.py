"""Files with all data of an organization, as rows: requested, written, downloaded, gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.own_data.records import Export, ExportedPart, ExportFault, ExportState
from risala.engine.features.own_data.stored import account_export
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict
from risala.engine.model.features import features
from risala.engine.model.records.people.organizations import StoredTable

STANDING_MAX: Final = 3
"""Files of one organization at a time: each may be as large as all that it sent."""
KEPT_MS: Final = 7 * 86_400_000
"""How long a file can be downloaded: it has people's texts and numbers."""
_TABLE: Final = "exports"
_STANDING: Final = "state IN ('writing', 'ready')"
_ROWS: Final = Rows.of_record(Export)
STORED: Final = StoredTable(_TABLE, rows="written", where=_STANDING, is_limited=False)


def find(conn: sqlite3.Connection, export_id: str) -> Export:
    """An export by its id.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(table(conn, _TABLE), export_id, "There is no such file.")


def of_organization(conn: sqlite3.Connection, organization_id: str, limit: int) -> list[Export]:
    """The latest first."""
    order = "created_at DESC, id DESC"
    exports = table(conn, _TABLE)
    return _ROWS.find(
        exports, "organization_id = ?", (organization_id,), order_by=order, limit=limit
    )


def current(conn: sqlite3.Connection) -> list[Export]:
    """Exports that have a file, or will have one, of all organizations; the oldest first."""
    exports = table(conn, _TABLE)
    return _ROWS.find(exports, _STANDING, order_by="created_at, id")


def begin(
    conn: sqlite3.Connection, export_id: str, organization_id: str, asked_by: str, now_ms: int
) -> Export:
    """Request a file.

    Raises:
        Conflict: one is being written, or there are as many as there may be.
    """
    # Only the organization's own are read: none of another's may be in the way.
    own = f"{_STANDING} AND organization_id = ?"
    mine = _ROWS.find(table(conn, _TABLE), own, (organization_id,))
    if any(each.state is ExportState.WRITING for each in mine):
        raise Conflict("A file is already being written. Wait until it is ready.")
    if len(mine) >= STANDING_MAX:
        raise Conflict(f"There are already {STANDING_MAX} files. Delete one first.")
    writable(conn, _TABLE).insert(
        {
            "id": export_id,
            "organization_id": organization_id,
            "asked_by": asked_by,
            "state": ExportState.WRITING.value,
            "expected": _expected(conn, organization_id),
            "created_at": now_ms,
        }
    )
    return find(conn, export_id)


def _expected(conn: sqlite3.Connection, organization_id: str) -> int:
    """An estimate of the rows: messages, each with an entry of the ledger, and rows of mailings are
    nearly all."""
    messages = value_of(
        conn,
        "SELECT coalesce(sum(n), 0) FROM hour_count WHERE outcome = 0"
        " AND organization = (SELECT no FROM organizations WHERE id = ?)",
        (organization_id,),
    )
    theirs = [each.counted() for each in features() if each.counted is not None]
    return 2 * int(messages) + sum(int(count(conn, organization_id)) for count in theirs)


def note(conn: sqlite3.Connection, export_id: str, written: int) -> bool:
    """Store its progress; False if it is no longer wanted."""
    export = find(conn, export_id)
    if export.state is not ExportState.WRITING:
        return False
    expected = max(export.expected, written)
    writable(conn, _TABLE).update(export_id, {"written": written, "expected": expected})
    return True


def finish(
    conn: sqlite3.Connection, export_id: str, written: int, size_bytes: int, now_ms: int
) -> bool:
    """Note that an export can be downloaded; False if it is no longer wanted."""
    if not note(conn, export_id, written):
        return False
    values = {
        "state": ExportState.READY.value,
        "expected": written,
        "bytes": size_bytes,
        "ended_at": now_ms,
        "expires_at": now_ms + KEPT_MS,
    }
    writable(conn, _TABLE).update(export_id, values)
    return True


def fail(conn: sqlite3.Connection, export_id: str, fault: ExportFault, now_ms: int) -> None:
    """Note that an export has no file, and why."""
    if find(conn, export_id).state is ExportState.WRITING:
        values = {"state": ExportState.FAILED.value, "reason": fault.value, "ended_at": now_ms}
        writable(conn, _TABLE).update(export_id, values)


def drop(conn: sqlite3.Connection, export_id: str, now_ms: int) -> Export:
    """Note that an export is no longer wanted: its file is removed soon afterwards.

    Raises:
        NotFound: the id is unknown.
    """
    if find(conn, export_id).state in (ExportState.WRITING, ExportState.READY):
        values = {"state": ExportState.GONE.value, "ended_at": now_ms}
        writable(conn, _TABLE).update(export_id, values)
    return find(conn, export_id)


def drop_all(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> None:
    """Drop all files of an organization from which something is erased."""
    _drop_where(conn, "organization_id = ?", organization_id, now_ms)


def drop_expired(conn: sqlite3.Connection, now_ms: int) -> None:
    """Drop expired exports."""
    _drop_where(conn, "expires_at <= ?", now_ms, now_ms)


def _drop_where(conn: sqlite3.Connection, where: str, value: object, now_ms: int) -> None:
    # No row is read: one that cannot be read is in nobody's way.
    statement = f"UPDATE exports SET state = ?, ended_at = ? WHERE {_STANDING} AND {where}"  # noqa: S608 -- constants
    conn.execute(statement, (ExportState.GONE.value, now_ms, value))


@dataclass(frozen=True, slots=True)
class ExportRepository:
    """Exports: asked for, written, fetched, gone. All reads are on the loop's thread: few rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    find = read(find)
    of_organization = read(of_organization)
    current = read(current)

    def parts(self, organization_id: str, rows_at_once: int) -> Generator[ExportedPart]:
        """All data of an organization, part by part; read it on a separate thread.

        Raises:
            StorageFailed: the disk refused; the sentence says why.
        """
        return account_export.parts(self._store.journal.path, organization_id, rows_at_once)

    begin = audited_command(begin)
    note = command(note)
    finish = command(finish)
    fail = command(fail)
    drop = audited_command(drop)
    drop_expired = command(drop_expired)
