"""Finds messages of all organizations by a number or a part of it, an id, or the carrier's id.

There is no separate index for this. The index of recipients has the organization second: so each
organization that ever wrote to the number is searched separately, and there are few of those. The
same applies to the carriers of one id. A part of a number is searched in that index too: in the
ranges of numbers that contain it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.messages.parts import carrier_key
from risala.engine.journal.pages import cut_messages, lists
from risala.engine.journal.pages.lists import FEED_AS, LISTED_FROM
from risala.engine.journal.state import find_key
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.repository import Store, read
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.model.ids import keys_of
from risala.engine.model.numbers import recipient_number
from risala.engine.model.records.asks import TooManyNumbersError
from risala.engine.model.records.message_lists import (
    KEY_END,
    WALKS_MAX,
    FoundMessage,
    FoundPage,
    Sought,
)

_BEFORE_ALL: Final = -1
_FOUND: Final = Rows(
    FoundMessage,
    {
        **LISTED_FROM,
        "organization_id": "(SELECT id FROM organizations WHERE no = organization)",
        "organization_name": "(SELECT name FROM organizations WHERE no = organization)",
    },
    make=None,
    **FEED_AS,
)


@dataclass(frozen=True, slots=True)
class _Walk:
    """One way through an index, to keys of messages in their order."""

    select: str
    """Up to the bounds of the key."""
    key: str
    """The column with the key."""
    values: tuple[object, ...]


def page(
    conn: sqlite3.Connection,
    sought: Sought,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int,
) -> FoundPage:
    """The newest messages, or those older than the key ``before``, or newer than ``after``.

    Raises:
        TooManyNumbersError: more than :data:`WALKS_MAX` numbers with messages have the digits.
    """
    upward = after is not None
    bounds = (after + 1, KEY_END) if after is not None else (0, before or KEY_END)
    keys = sorted(_keys(conn, sought, bounds, limit + 1, upward=upward), reverse=not upward)
    more, keys = len(keys) > limit, keys[:limit]
    onward = keys[-1] if more else None
    shown = _shown(conn, keys)
    if after is not None:
        return FoundPage(shown, onward, keys[0] if keys else after + 1)
    newer = None if before is None else (keys[0] if keys else before - 1)
    return FoundPage(shown, newer, onward)


def _keys(
    conn: sqlite3.Connection, sought: Sought, bounds: tuple[int, int], most: int, *, upward: bool
) -> set[int]:
    if sought.message_id is not None:
        key = find_key(conn, sought.message_id)
        keys = _numbered(conn, sought.message_id) if key is None else {key}
        return {key for key in keys if bounds[0] <= key < bounds[1]}
    if sought.recipient is not None:
        walks = _by_recipient(conn, recipient_number(sought.recipient))
        return _walked(conn, walks, bounds, most, upward=upward)
    either: set[int] = set()
    if sought.ranges is not None:
        either |= _walked(conn, _by_ranges(conn, sought.ranges), bounds, most, upward=upward)
    if sought.carrier_id is not None:
        either |= _of_carrier_id(conn, sought.carrier_id, bounds, most, upward=upward)
    return either


def _of_carrier_id(
    conn: sqlite3.Connection, carrier_id: str, bounds: tuple[int, int], most: int, *, upward: bool
) -> set[int]:
    for form in _forms(carrier_id):
        of_form = [*_by_carrier_id(conn, form)]
        if of_form:
            return _walked(conn, of_form, bounds, most, upward=upward)
    return {key for key in _numbered(conn, carrier_id) if bounds[0] <= key < bounds[1]}


def _numbered(conn: sqlite3.Connection, number: str) -> set[int]:
    """The message whose id an SMPP customer has as a number."""
    statement = "SELECT key FROM message WHERE key = ?"
    numbers = (value_of(conn, statement, (key,)) for key in keys_of(number))
    return {key for key in numbers if key is not None}


def _walked(
    conn: sqlite3.Connection,
    walks: Iterable[_Walk],
    bounds: tuple[int, int],
    most: int,
    *,
    upward: bool,
) -> set[int]:
    keys: set[int] = set()
    order = "ASC" if upward else "DESC"
    for walk in islice(walks, WALKS_MAX):
        rows = conn.execute(
            f"{walk.select} AND {walk.key} >= ? AND {walk.key} < ?"
            f" ORDER BY {walk.key} {order} LIMIT ?",
            (*walk.values, *bounds, most),
        )
        keys.update(key for (key,) in rows)
    return keys


def _by_recipient(conn: sqlite3.Connection, recipient: int | str) -> Iterator[_Walk]:
    table = "message INDEXED BY message_by_recipient"
    organization: int | None = _BEFORE_ALL
    while True:
        organization = value_of(
            conn,
            f"SELECT organization FROM {table} WHERE recipient = ? AND organization > ?"  # noqa: S608 -- constants
            " ORDER BY organization LIMIT 1",
            (recipient, organization),
        )
        if organization is None:
            return
        select = f"SELECT key FROM {table} WHERE recipient = ? AND organization = ?"  # noqa: S608 -- constants
        yield _Walk(select, "key", (recipient, organization))


def _by_ranges(conn: sqlite3.Connection, ranges: Sequence[tuple[int, int]]) -> list[_Walk]:
    """The searches of all numbers in these ranges; too many raise an error."""
    # Few of thousands of ranges have messages: one statement finds them.
    filled = conn.execute(
        "WITH ranges (low, high) AS (SELECT json_extract(value, '$[0]'),"
        " json_extract(value, '$[1]') FROM json_each(?))"
        " SELECT low, high FROM ranges WHERE EXISTS ("
        "SELECT 1 FROM message INDEXED BY message_by_recipient"
        " WHERE recipient BETWEEN low AND high) LIMIT ?",
        (json.dumps(ranges), WALKS_MAX + 1),
    ).fetchall()
    if len(filled) > WALKS_MAX:
        raise TooManyNumbersError(WALKS_MAX)
    walks: dict[int, list[_Walk]] = {}
    count = 0
    for low, high in filled:
        while (recipient := _next_recipient(conn, low, high)) is not None:
            if recipient not in walks:
                walks[recipient] = [*_by_recipient(conn, recipient)]
                count += len(walks[recipient])
            if count > WALKS_MAX:
                raise TooManyNumbersError(WALKS_MAX)
            low = recipient + 1
    return [walk for of_one in walks.values() for walk in of_one]


def _next_recipient(conn: sqlite3.Connection, low: int, high: int) -> int | None:
    recipient: int | None = value_of(
        conn,
        "SELECT recipient FROM message INDEXED BY message_by_recipient"
        " WHERE recipient BETWEEN ? AND ? ORDER BY recipient LIMIT 1",
        (low, high),
    )
    return recipient


def _by_carrier_id(conn: sqlite3.Connection, carrier_id: str) -> Iterator[_Walk]:
    for table, key in (("message", "key"), ("segment", "message")):
        carrier: int | None = _BEFORE_ALL
        while True:
            carrier = value_of(
                conn,
                f"SELECT carrier FROM {table} WHERE carrier_key = ? AND carrier > ?"  # noqa: S608 -- constants
                " ORDER BY carrier LIMIT 1",
                (carrier_id, carrier),
            )
            if carrier is None:
                break
            select = f"SELECT {key} FROM {table} WHERE carrier_key = ? AND carrier = ?"  # noqa: S608 -- constants
            yield _Walk(select, key, (carrier_id, carrier))


def _forms(carrier_id: str) -> list[str]:
    """An id as in rows, then as the other of decimal and hexadecimal: some carriers use one in
    answers and the other in receipts."""
    key = carrier_key(carrier_id)
    forms = [key]
    if key.isascii() and key.isdigit():
        forms.append(format(int(key), "x"))
    with suppress(ValueError):
        forms.append(str(int(key, 16)))
    return forms


def _shown(conn: sqlite3.Connection, keys: list[int]) -> tuple[FoundMessage, ...]:
    if not keys:
        return ()
    rows = conn.execute(
        f"SELECT {_FOUND.columns} FROM message WHERE key IN ({markers(keys)})"  # noqa: S608 -- constants
        " ORDER BY key DESC",
        keys,
    )
    return tuple(map(_FOUND.of, rows))


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class MessageListRepository:
    """Lists of messages. All reads are on the loop's thread: by an index, of a bounded number of
    messages."""

    _store: Store

    find = read(page)
    page = read(lists.page)
    count_newer = read(lists.count_newer)
    cut_message = read(cut_messages.cut_message)
    cut_messages = read(cut_messages.cut_messages)
