"""Pages of tables that are stored by time, the newest first, by key-set.

A page continues from a place in an index, never from a number of rows; it reads a bounded number of
them, and if few of those are wanted it is short and shows how far it has searched.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from risala.dataclass import dataclass
from risala.engine.journal.store.named import Rows
from risala.engine.model.records.asks import TIME_END, CursorPage, Place, Steps

T = TypeVar("T")
_BEYOND: Final = "~"
"""Sorts after all characters of ids and numbers."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The index by which rows are read."""

    source: str
    """The table, with the index that it is read by."""
    where: str
    values: tuple[object, ...]
    hit: str
    """The condition for a wanted row; ``1``: each is."""
    hit_values: tuple[object, ...]
    order: tuple[str, ...]
    """The columns that make a place: a time and an id, or an id alone."""
    since: int = 0
    until: int = TIME_END
    """If the first is a time: at or after, and before, in UTC epoch milliseconds."""
    ids: tuple[str | None, str | None] = (None, None)
    """If the only one is an id: from the first on, and before the second; None: no bound."""


def page_by_time(
    conn: sqlite3.Connection,
    rows: Rows[T],
    way: Walk,
    steps: Steps,
    place_of: Callable[[T], Place],
) -> CursorPage[T]:
    """The newest rows, or those older than the place ``before``, or newer than ``after``."""
    upward = steps.after is not None
    beyond, values = _beyond(way, steps.after if upward else steps.before, upward=upward)
    order = ", ".join(f"{column} {'ASC' if upward else 'DESC'}" for column in way.order)
    ordered = f"FROM {way.source} WHERE {way.where}{beyond} ORDER BY {order}"
    # An unwanted row is not made into an object: that would take longer than reading it.
    looked = conn.execute(
        f"SELECT * FROM (SELECT {rows.columns}, {way.hit} AS hit {ordered} LIMIT ?)"  # noqa: S608 -- constants
        " WHERE hit LIMIT ?",
        (*way.hit_values, *way.values, *values, steps.looked_max, steps.limit + 1),
    )
    kept = sorted((rows.of(row[:-1]) for row in looked), key=place_of, reverse=not upward)
    more = len(kept) > steps.limit
    place = None
    if not more:
        place = conn.execute(
            f"SELECT {', '.join(way.order)} {ordered} LIMIT 1 OFFSET ?",
            (*way.values, *values, steps.looked_max - 1),
        ).fetchone()
    reached = None if place is None else _at(conn, rows, way, place)
    kept = kept[: steps.limit]
    end = kept[-1] if more else reached
    onward = None if end is None else place_of(end)
    if steps.after is not None:
        older = place_of(kept[0]) if kept else _just_above(steps.after)
        return CursorPage(tuple(reversed(kept)), onward, older, reached)
    if steps.before is None:
        return CursorPage(tuple(kept), None, onward, reached)
    newer = place_of(kept[0]) if kept else _just_below(steps.before)
    return CursorPage(tuple(kept), newer, onward, reached)


def page_of_walks(
    conn: sqlite3.Connection,
    rows: Rows[T],
    ways: Sequence[Walk],
    steps: Steps,
    place_of: Callable[[T], Place],
) -> CursorPage[T]:
    """:func:`page_by_time` of several walks as one, as far as all of them have searched."""
    upward = steps.after is not None
    pages = [page_by_time(conn, rows, each, steps, place_of) for each in ways]
    ends = [each.looked_to for each in pages if each.looked_to is not None]
    reached = (min if upward else max)(ends, key=place_of, default=None)
    rows_found = sorted(
        (one for each in pages for one in each.items), key=place_of, reverse=not upward
    )
    if reached is not None:
        end = place_of(reached)
        rows_found = [
            one for one in rows_found if (place_of(one) <= end) == upward or place_of(one) == end
        ]
    onward = [each.newer if upward else each.older for each in pages]
    more = len(rows_found) > steps.limit or (reached is None and any(onward))
    rows_found = rows_found[: steps.limit]
    if more:
        reached = None
    last = place_of(rows_found[-1]) if more else None if reached is None else place_of(reached)
    first = place_of(rows_found[0]) if rows_found else None
    if steps.after is not None:
        older = first or _just_above(steps.after)
        return CursorPage(tuple(reversed(rows_found)), last, older, reached)
    newer = None if steps.before is None else first or _just_below(steps.before)
    return CursorPage(tuple(rows_found), newer, last, reached)


def _at(conn: sqlite3.Connection, rows: Rows[T], way: Walk, place: Place) -> T:
    """The row at a place."""
    exactly = " AND ".join(f"{column} = ?" for column in way.order)
    row = conn.execute(
        f"SELECT {rows.columns} FROM {way.source} WHERE {way.where} AND {exactly}",  # noqa: S608 -- constants
        (*way.values, *place),
    ).fetchone()
    return rows.of(row)


def _beyond(way: Walk, place: Place | None, *, upward: bool) -> tuple[str, tuple[object, ...]]:
    """The condition for a row within the time and beyond a place.

    The time has one bound at each end: with several, the index could be entered by any of them.
    """
    if len(way.order) == 1:
        return _between(way, place, upward=upward)
    sign = ">" if upward else "<"
    first, second = way.order
    low, high = way.since, way.until - 1
    within = f" AND {first} >= ? AND {first} <= ?"
    if place is None:
        return within, (low, high)
    at = int(place[0])
    low, high = (max(low, at), high) if upward else (low, min(high, at))
    return f"{within} AND ({first} {sign} ? OR {second} {sign} ?)", (low, high, *place)


def _between(way: Walk, place: Place | None, *, upward: bool) -> tuple[str, tuple[object, ...]]:
    """:func:`_beyond` for an order by one column."""
    (column,), (low, high) = way.order, way.ids
    here = None if place is None else place[0]
    terms: dict[str, int | str] = {}
    if here is not None and upward and (low is None or str(here) >= low):
        terms[">"] = here
    elif low is not None:
        terms[">="] = low
    if here is not None and not upward and (high is None or str(here) < high):
        terms["<"] = here
    elif high is not None:
        terms["<"] = high
    return "".join(f" AND {column} {sign} ?" for sign in terms), tuple(terms.values())


def _just_above(place: Place) -> Place:
    *rest, last = place
    return (*rest, last + 1 if isinstance(last, int) else f"{last}{_BEYOND}")


def _just_below(place: Place) -> Place:
    *rest, last = place
    return (*rest, last - 1 if isinstance(last, int) else last[:-1])


Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AccountPart:
    rows: Sequence[Json]
    last: str | None
    """The place where the next part begins; None: no further part."""


Read = Callable[[sqlite3.Connection, str, str, int], AccountPart]
"""Reads rows of an organization, after a place, up to a number."""
