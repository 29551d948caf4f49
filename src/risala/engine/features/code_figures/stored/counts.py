"""Counts of codes: each session is counted once, in the order in which they were opened, when what
became of its code is settled; newer ones are read beside the counts.

The place that counting has come to is written in the unit that counts: a kill, a restart and a
restore find both as of one moment. A file from before counts were kept is counted from its start.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.features.code_figures.rules import AT_ONCE, CarrierCodes, last_of_each
from risala.engine.features.code_figures.stored.sessions import (
    Cell,
    CodeCounts,
    CountryOf,
    read,
    summed,
)
from risala.engine.journal.store import meta, repository
from risala.engine.journal.store.repository import Store, command, scan
from risala.engine.journal.store.sql import value_of
from risala.engine.model.feature_work import Forgot
from risala.engine.model.numbers import MODES
from risala.engine.model.records.verify.figures import KEPT_DAYS, OTHER, FiguresBy

DAY_MS: Final = 86_400_000
CELLS_MAX: Final = 1000
"""Counts of an organization, mode and day that differ in network, country, carrier, channel, key or
language. The last of them is of all that has no other, under :data:`OTHER`."""
NEW_MAX: Final = 5000
"""Sessions not counted yet that are read for figures: some hundred and fifty milliseconds, on a
thread. There are those of the last minutes."""
BACK_MS: Final = DAY_MS
"""How much earlier than the last counted session a new one may be: the clock was set back."""
JUDGED_MAX: Final = 5000
"""The last sessions, tests too, among which each carrier's codes are looked for; none is older than
a day."""
USUAL_DAYS: Final = 7
"""What is usual with a carrier is that of so many days before today."""
PLACE: Final = "codes.counted"
"""The key of the last session that is counted."""
_CELL: Final = ", ".join(Cell._fields)
_SUMS: Final = ("asked", "sent", "delivered", "entered", "in_minute", "cost")
_COLUMN: Final[Mapping[FiguresBy, str]] = {
    **{each: each.value for each in FiguresBy},
    FiguresBy.KEY: "api_key",
}
_IS_CELL: Final = " AND ".join(f"{name} = ?" for name in Cell._fields)
_GROW: Final = (
    f"UPDATE code_counts SET {', '.join(f'{name} = {name} + ?' for name in _SUMS)}"  # noqa: S608 -- constants
    f" WHERE {_IS_CELL}"
)
_NEW: Final = (
    f"INSERT INTO code_counts ({', '.join(_SUMS)}, {_CELL})"  # noqa: S608 -- constants
    f" VALUES ({', '.join('?' * (len(_SUMS) + len(Cell._fields)))})"
)
_FIND: Final = f"SELECT cell FROM code_counts WHERE {_IS_CELL}"  # noqa: S608 -- constants
_TIME: Final = (
    "INSERT INTO code_times (cell, seconds, n) VALUES (?, ?, ?)"
    " ON CONFLICT (cell, seconds) DO UPDATE SET n = n + excluded.n"
)
_TOTAL: Final = (
    "INSERT INTO code_totals (carrier, channel, asked, sent, delivered, entered, in_minute)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (carrier, channel) DO UPDATE SET"
    " asked = asked + excluded.asked, sent = sent + excluded.sent,"
    " delivered = delivered + excluded.delivered, entered = entered + excluded.entered,"
    " in_minute = in_minute + excluded.in_minute"
)


# -- counting


def count_next(
    conn: sqlite3.Connection, now_ms: int, country_of: CountryOf, at_once: int = AT_ONCE
) -> int:
    """Count the next sessions, ``at_once`` at most; returns how many.

    0: there is none, or what the next one counts as may still change.
    """
    where = "WHERE v.rowid > ? ORDER BY v.rowid LIMIT ?"
    values = (_counted_to(conn)[0], at_once)
    sessions = read(conn, "verifications v", where, values, country_of)
    going = [*takewhile(lambda each: not each.may_change(now_ms), sessions)]
    if not going:
        return 0
    first = first_day(now_ms)
    kept = (each for each in going if not each.is_deleted and each.cell.day >= first)
    _add(conn, summed(kept))
    meta.put(conn, PLACE, going[-1].id)
    return len(going)


def next_session(conn: sqlite3.Connection) -> str | None:
    """The id of the session that is counted next; None: there is none."""
    statement = "SELECT id FROM verifications WHERE rowid > ? ORDER BY rowid LIMIT 1"
    session: str | None = value_of(conn, statement, (_counted_to(conn)[0],))
    return session


def pass_over(conn: sqlite3.Connection, session: str) -> None:
    """Go on behind a session that cannot be counted: no figures have it."""
    meta.put(conn, PLACE, session)


def has_settled(conn: sqlite3.Connection, now_ms: int) -> bool:
    """Whether there is a session to count now."""
    where = "WHERE v.rowid > ? ORDER BY v.rowid LIMIT 1"
    sessions = read(conn, "verifications v", where, (_counted_to(conn)[0],), lambda _: None)
    return bool(sessions) and not sessions[0].may_change(now_ms)


def first_day(now_ms: int) -> int:
    """The first day whose counts are kept, since 1970-01-01."""
    return now_ms // DAY_MS - KEPT_DAYS


def _counted_to(conn: sqlite3.Connection) -> tuple[int, int]:
    """The row of the last session that is counted, and when that was opened."""
    session = meta.get(conn, PLACE)
    if session is None:
        return 0, 0
    statement = "SELECT rowid, created_at FROM verifications WHERE id = ?"
    row, created_at = conn.execute(statement, (session,)).fetchone()  # sessions are never deleted
    return row, created_at


def _add(conn: sqlite3.Connection, sums: Mapping[Cell, CodeCounts]) -> None:
    totals: dict[tuple[str, str], CodeCounts] = {}
    for cell, counted in sums.items():
        number = _grown(conn, cell, counted)
        times = [(number, seconds, n) for seconds, n in counted.times.items()]
        conn.executemany(_TIME, times)
        if cell.mode == MODES.number("live"):
            totals.setdefault((cell.carrier, cell.channel), CodeCounts()).add(counted)
    for names, each in totals.items():
        counts = (each.asked, each.sent, each.delivered, each.entered, each.in_minute)
        conn.execute(_TOTAL, (*names, *counts))


def _grown(conn: sqlite3.Connection, cell: Cell, counted: CodeCounts) -> int:
    """Add to a count, which is made where there is room for it; returns its number."""
    values = [getattr(counted, name) for name in _SUMS]
    if conn.execute(_GROW, (*values, *cell)).rowcount == 0:
        if _has_room(conn, cell):
            return conn.execute(_NEW, (*values, *cell)).lastrowid or 0
        cell = Cell(*cell[:3], *[OTHER] * len(cell[3:]))
        if conn.execute(_GROW, (*values, *cell)).rowcount == 0:
            return conn.execute(_NEW, (*values, *cell)).lastrowid or 0
    return int(value_of(conn, _FIND, cell))


def _has_room(conn: sqlite3.Connection, cell: Cell) -> bool:
    statement = (
        "SELECT count(*) FROM (SELECT 1 FROM code_counts"
        " WHERE organization = ? AND mode = ? AND day = ? LIMIT ?)"
    )
    return int(value_of(conn, statement, (*cell[:3], CELLS_MAX))) < CELLS_MAX - 1


# -- forgetting


def has_old(conn: sqlite3.Connection, now_ms: int) -> bool:
    """Whether there are counts of days that are no longer kept."""
    statement = "SELECT 1 FROM code_counts WHERE day < ? LIMIT 1"
    return value_of(conn, statement, (first_day(now_ms),)) is not None


def forget_old(conn: sqlite3.Connection, now_ms: int) -> int:
    """Delete some counts of days that are no longer kept; returns how many."""
    return _delete(conn, "day < ?", first_day(now_ms), AT_ONCE)


def clear(conn: sqlite3.Connection, limit: int, organization_id: str | None) -> Forgot:
    """Delete counts of an organization that is deleted.

    Args:
        organization_id: None: of all. There is nothing to do then: old counts go as new ones come.
    """
    if organization_id is None:
        return Forgot(0, "", done=True)
    where = "organization = (SELECT no FROM organizations WHERE id = ?)"
    gone = _delete(conn, where, organization_id, limit)
    return Forgot(gone, "", done=gone < limit)


def _delete(conn: sqlite3.Connection, where: str, value: object, limit: int) -> int:
    rows = conn.execute(f"SELECT cell FROM code_counts WHERE {where} LIMIT ?", (value, limit))  # noqa: S608 -- constants
    going = rows.fetchall()
    conn.executemany("DELETE FROM code_times WHERE cell = ?", going)
    conn.executemany("DELETE FROM code_counts WHERE cell = ?", going)
    return len(going)


# -- reading


@dataclass(frozen=True, slots=True)
class CodeQuery:
    """What figures are of: an organization, days, and what they are grouped by."""

    organization_id: str | None
    """None: of all organizations."""
    mode: str
    by: FiguresBy
    first_day: int
    """In the organization's time zone, since 1970-01-01."""
    last_day: int
    daily: tuple[FiguresBy, ...] = ()
    """What is told day by day too."""


class DayCell(NamedTuple):
    """What codes of a day have in common."""

    by: FiguresBy
    of: str
    day: int


Days = dict[DayCell, tuple[int, int]]
"""How many were asked for, and entered."""


@dataclass(frozen=True, slots=True)
class CodeSums:
    """Counts by what was asked for; and from when on codes are not in them, if any are not."""

    by: Mapping[str | int, CodeCounts]
    counted_until: int | None
    days: Days


def sums(conn: sqlite3.Connection, query: CodeQuery, country_of: CountryOf) -> CodeSums:
    """Counts of some days: those that are kept, and sessions that are not counted yet."""
    conn.execute("BEGIN")  # both as of one moment
    try:
        by, days = _sums_of_counts(conn, query)
        counted_until = _add_new(conn, query, country_of, by, days)
    finally:
        conn.execute("ROLLBACK")
    return CodeSums(by, counted_until, days)


def _sums_of_counts(
    conn: sqlite3.Connection, query: CodeQuery
) -> tuple[dict[str | int, CodeCounts], Days]:
    column = _COLUMN[query.by]
    whose = " WHERE mode = ? AND day BETWEEN ? AND ?"
    values: tuple[object, ...] = (MODES.number(query.mode), query.first_day, query.last_day)
    if query.organization_id is not None:
        whose += " AND organization = (SELECT no FROM organizations WHERE id = ?)"
        values = (*values, query.organization_id)
    sums = ", ".join(f"sum({name})" for name in _SUMS)
    rows = conn.execute(
        f"SELECT {column}, {sums} FROM code_counts{whose} GROUP BY 1",  # noqa: S608 -- constants
        values,
    )
    by = {value: CodeCounts(*counts) for value, *counts in rows}
    times = conn.execute(
        f"SELECT {column}, seconds, sum(n) FROM code_counts JOIN code_times USING (cell){whose}"  # noqa: S608 -- constants
        " GROUP BY 1, 2",
        values,
    )
    for value, seconds, n in times:
        by[value].times[seconds] = n
    days: Days = {}
    for each in query.daily:
        counted = conn.execute(
            f"SELECT {_COLUMN[each]}, day, sum(asked), sum(entered) FROM code_counts{whose}"  # noqa: S608 -- constants
            " GROUP BY 1, 2",
            values,
        )
        days |= {DayCell(each, of, day): (asked, entered) for of, day, asked, entered in counted}
    return by, days


def _add_new(
    conn: sqlite3.Connection,
    query: CodeQuery,
    country_of: CountryOf,
    by: dict[str | int, CodeCounts],
    days: Days,
) -> int | None:
    """Add sessions that are not counted yet; from when on there are others is returned."""
    row, created_at = _counted_to(conn)
    since_ms = max(created_at - BACK_MS, (query.first_day - 1) * DAY_MS)
    until_ms = (query.last_day + 2) * DAY_MS  # days of other time zones begin earlier or later
    source, whose, order = "verifications v", "", "v.rowid"
    values: tuple[object, ...] = (query.mode, since_ms, until_ms, row)
    if query.organization_id is not None:
        source, order = f"{source} INDEXED BY verification_by_organization", "v.created_at"
        whose, values = " AND v.organization_id = ?", (*values, query.organization_id)
    where = "WHERE v.mode = ? AND v.created_at >= ? AND v.created_at < ? AND v.rowid > ?"
    last = f" ORDER BY {order} LIMIT ?"
    values = (*values, NEW_MAX + 1)
    sessions = read(conn, source, f"{where}{whose}{last}", values, country_of)
    column = _COLUMN[query.by]
    kept = (each for each in sessions[:NEW_MAX] if not each.is_deleted)
    for cell, counted in summed(kept).items():
        if query.first_day <= cell.day <= query.last_day:
            by.setdefault(getattr(cell, column), CodeCounts()).add(counted)
            for each in query.daily:
                place = DayCell(each, getattr(cell, _COLUMN[each]), cell.day)
                asked, entered = days.get(place, (0, 0))
                days[place] = (asked + counted.asked, entered + counted.entered)
    return sessions[NEW_MAX].created_at if len(sessions) > NEW_MAX else None


def newest_session(conn: sqlite3.Connection) -> str | None:
    """The id of the session that was opened last; None: there is none."""
    statement = "SELECT id FROM verifications ORDER BY rowid DESC LIMIT 1"
    session: str | None = value_of(conn, statement)
    return session


def carriers_lately(conn: sqlite3.Connection, now_ms: int) -> list[CarrierCodes]:
    """The last codes that each carrier took, of live keys, and what is usual with it."""
    sessions = read(
        conn,
        "verifications v",
        "WHERE v.rowid > (SELECT max(rowid) FROM verifications) - ? AND v.mode = 'live'"
        " ORDER BY v.rowid DESC",
        (JUDGED_MAX,),
        lambda _: None,
    )
    last = last_of_each(
        (each.cell.carrier, each.took_ms is not None)
        for each in sessions
        if each.is_over and each.is_sent and now_ms - each.created_at < DAY_MS
    )
    today = now_ms // DAY_MS
    usual = {
        carrier: numbers
        for carrier, *numbers in conn.execute(
            "SELECT carrier, sum(sent), sum(entered), sum(asked), sum(in_minute) FROM code_counts"
            " WHERE day >= ? AND day < ? AND mode = ? GROUP BY carrier",
            (today - USUAL_DAYS, today, MODES.number("live")),
        )
    }
    names = {*last, *usual} - {"", OTHER}
    nothing = (0, 0)
    return [
        CarrierCodes(name, *last.get(name, nothing), *usual.get(name, nothing))
        for name in sorted(names)
    ]


@dataclass(frozen=True, slots=True)
class CodeTotal:
    """Live codes by carrier and channel, since counts are kept."""

    carrier: str
    """Empty: none took them."""
    channel: str
    asked: int
    sent: int
    delivered: int
    entered: int
    in_minute: int


def totals(conn: sqlite3.Connection) -> list[CodeTotal]:
    """All totals: one for each carrier and channel."""
    columns = "carrier, channel, asked, sent, delivered, entered, in_minute"
    rows: Iterable[tuple[str, str, int, int, int, int, int]] = conn.execute(
        f"SELECT {columns} FROM code_totals ORDER BY carrier, channel"  # noqa: S608 -- constants
    )
    return [CodeTotal(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class CodeCountRepository:
    """Counts of codes. A command returns once it is on disk, and raises ``Unavailable`` if the disk
    did not take it."""

    _store: Store

    has_settled = repository.read(has_settled)
    next_session = repository.read(next_session)
    has_old = repository.read(has_old)
    newest_session = repository.read(newest_session)
    totals = repository.read(totals)
    count_next = command(count_next)
    pass_over = command(pass_over)
    forget_old = command(forget_old)
    sums = scan(sums)
    carriers_lately = scan(carriers_lately)
