"""The people on recipient lists: numbers, and a value for each of a list's columns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from risala.engine.journal.mailings import storage
from risala.engine.journal.mailings.recipient_lists import add, key_of, recipient_list
from risala.engine.journal.store.named import columns_of
from risala.engine.journal.store.searching import NumberIndex, containing, numbers_with
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.journal.store.tables import writable
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.mailings import FULL, Grown, NewPerson
from risala.engine.model.records.mailings import COLUMNS_MAX, ROWS_MAX
from risala.engine.model.records.recipient_lists import (
    ListedPerson,
    ListPeople,
    PeopleFilter,
    RecipientList,
)
from risala.engine.rules.mailings.rendering import folded

_OPTED_OUT: Final = (
    "EXISTS (SELECT 1 FROM opt_outs o WHERE o.organization_id = ? AND o.recipient = p.number)"
)


def page(
    conn: sqlite3.Connection, list_id: str, wanted: PeopleFilter, after: str | None, limit: int
) -> ListPeople:
    """People of a list by number, and how many of the whole list opted out.

    Args:
        after: the number that the page begins behind; None: the first page.

    Raises:
        NotFound: the id is unknown.
        TooManyNumbersError: too many numbers have the digits.
    """
    found, key = recipient_list(conn, list_id), key_of(conn, list_id)
    hit, given = _hit(conn, key, wanted)
    rows = conn.execute(
        f"SELECT p.number, p.cells, {_OPTED_OUT} FROM list_people p"  # noqa: S608 -- constants
        f" WHERE p.list = ? AND p.number > ? AND {hit} ORDER BY p.number LIMIT ?",
        (found.organization_id, key, after or "", *given, limit + 1),
    ).fetchall()
    width = len(found.columns)
    people = tuple(
        ListedPerson(number, _padded(cells, width), bool(out))
        for number, cells, out in rows[:limit]
    )
    opted_out = value_of(
        conn,
        # From the opt-outs: they are fewer than the people on a long list.
        "SELECT count(*) FROM opt_outs o CROSS JOIN list_people p"
        " ON p.list = ? AND p.number = o.recipient WHERE o.organization_id = ?",
        (key, found.organization_id),
    )
    return ListPeople(found, people, people[-1].number if len(rows) > limit else None, opted_out)


def _hit(
    conn: sqlite3.Connection, key: int, wanted: PeopleFilter
) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted person of a list."""
    if wanted.number is not None:
        return "p.number = ?", (wanted.number,)
    if wanted.part is not None:
        index = NumberIndex("list_people", "number", "list = ?", (key,))
        numbers = numbers_with(conn, index, wanted.part)
        return "p.number IN (SELECT value FROM json_each(?))", (json.dumps(numbers),)
    if wanted.contains is not None:
        # A list has 100,000 people at most: its values need no index.
        hit, given = containing(("value",), wanted.contains)
        return f"EXISTS (SELECT 1 FROM json_each(p.cells) WHERE {hit})", given  # noqa: S608 -- constants
    return "1", ()


def people_after(
    conn: sqlite3.Connection, list_id: str, after: str, limit: int
) -> list[tuple[str, tuple[str, ...]]]:
    """Numbers of a list with their values, by number, from behind one on.

    Raises:
        NotFound: the id is unknown.
    """
    width = len(recipient_list(conn, list_id).columns)
    rows = conn.execute(
        "SELECT number, cells FROM list_people WHERE list = ? AND number > ?"
        " ORDER BY number LIMIT ?",
        (key_of(conn, list_id), after, limit),
    )
    return [(number, _padded(cells, width)) for number, cells in rows]


def count_known(conn: sqlite3.Connection, list_id: str, numbers: Sequence[str]) -> int:
    """How many of the numbers a list has already; of one that is not stored, none."""
    return len(_known(conn, key_of(conn, list_id), numbers))


def create(
    conn: sqlite3.Connection,
    new: RecipientList,
    columns: Sequence[str],
    people: Sequence[NewPerson],
    bytes_max: int | None = None,
) -> Grown:
    """Store a list with its first people.

    Raises:
        NotFound: no such organization.
        Invalid: the organization has a list of this name.
        Conflict: the organization has too many lists or stores too much, or the list has too many
            columns.
    """
    add(conn, new)
    return grow(conn, new.id, columns, people, new.created_at, bytes_max)


def grow(
    conn: sqlite3.Connection,
    list_id: str,
    columns: Sequence[str],
    people: Sequence[NewPerson],
    now_ms: int,
    bytes_max: int | None = None,
) -> Grown:
    """Add the first people of an upload to a list, which also gets the columns that it does not
    have yet. Columns that differ in case or spaces alone are the same.

    Raises:
        NotFound: the id is unknown.
        Conflict: the list would have too many people or columns, or the organization stores too
            much.
    """
    found = recipient_list(conn, list_id)
    known = {folded(each): place for place, each in enumerate(found.columns)}
    names = [*found.columns]
    for each in columns:
        if folded(each) not in known:
            known[folded(each)] = len(names)
            names.append(each)
    if len(names) > COLUMNS_MAX:
        raise Conflict(f"A list can have at most {COLUMNS_MAX} columns.")
    values = columns_of({"columns": tuple(names), "changed_at": now_ms})
    writable(conn, "recipient_lists").update(key_of(conn, list_id), values)
    places = [known[folded(each)] for each in columns]
    return put_people(conn, list_id, places, people, bytes_max)


def put_people(
    conn: sqlite3.Connection,
    list_id: str,
    places: Sequence[int],
    people: Sequence[NewPerson],
    bytes_max: int | None = None,
) -> Grown:
    """Add people to a list. A number that it has already gets the given values; what other columns
    have of it stays.

    Args:
        places: of each given column its place among the list's columns.
        bytes_max: what the organization may store; None: as much as it likes.

    Raises:
        NotFound: the id is unknown.
        Conflict: the list would have too many people, or the organization stores too much.
    """
    found, key = recipient_list(conn, list_id), key_of(conn, list_id)
    before = _known(conn, key, [number for number, _ in people])
    after = dict(before)
    for number, cells in people:
        after[number] = _merged(after.get(number, ()), places, cells)
    added = len(after) - len(before)
    if found.people + added > ROWS_MAX:
        raise Conflict(FULL)
    more = _bytes(after) - _bytes(before)
    storage.refuse_full(conn, found.organization_id, more, bytes_max)
    storage.count_list(conn, key, more)
    conn.executemany(
        "INSERT INTO list_people (list, number, cells) VALUES (?, ?, ?)"
        " ON CONFLICT (list, number) DO UPDATE SET cells = excluded.cells",
        [(key, number, _json(cells)) for number, cells in after.items()],
    )
    conn.execute("UPDATE recipient_lists SET people = people + ? WHERE key = ?", (added, key))
    return Grown(recipient_list(conn, list_id), tuple(places), added, len(before))


def remove(conn: sqlite3.Connection, list_id: str, number: str, now_ms: int) -> RecipientList:
    """Take a number from a list.

    Raises:
        NotFound: the id is unknown, or the list does not have the number.
    """
    recipient_list(conn, list_id)
    key = key_of(conn, list_id)
    taken = _known(conn, key, [number])
    if not taken:
        raise NotFound("The list does not have this number.")
    conn.execute("DELETE FROM list_people WHERE list = ? AND number = ?", (key, number))
    storage.count_list(conn, key, -_bytes(taken))
    conn.execute(
        "UPDATE recipient_lists SET people = people - 1, changed_at = ? WHERE key = ?",
        (now_ms, key),
    )
    return recipient_list(conn, list_id)


def _known(
    conn: sqlite3.Connection, key: int, numbers: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    rows = conn.execute(
        "SELECT number, cells FROM list_people"  # noqa: S608 -- markers
        f" WHERE list = ? AND number IN ({markers(numbers)})",
        (key, *numbers),
    )
    return {number: tuple(json.loads(cells)) for number, cells in rows}


def _merged(before: Sequence[str], places: Sequence[int], cells: Sequence[str]) -> tuple[str, ...]:
    width = max((len(before), *(place + 1 for place in places)), default=0)
    merged = [*before, *[""] * (width - len(before))]
    for place, cell in zip(places, cells, strict=True):
        merged[place] = cell
    return tuple(merged)


def _bytes(people: Mapping[str, Sequence[str]]) -> int:
    """What people take."""
    return sum(len(number) + len(_json(cells).encode()) for number, cells in people.items())


def _json(cells: Sequence[str]) -> str:
    """Values as they are stored, without halves of characters, which no database keeps."""
    return json.dumps(cells, ensure_ascii=False).encode(errors="replace").decode()


def _padded(cells: str, width: int) -> tuple[str, ...]:
    """The values of a person: columns that were added later are empty."""
    found = json.loads(cells)
    return (*found, *[""] * (width - len(found)))
