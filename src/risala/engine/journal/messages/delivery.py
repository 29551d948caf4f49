"""Attempts and their outcomes: each function is (part of) one unit of work.

:func:`start` and :func:`finish` take the attempts of many messages. Each stands alone in its fate:
what one of them raises goes up, and the unit is tried again attempt by attempt.

The states of contract §3 are enforced here, inside the transaction: whoever asks, a message that
is final stays final, and what came too late is a line in its timeline.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from risala.engine.journal.attempts import Attempt, Lease, SubmitAnswer
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.messages import held, timeline
from risala.engine.journal.messages.endings import code_is_wanted, fail, settle, withdraw_code
from risala.engine.journal.messages.matching import carrier_key
from risala.engine.journal.messages.state import MessageState, change_of, load
from risala.engine.journal.rows import Change, Stamp
from risala.engine.model.commands import TimelineEntry
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


def start(conn: sqlite3.Connection, leases: Sequence[Lease], now_ms: int) -> list[Started | None]:
    """Record that segments are about to be submitted, before a byte of them leaves.

    None stands for a message that is no longer to be sent (withdrawn, expired, held).
    """
    return [_start_one(conn, lease, now_ms) for lease in leases]


def _start_one(conn: sqlite3.Connection, lease: Lease, now_ms: int) -> Started | None:
    message_id, carrier = lease.message_id, lease.carrier
    if lease.opens:
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
        (message_id, lease.segment, message.attempts, carrier, now_ms),
    )
    if not lease.opens:
        return Started(message.attempts, ())
    line = ATTEMPT
    if lease.from_line is not None:
        line = Line(Kind.ATTEMPT, values={"line": lease.from_line})
    entry = TimelineEntry(now_ms, Status.PROCESSING, line, carrier, message.attempts, lease.segment)
    timeline.append(conn, message_id, entry)
    return Started(message.attempts, (change_of(message, now_ms, line),))


def finish(
    conn: sqlite3.Connection, answers: Sequence[SubmitAnswer], groups: Groups = alone
) -> list[tuple[Change, ...]]:
    """Record what submits came to, and what follows."""
    return [finish_one(conn, answer, groups) for answer in answers]


def finish_one(
    conn: sqlite3.Connection, answer: SubmitAnswer, groups: Groups = alone
) -> tuple[Change, ...]:
    """Record what one submit came to."""
    attempt, decision, now_ms = answer.attempt, answer.decision, answer.stamp.now_ms
    message = load(conn, attempt.message_id)
    row = conn.execute(
        "SELECT state, attempt FROM segments WHERE message_id = ? AND number = ?",
        (attempt.message_id, attempt.segment),
    ).fetchone()
    if message is None or row is None:
        return ()
    state, known = row
    current = known == attempt.number and state in (
        SegmentState.SUBMITTING,
        SegmentState.UNCERTAIN,
    )
    if not current or message.status is not Status.PROCESSING:
        _note_late(conn, message, answer)
        return ()
    if decision.step is Step.AWAIT:
        known_as = held.named(conn, groups(attempt.carrier), message, attempt)
        if known_as is not None:
            answer = taken(attempt, known_as, answer.stamp)
            decision = answer.decision
    if decision.step is Step.AWAIT and state == SegmentState.SUBMITTING:
        _count_uncertain(conn, attempt, lost_link=decision.lost_link)
    _set_segment(conn, attempt, decision, now_ms)
    match decision.step:
        case Step.ADVANCE:
            early = _use_held_receipts(conn, message, answer, groups(attempt.carrier))
            return _advance(conn, message, answer, early)
        case Step.AWAIT:
            return _await_answer(conn, message, answer)
        case Step.REQUEUE:
            return requeue(conn, message, attempt, decision, now_ms)
        case Step.FAIL:
            return fail(
                conn,
                message.id,
                decision.line.cause or Cause.REJECTED,
                answer.stamp,
                raw=decision.raw,
                values=decision.line.values,
            )


def taken(attempt: Attempt, carrier_id: str, stamp: Stamp) -> SubmitAnswer:
    """What a receipt says of an uncertain segment: it was accepted after all."""
    line = Line(Kind.TAKEN_BY_RECEIPT)
    decision = Decision(Step.ADVANCE, SegmentState.ACCEPTED, line, carrier_id=carrier_id)
    return SubmitAnswer(attempt, decision, stamp, live=False)


def _entry(
    attempt: Attempt, status: Status, decision: Decision, at: int, line: Line | None = None
) -> TimelineEntry:
    """What the timeline says of an attempt: the decision's own line, or another."""
    return TimelineEntry(
        at,
        status,
        line or decision.line,
        attempt.carrier,
        attempt.number,
        attempt.segment,
        decision.raw,
    )


def _count_uncertain(conn: sqlite3.Connection, attempt: Attempt, *, lost_link: bool) -> None:
    """Of one more submit nobody knows the outcome: that bounds how often it is sent again."""
    conn.execute(
        "UPDATE segments SET uncertain = uncertain + 1 WHERE message_id = ? AND number = ?",
        (attempt.message_id, attempt.segment),
    )
    if lost_link:
        conn.execute(
            "UPDATE messages SET link_losses = link_losses + 1 WHERE id = ?", (attempt.message_id,)
        )


def _set_segment(
    conn: sqlite3.Connection, attempt: Attempt, decision: Decision, now_ms: int
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
            attempt.message_id,
            attempt.segment,
        ),
    )


def _note_late(conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer) -> None:
    cause, values = answer.decision.line.cause, answer.decision.line.values
    note = {"note": values["note"]} if values and "note" in values else None
    line, now_ms = Line(Kind.ANSWER_LATE, cause, note), answer.stamp.now_ms
    entry = _entry(answer.attempt, message.status, answer.decision, now_ms, line)
    timeline.append(conn, message.id, entry)


def _advance(
    conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer, early: Sequence[_Early]
) -> tuple[Change, ...]:
    attempt, decision, stamp = answer.attempt, answer.decision, answer.stamp
    assert decision.carrier_id is not None
    conn.execute(
        "UPDATE messages SET resolve_at = NULL, resolve_action = NULL, updated_at = ?,"
        " provider_message_id = coalesce(provider_message_id, ?) WHERE id = ?",
        (stamp.now_ms, decision.carrier_id, message.id),
    )
    if message.segments > 1 or not answer.live:
        by_receipt = decision.line.kind is Kind.TAKEN_BY_RECEIPT
        part = Line(Kind.PART_ACCEPTED, values={"parts": message.segments})
        line = decision.line if by_receipt else part
        entry = _entry(attempt, message.status, decision, stamp.now_ms, line)
        timeline.append(conn, message.id, entry)
    if message.segments > 1:
        _tell(conn, message, answer, early[:1])
    word = early[0].raw if early else None
    changes = settle(
        conn, message.id, stamp, raw=decision.raw, sent=decision.sent, receipt_raw=word
    )
    if early[1:]:
        _tell(conn, load(conn, message.id) or message, answer, early[1:])
    if changes or answer.live:
        return changes
    follow_on = Decision(
        Step.REQUEUE,
        SegmentState.ACCEPTED,
        Line(Kind.PARTS_FOLLOW),
        decision.raw,
        due_at=stamp.now_ms,
        route=f"@{attempt.carrier}",
    )
    return requeue(conn, message, attempt, follow_on, stamp.now_ms)


@dataclass(frozen=True, slots=True)
class _Early:
    """A receipt that came before the answer, as the timeline tells of it."""

    line: Line
    carrier: str
    raw: str


def _use_held_receipts(
    conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer, carriers: Sequence[str]
) -> list[_Early]:
    """Receipts may have come before the answer that names them: use the first, tell of all."""
    carrier_id = answer.decision.carrier_id
    if not carrier_id:
        return []
    told: list[_Early] = []
    state: str = SegmentState.ACCEPTED
    for each in held.take(conn, carriers, message, carrier_id):
        cause = cause_of(each.error_code, Cause.UNDELIVERABLE)
        why = None if each.state == SegmentState.DELIVERED else cause
        line = Line(Kind.RECEIPT, why, {"parts": message.segments, "early": 1})
        if state == SegmentState.ACCEPTED:
            word = Word(each.state, each.raw, cause)
            note_receipt(conn, answer.attempt, word, answer.stamp.now_ms)
            state = each.state
        elif state == each.state:
            line = Line(Kind.RECEIPT_AGAIN)
        else:
            line = Line(Kind.RECEIPT_CONTRADICTS, why)
        told.append(_Early(line, each.carrier, each.raw))
    return told


def _tell(
    conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer, early: Sequence[_Early]
) -> None:
    for each in early:
        entry = TimelineEntry(
            answer.stamp.now_ms,
            message.status,
            each.line,
            each.carrier,
            segment=answer.attempt.segment,
            raw=each.raw,
        )
        timeline.append(conn, message.id, entry)


@dataclass(frozen=True, slots=True)
class Word:
    """What a final receipt says of a segment."""

    state: str
    """A :class:`SegmentState`."""
    raw: str
    cause: Cause
    """Why it was not delivered; means nothing of one that was."""


def note_receipt(conn: sqlite3.Connection, attempt: Attempt, word: Word, now_ms: int) -> None:
    """Set one segment by its final receipt."""
    moved = conn.execute(
        "UPDATE segments SET state = ?, updated_at = ?"
        " WHERE message_id = ? AND number = ? AND state = 'accepted'",
        (word.state, now_ms, attempt.message_id, attempt.segment),
    )
    if moved.rowcount and word.state == SegmentState.UNDELIVERED:
        conn.execute(
            "UPDATE messages SET error_code = ?, carrier_code = ? WHERE id = ?",
            (word.cause, word.raw or None, attempt.message_id),
        )


def _await_answer(
    conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer
) -> tuple[Change, ...]:
    decision, now_ms = answer.decision, answer.stamp.now_ms
    conn.execute(
        "UPDATE messages SET resolve_at = ?, resolve_action = ?, updated_at = ? WHERE id = ?",
        (decision.resolve_at, decision.resolve_action, now_ms, message.id),
    )
    entry = _entry(answer.attempt, Status.PROCESSING, decision, now_ms)
    timeline.append(conn, message.id, entry)
    return (change_of(message, now_ms, decision.line, decision.raw),)


def requeue(
    conn: sqlite3.Connection,
    message: MessageState,
    attempt: Attempt,
    decision: Decision,
    now_ms: int,
) -> tuple[Change, ...]:
    """Let a message wait for its next attempt."""
    message.status = Status.PENDING
    message.due_at = message.due_at if decision.due_at is None else decision.due_at
    message.route = message.route if decision.route is None else decision.route
    tried = [name for name in message.tried.split(",") if name]
    if decision.segment_state is SegmentState.REFUSED and attempt.carrier not in tried:
        tried.append(attempt.carrier)
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
    timeline.append(conn, message.id, _entry(attempt, Status.PENDING, decision, now_ms))
    if not code_is_wanted(conn, message, now_ms):
        # A withdrawn code has no event of its own: the stamp's ids are not used.
        return withdraw_code(conn, message.id, "ended", Stamp(now_ms))
    return (change_of(message, now_ms, decision.line, decision.raw),)


def give_back(
    conn: sqlite3.Connection, attempt: Attempt, cause: Cause | None, now_ms: int
) -> tuple[Change, ...]:
    """Queue a message again, for this carrier alone, whose parts went out only in part.

    Args:
        attempt: the last one of it, at whichever segment.
        cause: None where the operator paused the carrier.
    """
    message = load(conn, attempt.message_id)
    if message is None or message.status is not Status.PROCESSING:
        return ()
    decision = Decision(
        Step.REQUEUE,
        SegmentState.WAITING,
        Line(Kind.PARTS_WAIT, cause),
        route=f"@{attempt.carrier}",
    )
    return requeue(conn, message, attempt, decision, now_ms)
