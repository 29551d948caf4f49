"""Channels as they are stored: those that organizations opened, sessions with several deliveries,
and these deliveries.

A delivery's message tells what becomes of it. Nothing is written here when that changes: what is
due is read from both.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import field
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.channels.records import NAME, ChannelUse
from risala.engine.features.channels.rules import following
from risala.engine.journal.messages import acceptance, endings, sessions
from risala.engine.journal.messages.verifications import check_limits, count_code
from risala.engine.journal.state import load
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict
from risala.engine.model.numbers import STATUSES
from risala.engine.model.records.messages import Acceptance, Change, NewCode, Stamp, StoreBeside
from risala.engine.model.records.record import shallow
from risala.engine.model.records.verify.sessions import SessionDelivery
from risala.engine.model.states import SessionState, Status
from risala.engine.rules.verification import Trigger, VerificationRow

REFUSED: Final = "refused"
"""The status of a delivery that did not leave."""
_USES: Final = "channel_uses"
_SESSIONS: Final = "channel_sessions"
_DELIVERIES: Final = "channel_deliveries"
_OVER: Final = tuple(
    STATUSES.number(each) for each in (Status.UNDELIVERED, Status.FAILED, Status.CANCELED)
)


SHIFTS: Final = ("UPDATE channel_sessions SET next_at = next_at - :by WHERE next_at > :now",)
"""Move the times of waits back with the clock."""


@dataclass(frozen=True, slots=True)
class ChannelSession:
    """A session whose code may come by several channels."""

    verification_id: str
    organization_id: str
    channels: str
    """The channels' names in order, with commas between."""
    key_type: str
    locale: str | None
    text: str | None = field(repr=False)
    """The SMS, complete except for the code; None: the session is over."""
    fallback_ms: int
    deliveries: int
    """How many there were, those included that did not leave."""
    message_id: str | None
    """The message of the last one; None: it did not leave."""
    next_at: int | None
    """When the next one begins by itself (UTC epoch milliseconds); None: never."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.channels.split(","))


_USE_ROWS: Final = Rows.of_record(ChannelUse)
_ROWS: Final = Rows(ChannelSession)


# -- what organizations opened


def use_of(conn: sqlite3.Connection, organization_id: str) -> ChannelUse:
    """The channels that an organization opened; SMS alone where it opened none."""
    rows = _USE_ROWS.find(table(conn, _USES), "organization_id = ?", (organization_id,))
    return rows[0] if rows else ChannelUse(organization_id)


def put_use(conn: sqlite3.Connection, use: ChannelUse) -> ChannelUse:
    """Store the channels of an organization in place of those that it had opened."""
    writable(conn, _USES).upsert(columns_of(shallow(use)))
    return use


# -- sessions


def find(conn: sqlite3.Connection, verification_id: str) -> ChannelSession | None:
    """A session with channels; None: it has none."""
    rows = _ROWS.find(table(conn, _SESSIONS), "verification_id = ?", (verification_id,))
    return rows[0] if rows else None


def deliveries_of(conn: sqlite3.Connection, verification_id: str) -> list[SessionDelivery]:
    """The deliveries of a session, the first one first."""
    rows = conn.execute(
        "SELECT d.channel, d.at, m.id, m.status FROM channel_deliveries d"
        " LEFT JOIN message m ON m.key = d.message WHERE d.verification_id = ? ORDER BY d.n",
        (verification_id,),
    )
    return [
        SessionDelivery(
            channel, REFUSED if status is None else STATUSES.word(status), at, message_id
        )
        for channel, at, message_id, status in rows
    ]


def messages_of(conn: sqlite3.Connection, verification_id: str) -> list[str]:
    """The messages with a session's code."""
    there = deliveries_of(conn, verification_id)
    return [each.message_id for each in there if each.message_id is not None]


def goes_on(conn: sqlite3.Connection, row: VerificationRow, message_id: str, now_ms: int) -> bool:
    """Whether a session goes on though a message with its code failed: another one is there, or
    comes."""
    session = find(conn, row.id)
    if session is None:
        return False
    there = deliveries_of(conn, row.id)
    lost = (Status.FAILED.value, Status.CANCELED.value, REFUSED)
    others = [each for each in there if each.message_id != message_id]
    if any(each.status not in lost for each in others):
        return True
    return session.next_at is not None and now_ms < row.expires_at


def begin(conn: sqlite3.Connection, session: ChannelSession, first: str, at: int) -> None:
    """Store a session with the channel of its first delivery, in the transaction that opens it."""
    row = sessions.find(conn, session.verification_id)
    assert row is not None
    message = load(conn, row.message_id)
    assert message is not None
    columns = {name: getattr(session, name) for name in ChannelSession.__slots__}
    writable(conn, _SESSIONS).insert({**columns, "message_id": message.id})
    _put_delivery(conn, session.verification_id, 1, first, message.key, at)


def _put_delivery(
    conn: sqlite3.Connection,
    verification_id: str,
    n: int,
    channel: str,
    message: int | None,
    at: int,
) -> None:
    conn.execute(
        "INSERT INTO channel_deliveries (verification_id, n, channel, message, at)"
        " VALUES (?, ?, ?, ?, ?)",
        (verification_id, n, channel, message, at),
    )


def end(conn: sqlite3.Connection, verification_id: str) -> None:
    """A session is over: no delivery begins any more, and no text is needed."""
    conn.execute(
        "UPDATE channel_sessions SET next_at = NULL, text = NULL WHERE verification_id = ?",
        (verification_id,),
    )


# -- the next delivery


def due(conn: sqlite3.Connection, now_ms: int, limit: int) -> list[str]:
    """Sessions whose next delivery begins now: its time has come, or the last one is lost."""
    rows = conn.execute(
        "SELECT s.verification_id FROM channel_sessions s"  # noqa: S608 -- constants
        " LEFT JOIN channel_deliveries d ON d.verification_id = s.verification_id"
        " AND d.n = s.deliveries LEFT JOIN message m ON m.key = d.message"
        " WHERE s.next_at IS NOT NULL AND (s.next_at <= ? OR m.status IN"
        f" ({', '.join(map(str, _OVER))})) ORDER BY s.next_at LIMIT ?",
        (now_ms, limit),
    )
    return [verification_id for (verification_id,) in rows]


def next_at(conn: sqlite3.Connection) -> int | None:
    """When the next delivery begins by itself (UTC epoch milliseconds); None: none will."""
    at: int | None = value_of(
        conn,
        "SELECT next_at FROM channel_sessions WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1",
    )
    return at


class DeliveryOvertaken(Conflict):
    """One more delivery of the session came first, or the session is over. Nothing is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery(NewCode):
    """A further delivery of a session's code."""

    session: ChannelSession
    """As it was read."""
    channel: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """A further delivery that was accepted."""

    accepted: Acceptance
    changes: tuple[Change, ...]
    """Changes of the message before, which was withdrawn because it had not left."""


def _checked(conn: sqlite3.Connection, session: ChannelSession, now_ms: int) -> VerificationRow:
    """The pending session's row.

    Raises:
        DeliveryOvertaken: it is over, or has had another delivery since it was read.
    """
    row = sessions.find(conn, session.verification_id)
    now = find(conn, session.verification_id)
    is_new = now is None and session.deliveries == 1
    if row is None or row.status is not SessionState.PENDING or row.expires_at <= now_ms:
        raise DeliveryOvertaken("The verification is over.")
    if not is_new and (now is None or now.deliveries != session.deliveries):
        raise DeliveryOvertaken("Another delivery of this code has begun meanwhile.")
    return row


def deliver(conn: sqlite3.Connection, new: NewDelivery, stamp: Stamp | None) -> Delivered:
    """Accept the message of the next delivery, with its charge and its place in the hours, or
    nothing.

    Raises:
        DeliveryOvertaken: the session is over, or another delivery came first.
        RateLimited: an hour limit.
        InsufficientBalance, Forbidden: as for any message.
    """
    session, message = new.session, new.message
    at = message.created_at
    row = _checked(conn, session, at)
    check_limits(conn, new)
    accepted = acceptance.accept_one(conn, message, stamp)
    if message.mode == "live":
        count_code(conn, message, None)
    _ensure(conn, session, row)
    _put_delivery(
        conn, session.verification_id, session.deliveries + 1, new.channel, message.key, at
    )
    _note(conn, session, message.id, _next_at(conn, session, at))
    changes: tuple[Change, ...] = ()
    if session.message_id is not None:  # what has not left yet would only be paid twice
        before = load(conn, session.message_id)
        changes = endings.withdraw_code(conn, before, "next_channel", Stamp(at))
    return Delivered(accepted, changes)


def _ensure(conn: sqlite3.Connection, session: ChannelSession, row: VerificationRow) -> None:
    """Make a session with one delivery into one with channels."""
    if find(conn, session.verification_id) is not None:
        return
    begin(conn, session, session.names[0], row.created_at)
    conn.execute(
        "UPDATE verifications SET features = trim(coalesce(features, '') || ' ' || ?) WHERE id = ?",
        (NAME, row.id),
    )


def _tried(conn: sqlite3.Connection, verification_id: str) -> set[str]:
    return {each.channel for each in deliveries_of(conn, verification_id)}


def _next_at(conn: sqlite3.Connection, session: ChannelSession, at: int) -> int | None:
    comes = following(session.names, _tried(conn, session.verification_id))
    return None if comes is None else at + session.fallback_ms


def _note(
    conn: sqlite3.Connection, session: ChannelSession, message_id: str | None, comes_at: int | None
) -> None:
    conn.execute(
        "UPDATE channel_sessions SET deliveries = ?, message_id = ?, next_at = ?"
        " WHERE verification_id = ?",
        (session.deliveries + 1, message_id, comes_at, session.verification_id),
    )


def pass_over(
    conn: sqlite3.Connection, session: ChannelSession, channel: str, stamp: Stamp, is_last: bool
) -> tuple[Change, ...]:
    """A delivery does not leave; the next one begins at once. If there is none and no other one is
    there, the session ends.

    Args:
        is_last: no other channel will do better, as with the hour's codes used up.
    """
    try:
        row = _checked(conn, session, stamp.now_ms)
    except DeliveryOvertaken:
        return ()
    _put_delivery(
        conn, session.verification_id, session.deliveries + 1, channel, None, stamp.now_ms
    )
    comes = following(session.names, _tried(conn, session.verification_id))
    comes_at = None if is_last or comes is None else stamp.now_ms
    _note(conn, session, None, comes_at)
    if comes_at is None and not goes_on(conn, row, "", stamp.now_ms):
        sessions.shift(conn, row, Trigger.DELIVERY_FAILED, stamp)
    return ()


def stay(conn: sqlite3.Connection, session: ChannelSession) -> None:
    """No further delivery begins by itself: the code is delivered, or each channel was tried."""
    conn.execute(
        "UPDATE channel_sessions SET next_at = NULL WHERE verification_id = ? AND deliveries = ?",
        (session.verification_id, session.deliveries),
    )


# -- what goes


def erase(conn: sqlite3.Connection, messages: Collection[int]) -> None:
    """Delete deliveries of messages, by their keys, and sessions that have none left."""
    going = json.dumps([*messages])
    named = "SELECT value FROM json_each(?)"
    rows = conn.execute(
        f"SELECT DISTINCT verification_id FROM channel_deliveries WHERE message IN ({named})",  # noqa: S608 -- a constant
        (going,),
    ).fetchall()
    writable(conn, _DELIVERIES).delete_where(f"message IN ({named})", (going,))
    for (verification_id,) in rows:
        conn.execute(
            "DELETE FROM channel_sessions WHERE verification_id = ? AND NOT EXISTS"
            " (SELECT 1 FROM channel_deliveries WHERE verification_id = ?"
            "  AND message IS NOT NULL)",
            (verification_id, verification_id),
        )
        conn.execute(
            "DELETE FROM channel_deliveries WHERE verification_id = ? AND NOT EXISTS"
            " (SELECT 1 FROM channel_sessions WHERE verification_id = ?)",
            (verification_id, verification_id),
        )


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class ChannelRepository:
    """Channels of organizations and of sessions. All reads are by an index, on the loop's
    thread."""

    _store: Store

    use_of = read(use_of)
    find = read(find)
    deliveries_of = read(deliveries_of)
    due = read(due)
    next_at = read(next_at)

    put_use = audited_command(put_use)
    pass_over = command(pass_over)
    stay = command(stay)

    def beginning(self, session: ChannelSession, first: str, at: int) -> StoreBeside:
        """:func:`begin`, for the transaction that opens the session."""
        return partial(begin, session=session, first=first, at=at)

    async def deliver(self, new: NewDelivery, stamp: Stamp | None) -> Delivered:
        """:func:`deliver`, on disk when it returns. A cancellation waits for it."""
        return await self._store.journal.commit_shielded(lambda conn: deliver(conn, new, stamp))
