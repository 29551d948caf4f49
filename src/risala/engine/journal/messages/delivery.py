"""Attempts and their outcomes: each function is (part of) one unit of work.

The states of contract §3 are enforced here, inside the transaction: whoever asks, a message that
is final stays final, and what came too late is a line in its timeline.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.messages import held, timeline
from risala.engine.journal.messages.endings import code_is_wanted, fail, settle, withdraw_code
from risala.engine.journal.messages.matching import carrier_key
from risala.engine.journal.messages.state import MessageState, change_of, load
from risala.engine.journal.rows import Change, Stamp
from risala.engine.model.lines import Kind, Line
from risala.engine.model.states import SegmentState, Status
from risala.engine.rules.receiptgroups import Groups, alone
from risala.engine.rules.retry import Decision, Step
from risala.sms.cause import Cause, cause_of

ATTEMPT = Line(Kind.ATTEMPT)


@dataclass(frozen=True, slots=True)
class Started:
    """An attempt that is on disk: the segment may go out."""

    attempt: int
    changes: tuple[Change, ...]


def start_segment(
    conn: sqlite3.Connection,
    message_id: str,
    number: int,
    carrier: str,
    *,
    opens_attempt: bool,
    now_ms: int,
    from_line: str | None = None,
) -> Started | None:
    """Record that a segment is about to be submitted, before a byte of it leaves.

    ``from_line`` is the line's own number (empty: unknown) where that is the sender, whatever
    was asked for.

    Returns None where the message is no longer to be sent (withdrawn, expired, held).
    """
    if opens_attempt:
        opened = conn.execute(
            "UPDATE messages SET status = 'processing', attempts = attempts + 1, carrier = ?,"
            " updated_at = ? WHERE id = ? AND status = 'pending' AND valid_until > ?"
            " AND EXISTS (SELECT 1 FROM organizations o WHERE o.id = organization_id"
            " AND o.status = 'active')",
            (carrier, now_ms, message_id, now_ms),
        )
        if opened.rowcount == 0:
            return None
        opt_outs.note_writer(conn, message_id, carrier, now_ms)
    message = load(conn, message_id)
    if message is None or message.status is not Status.PROCESSING:
        return None
    conn.execute(
        "INSERT INTO segments (message_id, number, state, attempt, carrier, updated_at)"
        " VALUES (?, ?, 'submitting', ?, ?, ?)"
        " ON CONFLICT (message_id, number) DO UPDATE SET state = 'submitting',"
        " attempt = excluded.attempt, carrier = excluded.carrier, carrier_id = NULL,"
        " carrier_key = NULL, updated_at = excluded.updated_at",
        (message_id, number, message.attempts, carrier, now_ms),
    )
    if not opens_attempt:
        return Started(message.attempts, ())
    line = ATTEMPT if from_line is None else Line(Kind.ATTEMPT, values={"line": from_line})
    timeline.append(
        conn,
        message_id,
        now_ms,
        Status.PROCESSING,
        line,
        carrier=carrier,
        attempt=message.attempts,
        segment=number,
    )
    return Started(message.attempts, (change_of(message, now_ms, line),))


def finish_segment(
    conn: sqlite3.Connection,
    message_id: str,
    number: int,
    attempt: int,
    decision: Decision,
    stamp: Stamp,
    *,
    live: bool = True,
    groups: Groups = alone,
) -> tuple[Change, ...]:
    """Record what a submit came to, and what follows.

    ``live`` is False for an answer that came after its submit was given up: nobody is there to
    go on with the next segment, so the message is queued again for it.
    """
    message = load(conn, message_id)
    row = conn.execute(
        "SELECT state, attempt, carrier FROM segments WHERE message_id = ? AND number = ?",
        (message_id, number),
    ).fetchone()
    if message is None or row is None:
        return ()
    state: str
    carrier: str
    state, known_attempt, carrier = row
    current = known_attempt == attempt and state in (
        SegmentState.SUBMITTING,
        SegmentState.UNCERTAIN,
    )
    if not current or message.status is not Status.PROCESSING:
        _note_late(conn, message, number, attempt, carrier, decision, stamp.now_ms)
        return ()
    if decision.step is Step.AWAIT:
        known_as = held.named(conn, groups(carrier), message, number, attempt)
        if known_as is not None:
            decision, live = taken(known_as), False
    if decision.step is Step.AWAIT and state == SegmentState.SUBMITTING:
        _count_uncertain(conn, message_id, number, lost_link=decision.lost_link)
    _set_segment(conn, message_id, number, decision, stamp.now_ms)
    match decision.step:
        case Step.ADVANCE:
            early = _use_held_receipts(conn, message, number, groups(carrier), decision, stamp)
            return _advance(conn, message, number, carrier, decision, stamp, early, live=live)
        case Step.AWAIT:
            return _await_answer(conn, message, number, carrier, decision, stamp.now_ms)
        case Step.REQUEUE:
            return requeue(conn, message, number, carrier, decision, stamp.now_ms)
        case Step.FAIL:
            return fail(
                conn,
                message_id,
                decision.line.cause or Cause.REJECTED,
                stamp,
                raw=decision.raw,
                values=decision.line.values,
            )


def taken(carrier_id: str) -> Decision:
    """What follows for an uncertain segment that a receipt tells of."""
    line = Line(Kind.TAKEN_BY_RECEIPT)
    return Decision(Step.ADVANCE, SegmentState.ACCEPTED, line, carrier_id=carrier_id)


def _count_uncertain(
    conn: sqlite3.Connection, message_id: str, number: int, *, lost_link: bool
) -> None:
    """Of one more submit nobody knows the outcome: that bounds how often it is sent again."""
    conn.execute(
        "UPDATE segments SET uncertain = uncertain + 1 WHERE message_id = ? AND number = ?",
        (message_id, number),
    )
    if lost_link:
        conn.execute(
            "UPDATE messages SET link_losses = link_losses + 1 WHERE id = ?", (message_id,)
        )


def _set_segment(
    conn: sqlite3.Connection, message_id: str, number: int, decision: Decision, now_ms: int
) -> None:
    carrier_id = decision.carrier_id
    conn.execute(
        "UPDATE segments SET state = ?, carrier_id = ?, carrier_key = ?, updated_at = ?"
        " WHERE message_id = ? AND number = ?",
        (
            decision.segment_state,
            carrier_id,
            carrier_key(carrier_id) if carrier_id else None,  # some carriers give an empty one
            now_ms,
            message_id,
            number,
        ),
    )


def _note_late(
    conn: sqlite3.Connection,
    message: MessageState,
    number: int,
    attempt: int,
    carrier: str,
    decision: Decision,
    now_ms: int,
) -> None:
    cause, values = decision.line.cause, decision.line.values
    note = {"note": values["note"]} if values and "note" in values else None
    timeline.append(
        conn,
        message.id,
        now_ms,
        message.status,
        Line(Kind.ANSWER_LATE, cause, note),
        carrier=carrier,
        attempt=attempt,
        segment=number,
        raw=decision.raw,
    )


def _advance(
    conn: sqlite3.Connection,
    message: MessageState,
    number: int,
    carrier: str,
    decision: Decision,
    stamp: Stamp,
    early: Sequence[_Early],
    *,
    live: bool,
) -> tuple[Change, ...]:
    assert decision.carrier_id is not None
    by_receipt = decision.line.kind is Kind.TAKEN_BY_RECEIPT
    part = Line(Kind.PART_ACCEPTED, values={"parts": message.segments})
    conn.execute(
        "UPDATE messages SET resolve_at = NULL, resolve_action = NULL, updated_at = ?,"
        " provider_message_id = coalesce(provider_message_id, ?) WHERE id = ?",
        (stamp.now_ms, decision.carrier_id, message.id),
    )
    if message.segments > 1 or not live:
        timeline.append(
            conn,
            message.id,
            stamp.now_ms,
            message.status,
            decision.line if by_receipt else part,
            carrier=carrier,
            attempt=message.attempts,
            segment=number,
            raw=decision.raw,
        )
    if message.segments > 1:
        _tell(conn, message, number, early[:1], stamp)
    word = early[0].raw if early else None
    changes = settle(
        conn, message.id, stamp, raw=decision.raw, sent=decision.sent, receipt_raw=word
    )
    if early[1:]:
        _tell(conn, load(conn, message.id) or message, number, early[1:], stamp)
    if changes or live:
        return changes
    follow_on = Decision(
        Step.REQUEUE,
        SegmentState.ACCEPTED,
        Line(Kind.PARTS_FOLLOW),
        decision.raw,
        due_at=stamp.now_ms,
        route=f"@{carrier}",
    )
    return requeue(conn, message, number, carrier, follow_on, stamp.now_ms)


@dataclass(frozen=True, slots=True)
class _Early:
    """A receipt that came before the answer, as the timeline tells of it."""

    line: Line
    carrier: str
    raw: str


def _use_held_receipts(
    conn: sqlite3.Connection,
    message: MessageState,
    number: int,
    carriers: Sequence[str],
    decision: Decision,
    stamp: Stamp,
) -> list[_Early]:
    """Receipts may have come before the answer that names them: use the first, tell of all."""
    if not decision.carrier_id:
        return []
    told: list[_Early] = []
    state: str = SegmentState.ACCEPTED
    for each in held.take(conn, carriers, message, decision.carrier_id):
        cause = cause_of(each.error_code, Cause.UNDELIVERABLE)
        why = None if each.state == SegmentState.DELIVERED else cause
        line = Line(Kind.RECEIPT, why, {"parts": message.segments, "early": 1})
        if state == SegmentState.ACCEPTED:
            note_receipt(conn, message.id, number, each.state, each.raw, cause, stamp.now_ms)
            state = each.state
        elif state == each.state:
            line = Line(Kind.RECEIPT_AGAIN)
        else:
            line = Line(Kind.RECEIPT_CONTRADICTS, why)
        told.append(_Early(line, each.carrier, each.raw))
    return told


def _tell(
    conn: sqlite3.Connection,
    message: MessageState,
    number: int,
    early: Sequence[_Early],
    stamp: Stamp,
) -> None:
    for each in early:
        timeline.append(
            *(conn, message.id, stamp.now_ms, message.status, each.line),
            carrier=each.carrier,
            segment=number,
            raw=each.raw,
        )


def note_receipt(
    conn: sqlite3.Connection,
    message_id: str,
    number: int,
    state: str,
    raw: str,
    cause: Cause,
    now_ms: int,
) -> None:
    """Set one segment by its final receipt (``state`` is a :class:`SegmentState`)."""
    moved = conn.execute(
        "UPDATE segments SET state = ?, updated_at = ?"
        " WHERE message_id = ? AND number = ? AND state = 'accepted'",
        (state, now_ms, message_id, number),
    )
    if moved.rowcount and state == SegmentState.UNDELIVERED:
        conn.execute(
            "UPDATE messages SET error_code = ?, carrier_code = ? WHERE id = ?",
            (cause, raw or None, message_id),
        )


def _await_answer(
    conn: sqlite3.Connection,
    message: MessageState,
    number: int,
    carrier: str,
    decision: Decision,
    now_ms: int,
) -> tuple[Change, ...]:
    conn.execute(
        "UPDATE messages SET resolve_at = ?, resolve_action = ?, updated_at = ? WHERE id = ?",
        (decision.resolve_at, decision.resolve_action, now_ms, message.id),
    )
    timeline.append(
        conn,
        message.id,
        now_ms,
        Status.PROCESSING,
        decision.line,
        carrier=carrier,
        attempt=message.attempts,
        segment=number,
        raw=decision.raw,
    )
    return (change_of(message, now_ms, decision.line, decision.raw),)


def requeue(
    conn: sqlite3.Connection,
    message: MessageState,
    number: int,
    carrier: str,
    decision: Decision,
    now_ms: int,
) -> tuple[Change, ...]:
    message.status = Status.PENDING
    message.due_at = message.due_at if decision.due_at is None else decision.due_at
    message.route = message.route if decision.route is None else decision.route
    tried = [name for name in message.tried.split(",") if name]
    if decision.segment_state is SegmentState.REFUSED and carrier not in tried:
        tried.append(carrier)
    conn.execute(
        "UPDATE messages SET status = 'pending', due_at = ?, route = ?, tried = ?, refusals ="
        " refusals + ?, resolve_at = NULL, resolve_action = NULL, updated_at = ? WHERE id = ?",
        (
            message.due_at,
            message.route,
            ",".join(tried),
            int(decision.counts_as_refusal),
            now_ms,
            message.id,
        ),
    )
    timeline.append(
        conn,
        message.id,
        now_ms,
        Status.PENDING,
        decision.line,
        carrier=carrier,
        attempt=message.attempts,
        segment=number,
        raw=decision.raw,
    )
    if not code_is_wanted(conn, message, now_ms):
        # A withdrawn code has no event of its own: the stamp's ids are not used.
        return withdraw_code(conn, message.id, "ended", Stamp(now_ms))
    return (change_of(message, now_ms, decision.line, decision.raw),)


def give_back(
    conn: sqlite3.Connection, message_id: str, carrier: str, cause: Cause | None, now_ms: int
) -> tuple[Change, ...]:
    """Queue a message again, for this carrier alone, whose parts went out only in part.

    ``cause`` is None where the operator paused the carrier.
    """
    message = load(conn, message_id)
    if message is None or message.status is not Status.PROCESSING:
        return ()
    line = Line(Kind.PARTS_WAIT, cause)
    decision = Decision(Step.REQUEUE, SegmentState.WAITING, line, route=f"@{carrier}")
    return requeue(conn, message, 1, carrier, decision, now_ms)
