"""Recipient lists and the people on them, as they are stored.

People are numbers with a value for each of a list's columns. A list that is deleted is marked, and
its people go in pieces.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.features.lists.records import (
    FULL,
    LISTS_MAX,
    Grown,
    ListedPerson,
    ListPeople,
    NewPerson,
    PeopleFilter,
    RecipientList,
)
from risala.engine.features.tables.records import COLUMNS_MAX, ROWS_MAX, cells_of
from risala.engine.features.tables.rules.rendering import folded
from risala.engine.journal import storage
from risala.engine.journal.accounts import accounts
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, audited_command, command, read, scan
from risala.engine.journal.store.searching import NumberIndex, containing, numbers_with
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.model.feature_work import Forgot
from risala.engine.model.records.people.organizations import StoredTable
from risala.engine.model.records.record import to_json

_TABLE: Final = "recipient_lists"
STORED: Final = StoredTable(_TABLE, rows="people")
_ROWS: Final = Rows.of_record(RecipientList)


def add(conn: sqlite3.Connection, new: RecipientList) -> RecipientList:
    """Store a list without people.

    Raises:
        NotFound: no such organization.
        Invalid: the organization has one of this name.
        Conflict: it has too many.
    """
    accounts.organization(conn, new.organization_id)
    refuse_another(conn, new.organization_id, new.name)
    writable(conn, _TABLE).insert(
        columns_of(
            {
                "id": new.id,
                "organization_id": new.organization_id,
                "name": new.name,
                "columns": (),
                "people": 0,
                "created_at": new.created_at,
                "created_by": new.created_by,
                "changed_at": new.changed_at,
            }
        )
    )
    return recipient_list(conn, new.id)


def refuse_another(conn: sqlite3.Connection, organization_id: str, name: str) -> None:
    """Refuse a further list.

    Raises:
        Invalid: the organization has one of this name.
        Conflict: it has too many.
    """
    if len(of_organization(conn, organization_id)) >= LISTS_MAX:
        raise Conflict(f"An organization can have at most {LISTS_MAX} lists. Delete one first.")
    _refuse_same_name(conn, organization_id, name, None)


def recipient_list(conn: sqlite3.Connection, list_id: str) -> RecipientList:
    """One list.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(
        table(conn, _TABLE), list_id, "There is no list {}.", where="id = ? AND deleted_at IS NULL"
    )


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[RecipientList]:
    """The lists of an organization, by name."""
    return _ROWS.find(
        table(conn, _TABLE),
        "organization_id = ? AND deleted_at IS NULL",
        (organization_id,),
        order_by="name COLLATE NOCASE, id",
    )


def change(conn: sqlite3.Connection, list_id: str, values: Mapping[str, Any]) -> RecipientList:
    """Change a list's settings.

    Raises:
        NotFound: the id is unknown.
        Invalid: the organization has another list of this name.
    """
    recipients = recipient_list(conn, list_id)
    if "name" in values:
        _refuse_same_name(conn, recipients.organization_id, values["name"], list_id)
    if values:
        writable(conn, _TABLE).update(key_of(conn, list_id), columns_of(values))
    return recipient_list(conn, list_id)


def delete(conn: sqlite3.Connection, list_id: str, now_ms: int) -> RecipientList:
    """Delete a list: nobody sees it from now on, and its people are deleted in steps afterwards.
    Mailings that took their rows from it keep them.

    Raises:
        NotFound: the id is unknown.
    """
    recipients = recipient_list(conn, list_id)
    writable(conn, _TABLE).update(key_of(conn, list_id), {"deleted_at": now_ms})
    return recipients


def _refuse_same_name(
    conn: sqlite3.Connection, organization_id: str, name: str, list_id: str | None
) -> None:
    others = of_organization(conn, organization_id)
    if any(each.name == name and each.id != list_id for each in others):
        raise Invalid("name", "same_name", "There is a list of this name already.")


def key_of(conn: sqlite3.Connection, list_id: str) -> int:
    """The key of a list, also of a deleted one; 0, which no list has, if the id is unknown."""
    key: int | None = value_of(conn, "SELECT key FROM recipient_lists WHERE id = ?", (list_id,))
    return key or 0


# -- people


_OPTED_OUT: Final = (
    "EXISTS (SELECT 1 FROM opt_outs o WHERE o.organization_id = ? AND o.recipient = p.number)"
)
_OPTED_OUT_HERE: Final = (
    "EXISTS (SELECT 1 FROM list_opt_outs o WHERE o.list = p.list AND o.recipient = p.number)"
)


def page(
    conn: sqlite3.Connection,
    list_id: str,
    people_filter: PeopleFilter,
    after: str | None,
    limit: int,
) -> ListPeople:
    """People of a list by number, and how many of the whole list opted out.

    Args:
        after: the number that the page begins behind; None: the first page.

    Raises:
        NotFound: the id is unknown.
        TooManyNumbersError: too many numbers have the digits.
    """
    recipients, key = recipient_list(conn, list_id), key_of(conn, list_id)
    hit, values = _hit(conn, key, people_filter)
    rows = conn.execute(
        f"SELECT p.number, p.cells, {_OPTED_OUT}, {_OPTED_OUT_HERE} FROM list_people p"  # noqa: S608 -- constants
        f" WHERE p.list = ? AND p.number > ? AND {hit} ORDER BY p.number LIMIT ?",
        (recipients.organization_id, key, after or "", *values, limit + 1),
    ).fetchall()
    width = len(recipients.columns)
    people = tuple(
        ListedPerson(number, _padded(cells, width), bool(out or here), bool(here and not out))
        for number, cells, out, here in rows[:limit]
    )
    opted_out = value_of(
        conn,
        # From the opt-outs: they are fewer than the people on a long list.
        "SELECT count(*) FROM (SELECT p.number FROM opt_outs o CROSS JOIN list_people p"
        " ON p.list = ?1 AND p.number = o.recipient WHERE o.organization_id = ?2"
        " UNION SELECT p.number FROM list_opt_outs o CROSS JOIN list_people p"
        " ON p.list = ?1 AND p.number = o.recipient WHERE o.list = ?1)",
        (key, recipients.organization_id),
    )
    return ListPeople(
        recipients, people, people[-1].number if len(rows) > limit else None, opted_out
    )


def _hit(
    conn: sqlite3.Connection, key: int, people_filter: PeopleFilter
) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted person of a list."""
    if people_filter.number is not None:
        return "p.number = ?", (people_filter.number,)
    if people_filter.part is not None:
        index = NumberIndex("list_people", "number", "list = ?", (key,))
        numbers = numbers_with(conn, index, people_filter.part)
        return "p.number IN (SELECT value FROM json_each(?))", (json.dumps(numbers),)
    if people_filter.contains is not None:
        # A list has 100,000 people at most: its values need no index.
        hit, values = containing(("value",), people_filter.contains)
        return f"EXISTS (SELECT 1 FROM json_each(p.cells) WHERE {hit})", values  # noqa: S608 -- constants
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
    recipients = recipient_list(conn, list_id)
    known = {folded(each): place for place, each in enumerate(recipients.columns)}
    names = [*recipients.columns]
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
    recipients, key = recipient_list(conn, list_id), key_of(conn, list_id)
    before = _known(conn, key, [number for number, _ in people])
    after = dict(before)
    for number, cells in people:
        after[number] = _merged(after.get(number, ()), places, cells)
    added = len(after) - len(before)
    if recipients.people + added > ROWS_MAX:
        raise Conflict(FULL)
    more = _bytes(after) - _bytes(before)
    storage.refuse_full(conn, recipients.organization_id, more, bytes_max)
    _count_bytes(conn, key, more)
    conn.executemany(
        "INSERT INTO list_people (list, number, cells) VALUES (?, ?, ?)"
        " ON CONFLICT (list, number) DO UPDATE SET cells = excluded.cells",
        [(key, number, _json(cells)) for number, cells in after.items()],
    )
    conn.execute("UPDATE recipient_lists SET people = people + ? WHERE key = ?", (added, key))
    return Grown(recipient_list(conn, list_id), tuple(places), added, len(before))


def _count_bytes(conn: sqlite3.Connection, key: int, more: int) -> None:
    """Note that the people of a list take more bytes, or fewer."""
    conn.execute("UPDATE recipient_lists SET bytes = bytes + ? WHERE key = ?", (more, key))


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
    _count_bytes(conn, key, -_bytes(taken))
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
    values = json.loads(cells)
    return (*values, *[""] * (width - len(values)))


# -- what goes, and what an owner gets


def mark_lists(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> None:
    """Delete all lists of an organization; their people go by :func:`clear`."""
    conn.execute(
        "UPDATE recipient_lists SET deleted_at = ?"
        " WHERE organization_id = ? AND deleted_at IS NULL",
        (now_ms, organization_id),
    )


def clear_lists(conn: sqlite3.Connection, limit: int, organization_id: str | None = None) -> Forgot:
    """Delete some people of a list that was deleted, then that itself.

    Args:
        organization_id: whose; None: everybody's.
    """
    whose, values = "", []
    if organization_id is not None:
        whose, values = " AND organization_id = ?", [organization_id]
    key = value_of(
        conn,
        "SELECT key FROM recipient_lists WHERE deleted_at IS NOT NULL"  # noqa: S608 -- constants
        f"{whose} ORDER BY key LIMIT 1",
        values,
    )
    if key is None:
        return Forgot(0, "", done=True)
    return Forgot(_clear_list(conn, key, limit), "", done=False)


def _clear_list(conn: sqlite3.Connection, key: int, limit: int) -> int:
    gone = conn.execute(
        "DELETE FROM list_people WHERE list = ?1 AND number <= (SELECT max(number) FROM"
        " (SELECT number FROM list_people WHERE list = ?1 ORDER BY number LIMIT ?2))",
        (key, limit),
    ).rowcount
    if gone < limit:
        gone += conn.execute(
            "DELETE FROM list_opt_outs WHERE list = ?1 AND recipient IN"
            " (SELECT recipient FROM list_opt_outs WHERE list = ?1 LIMIT ?2)",
            (key, limit - gone),
        ).rowcount
    if gone < limit:
        conn.execute("DELETE FROM recipient_lists WHERE key = ?", (key,))
    return gone


def take_number_from_lists(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> dict[str, int]:
    """Take a number from some of an organization's lists; returns from how many."""
    lists = conn.execute(
        "SELECT p.list, length(p.number) + length(CAST(p.cells AS BLOB))"
        " FROM list_people p JOIN recipient_lists l ON l.key = p.list"
        " WHERE p.number = ? AND l.organization_id = ? LIMIT ?",
        (number, organization_id, limit),
    ).fetchall()
    conn.executemany(
        "DELETE FROM list_people WHERE list = ? AND number = ?",
        [(key, number) for key, _ in lists],
    )
    conn.executemany(
        "UPDATE recipient_lists SET people = people - 1, bytes = bytes - ? WHERE key = ?",
        [(size, key) for key, size in lists],
    )
    return {"on lists": len(lists)}


def export_lists(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    """Recipient lists by age."""
    lists = [
        _ROWS.of(row)
        for row in conn.execute(
            f"SELECT {_ROWS.columns} FROM recipient_lists WHERE organization_id = ? AND id > ?"  # noqa: S608 -- names of ours
            " AND deleted_at IS NULL ORDER BY id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    written = [to_json(each) for each in lists]
    return AccountPart(written, lists[-1].id if len(lists) == limit else None)


@dataclass(frozen=True, slots=True)
class _OnList:
    number: str
    cells: tuple[str, ...]


_LISTED: Final = Rows(_OnList, cells=cells_of)


def export_people(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    """People of one list after the other, each with its list's id."""
    start, _, number = after.partition(" ")
    pair = conn.execute(
        "SELECT key, id FROM recipient_lists WHERE organization_id = ? AND key >= ?"
        " AND deleted_at IS NULL ORDER BY key LIMIT 1",
        (organization_id, int(start or 0)),
    ).fetchone()
    if pair is None:
        return AccountPart([], None)
    key, list_id = pair
    people = [
        _LISTED.of(row)
        for row in conn.execute(
            f"SELECT {_LISTED.columns} FROM list_people WHERE list = ? AND number > ?"  # noqa: S608 -- names of ours
            " ORDER BY number LIMIT ?",
            (key, number if str(key) == start else "", limit),
        )
    ]
    written = [{"listId": list_id, **to_json(each)} for each in people]
    following = f"{key} {people[-1].number}" if len(people) == limit else str(key + 1)
    return AccountPart(written, following)


def count_people(conn: sqlite3.Connection, organization_id: str) -> int:
    """People on lists, as their counts have them."""
    people: int = value_of(
        conn,
        "SELECT coalesce(sum(people), 0) FROM recipient_lists WHERE organization_id = ?"
        " AND deleted_at IS NULL",
        (organization_id,),
    )
    return people


def count_lists_with(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> int:
    """How many lists a number is on, and not more than a limit."""
    counted: int = value_of(
        conn,
        "SELECT count(*) FROM (SELECT 1 FROM list_people p JOIN recipient_lists l"
        " ON l.key = p.list WHERE p.number = ? AND l.organization_id = ? LIMIT ?)",
        (number, organization_id, limit),
    )
    return counted


def lists_of_number(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> list[tuple[str, str]]:
    """The ids and names of an organization's lists that a number is on, by name."""
    rows = conn.execute(
        "SELECT l.id, l.name FROM list_people p JOIN recipient_lists l ON l.key = p.list"
        " WHERE p.number = ? AND l.organization_id = ? AND l.deleted_at IS NULL LIMIT ?",
        (number, organization_id, limit),
    )
    return sorted(rows.fetchall(), key=lambda each: (each[1], each[0]))


class NumberRow(NamedTuple):
    """What a list has of a number."""

    number: str
    columns: tuple[str, ...]
    cells: tuple[str, ...]


def rows_of_numbers(
    conn: sqlite3.Connection, organization_id: str, numbers: Sequence[str]
) -> list[NumberRow]:
    """What an organization's lists have of some numbers; the list changed last comes last."""
    rows = conn.execute(
        "SELECT p.number, l.columns, p.cells FROM list_people p"  # noqa: S608 -- markers
        " JOIN recipient_lists l ON l.key = p.list"
        f" WHERE p.number IN ({markers(numbers)}) AND l.organization_id = ?"
        " AND l.deleted_at IS NULL ORDER BY l.changed_at",
        (*numbers, organization_id),
    )
    return [NumberRow(each, tuple(json.loads(head)), cells_of(row)) for each, head, row in rows]


def containing_cell(number: str, organization_id: str, text: str) -> tuple[str, tuple[str, ...]]:
    """The condition that a value of a number, in one of an organization's lists, contains a text.

    Args:
        number, organization_id: the columns that have them.
    """
    cell, values = containing(("value",), text)
    return (
        "EXISTS (SELECT 1 FROM list_people p JOIN recipient_lists l ON l.key = p.list,"  # noqa: S608 -- constants
        f" json_each(p.cells) WHERE p.number = {number} AND l.deleted_at IS NULL"
        f" AND l.organization_id = {organization_id} AND {cell})",
        values,
    )


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class RecipientListRepository:
    """Recipient lists. Lists are read by an index, on the loop's thread; people on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    recipient_list = read(recipient_list)
    of_organization = read(of_organization)
    refuse_another = read(refuse_another)
    page = scan(page)
    people_after = scan(people_after)
    count_known = scan(count_known)
    create = audited_command(create)
    grow = audited_command(grow)
    put_people = command(put_people)
    change = audited_command(change)
    remove = audited_command(remove)
    delete = audited_command(delete)
