"""Attempts and their outcomes: each function is (part of) one unit of work.

:func:`start` and :func:`finish` take the attempts of many messages. Each has its own result: an
exception of one of them is raised, and the unit is tried again attempt by attempt.

The states of contract §3 are enforced here, inside the transaction: for any caller, a message that
is final stays final, and late news is a line in its timeline.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.messages import held, parts, repeats, timeline
from risala.engine.journal.messages.endings import (
    code_is_wanted,
    code_was_entered,
    fail,
    has_arrived,
    settle,
    withdraw_code,
)
from risala.engine.journal.messages.sessions import forget_sealed
from risala.engine.journal.messages.sheet import Sheet
from risala.engine.journal.messages.timeline import ATTEMPT
from risala.engine.journal.messages.under_way import UnderWay
from risala.engine.journal.state import MessageState, change_of, load
from risala.engine.journal.store import names
from risala.engine.journal.webhooks import outbox
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import SENT, SENT_NAMELESS, Kind, Line
from risala.engine.model.numbers import action_number
from risala.engine.model.records.attempts import (
    Attempt,
    Decision,
    Lease,
    Started,
    Step,
    SubmitAnswer,
)
from risala.engine.model.records.messages import Change, Stamp
from risala.engine.model.states import SegmentState, Status
from risala.engine.rules.receiptgroups import Groups, alone
from risala.engine.rules.router import usual_of
from risala.sms.cause import Cause, cause_of
from risala.sms.message import WHOLE


def start(
    conn: sqlite3.Connection,
    leases: Sequence[Lease],
    now_ms: int,
    under_way: UnderWay | None = None,
) -> list[Started | None]:
    """Record that segments are about to be submitted, before a byte of them leaves.

    None is the result for a message that must no longer be sent (withdrawn, expired, held).
    """
    memory = under_way or UnderWay()
    sheet, active = Sheet(conn), _Active(conn)
    noted = opt_outs.anybody_heeds(conn)
    queued = memory.of_leases(conn, leases)
    started: list[Started | None] = []
    for lease in leases:
        message = queued.pop(lease.message_id, None) or sheet.load(lease.message_id)
        one = None
        if message is not None:
            one = _start_one(conn, sheet, active, message, lease, now_ms, noted=noted)
            if one is not None and message.segments == 1:
                memory.leaves(message)
        started.append(one)
    sheet.write()
    return started


class _Active:
    """Which organizations may send, looked up once in a unit."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._known: dict[int, bool] = {}

    def may_send(self, organization: int) -> bool:
        known = self._known.get(organization)
        if known is None:
            row = self._conn.execute(_IS_ACTIVE, (organization,)).fetchone()
            known = self._known[organization] = row is not None
        return known


_IS_ACTIVE: Final = "SELECT 1 FROM organizations WHERE no = ? AND status = 'active'"


def _start_one(
    conn: sqlite3.Connection,
    sheet: Sheet,
    active: _Active,
    message: MessageState,
    lease: Lease,
    now_ms: int,
    *,
    noted: bool,
) -> Started | None:
    if not lease.opens:
        if message.status is not Status.PROCESSING:
            return None
        if lease.repeat is not None:
            may_send = active.may_send(message.organization)
            return repeats.begin(conn, message, lease, now_ms, may_send=may_send)
        parts.submit(conn, message, lease.segment, lease.carrier, now_ms)
        return Started(message.attempts, ())
    may_go = message.status is Status.PENDING and message.valid_until > now_ms
    if not may_go or not active.may_send(message.organization):
        return None
    message.status, message.carrier = Status.PROCESSING, lease.carrier
    message.attempts += 1
    line = ATTEMPT
    if lease.from_line is not None:
        line = Line(Kind.ATTEMPT, values={"line": lease.from_line})
    if (usual := usual_of(message.route)) is not None and usual != lease.carrier:
        line = Line(Kind.ATTEMPT, values={**(line.values or {}), "usual": usual})
    entry = TimelineEntry(
        *(now_ms, Status.PROCESSING, line, lease.carrier, message.attempts, lease.segment)
    )
    sheet.open(message, entry)
    if message.segments > 1:
        parts.submit(conn, message, lease.segment, lease.carrier, now_ms)
    if noted and message.mode == "live":
        opt_outs.note_writer(conn, message, now_ms)
    return Started(message.attempts, (change_of(message, now_ms, line),))


def finish(
    conn: sqlite3.Connection,
    answers: Sequence[SubmitAnswer],
    groups: Groups = alone,
    under_way: UnderWay | None = None,
) -> list[tuple[Change, ...]]:
    """Record the outcomes of submits, and their consequences."""
    memory = under_way or UnderWay()
    sheet = Sheet(conn)
    anything_held = held.is_any(conn)
    known = memory.of_answers(conn, answers)
    changes: list[tuple[Change, ...]] = []
    for answer in answers:
        message_id = answer.attempt.message_id
        message = known.pop(message_id, None) or sheet.load(message_id)
        if message is None:
            changes.append(())
        elif (
            _is_plain_yes(message, answer)
            and not (
                anything_held and held.is_waiting(conn, groups(answer.attempt.carrier), answer)
            )
            and not code_was_entered(conn, message)
        ):
            changes.append((_send(conn, sheet, message, answer),))
            memory.sent(message)
        else:
            sheet.write()
            changes.append(finish_one(conn, answer, groups))
    sheet.write()
    return changes


def finish_one(
    conn: sqlite3.Connection, answer: SubmitAnswer, groups: Groups = alone
) -> tuple[Change, ...]:
    """Record the outcome of one submit."""
    message = load(conn, answer.attempt.message_id)
    return () if message is None else _finish(conn, message, answer, groups)


def _is_plain_yes(message: MessageState, answer: SubmitAnswer) -> bool:
    """Whether a carrier has accepted the only part of a message that waits for just that."""
    return (
        answer.decision.step is Step.ADVANCE
        and answer.decision.segment_state is SegmentState.ACCEPTED
        and answer.live
        and message.segments == 1
        and message.status is Status.PROCESSING
        and message.part_state in (parts.SUBMITTING, parts.UNCERTAIN)
        and message.attempts == answer.attempt.number
    )


def _send(
    conn: sqlite3.Connection, sheet: Sheet, message: MessageState, answer: SubmitAnswer
) -> Change:
    decision, now_ms = answer.decision, answer.stamp.now_ms
    assert decision.carrier_id is not None
    line = decision.sent
    if line is SENT and decision.carrier_id == "":
        line = SENT_NAMELESS
    message.status = Status.SENT
    entry = TimelineEntry(
        now_ms, Status.SENT, line, message.carrier, message.attempts, raw=decision.raw
    )
    sheet.send(message, decision.carrier_id, entry)
    forget_sealed(conn, message)
    sheet.announce(outbox.event_of(conn, message, now_ms, is_plain=True))
    return change_of(message, now_ms, line, decision.raw)


def _finish(
    conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer, groups: Groups
) -> tuple[Change, ...]:
    attempt, decision, now_ms = answer.attempt, answer.decision, answer.stamp.now_ms
    part = parts.one(conn, message, attempt.segment)
    if part is None:
        return ()
    current = part.attempt == attempt.number and part.state in (
        SegmentState.SUBMITTING,
        SegmentState.UNCERTAIN,
    )
    is_about_another = not answer.live and _has_another_submit(conn, message, part, answer)
    if not current or is_about_another or message.status is not Status.PROCESSING:
        _note_late(conn, message, answer)
        return ()
    if decision.step is Step.AWAIT:
        known_as = held.named(conn, groups(attempt.carrier), message, attempt)
        if known_as is not None:
            answer = accepted_by_receipt(attempt, known_as, answer.stamp)
            decision = answer.decision
    state, carrier_id = decision.segment_state, decision.carrier_id
    if decision.step is Step.AWAIT:
        if part.state is SegmentState.SUBMITTING and not decision.is_answered:
            _count_uncertain(conn, message, attempt, lost_link=decision.lost_link)
        if carrier_id is None:  # an earlier submit of the same attempt may have told it
            carrier_id = part.carrier_id
    parts.answered(conn, message, attempt.segment, state, carrier_id, now_ms)
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
                message,
                decision.line.cause or Cause.REJECTED,
                answer.stamp,
                raw=decision.raw,
                values=decision.line.values,
            )


def _has_another_submit(
    conn: sqlite3.Connection, message: MessageState, part: parts.BegunPart, answer: SubmitAnswer
) -> bool:
    """Whether a late *no* says too little: the same attempt was submitted again, and the other
    submit may have been taken, or is still open."""
    if answer.decision.step is Step.ADVANCE:
        return False
    if part.state is SegmentState.SUBMITTING:
        return True
    is_no = answer.decision.step is not Step.AWAIT
    return is_no and repeats.was_repeated(conn, message, answer.attempt)


def accepted_by_receipt(attempt: Attempt, carrier_id: str, stamp: Stamp) -> SubmitAnswer:
    """The effect of a receipt on an uncertain segment: it was accepted after all."""
    line = Line(Kind.TAKEN_BY_RECEIPT)
    decision = Decision(Step.ADVANCE, SegmentState.ACCEPTED, line, carrier_id=carrier_id)
    return SubmitAnswer(attempt, decision, stamp, live=False)


def _entry(
    attempt: Attempt, status: Status, decision: Decision, at: int, line: Line | None = None
) -> TimelineEntry:
    """The timeline's entry for an attempt: the decision's own line, or another."""
    return TimelineEntry(
        at,
        status,
        line or decision.line,
        attempt.carrier,
        attempt.number,
        attempt.segment,
        decision.raw,
    )


def _count_uncertain(
    conn: sqlite3.Connection, message: MessageState, attempt: Attempt, *, lost_link: bool
) -> None:
    parts.count_uncertain(conn, message, attempt.segment)
    if lost_link:
        conn.execute(
            "UPDATE message SET link_losses = link_losses + 1 WHERE key = ?", (message.key,)
        )


def _note_late(conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer) -> None:
    cause, values = answer.decision.line.cause, answer.decision.line.values
    note = {"note": values["note"]} if values and "note" in values else None
    line, now_ms = Line(Kind.ANSWER_LATE, cause, note), answer.stamp.now_ms
    entry = _entry(answer.attempt, message.status, answer.decision, now_ms, line)
    timeline.append(conn, message.key, entry)


def _advance(
    conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer, early: Sequence[_Early]
) -> tuple[Change, ...]:
    attempt, decision, stamp = answer.attempt, answer.decision, answer.stamp
    assert decision.carrier_id is not None
    conn.execute(
        "UPDATE message SET resolve_at = NULL, resolve_action = NULL, updated_at = ? WHERE key = ?",
        (stamp.now_ms, message.key),
    )
    if message.segments > 1:  # the line of a single part is the part's own
        conn.execute(
            "UPDATE message SET carrier_id = coalesce(carrier_id, ?) WHERE key = ?",
            (decision.carrier_id, message.key),
        )
    by_receipt = decision.line.kind is Kind.TAKEN_BY_RECEIPT
    goes_in_parts = message.segments > 1 and attempt.segment != WHOLE
    if goes_in_parts or by_receipt:  # a single part gets the line that it is sent
        part = Line(Kind.PART_ACCEPTED, values={"parts": message.segments})
        line = decision.line if by_receipt else part
        entry = _entry(attempt, message.status, decision, stamp.now_ms, line)
        timeline.append(conn, message.key, entry)
    if goes_in_parts:
        _tell(conn, message, answer, early[:1])
    has_arrived(conn, message, stamp.now_ms)
    word = early[0].raw if early else None
    changes = settle(conn, message, stamp, raw=decision.raw, sent=decision.sent, receipt_raw=word)
    if early[1:]:
        _tell(conn, message, answer, early[1:])
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
    """A receipt that came before the answer, for the timeline."""

    line: Line
    carrier: str
    raw: str


def _use_held_receipts(
    conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer, carriers: Sequence[str]
) -> list[_Early]:
    """Receipts may have come before the answer with their id: use the first, and note all."""
    carrier_id = answer.decision.carrier_id
    if not carrier_id:
        return []
    early: list[_Early] = []
    state: str = SegmentState.ACCEPTED
    for each in held.take(conn, carriers, message, carrier_id):
        cause = cause_of(each.error_code, Cause.UNDELIVERABLE)
        why = None if each.state == SegmentState.DELIVERED else cause
        line = Line(Kind.RECEIPT, why, {"parts": message.segments, "early": 1})
        if state == SegmentState.ACCEPTED:
            word = Word(each.state, each.raw, cause)
            note_receipt(conn, message, answer.attempt.segment, word, answer.stamp.now_ms)
            state = each.state
        elif state == each.state:
            line = Line(Kind.RECEIPT_AGAIN)
        else:
            line = Line(Kind.RECEIPT_CONTRADICTS, why)
        early.append(_Early(line, each.carrier, each.raw))
    return early


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
        timeline.append(conn, message.key, entry)


@dataclass(frozen=True, slots=True)
class Word:
    """The content of a final receipt for a segment."""

    state: str
    """A :class:`SegmentState`."""
    raw: str
    cause: Cause
    """Why it was not delivered; without meaning for a delivered one."""


def note_receipt(
    conn: sqlite3.Connection, message: MessageState, number: int, word: Word, now_ms: int
) -> None:
    """Set one segment by its final receipt."""
    moved = parts.receipted(conn, message, number, word.state, now_ms)
    if moved and word.state == SegmentState.UNDELIVERED:
        conn.execute(
            "UPDATE message SET error_code = ?, carrier_code = ? WHERE key = ?",
            (word.cause, word.raw or None, message.key),
        )


def _await_answer(
    conn: sqlite3.Connection, message: MessageState, answer: SubmitAnswer
) -> tuple[Change, ...]:
    decision, now_ms = answer.decision, answer.stamp.now_ms
    conn.execute(
        "UPDATE message SET resolve_at = ?, resolve_action = ?, updated_at = ? WHERE key = ?",
        (decision.resolve_at, action_number(decision.resolve_action), now_ms, message.key),
    )
    entry = _entry(answer.attempt, Status.PROCESSING, decision, now_ms)
    timeline.append(conn, message.key, entry)
    change = change_of(message, now_ms, decision.line, decision.raw)
    if has_arrived(conn, message, now_ms):
        return (change, *settle(conn, message, answer.stamp))
    return (change,)


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
        "UPDATE message SET status = 0, due_at = ?, route = ?, tried = ?, refusals = refusals + ?,"
        " resolve_at = NULL, resolve_action = NULL, updated_at = ? WHERE key = ?",
        (
            message.due_at,
            names.number(conn, message.route),
            ",".join(tried) or None,
            int(decision.counts_as_refusal),
            now_ms,
            message.key,
        ),
    )
    timeline.append(conn, message.key, _entry(attempt, Status.PENDING, decision, now_ms))
    if not code_is_wanted(conn, message, now_ms):
        return withdraw_code(conn, message, "ended", Stamp(now_ms))
    return (change_of(message, now_ms, decision.line, decision.raw),)


def give_back(
    conn: sqlite3.Connection, attempt: Attempt, cause: Cause | None, now_ms: int
) -> tuple[Change, ...]:
    """Queue a message with some parts already sent again, for this carrier alone.

    Args:
        attempt: its last attempt, at any segment.
        cause: None if the operator paused the carrier.
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
