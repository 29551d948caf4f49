"""Figures over all rows of a mailing, for reads on a thread; and places among its people."""

from __future__ import annotations

import sqlite3
from itertools import accumulate
from typing import Final

from risala.engine.features.mailings.records import Outcomes, RunPoint
from risala.engine.features.mailings.row_records import NumberShare
from risala.engine.features.mailings.stored.rows import ACCEPTED, READY
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.sql import value_of
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.numbers import (
    CANCELED,
    DELIVERED,
    FAILED,
    PENDING,
    PROCESSING,
    SENT,
    UNDELIVERED,
)

_PEOPLE: Final = f"mailing = ? AND state IN ({READY}, {ACCEPTED})"
"""Rows that somebody gets a text by."""
_LAST: Final = 2**63 - 1
"""A number after every row."""


def outcomes(conn: sqlite3.Connection, key: int) -> Outcomes:
    """What became of a mailing's messages: of its rows, and of those that are no longer kept."""
    gone = conn.execute(
        "SELECT gone_sent, gone_delivered, gone_failed FROM mailings WHERE key = ?", (key,)
    ).fetchone()
    sent, delivered, failed = gone or (0, 0, 0)
    now = of_rows(conn, key, _LAST)
    return Outcomes(now.pending, now.sent + sent, now.delivered + delivered, now.failed + failed)


def of_rows(conn: sqlite3.Connection, key: int, last: int) -> Outcomes:
    """What became of the messages of a mailing's rows up to one."""
    counted = dict(
        conn.execute(
            "SELECT m.status, count(*) FROM mailing_rows r JOIN message m ON m.key = r.message"
            " WHERE r.mailing = ? AND r.state = ? AND r.row <= ? GROUP BY m.status",
            (key, ACCEPTED, last),
        ).fetchall()
    )
    return Outcomes(
        pending=sum(counted.get(status, 0) for status in (PENDING, PROCESSING)),
        sent=counted.get(SENT, 0),
        delivered=counted.get(DELIVERED, 0),
        failed=sum(counted.get(status, 0) for status in (FAILED, UNDELIVERED, CANCELED)),
    )


RUN_POINTS: Final = 24
"""Points of a run: enough for a curve."""
_RUN_OF: Final = (
    " FROM mailing_rows r JOIN message m ON m.key = r.message WHERE r.mailing = ? AND r.state = ?"
)
_MADE_AT: Final = f"m.key >> {KEY_COUNTER_BITS}"
_SENT_AT: Final = "coalesce(m.sent_at, m.delivered_at)"


def run(conn: sqlite3.Connection, key: int) -> tuple[RunPoint, ...]:
    """How a mailing's messages went from the first to the last thing that happened to one."""
    begin, *lasts = conn.execute(
        f"SELECT min({_MADE_AT}), max({_MADE_AT}), max({_SENT_AT}), max(m.delivered_at){_RUN_OF}",
        (key, ACCEPTED),
    ).fetchone()
    end = max((each for each in lasts if each is not None), default=0)
    if begin is None or end <= begin:
        return ()
    step = -(-(end - begin + 1) // RUN_POINTS)
    made, sent, delivered = (
        _summed(conn, key, at, begin, step) for at in (_MADE_AT, _SENT_AT, "m.delivered_at")
    )
    return tuple(
        RunPoint(min(begin + (place + 1) * step - 1, end), *counts)
        for place, counts in enumerate(zip(made, sent, delivered, strict=True))
    )


def _summed(conn: sqlite3.Connection, key: int, at: str, begin: int, step: int) -> list[int]:
    """How many rows something had happened to at each point."""
    counted = dict(
        conn.execute(
            f"SELECT ({at} - ?) / ? AS place, count(*){_RUN_OF} AND {at} IS NOT NULL"
            " GROUP BY place",
            (begin, step, key, ACCEPTED),
        ).fetchall()
    )
    return [*accumulate(counted.get(place, 0) for place in range(RUN_POINTS))]


_SHARES: Final = Rows(NumberShare)


def shares(conn: sqlite3.Connection, key: int, characters: int) -> list[NumberShare]:
    """The ready rows, by how their numbers begin.

    Args:
        characters: of a number, its plus sign too: as many as routes tell numbers apart by.
    """
    rows = conn.execute(
        'SELECT min(number) AS "number", count(*) AS "rows", sum(segments) AS "segments"'
        " FROM mailing_rows WHERE mailing = ? AND state = ? GROUP BY substr(number, 1, ?)"
        " ORDER BY 2 DESC, 1",
        (key, READY, characters),
    )
    return [_SHARES.of(row) for row in rows]


def by_place(conn: sqlite3.Connection, key: int, place: int) -> int | None:
    """The row at a place among those that are ready or accepted, from 1; None: there is none."""
    if place < 1:
        return None
    row: int | None = value_of(
        conn,
        f"SELECT row FROM mailing_rows WHERE {_PEOPLE} ORDER BY row LIMIT 1 OFFSET ?",  # noqa: S608 -- constants
        (key, place - 1),
    )
    return row


def place_of(conn: sqlite3.Connection, key: int, row: int) -> int:
    """The place of a row among those that are ready or accepted, from 1; 0: it is none of them."""
    statement = f"SELECT 1 FROM mailing_rows WHERE {_PEOPLE} AND row = ?"  # noqa: S608 -- constants
    if value_of(conn, statement, (key, row)) is None:
        return 0
    statement = f"SELECT count(*) FROM mailing_rows WHERE {_PEOPLE} AND row <= ?"  # noqa: S608 -- constants
    return int(value_of(conn, statement, (key, row)))


def neighbour(conn: sqlite3.Connection, key: int, row: int, *, forward: bool) -> int | None:
    """The next ready or accepted row after one, or the last before it; None: there is none."""
    candidates = [
        value_of(
            conn,
            "SELECT min(row) FROM mailing_rows WHERE mailing = ? AND state = ? AND row > ?"
            if forward
            else "SELECT max(row) FROM mailing_rows WHERE mailing = ? AND state = ? AND row < ?",
            (key, state, row),
        )
        for state in (READY, ACCEPTED)
    ]
    return (min if forward else max)(
        (each for each in candidates if each is not None), default=None
    )
