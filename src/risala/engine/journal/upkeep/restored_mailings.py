"""Mailings in a restored database: none sends by itself, and what it sent since the backup is left
out where the database that was there shows it."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.mailings import checking, mailings
from risala.engine.journal.upkeep.set_aside import SetAside
from risala.engine.model.records.mailings import MailingState

_GOING: Final = (MailingState.SENDING, MailingState.PAUSED)


@dataclass(frozen=True, slots=True)
class RestoredMailings:
    paused: int
    """Mailings that were being sent when the backup was made."""
    rows_left_out: int
    """Rows that were sent since, as the database that was there shows."""
    unknown: int
    """Mailings of which nobody knows what they sent since."""


def pause(conn: sqlite3.Connection, set_aside: SetAside) -> RestoredMailings:
    """Pause all mailings that send, in small transactions, and leave out what they sent since."""
    left_out, unread = 0, set[str]()

    def broken(mailing_id: str, _: Exception) -> None:
        unread.add(mailing_id)  # it is paused all the same, by a statement that reads no row

    found = [each for state in _GOING for each in mailings.of_state(conn, state, broken)]
    unknown = len(unread)
    for stored in found:
        rows = set_aside.rows_with_messages(stored.mailing)
        if rows is None:
            unknown += 1
            continue
        for start in range(0, len(rows), checking.ROWS_AT_ONCE):
            conn.execute("begin immediate")
            some = rows[start : start + checking.ROWS_AT_ONCE]
            left_out += checking.leave_ready_out(conn, stored.key, some)
            conn.execute("commit")
    conn.execute("begin immediate")
    paused = mailings.pause_all(conn)
    conn.execute("commit")
    return RestoredMailings(paused, left_out, unknown)
