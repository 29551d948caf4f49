"""Notes as they are stored: a row for each organization that has written one."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.notes.feature import Note
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.records.record import shallow

_TABLE: Final = "organization_notes"
_ROWS: Final = Rows.of_record(Note)


def note_of(conn: sqlite3.Connection, organization_id: str) -> Note:
    """An organization's note; empty where it has written none."""
    rows = _ROWS.find(table(conn, _TABLE), "organization_id = ?", (organization_id,))
    return rows[0] if rows else Note(organization_id)


def put(conn: sqlite3.Connection, note: Note) -> Note:
    """Store an organization's note in place of the one that it has."""
    writable(conn, _TABLE).upsert(columns_of(shallow(note)))
    return note


@dataclass(frozen=True, slots=True)
class NoteRepository:
    """Notes."""

    _store: Store

    note_of = read(note_of)
    put = audited_command(put)
