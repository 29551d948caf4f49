"""Deletes old data: each function is one small unit of work for some old rows.

The ledger and the idempotency rows are kept for ever, and so is each row of ``message``: the books
depend on them. Of a message its text and its timeline are deleted. Nothing that is still under way
is deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.own_data.records import (
    EVENTS_LATE_WALK,
    EVENTS_WALK,
    RetentionDays,
)
from risala.engine.journal.messages.messages import TEXT_GONE, redact
from risala.engine.journal.state import CREATED
from risala.engine.journal.storage import has_nothing_of
from risala.engine.journal.store import meta
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.webhooks import event_cursors
from risala.engine.model.audit import Seen
from risala.engine.model.feature_work import Forgot, RetentionWalk, WalkKind
from risala.engine.model.features import features
from risala.engine.model.ids import first_id
from risala.engine.model.numbers import CANCELED, DELIVERED, FAILED, SENT, UNDELIVERED
from risala.engine.model.records.record import audit_image

TIMELINE_GONE: Final = 2
"""The bit of ``message.pruned`` beside ``TEXT_GONE``."""
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
    over, done = _next_messages(conn, walk, before_ms, limit, organization_id)
    going = [key for key, pruned in over if not pruned & TEXT_GONE]
    redact(conn, going)
    return Forgot(len(going), "", done)


def timelines(conn: sqlite3.Connection, walk: str, before_ms: int, limit: int) -> Forgot:
    """Delete the history of old messages: timeline and segments."""
    over, done = _next_messages(conn, walk, before_ms, limit)
    going = [(key,) for key, pruned in over if not pruned & TIMELINE_GONE]
    conn.executemany("DELETE FROM line WHERE message = ?", going)
    conn.executemany("DELETE FROM segment WHERE message = ?", going)
    conn.executemany(
        "UPDATE message SET accepted = NULL, told = NULL, attempt_at = NULL, sent_raw = NULL,"  # noqa: S608 -- constants
        " receipt_raw = NULL, part_state = NULL, uncertain_at = NULL,"
        " carrier_id = coalesce(carrier_id, carrier_key), carrier_key = NULL,"
        f" pruned = pruned | {TIMELINE_GONE} WHERE key = ?",
        going,
    )
    return Forgot(len(going), "", done)


def _next_messages(
    conn: sqlite3.Connection,
    walk: str,
    before_ms: int,
    limit: int,
    organization_id: str | None = None,
) -> tuple[list[tuple[int, int]], bool]:
    """The next old messages that are not under way, in the order of their acceptance: key, and what
    is already deleted; and whether they are the last ones. Stores its place.

    One that is still under way is skipped: a second walk comes :data:`LATE_MS` later.
    """
    key = f"retention.{walk}"
    whose, values = "", []
    if organization_id is not None:
        key = f"{key} {organization_id}"
        whose, values = f"organization = {_NO} AND ", [organization_id]
    rows = conn.execute(
        f"SELECT key, status, pruned, {CREATED} FROM message WHERE {whose}key > ?"  # noqa: S608 -- constants
        " ORDER BY key LIMIT ?",
        (*values, _int(meta.get(conn, key)), limit),
    )
    old = [(no, status, pruned) for no, status, pruned, at in rows if at < before_ms]
    if old:
        meta.put(conn, key, str(old[-1][0]))
    return [(no, pruned) for no, status, pruned in old if status in _OVER], len(old) < limit


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
    whose, values = "", []
    if organization_id is not None:
        whose, values = "organization_id = ? AND ", [organization_id]
    gone = conn.execute(
        "DELETE FROM inbound WHERE id IN"  # noqa: S608 -- constants
        f" (SELECT id FROM inbound WHERE {whose}id < ? ORDER BY id LIMIT ?)",
        (*values, before_id, limit),
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


# -- the days that owners chose


_DAYS_TABLE: Final = "kept_days"
_DAYS: Final = Rows(RetentionDays)


def days_of(conn: sqlite3.Connection, organization_id: str) -> RetentionDays:
    """The days that an organization's owner chose."""
    rows = _DAYS.find(table(conn, _DAYS_TABLE), "organization_id = ?", (organization_id,))
    return rows[0] if rows else RetentionDays()


def days_seen(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What the audit trail shows of the days that an owner chose."""
    return Seen(organization_id, audit_image(days_of(conn, organization_id)))


def chosen(conn: sqlite3.Connection) -> dict[str, RetentionDays]:
    """All organizations whose owners chose, and what."""
    rows = table(conn, _DAYS_TABLE).rows_where(order_by="organization_id")
    return {row["organization_id"]: _DAYS.named(row) for row in rows}


def choose(conn: sqlite3.Connection, organization_id: str, days: RetentionDays) -> RetentionDays:
    """Keep an organization's data for this long from now on; no change writes nothing."""
    old = days_of(conn, organization_id)
    if days == old:
        return old
    forget(conn, organization_id)
    if days != RetentionDays():
        writable(conn, _DAYS_TABLE).insert({"organization_id": organization_id, **asdict(days)})
    if days.events is not None and days.events != old.events:
        for walk in (EVENTS_WALK, EVENTS_LATE_WALK):
            look_again(conn, walk.format(days=days.events))
    return days


def forget(conn: sqlite3.Connection, organization_id: str) -> None:
    """Use the operator's days again."""
    writable(conn, _DAYS_TABLE).delete_where("organization_id = ?", (organization_id,))


# -- walks, and what others see of them


ROWS_AT_ONCE: Final = 100
"""Rows of one unit: some milliseconds of the writer."""
OLDEST: Final[Mapping[str, Callable[[sqlite3.Connection], int | None]]] = {
    "texts": partial(oldest_message, walk="texts"),
    "timelines": partial(oldest_message, walk="timelines"),
    "events": oldest_event,
    "inbound": oldest_inbound,
}
"""Functions that return when the core's oldest remaining row was accepted, or came, by the
operator's rules."""


def walk_on(conn: sqlite3.Connection, walk: RetentionWalk, now_ms: int, after: str) -> Forgot:
    """Do one small unit of a walk.

    Args:
        after: where the last unit stopped, of a walk whose place is not noted in the file.
    """
    before_ms, name, whose = now_ms - walk.age_ms, walk.name, walk.organizations
    one = whose[0] if whose else None
    match walk.kind:
        case WalkKind.TEXTS:
            return texts(conn, name, before_ms, ROWS_AT_ONCE, one)
        case WalkKind.TIMELINES:
            return timelines(conn, name, before_ms, ROWS_AT_ONCE)
        case WalkKind.EVENTS:
            return events(conn, after, before_ms, ROWS_AT_ONCE, now_ms)
        case WalkKind.CHOSEN_EVENTS:
            return chosen_events(conn, name, whose, before_ms, ROWS_AT_ONCE, now_ms)
        case WalkKind.INBOUND:
            before = first_id("mo", max(0, before_ms))
            return inbound(conn, before, ROWS_AT_ONCE, one)
        case WalkKind.CLEARED:
            return _clear(conn)
        case kind:
            feature = next(each for each in features() if kind in each.walks)
            if has_nothing_of(conn, feature):
                return Forgot(0, "", done=True)
            forgot: Forgot = feature.walks[kind]()(conn, walk, before_ms, ROWS_AT_ONCE)
            return forgot


def _clear(conn: sqlite3.Connection) -> Forgot:
    """Delete rows of what was deleted or is old."""
    for feature in features():
        if feature.cleared is not None and not has_nothing_of(conn, feature):
            cleared: Forgot = feature.cleared()(conn, ROWS_AT_ONCE, None)
            if not cleared.done:
                return cleared
    return Forgot(0, "", done=True)


@dataclass(frozen=True, slots=True)
class RetentionRepository:
    """Old rows, and the days that owners chose. All reads are on the loop's thread, by an index.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    days_of = read(days_of)
    chosen = read(chosen)

    def oldest(self, rule: str) -> int | None:
        """When the oldest row was made that one of the operator's rules has left."""
        read = OLDEST.get(rule)
        if read is None:
            read = next(each.oldest[rule] for each in features() if rule in each.oldest)()
        return read(self._store.reader)

    choose = audited_command(choose)
    forget = audited_command(walk_on)
