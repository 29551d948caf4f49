"""Receipts: matched to their segment by the carrier's id, or held until the answer names it."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal import timeline
from risala.engine.journal.delivery import carrier_key, note_receipt
from risala.engine.journal.endings import settle
from risala.engine.journal.rows import Change, SegmentState, Stamp, Status
from risala.engine.journal.state import load
from risala.sms.receipt import Receipt, ReceiptState

HELD_MAX: Final = 10_000
"""Receipts that match nothing, kept at one time: a peer that sends rubbish fills no disk."""


def record(
    conn: sqlite3.Connection, carrier: str, receipt: Receipt, stamp: Stamp
) -> tuple[Change, ...]:
    """Record one receipt. A repeated, late or contradicting one moves nothing backwards."""
    found = _find(conn, carrier, receipt)
    if found is None:
        if receipt.state.is_final:
            _hold(conn, carrier, receipt, stamp.now_ms)
        return ()
    message_id, number, state = found
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
    note_receipt(
        conn, message_id, number, carrier, final, receipt.raw, receipt.error_code, stamp.now_ms
    )
    if message.segments > 1:
        text = f"Receipt for part {number} of {message.segments}: {final.value}."
        timeline.append(
            conn,
            message_id,
            stamp.now_ms,
            message.status,
            text,
            carrier=carrier,
            segment=number,
            raw=receipt.raw,
        )
    return settle(conn, message_id, stamp, raw=receipt.raw)


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


def _hold(conn: sqlite3.Connection, carrier: str, receipt: Receipt, now_ms: int) -> None:
    span = conn.execute("SELECT max(seq) - min(seq) FROM held_receipts").fetchone()[0] or 0
    if span >= HELD_MAX:
        conn.execute("DELETE FROM held_receipts WHERE seq = (SELECT min(seq) FROM held_receipts)")
    keys = {carrier_key(name) for name in (receipt.carrier_id, *receipt.also_known_as)}
    conn.executemany(
        "INSERT INTO held_receipts"
        " (carrier, carrier_id, carrier_key, state, raw, error_code, received_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(carrier, receipt.carrier_id, key, _segment_state(receipt.state)),
                *(receipt.raw, receipt.error_code, now_ms),
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
        text = "The carrier is still trying."
    elif state in (SegmentState.DELIVERED, SegmentState.UNDELIVERED):
        text = "Another receipt for the same part; it changes nothing."
    else:
        text = "A receipt that came too late to change anything."
    timeline.append(
        conn,
        message_id,
        now_ms,
        status,
        text,
        carrier=carrier,
        segment=number,
        raw=receipt.raw,
    )
