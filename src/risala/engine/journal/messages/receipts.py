"""Receipts: matched to their segment by the carrier's id, or held until the answer names it."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.delivery import (
    carrier_key,
    finish_segment,
    named_by_receipt,
    note_receipt,
    taken,
)
from risala.engine.journal.messages.endings import settle
from risala.engine.journal.messages.state import MessageState, load
from risala.engine.journal.rows import Change, Stamp
from risala.engine.model.lines import Kind, Line
from risala.engine.model.states import SegmentState, Status
from risala.sms.message import submit_reference
from risala.sms.receipt import Receipt, ReceiptState

HELD_MAX: Final = 10_000
"""Receipts that match nothing, kept at one time: a peer that sends rubbish fills no disk."""

LOCAL_DIGITS: Final = 8
"""Of a number: networks write recipients with and without the country code."""


def record(
    conn: sqlite3.Connection, carrier: str, receipt: Receipt, stamp: Stamp
) -> tuple[Change, ...]:
    """Record one receipt. A repeated, late or contradicting one moves nothing backwards."""
    found = _find(conn, carrier, receipt) or _find_unanswered(conn, carrier, receipt)
    if found is None:
        if receipt.state.is_final:
            _hold(conn, carrier, receipt, stamp.now_ms)
        return ()
    message_id, number, state = found
    if state != SegmentState.UNCERTAIN:
        return _apply(conn, carrier, receipt, stamp, *found)
    accepted = _take_for_accepted(conn, message_id, number, receipt.carrier_id, stamp)
    if not accepted:  # the carrier's policy has ended it meanwhile
        return ()
    found = (message_id, number, SegmentState.ACCEPTED)
    return (*accepted, *_apply(conn, carrier, receipt, stamp, *found))


def _apply(
    conn: sqlite3.Connection,
    carrier: str,
    receipt: Receipt,
    stamp: Stamp,
    message_id: str,
    number: int,
    state: str,
) -> tuple[Change, ...]:
    message = load(conn, message_id)
    assert message is not None
    moves = (
        receipt.state.is_final
        and state == SegmentState.ACCEPTED
        and message.status in (Status.PENDING, Status.PROCESSING, Status.SENT)
    )
    if not moves:
        _note(conn, message_id, message.status, number, carrier, receipt, state, stamp.now_ms)
        return ()
    final = _segment_state(receipt.state)
    note_receipt(conn, message_id, number, final, receipt.raw, receipt.why, stamp.now_ms)
    if message.segments > 1:
        timeline.append(
            conn,
            message_id,
            stamp.now_ms,
            message.status,
            _said(Kind.RECEIPT, receipt, parts=message.segments),
            carrier=carrier,
            segment=number,
            raw=receipt.raw,
        )
    return settle(conn, message_id, stamp, raw=receipt.raw)


def _said(kind: Kind, receipt: Receipt, **values: int) -> Line:
    """A line that tells what a final receipt says."""
    cause = None if receipt.state is ReceiptState.DELIVERED else receipt.why
    return Line(kind, cause, values)


def _segment_state(state: ReceiptState) -> SegmentState:
    if state is ReceiptState.DELIVERED:
        return SegmentState.DELIVERED
    return SegmentState.UNDELIVERED


def _find(conn: sqlite3.Connection, carrier: str, receipt: Receipt) -> tuple[str, int, str] | None:
    """The segment that a receipt tells of: by the exact id first, then by its other forms."""
    for carrier_id in (receipt.carrier_id, *receipt.also_known_as):
        rows = conn.execute(
            "SELECT message_id, number, state FROM segments"
            " WHERE carrier = ? AND carrier_key = ?"
            " ORDER BY carrier_id = ? DESC, state = 'accepted' DESC, updated_at DESC LIMIT 1",
            (carrier, carrier_key(carrier_id), carrier_id),
        ).fetchall()
        if rows:
            found: tuple[str, int, str] = rows[0]
            return found
    return None


def _find_unanswered(
    conn: sqlite3.Connection, carrier: str, receipt: Receipt
) -> tuple[str, int, str] | None:
    """The uncertain segment that the receipt names by the submit's own reference, if it does."""
    if receipt.recipient_tells and receipt.recipient:
        return _find_by_recipient(conn, carrier, receipt.recipient)
    if receipt.reference is None:
        return None
    rows = conn.execute(
        "SELECT s.message_id, s.number, s.attempt, s.state FROM messages m"
        " JOIN segments s ON s.message_id = m.id"
        " WHERE m.resolve_at IS NOT NULL AND m.recipient = ? AND s.carrier = ? AND s.state = ?",
        (receipt.recipient, carrier, SegmentState.UNCERTAIN),
    )
    for message_id, number, attempt, state in rows:
        if submit_reference(message_id, number, attempt) == receipt.reference:
            return message_id, number, state
    return None


def _find_by_recipient(
    conn: sqlite3.Connection, carrier: str, recipient: str
) -> tuple[str, int, str] | None:
    """The uncertain segment to this recipient, where there is one only and it has no id."""
    rows = conn.execute(
        "SELECT s.message_id, s.number, s.state FROM messages m"
        " JOIN segments s ON s.message_id = m.id"
        " WHERE m.resolve_at IS NOT NULL AND s.carrier = ? AND s.state = ?"
        " AND s.carrier_id IS NULL AND substr(m.recipient, ?) = ? LIMIT 2",
        (carrier, SegmentState.UNCERTAIN, -LOCAL_DIGITS, recipient[-LOCAL_DIGITS:]),
    ).fetchall()
    return rows[0] if len(rows) == 1 else None


def _take_for_accepted(
    conn: sqlite3.Connection, message_id: str, number: int, carrier_id: str, stamp: Stamp
) -> tuple[Change, ...]:
    """An uncertain segment was accepted after all: a receipt tells of it."""
    (attempt,) = conn.execute(
        "SELECT attempt FROM segments WHERE message_id = ? AND number = ?", (message_id, number)
    ).fetchone()
    return finish_segment(conn, message_id, number, attempt, taken(carrier_id), stamp, live=False)


def take_those_with_receipts(
    conn: sqlite3.Connection, message: MessageState, stamp: Stamp
) -> tuple[Change, ...]:
    """As a receipt that is recorded, for a segment whose receipt came before it was uncertain."""
    for number, attempt, carrier in conn.execute(
        "SELECT number, attempt, carrier FROM segments WHERE message_id = ? AND state = ?",
        (message.id, SegmentState.UNCERTAIN),
    ).fetchall():
        known_as = named_by_receipt(conn, message, number, attempt, carrier)
        if known_as is not None:
            return _take_for_accepted(conn, message.id, number, known_as, stamp)
    return ()


def _hold(conn: sqlite3.Connection, carrier: str, receipt: Receipt, now_ms: int) -> None:
    span = conn.execute("SELECT max(seq) - min(seq) FROM held_receipts").fetchone()[0] or 0
    if span >= HELD_MAX:
        conn.execute("DELETE FROM held_receipts WHERE seq = (SELECT min(seq) FROM held_receipts)")
    keys = {carrier_key(name) for name in (receipt.carrier_id, *receipt.also_known_as)}
    conn.executemany(
        "INSERT INTO held_receipts"
        " (carrier, carrier_id, carrier_key, state, raw, error_code, received_at, recipient,"
        " reference) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(carrier, receipt.carrier_id, key, _segment_state(receipt.state)),
                *(receipt.raw, receipt.why, now_ms, receipt.recipient, receipt.reference),
            )
            for key in sorted(keys)
        ],
    )


def forget_held(conn: sqlite3.Connection, before_ms: int) -> int:
    """Drop receipts that matched nothing since ``before_ms``; returns how many."""
    return conn.execute("DELETE FROM held_receipts WHERE received_at < ?", (before_ms,)).rowcount


def _note(
    conn: sqlite3.Connection,
    message_id: str,
    status: Status,
    number: int,
    carrier: str,
    receipt: Receipt,
    state: str,
    now_ms: int,
) -> None:
    if not receipt.state.is_final:
        line = Line(Kind.STILL_TRYING)
    elif state == _segment_state(receipt.state):
        line = Line(Kind.RECEIPT_AGAIN)
    elif state in (SegmentState.DELIVERED, SegmentState.UNDELIVERED):
        line = _said(Kind.RECEIPT_CONTRADICTS, receipt)
    else:
        line = _said(Kind.RECEIPT_LATE, receipt)
    timeline.append(
        conn,
        message_id,
        now_ms,
        status,
        line,
        carrier=carrier,
        segment=number,
        raw=receipt.raw,
    )
