"""What became of rows that were ready."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from risala.engine.features.mailings.records import Mailing
from risala.engine.features.mailings.row_records import SettledRow, StoredMailing
from risala.engine.features.mailings.stored import mailings
from risala.engine.features.mailings.stored.rows import ACCEPTED, READY, REFUSED, RowCounts, held
from risala.engine.journal.store.sql import Row, rows_of_values, value_of, write_values
from risala.engine.model.numbers import MODES


def row_key(mailing_id: str, row: int) -> str:
    """The idempotency key of a row's message: whatever runs twice, there is one."""
    return f"{mailing_id}:{row}"


def settle(conn: sqlite3.Connection, mailing_id: str, results: Sequence[SettledRow]) -> Mailing:
    """Note what became of rows; price and parts are those of their messages.

    A message counts also where its row was left out meanwhile: it is on its way. A row that is
    settled stays as it is, so this may be said twice.

    Raises:
        NotFound: the mailing is unknown.
    """
    mailing = mailings.stored(conn, mailing_id)
    before = held(conn, mailing.key, [each.row for each in results])
    counts = RowCounts()
    accepted: list[tuple[int, int]] = []
    for each in results:
        former = before.get(each.row)
        if former is None or former[0] in (ACCEPTED, REFUSED):
            continue
        if each.message is not None:
            accepted.append((each.row, each.message))
        elif former[0] == READY:
            counts.add(*former, sign=-1)
            counts.add(REFUSED, 0, 0)
            conn.execute(
                "UPDATE mailing_rows SET state = ?, fault = ? WHERE mailing = ? AND row = ?",
                (REFUSED, None if each.fault is None else each.fault.value, mailing.key, each.row),
            )
    _accept(conn, mailing.key, accepted, before, counts)
    counts.write(conn, mailing.key)
    return mailings.mailing(conn, mailing_id)


def _accept(
    conn: sqlite3.Connection,
    key: int,
    accepted: Sequence[tuple[int, int]],
    before: Mapping[int, tuple[int, int, int]],
    counts: RowCounts,
) -> None:
    """Note the messages of rows, all by two statements: more would release the interpreter for each
    row.

    Args:
        accepted: rows with the keys of their messages.
        before: each row's state, segments and price.
    """
    paid_rows = {row: paid for row, *paid in rows_of_values(conn, _PAID, 2, accepted)}
    values: list[Row] = []
    for row, message in accepted:
        former = before[row]
        segments, price = paid_rows.get(row, former[1:])
        counts.add(*former, sign=-1)
        counts.add(ACCEPTED, segments, price)
        values.append((key, row, segments, price, message))
    write_values(conn, _NOTE, values)


_PAID: Final = (
    "SELECT asked.column1, m.segments, m.price FROM ({values}) asked"
    " CROSS JOIN message m ON m.key = asked.column2"
)
_NOTE: Final = (
    f"UPDATE mailing_rows SET state = {ACCEPTED}, fault = NULL, fault_column = NULL,"  # noqa: S608 -- a number
    " segments = new.column3, price = new.column4, message = new.column5"
    " FROM ({values}) new WHERE mailing = new.column1 AND row = new.column2"
)


def message_of(conn: sqlite3.Connection, stored: StoredMailing, row: int) -> int | None:
    """The key of the message of a row, noted or not; None: it has none."""
    mailing = stored.mailing
    return _message(conn, mailing.organization_id, mailing.mode, row_key(mailing.id, row))


def _message(
    conn: sqlite3.Connection, organization_id: str, mode: str, client_key: str
) -> int | None:
    key: int | None = value_of(
        conn,
        "SELECT key FROM message WHERE organization ="
        " (SELECT no FROM organizations WHERE id = ?) AND mode = ? AND client_key = ?",
        (organization_id, MODES.number(mode), client_key),
    )
    return key


def note_one(conn: sqlite3.Connection, key: int, row: int, former: tuple[int, int, int]) -> bool:
    """Note the message of a row that is ready, if it has one: the service ended in between.

    Args:
        former: the row's state, segments and price.
    """
    whose = "SELECT organization_id, mode, id FROM mailings WHERE key = ?"
    organization_id, mode, mailing_id = conn.execute(whose, (key,)).fetchone()
    message = _message(conn, organization_id, mode, row_key(mailing_id, row))
    if message is None:
        return False
    counts = RowCounts()
    _accept(conn, key, [(row, message)], {row: former}, counts)
    counts.write(conn, key)
    return True


def note_accepted(conn: sqlite3.Connection, mailing_id: str, limit: int) -> Mailing:
    """Settle those of the next ready rows whose messages were accepted: the service ended between
    a message and its note, and nobody sends the mailing on.

    Args:
        limit: rows to look at: as many as are sent at once.

    Raises:
        NotFound: the mailing is unknown.
    """
    mailing = mailings.stored(conn, mailing_id)
    rows = conn.execute(
        "SELECT row FROM mailing_rows WHERE mailing = ? AND state = ? ORDER BY row LIMIT ?",
        (mailing.key, READY, limit),
    ).fetchall()
    known = [
        SettledRow(row, key, None)
        for (row,) in rows
        if (key := message_of(conn, mailing, row)) is not None
    ]
    return settle(conn, mailing_id, known)


def queued(conn: sqlite3.Connection, organization_id: str, priority: int, limit: int) -> int:
    """Messages of an organization and a priority that wait for a carrier, counted up to a limit.

    Skips along the index of the queue from route to route: there are few.
    """
    no = value_of(conn, "SELECT no FROM organizations WHERE id = ?", (organization_id,))
    total, route = 0, -1
    while total < limit:
        following: int | None = value_of(
            conn,
            "SELECT route FROM message WHERE status = 0 AND route > ? ORDER BY route LIMIT 1",
            (route,),
        )
        if following is None:
            break
        route = following
        total += value_of(
            conn,
            "SELECT count(*) FROM (SELECT 1 FROM message WHERE status = 0 AND route = ?"
            " AND priority = ? AND organization = ? LIMIT ?)",
            (route, priority, no, limit - total),
        )
    return total
