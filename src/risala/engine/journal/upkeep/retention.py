"""Deletes old data: each function is one small unit of work for some old rows.

The ledger and the idempotency rows are kept for ever, and so is each row of ``message``: the books
depend on them. Of a message its text and its timeline are deleted. Nothing that is still under way
is deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.state import CREATED
from risala.engine.journal.store import meta
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.webhooks import event_cursors
from risala.engine.model.numbers import CANCELED, DELIVERED, FAILED, SENT, UNDELIVERED
from risala.engine.model.records.upkeep.retention import Forgot

TEXT_GONE: Final = 1
TIMELINE_GONE: Final = 2
"""Bits of ``message.pruned``."""
LOOKED_AT: Final = 5
"""Events that one unit reads for each that it may delete: reading is that much quicker."""

_NO: Final = "(SELECT no FROM organizations WHERE id = ?)"
_OVER: Final = frozenset({SENT, DELIVERED, UNDELIVERED, FAILED, CANCELED})


def texts(
    conn: sqlite3.Connection,
    walk: str,
    before_ms: int,
    limit: int,
    organization_id: str | None = None,
) -> Forgot:
    """Delete the texts of old messages, and carriers' repetitions of them in receipts.

    Args:
        organization_id: whose messages; None: everybody's.
    """
    found = _next_messages(conn, walk, before_ms, limit, organization_id)
    going = [key for key, pruned in found.over if not pruned & TEXT_GONE]
    redact(conn, going)
    return Forgot(len(going), "", found.done)


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


def timelines(conn: sqlite3.Connection, walk: str, before_ms: int, limit: int) -> Forgot:
    """Delete the history of old messages: timeline and segments."""
    found = _next_messages(conn, walk, before_ms, limit)
    going = [(key,) for key, pruned in found.over if not pruned & TIMELINE_GONE]
    conn.executemany("DELETE FROM line WHERE message = ?", going)
    conn.executemany("DELETE FROM segment WHERE message = ?", going)
    conn.executemany(
        "UPDATE message SET accepted = NULL, told = NULL, attempt_at = NULL, sent_raw = NULL,"  # noqa: S608 -- constants
        " receipt_raw = NULL, part_state = NULL, uncertain_at = NULL,"
        " carrier_id = coalesce(carrier_id, carrier_key), carrier_key = NULL,"
        f" pruned = pruned | {TIMELINE_GONE} WHERE key = ?",
        going,
    )
    return Forgot(len(going), "", found.done)


@dataclass(frozen=True, slots=True)
class _Message:
    key: int
    status: int
    pruned: int
    created_at: int


_MESSAGES: Final = Rows(_Message, {"created_at": CREATED})


@dataclass(frozen=True, slots=True)
class _Messages:
    over: list[tuple[int, int]]
    """Messages that are not under way: key, and what is already deleted."""
    done: bool


def _next_messages(
    conn: sqlite3.Connection,
    walk: str,
    before_ms: int,
    limit: int,
    organization_id: str | None = None,
) -> _Messages:
    """The next old messages, in the order of their acceptance; stores its place.

    One that is still under way is skipped: a second walk comes :data:`LATE_MS` later.
    """
    key = f"retention.{walk}"
    whose, given = "", []
    if organization_id is not None:
        key = f"{key} {organization_id}"
        whose, given = f"organization = {_NO} AND ", [organization_id]
    rows = [
        _MESSAGES.of(row)
        for row in conn.execute(
            f"SELECT {_MESSAGES.columns} FROM message WHERE {whose}key > ? ORDER BY key LIMIT ?",  # noqa: S608 -- constants
            (*given, _int(meta.get(conn, key)), limit),
        )
    ]
    old = [row for row in rows if row.created_at < before_ms]
    if old:
        meta.put(conn, key, str(old[-1].key))
    over = [(row.key, row.pruned) for row in old if row.status in _OVER]
    return _Messages(over, len(old) < limit)


def _int(text: str | None) -> int:
    return int(text or 0)


def events(conn: sqlite3.Connection, after: str, before_ms: int, limit: int, now_ms: int) -> Forgot:
    """Delete old events, and the data of their deliveries, unless one is pending."""
    rows = conn.execute(
        "SELECT key, coalesce(at, key >> 15) FROM event WHERE key > ? ORDER BY key LIMIT ?",
        (_int(after), limit),
    ).fetchall()
    old = [key for key, at in rows if at < before_ms]
    gone = sum(_forget_event(conn, key, now_ms) for key in old)
    last = str(old[-1]) if old else after
    return Forgot(gone, last, len(old) < limit)


def chosen_events(
    conn: sqlite3.Connection,
    walk: str,
    organizations: Collection[str],
    before_ms: int,
    limit: int,
    now_ms: int,
) -> Forgot:
    """:func:`events` of organizations that keep theirs for a shorter time.

    Events of all are mixed, by time: each is read once, and the place is stored. One with a pending
    delivery is skipped: a second walk comes later.
    """
    key = f"retention.{walk}"
    whose = {
        value_of(conn, "SELECT no FROM organizations WHERE id = ?", (each,))
        for each in organizations
    }
    rows = conn.execute(
        "SELECT key, coalesce(at, key >> 15), organization FROM event WHERE key > ?"
        " ORDER BY key LIMIT ?",
        (_int(meta.get(conn, key)), limit * LOOKED_AT),
    ).fetchall()
    old = [(event, no) for event, at, no in rows if at < before_ms]
    gone, last = 0, None
    for event, no in old:
        if gone >= limit:
            return _noted(conn, key, last, Forgot(gone, "", done=False))
        last = event
        if no in whose:
            gone += _forget_event(conn, event, now_ms)
    done = Forgot(gone, "", len(old) < limit * LOOKED_AT)
    return _noted(conn, key, last, done)


def _noted(conn: sqlite3.Connection, key: str, last: int | None, done: Forgot) -> Forgot:
    if last is not None:
        meta.put(conn, key, str(last))
    return done


def look_again(conn: sqlite3.Connection, walk: str) -> None:
    """Restart a walk, because an organization was added to it."""
    meta.remove(conn, f"retention.{walk}")


def _forget_event(conn: sqlite3.Connection, key: int, now_ms: int) -> bool:
    # The newest delivery stays: its number must not be given again, because the deliverer looks for
    # numbers above the last one it knows.
    kept = conn.execute(
        "SELECT 1 FROM webhook_delivery WHERE event = ? AND (state = 'pending'"
        " OR seq = (SELECT max(seq) FROM webhook_delivery)) LIMIT 1",
        (key,),
    ).fetchone()
    if kept is not None:
        return False
    conn.execute(
        "DELETE FROM webhook_attempts WHERE delivery IN"
        " (SELECT seq FROM webhook_delivery WHERE event = ?)",
        (key,),
    )
    conn.execute("DELETE FROM webhook_delivery WHERE event = ?", (key,))
    event_cursors.missed(conn, key, now_ms)
    conn.execute("DELETE FROM event WHERE key = ?", (key,))
    return True


def inbound(
    conn: sqlite3.Connection, before_id: str, limit: int, organization_id: str | None = None
) -> Forgot:
    """Delete incoming messages that were stored before an id was given.

    Args:
        organization_id: whose they are; None: anybody's.
    """
    whose, given = "", []
    if organization_id is not None:
        whose, given = "organization_id = ? AND ", [organization_id]
    gone = conn.execute(
        "DELETE FROM inbound WHERE id IN"  # noqa: S608 -- constants
        f" (SELECT id FROM inbound WHERE {whose}id < ? ORDER BY id LIMIT ?)",
        (*given, before_id, limit),
    ).rowcount
    return Forgot(gone, "", gone < limit)


def oldest_message(conn: sqlite3.Connection, walk: str) -> int | None:
    """When the first message was accepted that a walk has not reached."""
    after = _int(meta.get(conn, f"retention.{walk}"))
    at: int | None = value_of(
        conn,
        f"SELECT {CREATED} FROM message WHERE key > ? ORDER BY key LIMIT 1",  # noqa: S608 -- constants
        (after,),
    )
    return at


def oldest_event(conn: sqlite3.Connection) -> int | None:
    at: int | None = value_of(
        conn, "SELECT coalesce(at, key >> 15) FROM event ORDER BY key LIMIT 1"
    )
    return at


def oldest_inbound(conn: sqlite3.Connection) -> int | None:
    at: int | None = value_of(conn, "SELECT received_at FROM inbound ORDER BY id LIMIT 1")
    return at
