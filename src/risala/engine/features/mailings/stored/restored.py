"""Mailings in a restored database: none sends by itself, and what it sent since the backup is left
out where the database that was there shows it."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.features.mailings.records import Mailing, MailingState
from risala.engine.features.mailings.stored import checking, mailings
from risala.engine.features.mailings.stored.settling import row_key
from risala.engine.model.feature_work import FormerDatabase, RestoredMailings

_GOING: Final = (MailingState.SENDING, MailingState.PAUSED)


def pause(conn: sqlite3.Connection, former: FormerDatabase) -> RestoredMailings:
    """Pause all mailings that send, in small transactions, and leave out what they sent since."""
    left_out, unread = 0, set[str]()

    def broken(mailing_id: str, _: Exception) -> None:
        unread.add(mailing_id)  # it is paused all the same, by a statement that reads no row

    going = [each for state in _GOING for each in mailings.of_state(conn, state, broken)]
    unknown = len(unread)
    for stored in going:
        rows = _sent(former, stored.mailing)
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


def _sent(former: FormerDatabase, mailing: Mailing) -> list[int] | None:
    """Rows of a mailing that have a message in the replaced database; None: it cannot be read."""
    first, end = row_key(mailing.id, 0)[:-1], f"{mailing.id};"
    keys = former.keys_with_messages(mailing.organization_id, mailing.mode, first, end)
    if keys is None:
        return None
    rows = [key.removeprefix(first) for key in keys]
    return [int(row) for row in rows if row.isdecimal()]  # programs choose keys as they like
