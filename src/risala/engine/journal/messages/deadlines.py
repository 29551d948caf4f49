"""Effects of time: validity ends, uncertainty is resolved, a crash is cleared up."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from risala.engine.journal.messages import parts, repeats, timeline
from risala.engine.journal.messages.delivery import requeue
from risala.engine.journal.messages.endings import fail
from risala.engine.journal.messages.receipts import take_those_with_receipts
from risala.engine.journal.state import MessageState, load_key
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import Kind, Line, Values, line_of, undecided
from risala.engine.model.numbers import ACTIONS, action_number
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.records.messages import ALONE_AFTER_LOSSES, Change, Stamp
from risala.engine.model.states import SegmentState, Status
from risala.engine.rules.receiptgroups import Groups, alone
from risala.engine.rules.repeats import Resolution
from risala.sms.cause import Cause

_EXPIRED: Final = (
    "SELECT key, NULL FROM message WHERE status = 0 AND valid_until <= ?"
    " ORDER BY valid_until LIMIT ?"
)
_RESOLVED: Final = (
    "SELECT key, resolve_action FROM message WHERE resolve_at <= ? ORDER BY resolve_at LIMIT ?"
)
_ONE_EXPIRED: Final = (
    "SELECT key, NULL FROM message WHERE status = 0 AND valid_until <= ? AND key = ?"
)
_ONE_RESOLVED: Final = "SELECT key, resolve_action FROM message WHERE resolve_at <= ? AND key = ?"


def due(conn: sqlite3.Connection, now_ms: int, count: int) -> list[int]:
    """The keys of messages whose validity or uncertainty is over, so many of each at most."""
    return [
        key for query in (_EXPIRED, _RESOLVED) for key, _ in conn.execute(query, (now_ms, count))
    ]


def expire_due(
    conn: sqlite3.Connection, stamps: Sequence[Stamp], only: int | None = None
) -> tuple[Change, ...]:
    """Fail pending messages whose validity is over, at most as many as there are stamps.

    Args:
        only: the key of the one message that is meant; None: all.
    """
    now_ms = stamps[0].now_ms
    query, which = (_EXPIRED, len(stamps)) if only is None else (_ONE_EXPIRED, only)
    rows = conn.execute(query, (now_ms, which)).fetchall()
    changes: list[Change] = []
    for (key, _), stamp in zip(rows, stamps, strict=False):
        values, raw = _last_word(conn, key, _NOT_TAKEN)
        changes += fail(conn, load_key(conn, key), Cause.VALIDITY_OVER, stamp, raw, values)
    return tuple(changes)


_NOT_TAKEN: Final = (Kind.UNCERTAIN, Kind.HELD_BACK, Kind.REFUSED_FOR_NOW, Kind.REROUTED)
"""The results of an attempt after which a message waits for another one."""
_NOT_THE_CARRIERS: Final = frozenset(
    (Cause.NO_ANSWER, Cause.LINK_LOST, Cause.SERVICE_STOPPED, Cause.LINK_DOWN, Cause.BUSY)
)
"""Causes without a report of the carrier: the word beside them is our own."""
RESEND: Final = ACTIONS.number("resend")
SUBMITS_MAX: Final = 3
"""See ``delivery.uncertain_submits_max``."""


def resolve_due(
    conn: sqlite3.Connection,
    stamps: Sequence[Stamp],
    groups: Groups = alone,
    submits_max: int = SUBMITS_MAX,
    only: int | None = None,
) -> tuple[Change, ...]:
    """Settle uncertain messages whose wait is over, by their carrier's policy.

    Those whose carrier is asked first, or that it gets again as the same attempt, are left alone:
    they wait for that.

    Args:
        submits_max: of one segment with an unknown outcome; then it is not sent again.
        only: the key of the one message that is meant; None: all.
    """
    now_ms = stamps[0].now_ms
    query, which = (_RESOLVED, len(stamps)) if only is None else (_ONE_RESOLVED, only)
    rows = conn.execute(query, (now_ms, which)).fetchall()
    changes: list[Change] = []
    for (key, action), stamp in zip(rows, stamps, strict=False):
        message = load_key(conn, key)
        if taken := take_those_with_receipts(conn, message, stamp, groups):
            changes += taken
        elif action is None and repeats.uncertain(conn, message) is not None:
            continue
        elif (
            action == RESEND
            and message.valid_until > now_ms
            and _submits(conn, message) < submits_max
        ):
            changes += _resend(conn, message, now_ms)
        else:
            values, raw = _last_word(conn, key, (Kind.UNCERTAIN,))
            changes += fail(conn, message, Cause.UNCERTAIN, stamp, raw, values)
    return tuple(changes)


def _last_word(
    conn: sqlite3.Connection, key: int, kinds: Sequence[Kind]
) -> tuple[Values, str | None]:
    """The latest line of these kinds, for the sentence of the message's end; and the carrier's own
    code, if it was the carrier's."""
    row = conn.execute(
        "SELECT kind, details, raw FROM line"  # noqa: S608 -- constants
        f" WHERE message = ? AND kind IN ({markers(kinds)}) ORDER BY n DESC LIMIT 1",
        (key, *(kind.value for kind in kinds)),
    ).fetchone()
    if row is None:
        return {}, None
    kind, details, word = row
    line = line_of(kind, details)
    if line.cause is None:
        return {}, None
    values = line.values or {}
    note = {"note": values["note"]} if "note" in values else {}
    raw = None if line.cause in _NOT_THE_CARRIERS else word
    return {"last": line.cause.value, **note}, raw


def _submits(conn: sqlite3.Connection, message: MessageState) -> int:
    """How often the segment with the unknown outcome was submitted."""
    unknown = [
        part.uncertain for part in parts.of(conn, message) if part.state is SegmentState.UNCERTAIN
    ]
    return max(unknown, default=0)


def _resend(conn: sqlite3.Connection, message: MessageState, now_ms: int) -> tuple[Change, ...]:
    parts.uncertain_wait(conn, message, now_ms)
    decision = Decision(
        Step.REQUEUE,
        SegmentState.WAITING,
        Line(Kind.RESENT, values={"alone": 1} if _goes_alone(conn, message.key) else None),
        due_at=now_ms,
        route=_follow_route(conn, message),
    )
    return requeue(conn, message, _last_attempt(message), decision, now_ms)


def _last_attempt(message: MessageState) -> Attempt:
    return Attempt(message.id, 1, message.attempts, message.carrier or "")


def _goes_alone(conn: sqlite3.Connection, key: int) -> bool:
    (losses,) = conn.execute("SELECT link_losses FROM message WHERE key = ?", (key,)).fetchone()
    return bool(losses >= ALONE_AFTER_LOSSES)


def _follow_route(conn: sqlite3.Connection, message: MessageState) -> str | None:
    """The route of this carrier alone if it already has some parts of the message."""
    is_with_it = message.carrier and parts.any_acknowledged(conn, message)
    return f"@{message.carrier}" if is_with_it else None


def interrupted(conn: sqlite3.Connection, count: int) -> list[tuple[int, str]]:
    """Messages whose attempt started and never ended, so many at most: the key and id of each."""
    return conn.execute(
        "SELECT key, id FROM message WHERE status = 1 AND resolve_at IS NULL LIMIT ?", (count,)
    ).fetchall()


def recover(
    conn: sqlite3.Connection,
    interrupted: Iterable[tuple[int, str]],
    policy: Callable[[str, str], Resolution],
    now_ms: int,
) -> None:
    """Clear up after a crash: attempts that started and never ended are uncertain.

    ``policy`` takes a carrier's name and a message's kind.
    """
    for key, _ in interrupted:
        message = load_key(conn, key)
        _recover_one(conn, message, policy(message.carrier or "", message.kind), now_ms)


def _recover_one(
    conn: sqlite3.Connection, message: MessageState, policy: Resolution, now_ms: int
) -> None:
    if parts.lose(conn, message, now_ms):
        resolve_at, action = now_ms + round(policy.after_s * 1000), action_number(policy.action)
        conn.execute(
            "UPDATE message SET resolve_at = ?, resolve_action = ?, updated_at = ? WHERE key = ?",
            (resolve_at, action, now_ms, message.key),
        )
        entry = TimelineEntry(
            now_ms,
            Status.PROCESSING,
            Line(Kind.UNCERTAIN, Cause.SERVICE_STOPPED, undecided(resolve_at, policy.then)),
            message.carrier,
            message.attempts,
        )
        timeline.append(conn, message.key, entry)
        return
    decision = Decision(
        Step.REQUEUE,
        SegmentState.WAITING,
        Line(Kind.PARTS_WAIT, Cause.SERVICE_STOPPED),
        route=_follow_route(conn, message),
    )
    requeue(conn, message, _last_attempt(message), decision, now_ms)


def next_deadline(conn: sqlite3.Connection, after_ms: int = 0) -> int | None:
    """When the next validity or uncertainty ends.

    Args:
        after_ms: of those that end later than this.
    """
    at: int | None = value_of(
        conn,
        "SELECT min(at) FROM (SELECT min(valid_until) AS at FROM message"
        " WHERE status = 0 AND valid_until > ?1"
        " UNION ALL SELECT min(resolve_at) FROM message WHERE resolve_at > ?1)",
        (after_ms,),
    )
    return at
