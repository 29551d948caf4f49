"""Rows without a message: sessions, manual entries, and counts."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.upkeep.upgrade.slim.messages import INSERT_ENTRY, OldEntry, entry_row
from risala.engine.journal.upkeep.upgrade.slim.numbering import Numbering

_OF_SESSION: Final = (
    "id, organization_id, mode, recipient, status, reason, attempts, attempts_max, code_length,"
    " message_id, expires_at, created_at, updated_at"
)


def move_sessions(conn: sqlite3.Connection, rows_max: int) -> int:
    """Verification sessions, which name their messages by their ids, as before.

    They move before the messages: the old tables keep each message that a session names.
    """
    chosen = "SELECT id FROM old_verifications ORDER BY id LIMIT ?"
    moved = conn.execute(
        f"INSERT INTO verifications ({_OF_SESSION}) SELECT {_OF_SESSION}"  # noqa: S608 -- constants
        f" FROM old_verifications WHERE id IN ({chosen})",
        (rows_max,),
    ).rowcount
    conn.execute(f"DELETE FROM old_verifications WHERE id IN ({chosen})", (rows_max,))  # noqa: S608
    return moved


def move_entries(conn: sqlite3.Connection, rows_max: int) -> int:
    """Entries of the ledger without a message, after those with one."""
    rows = conn.execute(
        f"SELECT {', '.join(OldEntry._fields)} FROM old_ledger ORDER BY seq LIMIT ?",  # noqa: S608
        (rows_max,),
    )
    entries = [OldEntry(*row) for row in rows]
    numbers = Numbering(conn)
    conn.executemany(INSERT_ENTRY, [entry_row(entry, None, numbers) for entry in entries])
    if entries:
        conn.execute("DELETE FROM old_ledger WHERE seq <= ?", (entries[-1].seq,))
    return len(entries)


def drop_hours(conn: sqlite3.Connection, _: int) -> int:
    """Messages by the hour: they were counted again when they were moved."""
    return conn.execute("DELETE FROM old_accepted_hours").rowcount
