"""Receipts: matched to their segment by the carrier's id, or held until that id is known."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from risala.engine.journal.messages import parts, timeline
from risala.engine.journal.messages.delivery import (
    Word,
    accepted_by_receipt,
    finish_one,
    note_receipt,
)
from risala.engine.journal.messages.endings import settle
from risala.engine.journal.messages.held import hold, named, segment_state
from risala.engine.journal.messages.matching import Found, Why, find
from risala.engine.journal.messages.sheet import Sheet
from risala.engine.journal.messages.timeline import DELIVERED
from risala.engine.journal.messages.under_way import UnderWay, names_of
from risala.engine.journal.state import MessageState, change_of, load_key
from risala.engine.journal.webhooks import outbox
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.attempts import Arrival, Attempt
from risala.engine.model.records.messages import Change, Stamp
from risala.engine.model.states import SegmentState, Status
from risala.engine.rules.receiptgroups import Groups, alone
from risala.sms.message import WHOLE
from risala.sms.receipt import Receipt, ReceiptState


def record(
    conn: sqlite3.Connection,
    arrivals: Sequence[Arrival],
    groups: Groups = alone,
    under_way: UnderWay | None = None,
) -> list[tuple[Change, ...]]:
    """Record receipts, in the order in which they came."""
    memory = under_way or UnderWay()
    sheet = Sheet(conn)
    names = [names_of(arrival.receipt) for arrival in arrivals]
    known = memory.of_receipts(conn, arrivals, names, groups)
    named: set[str] = set()
    changes: list[tuple[Change, ...]] = []
    for arrival, ids in zip(arrivals, names, strict=True):
        message = known.pop(ids[0], None)
        if message is None:
            if not named.isdisjoint(ids):  # the message it is about may still be on the sheet
                sheet.write()
                named.clear()
            match = find(conn, groups(arrival.carrier), arrival.receipt, arrival.stamp.now_ms)
            message = _plainly_sent(conn, match, arrival.receipt)
            if message is None:
                sheet.write()
                changes.append(_record_one(conn, arrival, match, groups))
                continue
        named.update(ids)
        changes.append((_end(conn, sheet, message, arrival),))
        memory.ended(message)
    sheet.write()
    return changes


def _plainly_sent(
    conn: sqlite3.Connection, match: Found | Why, receipt: Receipt
) -> MessageState | None:
    """The message that a receipt alone may end."""
    if not isinstance(match, Found) or not _is_plain_end(match, receipt):
        return None
    message = load_key(conn, match.key)
    return message if message.segments == 1 and message.status is Status.SENT else None


def _is_plain_end(match: Found, receipt: Receipt) -> bool:
    """Whether a receipt alone may end a message."""
    return match.state is SegmentState.ACCEPTED and receipt.state.is_final


def _end(conn: sqlite3.Connection, sheet: Sheet, message: MessageState, arrival: Arrival) -> Change:
    """The receipt of the only part of a message that was sent."""
    receipt, now_ms = arrival.receipt, arrival.stamp.now_ms
    is_delivered = receipt.state is ReceiptState.DELIVERED
    message.status = Status.DELIVERED if is_delivered else Status.UNDELIVERED
    line = DELIVERED if is_delivered else Line(Kind.UNDELIVERED, receipt.why)
    raw = receipt.raw if is_delivered else receipt.raw or None
    by = (message.carrier, message.attempts)
    entry = TimelineEntry(now_ms, message.status, line, *by, raw=receipt.in_timeline)
    if is_delivered:
        sheet.deliver(message, entry)
        event = outbox.event_of(conn, message, now_ms, is_plain=True)
    else:
        sheet.fail_to_deliver(message, receipt.why, raw, entry)
        event = outbox.event_of_undelivered(message, now_ms, receipt.why, raw)
    sheet.announce(event)
    return change_of(message, now_ms, line, raw)


def _record_one(
    conn: sqlite3.Connection, arrival: Arrival, match: Found | Why, groups: Groups
) -> tuple[Change, ...]:
    """A repeated, late or contradicting one moves nothing backwards."""
    receipt, stamp = arrival.receipt, arrival.stamp
    if not isinstance(match, Found):
        if receipt.state.is_final:
            hold(conn, arrival, match)
        return ()
    message = load_key(conn, match.key)
    # If the carrier's policy has ended it meanwhile, the receipt is only noted. One that is being
    # submitted has an id only if it is submitted again.
    is_unanswered = match.state in (SegmentState.UNCERTAIN, SegmentState.SUBMITTING)
    if not is_unanswered or message.status is not Status.PROCESSING:
        return _apply(conn, arrival, message, match, match.state)
    accepted = finish_one(
        conn, accepted_by_receipt(match.try_of_it, receipt.carrier_id, stamp), groups
    )
    message = load_key(conn, match.key)
    return (*accepted, *_apply(conn, arrival, message, match, SegmentState.ACCEPTED))


def _apply(
    conn: sqlite3.Connection, arrival: Arrival, message: MessageState, match: Found, state: str
) -> tuple[Change, ...]:
    """Apply a receipt to a segment that is in this state now."""
    receipt, stamp = arrival.receipt, arrival.stamp
    moves = (
        receipt.state.is_final
        and state == SegmentState.ACCEPTED
        and message.status in (Status.PENDING, Status.PROCESSING, Status.SENT)
    )
    if not moves:
        entry = _entry(arrival, message, match, _said_of(receipt, message.status, state))
        timeline.append(conn, message.key, entry)
        return ()
    word = Word(segment_state(receipt.state), receipt.raw, receipt.why)
    note_receipt(conn, message, match.number, word, stamp.now_ms)
    if message.segments > 1 and match.number != WHOLE:
        line = _said(Kind.RECEIPT, receipt, parts=message.segments)
        timeline.append(conn, message.key, _entry(arrival, message, match, line))
    return settle(conn, message, stamp, receipt_raw=receipt.in_timeline)


def _entry(arrival: Arrival, message: MessageState, match: Found, line: Line) -> TimelineEntry:
    return TimelineEntry(
        arrival.stamp.now_ms,
        message.status,
        line,
        arrival.carrier,
        segment=match.number,
        raw=arrival.receipt.in_timeline,
    )


def _said(kind: Kind, receipt: Receipt, **values: int) -> Line:
    """A line with the content of a final receipt."""
    cause = None if receipt.state is ReceiptState.DELIVERED else receipt.why
    return Line(kind, cause, values)


def take_those_with_receipts(
    conn: sqlite3.Connection, message: MessageState, stamp: Stamp, groups: Groups = alone
) -> tuple[Change, ...]:
    """Apply earlier receipts of a segment that has become uncertain after them."""
    for part in parts.of(conn, message):
        if part.state is not SegmentState.UNCERTAIN:
            continue
        attempt = Attempt(message.id, part.number, part.attempt, part.carrier)
        known_as = named(conn, groups(part.carrier), message, attempt)
        if known_as is not None:
            return finish_one(conn, accepted_by_receipt(attempt, known_as, stamp), groups)
    return ()


def _proves_wrong(status: Status, state: str, receipt: Receipt) -> bool:
    """Whether a segment that failed because its outcome was unknown was delivered."""
    uncertain = status is Status.FAILED and state == SegmentState.UNCERTAIN
    return uncertain and receipt.state is ReceiptState.DELIVERED


def _said_of(receipt: Receipt, status: Status, state: str) -> Line:
    """The timeline's line for a receipt that changes nothing."""
    is_told = state in (SegmentState.DELIVERED, SegmentState.UNDELIVERED)
    if not receipt.state.is_final:
        return Line(Kind.STILL_TRYING, values={"late": 1} if is_told else {})
    if state == segment_state(receipt.state):
        return Line(Kind.RECEIPT_AGAIN)
    if is_told:
        return _said(Kind.RECEIPT_CONTRADICTS, receipt)
    if _proves_wrong(status, state, receipt):
        return _said(Kind.RECEIPT_CONTRADICTS, receipt, failed=1)
    return _said(Kind.RECEIPT_LATE, receipt)
