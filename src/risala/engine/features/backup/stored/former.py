"""What the database that a restore replaces proves about the messages of the backup."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Final

from risala.engine.journal.state import MessageState
from risala.engine.journal.store.opening import open_reader, stopped_in_order
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.numbers import MODES, STATUSES
from risala.engine.model.states import Mode, Status

_LAST_ROWS: Final = (
    "SELECT seq, organization, amount, balance_after FROM entry ORDER BY seq DESC LIMIT 1",
    "SELECT key, id FROM message ORDER BY key DESC LIMIT 1",
)
"""Tables whose rows are never deleted: a database with the backup's last ones continues it."""
_SAME_ROWS: Final = (
    "SELECT seq, organization, amount, balance_after FROM entry WHERE seq = ?",
    "SELECT key, id FROM message WHERE key = ?",
)


class Shown(Enum):
    """What is known of a message since the backup was made."""

    UNTOUCHED = "untouched"
    """The message was neither tried nor canceled."""
    CANCELED = "canceled"
    TRIED = "tried"
    """The message was tried, or has ended otherwise."""
    UNKNOWN = "unknown"


class SetAside:
    """The replaced database, as far as it can be read."""

    def __init__(self, database: Path, backup: sqlite3.Connection) -> None:
        self._conn: sqlite3.Connection | None = None
        self.stopped_in_order = False
        """Whether the service had ended in order: it contains every attempt."""
        with suppress(sqlite3.Error, OSError, StorageUnusable):
            if database.exists():
                self._conn = open_reader(database)
                if not _goes_on_from(backup, self._conn):
                    self.close()
                else:
                    self.stopped_in_order = stopped_in_order(self._conn) is not None

    def close(self) -> None:
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    def shows(self, message: MessageState) -> Shown:
        """What it shows of a message that is pending in the backup."""
        if self._conn is None:
            return Shown.UNKNOWN
        query = "SELECT id, status, attempts, send_at FROM message WHERE key = ?"
        try:
            row = self._conn.execute(query, (message.key,)).fetchone()
        except sqlite3.Error:
            return Shown.UNKNOWN  # it is damaged: what it does not show is unknown
        if row is None:
            return Shown.UNKNOWN
        (message_id, status, attempts, send_at) = row
        if message_id != message.id:
            return Shown.UNKNOWN
        if status == STATUSES.number(Status.CANCELED):
            return Shown.CANCELED
        pending = STATUSES.number(Status.PENDING)
        same = (status, attempts, send_at) == (pending, message.attempts, message.send_at)
        return Shown.UNTOUCHED if same else Shown.TRIED

    def keys_with_messages(
        self, organization_id: str, mode: Mode, first: str, end: str
    ) -> list[str] | None:
        """Idempotency keys, from one to before another, of an organization's messages in it; None:
        it cannot be read."""
        if self._conn is None:
            return None
        query = (
            "SELECT client_key FROM message WHERE organization ="
            " (SELECT no FROM organizations WHERE id = ?) AND mode = ?"
            " AND client_key >= ? AND client_key < ?"
        )
        values = (organization_id, MODES.number(mode), first, end)
        try:
            return [key for (key,) in self._conn.execute(query, values)]
        except sqlite3.Error:
            return None


def _goes_on_from(backup: sqlite3.Connection, former: sqlite3.Connection) -> bool:
    """Whether a database has the backup's last rows: an older one, or that of another machine,
    proves nothing."""
    for last, same in zip(_LAST_ROWS, _SAME_ROWS, strict=True):
        row = backup.execute(last).fetchone()
        if row is not None and former.execute(same, row[:1]).fetchone() != row:
            return False
    return True
