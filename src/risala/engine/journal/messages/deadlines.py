"""What time alone does: validity ends, uncertainty is resolved, a crash is cleared up."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final

from risala.config.model import OnUncertain
from risala.engine.journal.attempts import Attempt
from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.delivery import requeue
from risala.engine.journal.messages.endings import fail
from risala.engine.journal.messages.receipts import take_those_with_receipts
from risala.engine.journal.messages.state import MessageState, load
from risala.engine.journal.rows import ALONE_AFTER_LOSSES, Change, Stamp
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import Kind, Line, Values, line_of
from risala.engine.model.states import ACKNOWLEDGED, SegmentState, Status
from risala.engine.rules.receiptgroups import Groups, alone
from risala.engine.rules.retry import Decision, Step
from risala.sms.cause import Cause


def expire_due(conn: sqlite3.Connection, stamps: Sequence[Stamp]) -> tuple[Change, ...]:
    """Fail pending messages whose validity is over, at most as many as there are stamps."""
    now_ms = stamps[0].now_ms
    rows = conn.execute(
        "SELECT id FROM messages WHERE status = 'pending' AND valid_until <= ?"
        " ORDER BY valid_until LIMIT ?",
        (now_ms, len(stamps)),
    ).fetchall()
    changes: list[Change] = []
    for (message_id,), stamp in zip(rows, stamps, strict=False):
        changes += fail(conn, message_id, Cause.VALIDITY_OVER, stamp)
    return tuple(changes)


SUBMITS_MAX: Final = 3
"""See ``delivery.uncertain_submits_max``."""


def resolve_due(
    conn: sqlite3.Connection,
    stamps: Sequence[Stamp],
    groups: Groups = alone,
    submits_max: int = SUBMITS_MAX,
) -> tuple[Change, ...]:
    """Settle uncertain messages whose wait is over, by their carrier's policy.

    Args:
        submits_max: of one segment with an unknown outcome; then it is not sent again.
    """
    now_ms = stamps[0].now_ms
    rows = conn.execute(
        "SELECT id, resolve_action FROM messages WHERE resolve_at <= ? ORDER BY resolve_at LIMIT ?",
        (now_ms, len(stamps)),
    ).fetchall()
    changes: list[Change] = []
    for (message_id, action), stamp in zip(rows, stamps, strict=False):
        message = load(conn, message_id)
        assert message is not None
        if taken := take_those_with_receipts(conn, message, stamp, groups):
            changes += taken
        elif (
            action == "resend"
            and message.valid_until > now_ms
            and _submits(conn, message_id) < submits_max
        ):
            changes += _resend(conn, message, now_ms)
        else:
            values, raw = _last_uncertainty(conn, message_id)
            changes += fail(conn, message_id, Cause.UNCERTAIN, stamp, raw, values)
    return tuple(changes)


def _last_uncertainty(conn: sqlite3.Connection, message_id: str) -> tuple[Values, str | None]:
    """Why nobody knows, for the sentence; and the carrier's word, where it said so itself."""
    row = conn.execute(
        "SELECT details, raw FROM timeline WHERE message_id = ? AND kind = ?"
        " ORDER BY n DESC LIMIT 1",
        (message_id, Kind.UNCERTAIN.value),
    ).fetchone()
    if row is None:
        return {}, None
    line = line_of(Kind.UNCERTAIN, row[0], "")
    if line.cause is None:
        return {}, None
    raw = row[1] if line.cause is Cause.NOT_ACKNOWLEDGED else None
    return {"last": line.cause.value, **(line.values or {})}, raw


def _submits(conn: sqlite3.Connection, message_id: str) -> int:
    """How often the segment was submitted whose outcome is not known."""
    (most,) = conn.execute(
        "SELECT max(uncertain) FROM segments WHERE message_id = ? AND state = ?",
        (message_id, SegmentState.UNCERTAIN),
    ).fetchone()
    return most or 0


def _resend(conn: sqlite3.Connection, message: MessageState, now_ms: int) -> tuple[Change, ...]:
    conn.execute(
        "UPDATE segments SET state = 'waiting', updated_at = ?"
        " WHERE message_id = ? AND state = 'uncertain'",
        (now_ms, message.id),
    )
    decision = Decision(
        Step.REQUEUE,
        SegmentState.WAITING,
        Line(Kind.RESENT, values={"alone": 1} if _goes_alone(conn, message.id) else None),
        due_at=now_ms,
        route=_follow_route(conn, message),
    )
    return requeue(conn, message, _last_attempt(message), decision, now_ms)


def _last_attempt(message: MessageState) -> Attempt:
    return Attempt(message.id, 1, message.attempts, message.carrier or "")


def _goes_alone(conn: sqlite3.Connection, message_id: str) -> bool:
    (losses,) = conn.execute(
        "SELECT link_losses FROM messages WHERE id = ?", (message_id,)
    ).fetchone()
    return bool(losses >= ALONE_AFTER_LOSSES)


def _follow_route(conn: sqlite3.Connection, message: MessageState) -> str | None:
    """The route of this carrier alone where it has some parts of the message already."""
    accepted = conn.execute(
        "SELECT 1 FROM segments WHERE message_id = ? AND state IN (?, ?, ?) LIMIT 1",
        (message.id, *ACKNOWLEDGED),
    ).fetchone()
    return f"@{message.carrier}" if accepted and message.carrier else None


def recover(
    conn: sqlite3.Connection, policy: Callable[[str, str], OnUncertain], now_ms: int, count: int
) -> int:
    """Clear up after a crash: attempts that started and never ended are uncertain.

    ``policy`` takes a carrier's name and a message's kind. Returns how many were cleared up; call
    again until it is 0.
    """
    rows = conn.execute(
        "SELECT id, kind FROM messages WHERE status = 'processing' AND resolve_at IS NULL LIMIT ?",
        (count,),
    ).fetchall()
    for message_id, kind in rows:
        message = load(conn, message_id)
        assert message is not None
        _recover_one(conn, message, policy(message.carrier or "", kind), now_ms)
    return len(rows)


def _recover_one(
    conn: sqlite3.Connection, message: MessageState, policy: OnUncertain, now_ms: int
) -> None:
    lost = conn.execute(
        "UPDATE segments SET state = 'uncertain', uncertain = uncertain + 1, updated_at = ?"
        " WHERE message_id = ? AND state = 'submitting'",
        (now_ms, message.id),
    )
    if lost.rowcount:
        conn.execute(
            "UPDATE messages SET resolve_at = ?, resolve_action = ?, updated_at = ? WHERE id = ?",
            (now_ms + round(policy.after_s * 1000), policy.action, now_ms, message.id),
        )
        entry = TimelineEntry(
            now_ms,
            Status.PROCESSING,
            Line(Kind.UNCERTAIN, Cause.SERVICE_STOPPED),
            message.carrier,
            message.attempts,
        )
        timeline.append(conn, message.id, entry)
        return
    decision = Decision(
        Step.REQUEUE,
        SegmentState.WAITING,
        Line(Kind.PARTS_WAIT, Cause.SERVICE_STOPPED),
        route=_follow_route(conn, message),
    )
    requeue(conn, message, _last_attempt(message), decision, now_ms)


def next_deadline(conn: sqlite3.Connection) -> int | None:
    """When the next validity or uncertainty ends."""
    row = conn.execute(
        "SELECT min(at) FROM (SELECT min(valid_until) AS at FROM messages WHERE status = 'pending'"
        " UNION ALL SELECT min(resolve_at) FROM messages WHERE resolve_at IS NOT NULL)"
    ).fetchone()
    at: int | None = row[0]
    return at
