"""Receipts: matched to their segment by the carrier's id, or held until the answer names it."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.delivery import finish_segment, note_receipt, taken
from risala.engine.journal.messages.endings import settle
from risala.engine.journal.messages.held import hold, named, segment_state
from risala.engine.journal.messages.matching import Found, find
from risala.engine.journal.messages.state import MessageState, load
from risala.engine.journal.rows import Change, Stamp
from risala.engine.model.lines import Kind, Line
from risala.engine.model.states import SegmentState, Status
from risala.engine.rules.receiptgroups import Groups, alone
from risala.sms.receipt import Receipt, ReceiptState


def record(
    conn: sqlite3.Connection,
    carrier: str,
    receipt: Receipt,
    stamp: Stamp,
    groups: Groups = alone,
) -> tuple[Change, ...]:
    """Record one receipt. A repeated, late or contradicting one moves nothing backwards."""
    found = find(conn, groups(carrier), receipt, stamp.now_ms)
    if not isinstance(found, Found):
        if receipt.state.is_final:
            hold(conn, carrier, receipt, found, stamp.now_ms)
        return ()
    message_id, number = found.message_id, found.number
    message = load(conn, message_id)
    assert message is not None
    # Where the carrier's policy has ended it meanwhile, the receipt is only told of.
    if found.state != SegmentState.UNCERTAIN or message.status is not Status.PROCESSING:
        return _apply(conn, carrier, receipt, stamp, message, number, found.state)
    accepted = _take_for_accepted(conn, found, receipt.carrier_id, stamp, groups)
    message = load(conn, message_id)
    assert message is not None
    told = _apply(conn, carrier, receipt, stamp, message, number, SegmentState.ACCEPTED)
    return (*accepted, *told)


def _apply(
    conn: sqlite3.Connection,
    carrier: str,
    receipt: Receipt,
    stamp: Stamp,
    message: MessageState,
    number: int,
    state: str,
) -> tuple[Change, ...]:
    message_id = message.id
    moves = (
        receipt.state.is_final
        and state == SegmentState.ACCEPTED
        and message.status in (Status.PENDING, Status.PROCESSING, Status.SENT)
    )
    if not moves:
        _note(conn, message_id, message.status, number, carrier, receipt, state, stamp.now_ms)
        return ()
    final = segment_state(receipt.state)
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
    return settle(conn, message_id, stamp, receipt_raw=receipt.raw)


def _said(kind: Kind, receipt: Receipt, **values: int) -> Line:
    """A line that tells what a final receipt says."""
    cause = None if receipt.state is ReceiptState.DELIVERED else receipt.why
    return Line(kind, cause, values)


def _take_for_accepted(
    conn: sqlite3.Connection, found: Found, carrier_id: str, stamp: Stamp, groups: Groups
) -> tuple[Change, ...]:
    """An uncertain segment was accepted after all: a receipt tells of it."""
    return finish_segment(
        *(conn, found.message_id, found.number, found.attempt, taken(carrier_id), stamp),
        live=False,
        groups=groups,
    )


def take_those_with_receipts(
    conn: sqlite3.Connection, message: MessageState, stamp: Stamp, groups: Groups = alone
) -> tuple[Change, ...]:
    """As a receipt that is recorded, for a segment whose receipt came before it was uncertain."""
    for number, attempt, carrier in conn.execute(
        "SELECT number, attempt, carrier FROM segments WHERE message_id = ? AND state = ?",
        (message.id, SegmentState.UNCERTAIN),
    ).fetchall():
        known_as = named(conn, groups(carrier), message, number, attempt)
        if known_as is not None:
            return finish_segment(
                *(conn, message.id, number, attempt, taken(known_as), stamp),
                live=False,
                groups=groups,
            )
    return ()


def _proves_wrong(status: Status, state: str, receipt: Receipt) -> bool:
    """It failed because nobody knew better, and was delivered."""
    uncertain = status is Status.FAILED and state == SegmentState.UNCERTAIN
    return uncertain and receipt.state is ReceiptState.DELIVERED


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
    elif state == segment_state(receipt.state):
        line = Line(Kind.RECEIPT_AGAIN)
    elif state in (SegmentState.DELIVERED, SegmentState.UNDELIVERED):
        line = _said(Kind.RECEIPT_CONTRADICTS, receipt)
    elif _proves_wrong(status, state, receipt):
        line = _said(Kind.RECEIPT_CONTRADICTS, receipt, failed=1)
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
