"""Rows of mailings: read, and counted in their mailing's row."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any, Final

from risala.engine.features.mailings.records import MailingRow, RowState
from risala.engine.features.mailings.row_records import FailedRows, ReadyRow
from risala.engine.features.tables.records import RowFault, cells_of
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.sql import rows_of_values, value_of
from risala.engine.model.errors import NotFound
from risala.engine.model.numbers import STATUSES, Numbered

ROW_STATES: Final = Numbered(
    RowState.READY, RowState.BAD, RowState.LEFT_OUT, RowState.ACCEPTED, RowState.REFUSED
)
"""Numbers of the states, as rows carry them: no number ever gets a new meaning."""
READY: Final = ROW_STATES.number(RowState.READY)
BAD: Final = ROW_STATES.number(RowState.BAD)
LEFT_OUT: Final = ROW_STATES.number(RowState.LEFT_OUT)
ACCEPTED: Final = ROW_STATES.number(RowState.ACCEPTED)
REFUSED: Final = ROW_STATES.number(RowState.REFUSED)
LOOKED_AT: Final = 1000
"""Rows that one read looks at: some milliseconds, in which nothing else runs."""


_VIEWS: Final = Rows(
    MailingRow,
    {
        "row": "r.row",
        "segments": "r.segments",
        "price": "r.price",
        "column": "r.fault_column",
        "message_id": "m.id",
        "status": "m.status",
        "country": "NULL",  # told by the plan of numbers, which the database does not know
        "same_as": "NULL",  # looked for where a row is a double
    },
    cells=cells_of,
    state=lambda number: RowState(ROW_STATES.word(number)),
    fault=lambda word: None if word is None else RowFault(word),
    status=lambda number: None if number is None else STATUSES.word(number),
)
"""Rows with the message of each, ``m``."""
_FROM: Final = (
    f"SELECT {_VIEWS.columns}"  # noqa: S608 -- names of ours
    " FROM mailing_rows r LEFT JOIN message m ON m.key = r.message WHERE r.mailing = ?"
)


def after(
    conn: sqlite3.Connection, key: int, after: int, limit: int, state: RowState | None = None
) -> list[MailingRow]:
    """Rows of a mailing after one of them, in their order.

    Args:
        state: only those in this state; None: all.
    """
    condition, values = "", [key]
    if state is not None:
        condition, values = " AND r.state = ?", [key, ROW_STATES.number(state)]
    rows = conn.execute(
        f"{_FROM}{condition} AND r.row > ? ORDER BY r.row LIMIT ?", (*values, after, limit)
    )
    return [_with_first(conn, key, _VIEWS.of(row)) for row in rows]


def _with_first(conn: sqlite3.Connection, key: int, one: MailingRow) -> MailingRow:
    """A row; if it is a double, with the row that has its number."""
    if one.fault is not RowFault.DOUBLE or one.number is None:
        return one
    first = value_of(
        conn,
        f"{_FIRST_WITH_NUMBER} WHERE r.row <> ? AND r.state NOT IN (?, ?)",
        (key, one.number, one.row, BAD, LEFT_OUT),
    )
    return replace(one, same_as=first)


def row(conn: sqlite3.Connection, key: int, number: int) -> MailingRow:
    """One row of a mailing.

    Raises:
        NotFound: it has no such row.
    """
    record = conn.execute(f"{_FROM} AND r.row = ?", (key, number)).fetchone()
    if record is None:
        raise NotFound(f"The mailing has no row {number}.")
    return _with_first(conn, key, _VIEWS.of(record))


_READY_ROWS: Final = Rows(ReadyRow, cells=cells_of)


def ready(conn: sqlite3.Connection, key: int, limit: int) -> list[ReadyRow]:
    """The next rows to send, in their order."""
    rows = conn.execute(
        f"SELECT {_READY_ROWS.columns} FROM mailing_rows WHERE mailing = ? AND state = ?"  # noqa: S608 -- names of ours
        " ORDER BY row LIMIT ?",
        (key, READY, limit),
    )
    return [_READY_ROWS.of(row) for row in rows]


def with_number(columns: str, mailings: str) -> str:
    """A query for the rows of some mailings that have a number.

    The index by number is one for each block of rows, so that a new row's place in it is near that
    of the row before: in one index of all rows, each of many new rows has its own page to write.
    So a number is looked for in each block.

    Args:
        columns: what is asked, of the row ``r``.
        mailings: a query for the keys of the mailings; its values come before the number.
    """
    first = "SELECT min(row) >> 12 FROM mailing_rows WHERE mailing = key"
    return (
        "WITH RECURSIVE block (mailing, no) AS ("  # noqa: S608 -- names of ours
        f"SELECT key, ({first}) FROM ({mailings})"
        " UNION ALL SELECT mailing, (SELECT min(row) >> 12 FROM mailing_rows r"
        " WHERE r.mailing = block.mailing AND r.row >= (block.no + 1) << 12)"
        " FROM block WHERE no IS NOT NULL)"
        f" SELECT {columns} FROM block CROSS JOIN mailing_rows r ON r.mailing = block.mailing"
        " AND r.row >> 12 = block.no AND r.number = ?"
    )


_FIRST_WITH_NUMBER: Final = with_number("min(r.row)", "SELECT ? AS key")


def failed_after(conn: sqlite3.Connection, key: int, after: int, limit: int) -> FailedRows:
    """Rows whose people got nothing, from a place on: refused ones, and those whose messages
    failed, were not delivered, or were canceled.

    Looks at :data:`LOOKED_AT` rows at most: a piece may be empty, and not the last.
    """
    looked = [
        _VIEWS.of(row)
        for row in conn.execute(
            f"{_FROM} AND r.row > ? ORDER BY r.row LIMIT ?", (key, after, LOOKED_AT)
        )
    ]
    failed: list[MailingRow] = []
    for each in looked:
        if _failed(each):
            failed.append(each)
            if len(failed) == limit:
                return FailedRows(tuple(failed), each.row)
    return FailedRows(tuple(failed), looked[-1].row if len(looked) == LOOKED_AT else None)


def _failed(row: MailingRow) -> bool:
    return row.number is not None and (row.state is RowState.REFUSED or row.status in _FAILED)


_FAILED: Final = ("failed", "undelivered", "canceled")


def last_of_next(conn: sqlite3.Connection, key: int, limit: int) -> int | None:
    """The last of a mailing's first rows; None: it has none."""
    last: int | None = value_of(
        conn,
        "SELECT max(row) FROM"
        " (SELECT row FROM mailing_rows WHERE mailing = ? ORDER BY row LIMIT ?)",
        (key, limit),
    )
    return last


def delete_to(conn: sqlite3.Connection, key: int, last: int) -> int:
    """Delete a mailing's rows up to one, without counting; returns how many it were."""
    statement = "DELETE FROM mailing_rows WHERE mailing = ? AND row <= ?"
    return conn.execute(statement, (key, last)).rowcount


# -- counts


class RowCounts:
    """Changes of rows, summed up for their mailing's row."""

    def __init__(self) -> None:
        self._changed = dict.fromkeys((*_COLUMNS, "rows", "segments", "price"), 0)

    def add(self, state: int, segments: int, price: int, sign: int = 1) -> None:
        """Count a row in a state; with a sign of -1 it is in that state no longer."""
        self._changed[_COLUMNS[state]] += sign
        self._changed["rows"] += sign
        if state in (READY, ACCEPTED):
            self._changed["segments"] += sign * segments
            self._changed["price"] += sign * price

    def write(self, conn: sqlite3.Connection, key: int) -> None:
        """Add them to the mailing's row."""
        changed = {name: value for name, value in self._changed.items() if value}
        if changed:
            summed = ", ".join(f"{name} = {name} + ?" for name in changed)
            conn.execute(
                f"UPDATE mailings SET {summed} WHERE key = ?",  # noqa: S608 -- names of ours
                (*changed.values(), key),
            )


_COLUMNS: Final = ("ready", "bad", "left_out", "accepted", "refused")
"""Columns of the mailing's row, by the number of a row's state."""


def held(conn: sqlite3.Connection, key: int, numbers: list[int]) -> dict[int, tuple[int, int, int]]:
    """State, segments and price of those of these rows that there are."""
    rows: list[tuple[Any, ...]] = rows_of_values(
        conn,
        "SELECT r.row, r.state, r.segments, r.price FROM ({values}) asked"
        " JOIN mailing_rows r ON r.mailing = asked.column1 AND r.row = asked.column2",
        2,
        [(key, number) for number in numbers],
    )
    return {number: (state, segments, price) for number, state, segments, price in rows}


def held_between(
    conn: sqlite3.Connection, key: int, first: int, last: int
) -> dict[int, tuple[int, int, int]]:
    """State, segments and price of all rows from one to another: a new mailing has none there,
    which is one query."""
    rows = conn.execute(
        "SELECT row, state, segments, price FROM mailing_rows"
        " WHERE mailing = ? AND row BETWEEN ? AND ?",
        (key, first, last),
    )
    return {number: (state, segments, price) for number, state, segments, price in rows}
