"""Rows of mailings and people of lists go: with their mailing or list, when they are old, when a
number is erased, and with their organization.

What is deleted or old is marked by one unit, and its rows go in pieces. A mailing that is merely
old stays, with its counts and what became of its messages.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.features.mailings.stored.figures import of_rows
from risala.engine.features.mailings.stored.rows import (
    ACCEPTED,
    LEFT_OUT,
    READY,
    REFUSED,
    RowCounts,
    delete_to,
    held,
    last_of_next,
    with_number,
)
from risala.engine.features.mailings.stored.settling import note_one
from risala.engine.journal.store.sql import value_of
from risala.engine.model.feature_work import Forgot, RetentionWalk

_OVER: Final = "coalesce(ended_at, created_at)"
_DUE: Final = (
    "keeps_rows = 1 AND deleted_at IS NULL AND (ended_at IS NOT NULL OR state = 'draft')"
    f" AND {_OVER} < ?"
)
"""Mailings that ended, and drafts, from before a time."""

_WITH_NUMBER: Final = with_number(
    "r.mailing, r.row, r.state, r.segments, r.price",
    "SELECT key FROM mailings WHERE organization_id = ?",
)

_WITH: Final = with_number("1", "SELECT key FROM mailings WHERE organization_id = ?")
_ROWS_WITH: Final = f"SELECT count(*) FROM ({_WITH} LIMIT ?)"  # noqa: S608 -- names of ours


def mark_old(conn: sqlite3.Connection, before_ms: int, limit: int) -> int:
    """Let the rows and the file of old mailings go; returns how many mailings it were."""
    return conn.execute(
        "UPDATE mailings SET keeps_rows = 0, clearing = 1, upload = NULL WHERE key IN"  # noqa: S608 -- constants
        f" (SELECT key FROM mailings WHERE {_DUE} ORDER BY {_OVER} LIMIT ?)",
        (before_ms, limit),
    ).rowcount


def oldest(conn: sqlite3.Connection) -> int | None:
    """When the oldest mailing ended whose rows are there, or the oldest draft was made."""
    oldest_ms: int | None = value_of(
        conn,
        f"SELECT {_OVER} FROM mailings WHERE {_DUE} ORDER BY {_OVER} LIMIT 1",  # noqa: S608 -- constants
        (2**63 - 1,),
    )
    return oldest_ms


def walk_old(conn: sqlite3.Connection, _: RetentionWalk, before_ms: int, limit: int) -> Forgot:
    """Retention's walk through old mailings."""
    return Forgot(0, "", mark_old(conn, before_ms, limit) < limit)


def clear_mailings(
    conn: sqlite3.Connection, limit: int, organization_id: str | None = None
) -> Forgot:
    """Delete some rows of a mailing that was deleted or is old, then that itself.

    Args:
        organization_id: whose; None: everybody's.
    """
    whose, values = _whose(organization_id)
    mailing = conn.execute(
        "SELECT key, deleted_at IS NOT NULL FROM mailings WHERE clearing = 1"  # noqa: S608 -- constants
        f" AND (deleted_at IS NOT NULL OR keeps_rows = 0){whose} ORDER BY key LIMIT 1",
        values,
    ).fetchone()
    if mailing is None:
        return Forgot(0, "", done=True)
    key, is_deleted = mailing
    gone = _clear_mailing(conn, key, limit, is_deleted=bool(is_deleted))
    return Forgot(gone, "", done=False)


def _whose(organization_id: str | None) -> tuple[str, tuple[str, ...]]:
    if organization_id is None:
        return "", ()
    return " AND organization_id = ?", (organization_id,)


def _clear_mailing(conn: sqlite3.Connection, key: int, limit: int, *, is_deleted: bool) -> int:
    last = last_of_next(conn, key, limit)
    gone = 0
    if last is not None:
        became = of_rows(conn, key, last)
        conn.execute(
            "UPDATE mailings SET gone_sent = gone_sent + ?, gone_delivered = gone_delivered + ?,"
            " gone_failed = gone_failed + ? WHERE key = ?",
            (became.sent, became.delivered, became.failed, key),
        )
        gone = delete_to(conn, key, last)
    if gone < limit:
        conn.execute(
            "DELETE FROM mailings WHERE key = ?"
            if is_deleted
            else "UPDATE mailings SET clearing = 0 WHERE key = ?",
            (key,),
        )
    return gone


def mark_mailings(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> None:
    """Delete all mailings of an organization; their rows go by :func:`clear`."""
    conn.execute(
        "UPDATE mailings SET deleted_at = ?, clearing = 1, upload = NULL"
        " WHERE organization_id = ? AND deleted_at IS NULL",
        (now_ms, organization_id),
    )


def take_number_from_rows(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> dict[str, int]:
    """Take a number out of some of an organization's rows; returns out of how many.

    A row that was not sent is left out. A mailing that has the number loses its file, where it
    stands too, unless its rows are just being stored.
    """
    rows = conn.execute(f"{_WITH_NUMBER} LIMIT ?", (organization_id, number, limit)).fetchall()
    for mailing, row, former, segments, price in rows:
        if former == READY and note_one(conn, mailing, row, (former, segments, price)):
            former, segments, price = held(conn, mailing, [row])[row]
        state = former if former in (ACCEPTED, REFUSED) else LEFT_OUT
        counts = RowCounts()
        counts.add(former, segments, price, sign=-1)
        counts.add(state, segments, price)
        counts.write(conn, mailing)
        conn.execute(
            "UPDATE mailing_rows SET number = NULL, cells = '[]', state = ?, fault = NULL,"
            " fault_column = NULL WHERE mailing = ? AND row = ?",
            (state, mailing, row),
        )
        conn.execute(
            "UPDATE mailings SET upload = NULL WHERE key = ? AND state <> 'checking'", (mailing,)
        )
    return {"mailing rows": len(rows)}


def count_rows_with(conn: sqlite3.Connection, organization_id: str, number: str, limit: int) -> int:
    """How many rows have a number, and not more than a limit."""
    counted: int = value_of(conn, _ROWS_WITH, (organization_id, number, limit))
    return counted
