"""Pages of an organization's messages, the newest first, with any filter.

A page costs the same with ten million messages as with ten. It starts from the index with the
fewest messages to read, continues by key, and reads a bounded number of messages: if few of those
are wanted, the page is short and shows how far it has searched.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.pages.cut_messages import Across, parts_across
from risala.engine.journal.state import CREATED, MESSAGE_CLASS
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import NUMBER, name_sql
from risala.engine.journal.store.searching import is_slow_in_like
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.model.cause_sentences import cause_text, causes_saying
from risala.engine.model.ids import KEY_COUNTER_BITS, is_id_end, key_ms
from risala.engine.model.numbers import (
    DELIVERED,
    ENCODINGS,
    FAILED,
    KINDS,
    MODES,
    PROCESSING,
    STATUSES,
    UNDELIVERED,
    recipient_number,
    recipient_text,
)
from risala.engine.model.records.message_lists import (
    KEY_END,
    UNCERTAIN,
    Listed,
    ListPage,
    MessageFilter,
)
from risala.sms.cause import Cause
from risala.sms.numbering.countries import prefixes_of

LOOKED_MAX: Final = 5000
"""Messages that one page reads: a few milliseconds, in which nothing else runs."""
_ORGANIZATION: Final = "organization = (SELECT no FROM organizations WHERE id = ?)"
_IS_UNCERTAIN: Final = (
    "status = 1 AND (part_state = 2 OR part_state IS NULL AND segments > 1 AND EXISTS"
    " (SELECT 1 FROM segment WHERE message = key AND state = 2))"
)


LISTED_FROM: Final = {
    "to": "recipient",
    "sender": name_sql("sender"),
    "body": "CASE WHEN pruned & 1 = 0 AND kind = 0 THEN body END",
    "uncertain": _IS_UNCERTAIN,
    "carrier": name_sql("carrier"),
    "provider_message_id": "coalesce(carrier_id, carrier_key)",
    "api_key": name_sql("api_key"),
    "error_text": "error_code",
    "part": "NULL",
    "part_number": "part",
    "metadata": "coalesce(metadata, '{}')",
    "message_class": MESSAGE_CLASS,
    "created_at": CREATED,
    "updated_at": f"coalesce(updated_at, delivered_at, sent_at, {CREATED})",
}
"""The expressions of :class:`Listed` fields that are no column of their name."""


def _metadata(text: str) -> dict[str, str]:
    # Most messages have none, and a page has many messages.
    return {} if text == "{}" else json.loads(text)


FEED_AS: Final[Mapping[str, Callable[[Any], object]]] = {
    "to": recipient_text,
    "mode": MODES.word,
    "kind": KINDS.word,
    "encoding": ENCODINGS.word,
    "status": STATUSES.word,
    "uncertain": bool,
    "error_text": cause_text,
}
"""Converters for fields that differ from SQLite's value."""
_LISTED: Final = Rows(Listed, LISTED_FROM, make=None, metadata=_metadata, **FEED_AS)


@dataclass(frozen=True, slots=True)
class _Walk:
    """One way through an index."""

    index: str
    where: str
    values: tuple[object, ...]


def _walks(filters: MessageFilter) -> list[_Walk]:
    """The indexes with the fewest messages to read."""
    mine = (filters.organization_id,)
    if filters.recipient is not None:
        where = f"recipient = ? AND {_ORGANIZATION}"
        return [
            _Walk("message_by_recipient", where, (recipient_number(filters.recipient), *mine)),
        ]
    statuses: tuple[int, ...] = ()
    if filters.status == UNCERTAIN:
        statuses = (PROCESSING,)
    elif filters.status is not None and STATUSES.number(filters.status) != DELIVERED:
        statuses = (STATUSES.number(filters.status),)
    elif filters.status is None and filters.cause is not None:
        statuses = (UNDELIVERED, FAILED)
    if statuses:
        # The second condition is the index's own.
        where = f"{_ORGANIZATION} AND status = ? AND status <> 3"
        return [_Walk("message_by_status", where, (*mine, each)) for each in statuses]
    if filters.sender is not None:
        where = f"{_ORGANIZATION} AND sender = {NUMBER}"
        return [_Walk("message_by_sender", where, (*mine, filters.sender))]
    return [_Walk("message_by_organization", _ORGANIZATION, mine)]


def _hit(filters: MessageFilter, across: Sequence[int]) -> tuple[str, list[object]]:
    """The condition for a wanted message.

    Args:
        across: keys of parts whose whole message has the searched text.
    """
    conditions = ["mode = ?"]
    values: list[object] = [MODES.number(filters.mode)]
    if filters.status == UNCERTAIN:
        conditions.append(f"({_IS_UNCERTAIN})")
    elif filters.status is not None:
        conditions.append("status = ?")
        values.append(STATUSES.number(filters.status))
    if filters.kind is not None:
        conditions.append("kind = ?")
        values.append(KINDS.number(filters.kind))
    if filters.sender is not None:
        conditions.append(f"sender = {NUMBER}")
        values.append(filters.sender)
    if filters.api_key is not None:
        conditions.append(f"api_key = {NUMBER}")
        values.append(filters.api_key)
    if filters.cause is not None:
        # A word of the closed list is ours; any other is a carrier's code.
        ours = filters.cause in Cause.__members__
        conditions.append("error_code = ?" if ours else "carrier_code = ? COLLATE NOCASE")
        values.append(filters.cause)
    if filters.contains is not None:
        condition, contained = _containing(
            filters.contains, filters.digits, in_texts=filters.searches_texts
        )
        conditions.append(f"({condition} OR key IN ({markers(across)}))" if across else condition)
        values += [*contained, *across]
    return " AND ".join(conditions), values


def _containing(text: str, digits: str | None, *, in_texts: bool) -> tuple[str, list[object]]:
    """The condition that the number, the text, the end of the id, the carrier or its own word, the
    network, or the sentence of the cause is, or contains, this."""
    quoted = "%" + re.sub("([!%_])", r"!\1", text) + "%"
    ways = ["carrier_code LIKE ? ESCAPE '!'", f"carrier = {NUMBER}"]
    values: list[object] = [quoted, text.lower()]
    if is_id_end(text):
        ways.append("id LIKE ?")
        values.append(f"%{text}")
    if digits is not None:
        ways.append("CAST(recipient AS TEXT) LIKE ?")
        values.append(f"%{digits}%")
    for prefix in prefixes_of(text.lower()):
        ways.append("CAST(recipient AS TEXT) LIKE ?")
        values.append(f"{prefix.removeprefix('+')}%")
    if causes := causes_saying(text):
        ways.append(f"error_code IN ({markers(causes)})")
        values += causes
    if in_texts:
        # A hyphen is written or left out by whim.
        words = quoted.replace("-", " ")
        body = "replace(body, '-', ' ')" if " " in words else "body"
        if is_slow_in_like(text):
            contained, words = f"instr(lower({body}), lower(?))", text.replace("-", " ")
        else:
            contained = f"{body} LIKE ? ESCAPE '!'"
        ways.append(f"pruned & 1 = 0 AND kind = 0 AND {contained}")
        values.append(words)
    return "(" + " OR ".join(ways) + ")", values


@dataclass(frozen=True, slots=True)
class _Found:
    keys: list[int]
    reached: int | None
    """The key at which the search stopped; None: it came to the end."""


def page(
    conn: sqlite3.Connection,
    filters: MessageFilter,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int,
    looked_max: int = LOOKED_MAX,
) -> ListPage:
    """The newest messages, or those older than the key ``before``, or newer than ``after``."""
    low = 0 if filters.since is None else filters.since << KEY_COUNTER_BITS
    high = KEY_END if filters.until is None else filters.until << KEY_COUNTER_BITS
    is_upward = after is not None
    if after is not None:
        low = max(low, after + 1)
    elif before is not None:
        high = min(high, before)
    ways = [
        _walk(conn, each, filters, (low, high), (limit + 1, looked_max), upward=is_upward)
        for each in _walks(filters)
    ]
    joined = _joined(ways, upward=is_upward)
    more = len(joined.keys) > limit
    keys = joined.keys[:limit]
    # From the last shown one, or from where the search stopped.
    onward = keys[-1] if more else joined.reached
    messages = shown(conn, sorted(keys, reverse=True))
    looked_to = None if more or joined.reached is None else key_ms(joined.reached)
    if after is not None:
        return ListPage(messages, onward, keys[0] if keys else after + 1, looked_to)
    newer = None if before is None else (keys[0] if keys else before - 1)
    return ListPage(messages, newer, onward, looked_to)


def count_newer(conn: sqlite3.Connection, filters: MessageFilter, after: int, most: int) -> int:
    """How many messages are newer than a key; at most ``most``, and among those read."""
    low = after + 1 if filters.since is None else max(after + 1, filters.since << KEY_COUNTER_BITS)
    high = KEY_END if filters.until is None else filters.until << KEY_COUNTER_BITS
    bounds = (low, high)
    ways = [
        _walk(conn, each, filters, bounds, (most, LOOKED_MAX), upward=True)
        for each in _walks(filters)
    ]
    return min(sum(len(each.keys) for each in ways), most)


def _walk(
    conn: sqlite3.Connection,
    walk: _Walk,
    filters: MessageFilter,
    bounds: tuple[int, int],
    most: tuple[int, int],
    *,
    upward: bool,
) -> _Found:
    limit, looked_max = most
    order = "ASC" if upward else "DESC"
    way = (
        f"message INDEXED BY {walk.index}"
        f" WHERE {walk.where} AND key >= ? AND key < ? ORDER BY key {order} LIMIT ?"
    )
    across = Across((), None)
    if filters.contains is not None and filters.searches_texts:
        walked = (*walk.values, *bounds, looked_max)
        across = parts_across(conn, way, walked, filters.contains, upward=upward)
    if across.reached is not None:
        low, high = bounds
        bounds = (low, across.reached + 1) if upward else (across.reached, high)
    hit, of_hit = _hit(filters, across.keys)
    looked = f"WITH looked AS (SELECT key, {hit} AS hit FROM {way})"  # noqa: S608 -- constants
    values = (*of_hit, *walk.values, *bounds, looked_max)
    # The search ends with the last wanted row; each answer is one text, see `Rows.gather`.
    keys_text = value_of(
        conn,
        f"{looked} SELECT json_group_array(key)"  # noqa: S608 -- constants
        " FROM (SELECT key FROM looked WHERE hit LIMIT ?)",
        (*values, limit),
    )
    keys = sorted(json.loads(keys_text), reverse=not upward)
    if len(keys) == limit:
        return _Found(keys, None)
    # There are not as many: one statement returns both the rows and how far it searched, because
    # messages come in between two statements.
    keys_text, count, oldest, newest = conn.execute(
        f"{looked} SELECT json_group_array(key) FILTER (WHERE hit),"  # noqa: S608 -- constants
        " count(*), min(key), max(key) FROM looked",
        values,
    ).fetchone()
    keys = sorted(json.loads(keys_text), reverse=not upward)
    if len(keys) >= limit:
        return _Found(keys[:limit], None)
    is_broken_off = count == looked_max or across.reached is not None
    return _Found(keys, (newest if upward else oldest) if is_broken_off else None)


def _joined(ways: Sequence[_Found], *, upward: bool) -> _Found:
    """Several indexes as one, as far as all of them were searched."""
    if len(ways) == 1:
        return ways[0]
    broken = [each.reached for each in ways if each.reached is not None]
    keys = sorted((key for each in ways for key in each.keys), reverse=not upward)
    if not broken:
        return _Found(keys, None)
    reached = min(broken) if upward else max(broken)
    seen = [key for key in keys if (key <= reached if upward else key >= reached)]
    return _Found(seen, reached)


def shown(conn: sqlite3.Connection, keys: Sequence[int]) -> tuple[Listed, ...]:
    """The messages of some keys, in their order."""
    if not keys:
        return ()
    rows = _LISTED.gather(conn, f"message WHERE key IN ({markers(keys)})", keys)
    by_key = {each.key: each for each in rows}
    return tuple(by_key[key] for key in keys)
