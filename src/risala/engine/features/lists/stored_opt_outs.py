"""People who want no messages of one list, as they are stored: by the list's key, and gone with it.

Who wants none of the whole organization is in the core's ``opt_outs``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.engine.features.lists.stored import key_of, recipient_list
from risala.engine.journal.inbound.opt_outs import BY_HAND
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.sql import markers, rows_of_values
from risala.engine.model.times import iso

LOOKED_AT_MAX: Final = 20
"""Lists that one number opted out of, the latest first, among which a START looks for its own."""


def out_of(conn: sqlite3.Connection, list_id: str, numbers: Sequence[str]) -> set[str]:
    """Which of these numbers want no messages of a list; of one that is not stored, none."""
    key = key_of(conn, list_id)
    rows = rows_of_values(
        conn,
        "SELECT o.recipient FROM ({values}) asked JOIN list_opt_outs o"
        " ON o.list = asked.column1 AND o.recipient = asked.column2",
        2,
        [(key, number) for number in numbers],
    )
    return {number for (number,) in rows}


def opt_out(
    conn: sqlite3.Connection,
    list_id: str,
    number: str,
    now_ms: int,
    *,
    carrier: str = BY_HAND,
    keyword: str | None = None,
    who: str | None = None,
) -> bool:
    """Note that a number wants no messages of a list; False if it is noted.

    Raises:
        NotFound: the list is unknown.
    """
    recipient_list(conn, list_id)
    noted = conn.execute(
        "INSERT INTO list_opt_outs (list, recipient, carrier, at, who, keyword)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (key_of(conn, list_id), number, carrier, now_ms, who, keyword),
    )
    return noted.rowcount > 0


def take_back(conn: sqlite3.Connection, list_id: str, number: str) -> bool:
    """Let a list's messages reach a number again; False if they did already."""
    gone = conn.execute(
        "DELETE FROM list_opt_outs WHERE list = ? AND recipient = ?",
        (key_of(conn, list_id), number),
    )
    return gone.rowcount > 0


def lists_out(
    conn: sqlite3.Connection, number: str, carriers: Sequence[str]
) -> list[tuple[str, str, str]]:
    """The lists that a number opted out of by some carriers or by hand, the latest first: the
    organization, the list, and the carrier."""
    rows = conn.execute(
        "SELECT l.organization_id, l.id, o.carrier FROM list_opt_outs o"  # noqa: S608 -- markers
        " JOIN recipient_lists l ON l.key = o.list WHERE o.recipient = ?"
        f" AND o.carrier IN ('', {markers(carriers)}) AND l.deleted_at IS NULL"
        " ORDER BY o.carrier = '', o.at DESC LIMIT ?",
        (number, *carriers, LOOKED_AT_MAX),
    )
    return rows.fetchall()


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Opt-outs of one list after the other, each with its list's id."""
    start, _, number = after.partition(" ")
    pair = conn.execute(
        "SELECT key, id FROM recipient_lists WHERE organization_id = ? AND key >= ?"
        " AND deleted_at IS NULL ORDER BY key LIMIT 1",
        (organization_id, int(start or 0)),
    ).fetchone()
    if pair is None:
        return AccountPart([], None)
    key, list_id = pair
    out = conn.execute(
        "SELECT recipient, at FROM list_opt_outs WHERE list = ? AND recipient > ?"
        " ORDER BY recipient LIMIT ?",
        (key, number if str(key) == start else "", limit),
    ).fetchall()
    written = [{"listId": list_id, "number": each, "at": iso(at)} for each, at in out]
    following = f"{key} {written[-1]['number']}" if len(out) == limit else str(key + 1)
    return AccountPart(written, following)
