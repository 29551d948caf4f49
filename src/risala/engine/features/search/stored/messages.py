"""Finds messages: by a number or a part of one, an id or its end, an idempotency key, the carrier's
id or word, a cause, and words of the text.

An organization's are read by the indexes of its lists. Numbers and ids of any age are found; words,
and ends of ids, among the newest, as many as a page of the list reads.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Final

from risala.engine.journal.pages import find as finding
from risala.engine.journal.pages import lists
from risala.engine.journal.state import find_key
from risala.engine.journal.store.sql import value_of
from risala.engine.model.ids import key_of
from risala.engine.model.numbers import MODES
from risala.engine.model.records.asks import NumberPart
from risala.engine.model.records.message_lists import (
    FoundMessage,
    Listed,
    MessageFilter,
    Sought,
)
from risala.engine.model.records.search import SearchHit, SearchWords

KIND: Final = "message"
_FAILED: Final = ("failed", "undelivered")
"""States whose messages have a cause, and the carrier's own word."""
WORDS_MIN: Final = 2
"""Characters of a text from which words are looked for."""
NUMBERS_MAX: Final = 200
"""Numbers with the digits whose messages are looked up: a few milliseconds."""
_FILLED: Final = """
WITH ranges (low, high) AS (
  SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)
)
SELECT low, high FROM ranges WHERE EXISTS (
  SELECT 1 FROM message INDEXED BY message_by_recipient WHERE recipient BETWEEN low AND high
) LIMIT ?
"""
_NEXT: Final = """
SELECT recipient FROM message INDEXED BY message_by_recipient
WHERE recipient BETWEEN ? AND ? ORDER BY recipient LIMIT 1
"""
_NEWEST: Final = """
SELECT key FROM message INDEXED BY message_by_recipient
WHERE recipient = ? AND organization = ? ORDER BY key DESC LIMIT ?
"""


def find_messages(conn: sqlite3.Connection, words: SearchWords) -> list[SearchHit]:
    """The newest messages that fit: an organization's, or those of all by what is no text."""
    if words.organization_id is None:
        return [_found(each) for each in _everywhere(conn, words)]
    keys = _keys(conn, words, words.organization_id)
    known = {each.key: each for each in lists.shown(conn, sorted(keys)[-words.most - 1 :])}
    if len(known) < words.most and "_" not in words.id_end:
        known |= {each.key: each for each in _with_words(conn, words, words.organization_id)}
    return [
        _found(known[key])
        for key in sorted(known, reverse=True)
        if not words.of_mode or known[key].mode == words.mode
    ]


def _keys(conn: sqlite3.Connection, words: SearchWords, organization_id: str) -> set[int]:
    """The keys of messages that an index leads to."""
    statement = "SELECT no FROM organizations WHERE id = ?"
    organization = value_of(conn, statement, (organization_id,))
    keys: set[int | None] = {_of_id(conn, words.id_end, organization)}
    keys.add(
        value_of(
            conn,
            "SELECT key FROM message WHERE organization = ? AND mode = ? AND client_key = ?",
            (organization, MODES.number(words.mode), words.text),
        )
    )
    sought = Sought(carrier_id=words.text)
    of_carrier = finding.page(conn, sought, limit=words.most).messages
    keys |= {each.key for each in of_carrier if each.organization_id == organization_id}
    if words.part is not None:
        for number in _numbers(conn, words.part):
            values = (number, organization, words.most + 1)
            keys |= {key for (key,) in conn.execute(_NEWEST, values)}
    return {key for key in keys if key is not None}


def _numbers(conn: sqlite3.Connection, part: NumberPart) -> set[int]:
    """The numbers with these digits to which messages went, those that end with them first; no more
    than are looked up."""
    numbers: set[int] = set()
    # Ranges for the places of digits come from the first place to the last.
    ranges = json.dumps(part.ranges[::-1])
    for low, high in conn.execute(_FILLED, (ranges, NUMBERS_MAX)).fetchall():
        number = value_of(conn, _NEXT, (low, high))
        while number is not None and len(numbers) < NUMBERS_MAX:
            numbers.add(number)
            number = value_of(conn, _NEXT, (number + 1, high))
    return numbers


def _of_id(conn: sqlite3.Connection, identity: str, organization: int) -> int | None:
    """The message with a whole id, or of the event with one."""
    if identity.startswith("sms_"):
        key = find_key(conn, identity)
    elif identity.startswith("evt_"):
        statement = "SELECT subject FROM event WHERE key = ?"
        subject = value_of(conn, statement, (key_of(identity),))
        key = subject if isinstance(subject, int) else None
    else:
        return None
    whose = value_of(conn, "SELECT organization FROM message WHERE key = ?", (key,))
    return key if whose == organization else None


def _with_words(
    conn: sqlite3.Connection, words: SearchWords, organization_id: str
) -> Iterable[Listed]:
    """The newest with the words; of those that failed, others are not read before them."""
    if len(words.text) < WORDS_MIN:
        return ()
    by_id: dict[str, Listed] = {}
    for status in (None, *_FAILED):
        filters = MessageFilter(organization_id, words.mode, status=status, contains=words.text)
        page = lists.page(conn, filters, limit=words.most + 1)
        by_id |= {each.id: each for each in page.messages}
    return by_id.values()


def _everywhere(conn: sqlite3.Connection, words: SearchWords) -> Iterable[FoundMessage]:
    if words.id_end.startswith("sms_"):
        sought = Sought(message_id=words.id_end)
    else:
        ranges = None if words.part is None else words.part.ranges
        sought = Sought(ranges=ranges, carrier_id=words.text)
    return finding.page(conn, sought, limit=words.most + 1).messages


def _found(message: Listed | FoundMessage) -> SearchHit:
    own = message if isinstance(message, Listed) else None
    text = None if own is None else own.body
    return SearchHit(
        kind=KIND,
        id=message.id,
        title=message.to,
        at=message.created_at,
        page=f"messages/{message.id}",
        mode=message.mode,
        state="uncertain" if message.uncertain else message.status,
        note=message.carrier_code or text,
        organization=message.organization_name if isinstance(message, FoundMessage) else None,
    )
