"""The ends of messages: sent and beyond by their segments, or failed and refunded."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal import session_messages
from risala.engine.journal.accounts import ledger
from risala.engine.journal.messages import parts, sessions, timeline
from risala.engine.journal.messages.sheet import move
from risala.engine.journal.messages.timeline import DELIVERED
from risala.engine.journal.state import MessageState, change_of, load
from risala.engine.journal.store import names
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.webhooks import outbox
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.lines import SENT, SENT_NAMELESS, Kind, Line, Values, note
from risala.engine.model.records.accounts import Entered
from risala.engine.model.records.attempts import Declining
from risala.engine.model.records.messages import Change, Stamp
from risala.engine.model.states import ACKNOWLEDGED, SegmentState, Status
from risala.engine.rules.verification import Trigger
from risala.sms.cause import Cause, cause_of

NOT_CANCELABLE: Final = "NOT_CANCELABLE"


def settle(
    conn: sqlite3.Connection,
    message: MessageState,
    stamp: Stamp,
    raw: str | None = None,
    sent: Line = SENT,
    receipt_raw: str | None = None,
) -> tuple[Change, ...]:
    """Set a message's status from its segments: ``sent``, and beyond by its receipts.

    Args:
        raw: the carrier's code that made it sent.
        sent: the timeline's line for that.
        receipt_raw: the code of the last receipt.
    """
    begun = parts.of(conn, message)
    states, are_all = parts.states_of(begun, message.segments)
    changes: list[Change] = []
    all_in = are_all and all(state in ACKNOWLEDGED for state in states)
    if message.status is Status.PROCESSING and all_in:
        awaiting = [part for part in begun if part.state is SegmentState.ACCEPTED]
        if sent is SENT and any(part.carrier_id == "" for part in awaiting):
            sent = SENT_NAMELESS
        changes.append(_move(conn, message, Status.SENT, sent, stamp, raw))
    if message.status is Status.SENT:
        if SegmentState.UNDELIVERED in states:
            word, code = conn.execute(
                "SELECT error_code, carrier_code FROM message WHERE key = ?", (message.key,)
            ).fetchone()
            line = Line(Kind.UNDELIVERED, cause_of(word, Cause.UNDELIVERABLE))
            changes.append(_move(conn, message, Status.UNDELIVERED, line, stamp, code))
        elif all(state == SegmentState.DELIVERED for state in states):
            changes.append(_move(conn, message, Status.DELIVERED, DELIVERED, stamp, receipt_raw))
    return tuple(changes)


def _move(
    conn: sqlite3.Connection,
    message: MessageState,
    status: Status,
    line: Line,
    stamp: Stamp,
    raw: str | None,
    entered: Entered | None = None,
) -> Change:
    move(conn, message, status, stamp.now_ms)
    sessions.forget_sealed(conn, message)
    entry = TimelineEntry(
        stamp.now_ms, status, line, message.carrier, message.attempts or None, raw=raw
    )
    timeline.append(conn, message.key, entry)
    outbox.message_event(conn, message, stamp)
    return change_of(message, stamp.now_ms, line, raw, entered)


def fail(
    conn: sqlite3.Connection,
    message: MessageState,
    cause: Cause,
    stamp: Stamp,
    raw: str | None = None,
    values: Values | None = None,
) -> tuple[Change, ...]:
    """End an unsent message: ``failed``, refunded in full, with one event.

    ``raw`` is the carrier's code for it, ``values`` are those of :attr:`Kind.FAILED`.
    """
    if message.status not in (Status.PENDING, Status.PROCESSING):
        return ()
    conn.execute(
        "UPDATE message SET error_code = ?, carrier_code = ? WHERE key = ?",
        (cause, raw or None, message.key),
    )
    refunded = _refund(conn, message, stamp)
    line = Line(Kind.FAILED, cause, {**(values or {}), **refunded.values})
    change = _move(conn, message, Status.FAILED, line, stamp, raw, refunded.entered)
    if message.verification_id is not None:
        _end_session(conn, message, message.verification_id, stamp)
    return (change,)


@dataclass(frozen=True, slots=True)
class _Refunded:
    values: Values
    """The refund, for the timeline's line."""
    entered: Entered | None


def _refund(conn: sqlite3.Connection, message: MessageState, stamp: Stamp) -> _Refunded:
    """Refund its price, if it was charged: test messages cost nothing, and nobody pays where the
    service's owner sends for themselves."""
    if not ledger.is_charged(conn, message.key):
        return _Refunded({}, None)
    entered = ledger.refund(conn, message.organization_id, message.price, message.key, stamp.now_ms)
    return _Refunded({"refunded": message.price}, entered)


def _end_session(
    conn: sqlite3.Connection, message: MessageState, verification_id: str, stamp: Stamp
) -> None:
    """The session of a code that could not be sent ends with it, unless the code comes in another
    message too."""
    row = sessions.find(conn, verification_id)
    assert row is not None
    over = stamp.now_ms >= row.expires_at
    if not over and session_messages.goes_on(conn, row, message, stamp.now_ms):
        return
    sessions.shift(conn, row, Trigger.TIME_OVER if over else Trigger.DELIVERY_FAILED, stamp)


def code_is_wanted(conn: sqlite3.Connection, message: MessageState, now_ms: int) -> bool:
    """False for a code whose session has ended: it is not sent, nor sent again."""
    if message.verification_id is None:
        return True
    row = conn.execute(
        "SELECT 1 FROM verifications WHERE id = ? AND status = 'pending' AND expires_at > ?",
        (message.verification_id, now_ms),
    ).fetchone()
    return row is not None


def withdraw_code(
    conn: sqlite3.Connection, message: MessageState | None, session: str, stamp: Stamp
) -> tuple[Change, ...]:
    """Drop and refund a code SMS that waits in the queue; ``session`` is how its session ended."""
    if message is None or message.status is not Status.PENDING:
        return ()
    return (_cancel(conn, message, {"session": session}, stamp),)


def prove_delivery(
    conn: sqlite3.Connection, message: MessageState | None, stamp: Stamp
) -> tuple[Change, ...]:
    """The code in a message was entered, which is only possible after its delivery.

    A message that is sent or uncertain becomes delivered. An ended one stays as it is, and its
    timeline gets the news.
    """
    if message is None or message.status in (Status.PENDING, Status.DELIVERED, Status.CANCELED):
        return ()
    entry = TimelineEntry(
        stamp.now_ms, message.status, Line(Kind.CODE_ENTERED), message.carrier, message.attempts
    )
    timeline.append(conn, message.key, entry)
    is_open = message.status in (Status.PROCESSING, Status.SENT)
    if not is_open or not parts.proven(conn, message, stamp.now_ms):
        return ()
    return settle(conn, message, stamp)


def has_arrived(conn: sqlite3.Connection, message: MessageState, now_ms: int) -> bool:
    """Whether the code in a message was entered while its submit was open, and all of the message
    has left: its parts are then delivered. False: nothing is written."""
    return code_was_entered(conn, message) and parts.proven(conn, message, now_ms)


def code_was_entered(conn: sqlite3.Connection, message: MessageState) -> bool:
    """Whether the code in a message was entered; False for a message without a code."""
    if message.verification_id is None:
        return False
    row = conn.execute(
        "SELECT 1 FROM verifications WHERE id = ? AND message_id = ? AND status = 'approved'",
        (message.verification_id, message.id),
    ).fetchone()
    return row is not None


def _cancel(conn: sqlite3.Connection, message: MessageState, why: Values, stamp: Stamp) -> Change:
    refunded = _refund(conn, message, stamp)
    line = Line(Kind.CANCELED, values={**why, **refunded.values})
    return _move(conn, message, Status.CANCELED, line, stamp, None, refunded.entered)


def cancel(conn: sqlite3.Connection, message_id: str, stamp: Stamp) -> tuple[Change, ...]:
    """Withdraw a message that has not left: ``canceled``, refunded.

    Raises:
        NotFound: the id is unknown.
        Conflict: it has left, in whole or in part, or it has ended.
    """
    message = load(conn, message_id)
    if message is None:
        raise NotFound(f"There is no message {message_id}.")
    if message.status is not Status.PENDING:
        raise Conflict(
            f"The message is {message.status.value}. Only a pending message can be withdrawn.",
            NOT_CANCELABLE,
        )
    if parts.any_acknowledged(conn, message):
        text = "The carrier already has some parts of the message."
        raise Conflict(text, NOT_CANCELABLE)
    return (_cancel(conn, message, {}, stamp),)


# A message that a carrier would not take now continues to wait; no attempt was made.


def decline(conn: sqlite3.Connection, declining: Declining, stamp: Stamp) -> tuple[Change, ...]:
    """Set another due time or route. The timeline gets only the wait and its reason, once."""
    message = load(conn, declining.message_id)
    if message is None or message.status is not Status.PENDING:
        return ()
    if not code_is_wanted(conn, message, stamp.now_ms):
        return withdraw_code(conn, message, "ended", stamp)
    message.due_at = declining.due_at
    message.route = declining.route or message.route
    conn.execute(
        "UPDATE message SET due_at = ?, route = ?, updated_at = ? WHERE key = ?",
        (message.due_at, names.number(conn, message.route), stamp.now_ms, message.key),
    )
    line = Line(Kind.HELD_BACK, Cause.QUOTA_USED, note(declining.reason))
    if declining.route is None and not _has_event(conn, message.key, declining.carrier, line):
        entry = TimelineEntry(stamp.now_ms, Status.PENDING, line, declining.carrier)
        timeline.append(conn, message.key, entry)
    return (change_of(message, stamp.now_ms, line),)


def _has_event(conn: sqlite3.Connection, key: int, carrier: str, line: Line) -> bool:
    last = conn.execute(
        f"SELECT {name_sql('carrier')}, kind, details FROM line WHERE message = ?"  # noqa: S608 -- constants
        " ORDER BY n DESC LIMIT 1",
        (key,),
    ).fetchone()
    return last is not None and tuple(last) == (carrier, line.kind.value, line.details)
