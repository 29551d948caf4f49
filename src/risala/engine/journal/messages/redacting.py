"""Takes texts and numbers out of messages, whose rows stay: the books depend on them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Final

from risala.engine.journal.keys import find_key
from risala.engine.journal.store.sql import value_of
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.features import features
from risala.engine.model.numbers import FORGOTTEN

TEXT_GONE: Final = 1
"""A bit of ``message.pruned``."""
OVER: Final = 2
"""Statuses from here on mean that a message has left, or ended (``model/numbers.py``)."""
NOT_OVER: Final = "NOT_OVER"


def redact(conn: sqlite3.Connection, keys: Collection[int]) -> None:
    """Delete the texts of these messages, and carriers' repetitions of them in receipts."""
    going = [(key,) for key in keys]
    conn.executemany(
        "UPDATE line SET raw = NULL, details = json_remove(details, '$.note')"
        " WHERE message = ? AND (raw IS NOT NULL OR details IS NOT NULL)",
        going,
    )
    conn.executemany(
        "UPDATE message SET body = '', sent_raw = NULL, receipt_raw = NULL,"  # noqa: S608 -- a constant
        f" pruned = pruned | {TEXT_GONE} WHERE key = ?",
        going,
    )


def empty(conn: sqlite3.Connection, keys: Collection[int]) -> None:
    """Erase all personal data of these messages."""
    redact(conn, keys)
    going = [(key,) for key in keys]
    conn.executemany("DELETE FROM hook_codes WHERE message = ?", going)
    for feature in features():
        if feature.emptied is not None:
            feature.emptied()(conn, keys)
    conn.executemany(
        f"UPDATE message SET metadata = NULL, recipient = '{FORGOTTEN}' WHERE key = ?",  # noqa: S608 -- a constant
        going,
    )


def erase(conn: sqlite3.Connection, message_id: str, *, text_only: bool) -> None:
    """Erase the text of one message; unless ``text_only``, its number and metadata too.

    Raises:
        NotFound: the id is unknown.
        Conflict: it has not left yet.
    """
    key = find_key(conn, message_id)
    if key is None:
        raise NotFound(f"There is no message {message_id}.")
    status: int = value_of(conn, "SELECT status FROM message WHERE key = ?", (key,))
    if status < OVER:
        text = "The message has not been sent yet. Its text is needed until it is sent or canceled."
        raise Conflict(text, NOT_OVER)
    (redact if text_only else empty)(conn, [key])
