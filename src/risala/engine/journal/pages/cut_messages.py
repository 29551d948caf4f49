"""Messages that customers cut themselves: the stored parts of one, and their text.

Each part is a message of its own, and only its header links it to the others. Its reference has 256
or 65,536 values, which are used again: so parts belong to one message if they went to one number
from one sender, by one key or credential and in one alphabet, with one reference and total, one
soon after the other and each number once. Phones use fewer criteria.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from risala.engine.journal.state import find_key
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.sql import markers
from risala.engine.model.numbers import part_of
from risala.engine.model.records.message_lists import (
    APART_MAX,
    SAME_MESSAGE,
    CutMessage,
    StoredPart,
)
from risala.sms.values import quickly

LOOKED_MAX: Final = 100
"""Messages to the same number that are searched for the other parts of one, before it and as many
after it: no SMS has so many parts, and it takes a fraction of a millisecond."""
LOOKUPS_MAX: Final = 50
"""Messages with parts elsewhere that one page completes: some milliseconds, in which nothing else
runs. The others are shown with a gap."""
JOINED_MAX: Final = 1000
"""Parts that one page of a search joins: some milliseconds too. With more, the search stops, and
the next page continues there."""


class Across(NamedTuple):
    """The result of a text search across cuts."""

    keys: tuple[int, ...]
    """Keys of parts whose message has the text."""
    reached: int | None
    """The key of the part at which it stopped; None: it came to the end."""


_PARTS: Final = Rows(
    StoredPart,
    {
        "number": "part >> 1 & 255",
        "body": "CASE WHEN pruned & 1 = 0 AND kind = 0 THEN body END",
    },
    make=quickly(StoredPart),
)
_OF_LOOKED: Final = "message WHERE key IN (SELECT key FROM (SELECT key, part FROM {}) WHERE {})"
_NEAR: Final = (
    "message INDEXED BY message_by_recipient"
    " WHERE recipient = ? AND organization = ? AND key >= ? AND key < ? ORDER BY key {} LIMIT ?"
)
"""Messages to the same number, some before or some after a part."""


def cut_message(conn: sqlite3.Connection, message_id: str) -> CutMessage | None:
    """The message to which one belongs; None: it is no part."""
    key = find_key(conn, message_id)
    return None if key is None else cut_messages(conn, [key]).get(key)


def cut_messages(conn: sqlite3.Connection, keys: Sequence[int]) -> dict[int, CutMessage]:
    """The cut messages of which these keys are parts, by the keys of all of their parts."""
    if not keys:
        return {}
    source = f"message WHERE key IN ({markers(keys)}) AND part IS NOT NULL"
    messages = _completed(conn, _PARTS.gather(conn, source, keys))
    return {part.key: each for each in messages for part in each.parts.values()}


def parts_across(
    conn: sqlite3.Connection, looked: str, values: Sequence[object], text: str, *, upward: bool
) -> Across:
    """The parts among some messages whose message has a text, even across a cut. As in ``LIKE``,
    the case of ASCII letters does not matter.

    Args:
        looked: what stands behind ``FROM``, for the messages that are looked at, in their order.
        upward: the oldest come first.
    """
    source = _OF_LOOKED.format(looked, "part IS NOT NULL LIMIT ?")
    parts = _PARTS.gather(conn, source, (*values, JOINED_MAX))
    is_there = re.compile(re.escape(text), re.ASCII | re.IGNORECASE).search
    fitting = (each for each in _completed(conn, parts) if is_there(each.text))
    keys = {part.key for each in fitting for part in each.parts.values()}
    last = max if upward else min
    reached = last(each.key for each in parts) if len(parts) == JOINED_MAX else None
    return Across(tuple(each.key for each in parts if each.key in keys), reached)


def _completed(conn: sqlite3.Connection, parts: Iterable[StoredPart]) -> list[CutMessage]:
    """The messages of some parts, with their other parts from anywhere."""
    alike: defaultdict[tuple[object, ...], dict[int, StoredPart]] = defaultdict(dict)
    for part in parts:
        alike[part.message][part.key] = part
    separated = {message: _separated(some.values()) for message, some in alike.items()}
    scattered = [
        (message, each) for message, some in separated.items() for each in some if not each.is_whole
    ]
    for message, each in scattered[:LOOKUPS_MAX]:
        near = (part for part in _near(conn, each) if part.message == message)
        alike[message].update((part.key, part) for part in near)
    for message in {message for message, _ in scattered[:LOOKUPS_MAX]}:
        separated[message] = _separated(alike[message].values())
    return [each for some in separated.values() for each in some]


def _separated(parts: Iterable[StoredPart]) -> list[CutMessage]:
    """Parts that may be of one message, as messages. Software submits them in order: so a run of
    rising numbers is one message. Runs that complete each other are one message in another
    order."""
    messages: list[CutMessage] = []
    for run in _runs(parts):
        if messages and messages[-1].may_have(run):
            messages[-1].parts.update(run)
        else:
            (first, *_) = run.values()
            messages.append(CutMessage(run, part_of(first.part).total))
    return messages


def _runs(parts: Iterable[StoredPart]) -> Iterator[dict[int, StoredPart]]:
    """Parts one soon after the other, as long as their numbers rise."""
    run: dict[int, StoredPart] = {}
    last: StoredPart | None = None
    for part in sorted(parts, key=attrgetter("key")):
        rises = last is not None and part.number > last.number
        if last is not None and not (rises and part.key - last.key <= APART_MAX):
            yield run
            run = {}
        run[part.number] = last = part
    yield run


def _near(conn: sqlite3.Connection, message: CutMessage) -> list[StoredPart]:
    """Parts with a message's reference that were accepted shortly before it or after it."""
    keys = [each.key for each in message.parts.values()]
    (one, *_) = message.parts.values()
    bounds = ("DESC", min(keys) - APART_MAX, min(keys)), ("ASC", min(keys), max(keys) + APART_MAX)
    parts: list[StoredPart] = []
    for order, low, high in bounds:
        values = (one.recipient, one.organization, low, high, LOOKED_MAX, one.part & SAME_MESSAGE)
        source = _OF_LOOKED.format(_NEAR.format(order), f"part & {SAME_MESSAGE} = ?")
        parts += _PARTS.gather(conn, source, values)
    return parts
