"""What is no longer kept: each function is one small unit of work that forgets some old rows.

Nothing here touches the ledger or the idempotency rows, which are kept for ever, nor a row of
``messages``: the books are held together by them. Of a message go its text and its timeline. Nor
does anything go that is still under way.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.store import meta
from risala.engine.journal.store.named import Rows
from risala.engine.model.states import Status

TEXT_GONE: Final = 1
TIMELINE_GONE: Final = 2
"""Bits of ``messages.pruned``."""
LATE_MS: Final = 40 * 86_400_000
"""When no message can be under way any more: 30 days ahead, 3 of validity, and room."""

_OVER: Final = frozenset(
    {Status.SENT, Status.DELIVERED, Status.UNDELIVERED, Status.FAILED, Status.CANCELED}
)


@dataclass(frozen=True, slots=True)
class Forgot:
    """What one unit did."""

    rows: int
    """Messages, events or inbound messages that it took something from."""
    after: str
    """Where the next unit goes on, where that is not noted in the file."""
    done: bool
    """Nothing that is old enough is left."""


def texts(conn: sqlite3.Connection, walk: str, before_ms: int, limit: int) -> Forgot:
    """Forget the texts of messages from before, and what carriers repeated of them in receipts."""
    found = _next_messages(conn, walk, before_ms, limit)
    going = [(message_id,) for message_id, pruned in found.over if not pruned & TEXT_GONE]
    conn.executemany(
        "UPDATE timeline SET raw = NULL, details = json_remove(details, '$.note')"
        " WHERE message_id = ? AND (raw IS NOT NULL OR details IS NOT NULL)",
        going,
    )
    conn.executemany(
        f"UPDATE messages SET body = '', pruned = pruned | {TEXT_GONE} WHERE id = ?",  # noqa: S608 -- a constant
        going,
    )
    return Forgot(len(going), "", found.done)


def timelines(conn: sqlite3.Connection, walk: str, before_ms: int, limit: int) -> Forgot:
    """Forget how messages from before came to where they are: timeline and segments."""
    found = _next_messages(conn, walk, before_ms, limit)
    going = [(message_id,) for message_id, pruned in found.over if not pruned & TIMELINE_GONE]
    conn.executemany("DELETE FROM timeline WHERE message_id = ?", going)
    conn.executemany("DELETE FROM segments WHERE message_id = ?", going)
    conn.executemany(
        f"UPDATE messages SET pruned = pruned | {TIMELINE_GONE} WHERE id = ?",  # noqa: S608 -- a constant
        going,
    )
    return Forgot(len(going), "", found.done)


@dataclass(frozen=True, slots=True)
class _Message:
    seq: int
    id: str
    status: str
    pruned: int
    created_at: int


_MESSAGES: Final = Rows(_Message)


@dataclass(frozen=True, slots=True)
class _Messages:
    over: list[tuple[str, int]]
    """Those of which nothing is under way: id, and what is gone of it."""
    done: bool


def _next_messages(conn: sqlite3.Connection, walk: str, before_ms: int, limit: int) -> _Messages:
    """The next messages from before, in the order of their acceptance; notes where it stands.

    One that is still under way is passed by: a second walk comes :data:`LATE_MS` later.
    """
    key = f"retention.{walk}"
    rows = [
        _MESSAGES.of(row)
        for row in conn.execute(
            f"SELECT {_MESSAGES.columns} FROM messages WHERE seq > ? ORDER BY seq LIMIT ?",  # noqa: S608 -- a constant
            (_int(meta.get(conn, key)), limit),
        )
    ]
    old = [row for row in rows if row.created_at < before_ms]
    if old:
        meta.put(conn, key, str(old[-1].seq))
    over = [(row.id, row.pruned) for row in old if row.status in _OVER]
    return _Messages(over, len(old) < limit)


def _int(text: str | None) -> int:
    return int(text or 0)


def events(conn: sqlite3.Connection, after: str, before_ms: int, limit: int) -> Forgot:
    """Forget events from before, and what is known of their deliveries, unless one is pending."""
    rows = conn.execute(
        "SELECT seq, id, created_at FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
        (_int(after), limit),
    ).fetchall()
    old = [(seq, event_id) for seq, event_id, created_at in rows if created_at < before_ms]
    gone = sum(_forget_event(conn, event_id) for _, event_id in old)
    last = str(old[-1][0]) if old else after
    return Forgot(gone, last, len(old) < limit)


def _forget_event(conn: sqlite3.Connection, event_id: str) -> bool:
    # The newest delivery stays: its number must not be given a second time, because whoever
    # delivers looks for what is newer than the last that it knows.
    kept = conn.execute(
        "SELECT 1 FROM webhook_deliveries WHERE event_id = ? AND (state = 'pending'"
        " OR seq = (SELECT max(seq) FROM webhook_deliveries)) LIMIT 1",
        (event_id,),
    ).fetchone()
    if kept is not None:
        return False
    conn.execute(
        "DELETE FROM webhook_attempts WHERE delivery IN"
        " (SELECT seq FROM webhook_deliveries WHERE event_id = ?)",
        (event_id,),
    )
    conn.execute("DELETE FROM webhook_deliveries WHERE event_id = ?", (event_id,))
    conn.execute("DELETE FROM events WHERE id = ?", (event_id,))
    return True


def inbound(conn: sqlite3.Connection, before_id: str, limit: int) -> Forgot:
    """Forget messages that came in and were stored before an id was given."""
    gone = conn.execute(
        "DELETE FROM inbound WHERE id IN (SELECT id FROM inbound WHERE id < ? ORDER BY id LIMIT ?)",
        (before_id, limit),
    ).rowcount
    return Forgot(gone, "", gone < limit)


def oldest_message(conn: sqlite3.Connection, walk: str) -> int | None:
    """When the first message was accepted that a walk has not come to."""
    row = conn.execute(
        "SELECT created_at FROM messages WHERE seq > ? ORDER BY seq LIMIT 1",
        (_int(meta.get(conn, f"retention.{walk}")),),
    ).fetchone()
    return None if row is None else row[0]


def oldest_event(conn: sqlite3.Connection) -> int | None:
    row = conn.execute("SELECT created_at FROM events ORDER BY seq LIMIT 1").fetchone()
    return None if row is None else row[0]


def oldest_inbound(conn: sqlite3.Connection) -> int | None:
    row = conn.execute("SELECT received_at FROM inbound ORDER BY id LIMIT 1").fetchone()
    return None if row is None else row[0]
