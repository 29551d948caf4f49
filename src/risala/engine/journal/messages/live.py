"""What a reader missed, from the rows: events in their order, and the states of messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from risala.engine.journal.messages import timeline
from risala.engine.journal.state import CREATED, load
from risala.engine.model.commands import LifeEvent

# Each gives the latest rows first: a message's key and when something happened to it. Together they
# show every change except the return to the queue, which the next attempt shows.
_ACCEPTED: Final = f"SELECT key, {CREATED} FROM message ORDER BY key DESC LIMIT ?"  # noqa: S608 -- constants
_TOLD: Final = (
    "SELECT CASE typeof(subject) WHEN 'integer' THEN subject END, coalesce(at, key >> 15),"
    " CASE type WHEN 3 THEN (SELECT message_id FROM verifications WHERE id = subject) END"
    " FROM event ORDER BY key DESC LIMIT ?"
)
"""For messages the subject is a key; ``verify.sent`` is about a code's SMS."""
_REFUNDED: Final = (
    "SELECT CASE kind WHEN 1 THEN message END, coalesce(at, message >> 15)"
    " FROM entry ORDER BY seq DESC LIMIT ?"
)
_UNDER_WAY: Final = "SELECT key FROM message WHERE status = 1 LIMIT ?"


def standings(conn: sqlite3.Connection, message_ids: Iterable[str]) -> list[LifeEvent]:
    """The states of messages, each by the last entry of its timeline; unknown ids are left out."""
    found: list[LifeEvent] = []
    for message_id in message_ids:
        message = load(conn, message_id)
        if message is None:
            continue
        last = timeline.last_line(conn, message.key)
        found.append(
            LifeEvent(
                last.at,
                message.id,
                message.organization_id,
                message.recipient,
                message.status,
                last.line,
                last.carrier,
                last.attempt,
                last.segment,
                last.raw,
            )
        )
    return found


def changed_since(conn: sqlite3.Connection, since_ms: int, rows_max: int) -> list[str] | None:
    """Messages that may have changed since then; None if there are more rows than allowed."""
    keys: dict[int | None, None] = {}
    codes: list[str] = []
    for query in (_ACCEPTED, _TOLD, _REFUNDED):
        rows = conn.execute(query, (rows_max + 1,)).fetchall()
        if len(rows) > rows_max:
            _, oldest, *_ = rows[-1]
            if oldest >= since_ms:
                return None
        for key, at, *code in rows:
            if at >= since_ms:
                keys[key] = None
                codes += [message_id for message_id in code if message_id is not None]
    under_way = conn.execute(_UNDER_WAY, (rows_max + 1,)).fetchall()
    if len(under_way) > rows_max:
        return None
    keys |= dict.fromkeys(key for (key,) in under_way)
    found = dict.fromkeys(_id_of(conn, key) for key in keys if key is not None)
    return list(found | dict.fromkeys(codes))


def _id_of(conn: sqlite3.Connection, key: int) -> str:
    (message_id,) = conn.execute("SELECT id FROM message WHERE key = ?", (key,)).fetchone()
    return str(message_id)
