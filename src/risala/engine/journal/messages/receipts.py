"""Receipts: matched to their segment by the carrier's id, or held until the answer names it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from risala.engine.journal.attempts import Arrival, Attempt
from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.delivery import Word, finish_one, note_receipt, taken
from risala.engine.journal.messages.endings import settle
from risala.engine.journal.messages.held import hold, named, segment_state
from risala.engine.journal.messages.matching import Found, find
from risala.engine.journal.messages.state import MessageState, load
from risala.engine.journal.rows import Change, Stamp
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import Kind, Line
from risala.engine.model.states import SegmentState, Status
from risala.engine.rules.receiptgroups import Groups, alone
from risala.sms.receipt import Receipt, ReceiptState


def record(
    conn: sqlite3.Connection, arrivals: Sequence[Arrival], groups: Groups = alone
) -> list[tuple[Change, ...]]:
    """Record receipts, in the order in which they came."""
    return [_record_one(conn, arrival, groups) for arrival in arrivals]


def _record_one(conn: sqlite3.Connection, arrival: Arrival, groups: Groups) -> tuple[Change, ...]:
    """A repeated, late or contradicting one moves nothing backwards."""
    receipt, stamp = arrival.receipt, arrival.stamp
    found = find(conn, groups(arrival.carrier), receipt, stamp.now_ms)
    if not isinstance(found, Found):
        if receipt.state.is_final:
            hold(conn, arrival, found)
        return ()
    message = load(conn, found.message_id)
    assert message is not None
    # Where the carrier's policy has ended it meanwhile, the receipt is only told of.
    if found.state != SegmentState.UNCERTAIN or message.status is not Status.PROCESSING:
        return _apply(conn, arrival, message, found, found.state)
    accepted = finish_one(conn, taken(found.try_of_it, receipt.carrier_id, stamp), groups)
    message = load(conn, found.message_id)
    assert message is not None
    return (*accepted, *_apply(conn, arrival, message, found, SegmentState.ACCEPTED))


def _apply(
    conn: sqlite3.Connection, arrival: Arrival, message: MessageState, found: Found, state: str
) -> tuple[Change, ...]:
    """Let a receipt have its effect on a segment that is in this state now."""
    receipt, stamp = arrival.receipt, arrival.stamp
    moves = (
        receipt.state.is_final
        and state == SegmentState.ACCEPTED
        and message.status in (Status.PENDING, Status.PROCESSING, Status.SENT)
    )
    if not moves:
        entry = _entry(arrival, message, found, _said_of(receipt, message.status, state))
        timeline.append(conn, message.id, entry)
        return ()
    word = Word(segment_state(receipt.state), receipt.raw, receipt.why)
    note_receipt(conn, found.try_of_it, word, stamp.now_ms)
    if message.segments > 1:
        line = _said(Kind.RECEIPT, receipt, parts=message.segments)
        timeline.append(conn, message.id, _entry(arrival, message, found, line))
    return settle(conn, message.id, stamp, receipt_raw=receipt.raw)


def _entry(arrival: Arrival, message: MessageState, found: Found, line: Line) -> TimelineEntry:
    return TimelineEntry(
        arrival.stamp.now_ms,
        message.status,
        line,
        arrival.carrier,
        segment=found.number,
        raw=arrival.receipt.raw,
    )


def _said(kind: Kind, receipt: Receipt, **values: int) -> Line:
    """A line that tells what a final receipt says."""
    cause = None if receipt.state is ReceiptState.DELIVERED else receipt.why
    return Line(kind, cause, values)


def take_those_with_receipts(
    conn: sqlite3.Connection, message: MessageState, stamp: Stamp, groups: Groups = alone
) -> tuple[Change, ...]:
    """As a receipt that is recorded, for a segment whose receipt came before it was uncertain."""
    for number, tries, carrier in conn.execute(
        "SELECT number, attempt, carrier FROM segments WHERE message_id = ? AND state = ?",
        (message.id, SegmentState.UNCERTAIN),
    ).fetchall():
        attempt = Attempt(message.id, number, tries, carrier)
        known_as = named(conn, groups(carrier), message, attempt)
        if known_as is not None:
            return finish_one(conn, taken(attempt, known_as, stamp), groups)
    return ()


def _proves_wrong(status: Status, state: str, receipt: Receipt) -> bool:
    """It failed because nobody knew better, and was delivered."""
    uncertain = status is Status.FAILED and state == SegmentState.UNCERTAIN
    return uncertain and receipt.state is ReceiptState.DELIVERED


def _said_of(receipt: Receipt, status: Status, state: str) -> Line:
    """What the timeline says of a receipt that moves nothing."""
    if not receipt.state.is_final:
        return Line(Kind.STILL_TRYING)
    if state == segment_state(receipt.state):
        return Line(Kind.RECEIPT_AGAIN)
    if state in (SegmentState.DELIVERED, SegmentState.UNDELIVERED):
        return _said(Kind.RECEIPT_CONTRADICTS, receipt)
    if _proves_wrong(status, state, receipt):
        return _said(Kind.RECEIPT_CONTRADICTS, receipt, failed=1)
    return _said(Kind.RECEIPT_LATE, receipt)
