"""The queue of texts that rules forward: a row of each text and way, so that it is known.

A row has no text: that is read where it came in, when the row's turn comes. By SMS the row is
settled in the transaction that accepts the message, and by mail in the one that owes the mail. A
call of a chat or a webhook is made before its row is settled: a crash repeats it, with its id.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.answers.forwards import (
    CALLS_PER_HOUR,
    FORWARD_SENTENCES,
    FORWARDS_MAX,
    GIVEN_UP_MS,
    MAILS_PER_HOUR,
    CameIn,
    ForwardFault,
    ForwardKind,
    WaitingForward,
    shown_target,
    targets_of,
)
from risala.engine.features.answers.records import DAY_MS, HOUR_MS, AnswerLimits
from risala.engine.features.answers.rule_records import AnswerRule
from risala.engine.features.answers.stored.queue import answers_code, is_phone, sent_within_hour
from risala.engine.journal.messages.messages import OVER, Around, redact
from risala.engine.journal.people import mails, members, users
from risala.engine.journal.store.named import BrokenRow, Rows, readable
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.errors import Refusal
from risala.engine.model.ids import first_id, key_of
from risala.engine.model.people_records import MailKind, NewMail
from risala.engine.model.records.conversations import Forwarded
from risala.engine.model.records.messages import Acceptance, Stamp
from risala.engine.model.times import iso, maybe_iso

_PER_HOUR: Final = {
    ForwardKind.MAIL: MAILS_PER_HOUR,
    ForwardKind.TELEGRAM: CALLS_PER_HOUR,
    ForwardKind.WEBHOOK: CALLS_PER_HOUR,
}
EACH_MAX: Final = 2
"""Forwards of an organization that are read together: another's are not kept waiting."""


class ForwardRefused(Refusal):
    """A text is not forwarded."""

    def __init__(self, fault: ForwardFault) -> None:
        super().__init__(f"The text is not forwarded: {fault.value}.")
        self.fault = fault


class ForwardSettled(Refusal):
    """A text was forwarded or refused already."""


def put_in(
    conn: sqlite3.Connection, rule: AnswerRule, text_id: str, number: str, stamp: Stamp
) -> None:
    """Put what a rule forwards into the queue, in the transaction that receives the text."""
    for kind, target in targets_of(rule):
        fault = _fault_at_once(conn, rule.organization_id, kind, number, target)
        conn.execute(
            "INSERT INTO answer_forwards (text_id, kind, organization_id, rule_id, name, number,"
            " target, at, due_at, tries, refused)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING",
            (
                *(text_id, kind.value, rule.organization_id, rule.id, rule.name, number, target),
                stamp.now_ms,
                stamp.now_ms if fault is None else None,
                None if fault is None else fault.value,
            ),
        )


def _fault_at_once(
    conn: sqlite3.Connection, organization_id: str, kind: ForwardKind, number: str, target: str
) -> ForwardFault | None:
    if kind is ForwardKind.SMS and would_loop(conn, organization_id, number, target):
        return ForwardFault.LOOP
    waits = value_of(
        conn,
        "SELECT 1 FROM answer_forwards INDEXED BY answer_forwards_waiting"
        " WHERE organization_id = ? AND due_at IS NOT NULL LIMIT 1 OFFSET ?",
        (organization_id, FORWARDS_MAX - 1),
    )
    return None if waits is None else ForwardFault.FULL


def would_loop(conn: sqlite3.Connection, organization_id: str, number: str, target: str) -> bool:
    """Whether texts of a number are not forwarded by SMS: it is the target, or that of any rule."""
    if number == target:
        return True
    statement = "SELECT 1 FROM answer_rules WHERE organization_id = ? AND forward_number = ?"
    return value_of(conn, statement, (organization_id, number)) is not None


# -- letting one leave

_WAITING: Final = Rows(WaitingForward, kind=ForwardKind)
_CAME: Final = Rows(CameIn)


def due(
    conn: sqlite3.Connection, now_ms: int, limit: int, broken: BrokenRow
) -> list[WaitingForward]:
    """Forwards whose turn it is, the longest waiting first, a few of each organization."""
    rows = conn.execute(
        f"SELECT {_WAITING.columns} FROM (SELECT *, row_number() OVER"  # noqa: S608 -- constants
        " (PARTITION BY organization_id ORDER BY due_at) AS turn FROM answer_forwards"
        " WHERE due_at IS NOT NULL AND due_at <= ?) WHERE turn <= ? ORDER BY due_at LIMIT ?",
        (now_ms, EACH_MAX, limit),
    )
    return [*readable(rows.fetchall(), _WAITING.of, 0, broken)]


def next_due(conn: sqlite3.Connection) -> int | None:
    """When the next turn is; None: no forward waits."""
    statement = "SELECT min(due_at) FROM answer_forwards WHERE due_at IS NOT NULL"
    at: int | None = value_of(conn, statement)
    return at


def text_of(conn: sqlite3.Connection, text_id: str) -> CameIn | None:
    """The text; None: it is no longer kept."""
    row = conn.execute(
        f"SELECT {_CAME.columns} FROM inbound WHERE id = ?",  # noqa: S608 -- constants
        (text_id,),
    ).fetchone()
    return None if row is None else _CAME.of(row)


def waits(conn: sqlite3.Connection, forward: WaitingForward) -> bool:
    """Whether it waits for its turn."""
    statement = (
        "SELECT 1 FROM answer_forwards WHERE text_id = ? AND kind = ? AND due_at IS NOT NULL"
    )
    return value_of(conn, statement, (forward.text_id, forward.kind.value)) is not None


def fault(
    conn: sqlite3.Connection, forward: WaitingForward, limits: AnswerLimits, now_ms: int
) -> ForwardFault | None:
    """Why a text must not be forwarded; None: it may."""
    mine, number = forward.organization_id, forward.number
    if is_phone(number) and answers_code(conn, mine, number, forward.at):
        return ForwardFault.CODE
    hour_ms = now_ms - HOUR_MS
    if forward.kind is not ForwardKind.SMS:
        most = _PER_HOUR[forward.kind]
        is_over = _done_since(conn, mine, forward.kind, hour_ms, most) >= most
        return ForwardFault.PER_HOUR if is_over else None
    of_number = value_of(
        conn,
        "SELECT 1 FROM answer_forwards INDEXED BY answer_forwards_by_number"
        " WHERE organization_id = ? AND number = ? AND kind = 'sms' AND done_at > ?"
        " LIMIT 1 OFFSET ?",
        (mine, number, now_ms - DAY_MS, limits.per_number_and_day - 1),
    )
    if of_number is not None:
        return ForwardFault.PER_DAY
    is_over = sent_within_hour(conn, mine, hour_ms, limits.per_organization_and_hour)
    return ForwardFault.PER_HOUR if is_over else None


def _done_since(
    conn: sqlite3.Connection, organization_id: str, kind: ForwardKind, since_ms: int, most: int
) -> int:
    count: int = value_of(
        conn,
        "SELECT count(*) FROM (SELECT 1 FROM answer_forwards INDEXED BY answer_forwards_done"
        " WHERE organization_id = ? AND kind = ? AND done_at > ? LIMIT ?)",
        (organization_id, kind.value, since_ms, most),
    )
    return count


def _leaving(
    forward: WaitingForward, limits: AnswerLimits, now_ms: int, unit: Unit[Acceptance]
) -> Unit[Acceptance]:
    def accept(conn: sqlite3.Connection) -> Acceptance:
        _refuse_unless_due(conn, forward, limits, now_ms)
        accepted = unit(conn)
        if accepted.id is not None:  # else its key was used: its message is there
            note_done(conn, forward, now_ms, accepted.id)
        return accepted

    return accept


def _refuse_unless_due(
    conn: sqlite3.Connection, forward: WaitingForward, limits: AnswerLimits, now_ms: int
) -> None:
    if not waits(conn, forward):
        raise ForwardSettled("This text does not wait to be forwarded.")
    why = fault(conn, forward, limits, now_ms)
    if why is not None:
        raise ForwardRefused(why)


def owe_mail(
    conn: sqlite3.Connection, forward: WaitingForward, limits: AnswerLimits, now_ms: int
) -> None:
    """Owe the mail that forwards a text to a member, and settle it.

    Raises:
        ForwardRefused: it must not be forwarded.
        ForwardSettled: it was settled before.
    """
    _refuse_unless_due(conn, forward, limits, now_ms)
    reader = users.by_email(conn, forward.target)
    if reader is None or members.find(conn, forward.organization_id, reader.id) is None:
        raise ForwardRefused(ForwardFault.NO_MEMBER)
    details = {
        "text": forward.text_id,
        "organization": forward.organization_id,
        "rule": forward.name,
    }
    useless_at = forward.at + GIVEN_UP_MS
    new = NewMail(MailKind.TEXT_FORWARDED, reader.email, reader.language, details, useless_at)
    mails.owe(conn, new, now_ms)
    note_done(conn, forward, now_ms)


def note_done(
    conn: sqlite3.Connection, forward: WaitingForward, now_ms: int, message_id: str | None = None
) -> None:
    """A text was forwarded."""
    conn.execute(
        "UPDATE answer_forwards SET due_at = NULL, done_at = ?, message_id = ?"
        " WHERE text_id = ? AND kind = ? AND due_at IS NOT NULL",
        (now_ms, message_id, forward.text_id, forward.kind.value),
    )


def refuse(
    conn: sqlite3.Connection, forward: WaitingForward, why: ForwardFault, sentence: str = ""
) -> None:
    """A text is not forwarded.

    Args:
        sentence: of what refused it, for people; without a text.
    """
    conn.execute(
        "UPDATE answer_forwards SET due_at = NULL, refused = ?, why = ?"
        " WHERE text_id = ? AND kind = ? AND due_at IS NOT NULL",
        (why.value, sentence, forward.text_id, forward.kind.value),
    )


def withdraw(conn: sqlite3.Connection, organization_id: str, number: str) -> None:
    """No waiting forward of a number's texts, or to it, leaves any more."""
    conn.execute(
        "UPDATE answer_forwards SET due_at = NULL, refused = ?, why = ''"
        " WHERE organization_id = ? AND due_at IS NOT NULL"
        " AND (number = ? OR kind = 'sms' AND target = ?)",
        (ForwardFault.REFUSED.value, organization_id, number, number),
    )


def put_off(conn: sqlite3.Connection, forward: WaitingForward, due_at: int) -> None:
    """A forward is tried again later."""
    conn.execute(
        "UPDATE answer_forwards SET due_at = ?, tries = tries + 1"
        " WHERE text_id = ? AND kind = ? AND due_at IS NOT NULL",
        (due_at, forward.text_id, forward.kind.value),
    )


SHIFTS: Final = ("UPDATE answer_forwards SET due_at = due_at - :by WHERE due_at > :now",)
"""Move turns back with the clock."""


def forwarded(
    conn: sqlite3.Connection, text_ids: Sequence[str]
) -> Mapping[str, tuple[Forwarded, ...]]:
    """What became of the forwards of texts, by the texts' ids."""
    rows = conn.execute(
        "SELECT text_id, kind, target, name, due_at, refused, why FROM answer_forwards"  # noqa: S608 -- markers
        f" WHERE text_id IN ({markers(text_ids)}) ORDER BY text_id, kind",
        (*text_ids,),
    )
    by_text: dict[str, list[Forwarded]] = {}
    for text_id, kind, target, name, due_at, refused, why in rows:
        status = "refused" if refused else "forwarded" if due_at is None else "waiting"
        reason = FORWARD_SENTENCES.get(ForwardFault(refused), why) if refused else None
        forwarded = Forwarded(kind, shown_target(kind, target), name, status, reason)
        by_text.setdefault(text_id, []).append(forwarded)
    return {text_id: tuple(each) for text_id, each in by_text.items()}


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Forwards for an owner's file; their texts are those that came in."""
    rows = conn.execute(
        "SELECT text_id, kind, target, name, number, at, done_at, message_id, refused"
        " FROM answer_forwards INDEXED BY answer_forwards_by_organization"
        " WHERE organization_id = ? AND text_id || ' ' || kind > ?"
        " AND text_id >= ? ORDER BY text_id, kind LIMIT ?",
        (organization_id, after, after.partition(" ")[0], limit),
    ).fetchall()
    names = ("textId", "kind", "to", "rule", "number", "at", "doneAt", "messageId", "refused")
    written = [dict(zip(names, row, strict=True)) for row in rows]
    for each in written:
        each |= {
            "to": shown_target(each["kind"], each["to"]),
            "at": iso(each["at"]),
            "doneAt": maybe_iso(each["doneAt"]),
        }
    last = f"{written[-1]['textId']} {written[-1]['kind']}" if len(rows) == limit else None
    return AccountPart(written, last)


def delete_old(
    conn: sqlite3.Connection, organizations: Sequence[str], before_ms: int, limit: int
) -> int:
    """Delete the forwards of old texts; returns how many rows."""
    mine, values = "", list[object]()
    if organizations:
        mine, values = "organization_id = ? AND ", [organizations[0]]
    return _delete(
        conn,
        f"{mine}text_id < ? ORDER BY text_id",
        (*values, first_id("mo", max(0, before_ms))),
        limit,
    )


_OF_GONE_TEXTS: Final = (
    "organization_id = ? AND number = ? AND NOT EXISTS (SELECT 1 FROM inbound WHERE id = text_id)"
)


def erase(conn: sqlite3.Connection, organization_id: str, number: str, limit: int) -> int:
    """Delete the forwards of texts of a number that are erased, and all to it; rules no longer
    forward to it.

    What was forwarded by SMS loses its text once it has left: the number of the colleague stays.
    Until then its row stays too.
    """
    _redact_forwarded(conn, organization_id, number, limit)
    whose = (organization_id, number)
    gone = _delete(conn, f"{_OF_GONE_TEXTS} AND message_id IS NULL", whose, limit)
    gone += _delete(conn, "organization_id = ? AND target = ? AND kind = 'sms'", whose, limit)
    conn.execute(
        "UPDATE answer_rules SET forward_number = '' WHERE organization_id = ?"
        " AND forward_number = ?",
        whose,
    )
    return gone


def _redact_forwarded(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> None:
    """Delete the texts of messages that have left, and forget whose texts they forwarded."""
    for text_id, message_id in _sent_of_gone_texts(conn, organization_id, number, limit):
        key = key_of(message_id)
        if not _is_waiting(conn, key):
            redact(conn, [] if key is None else [key])
            conn.execute(
                "UPDATE answer_forwards SET message_id = NULL WHERE text_id = ? AND kind = 'sms'",
                (text_id,),
            )


def _sent_of_gone_texts(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> list[tuple[str, str]]:
    return conn.execute(
        "SELECT text_id, message_id FROM answer_forwards"  # noqa: S608 -- constants
        f" WHERE {_OF_GONE_TEXTS} AND kind = 'sms' AND message_id IS NOT NULL LIMIT ?",
        (organization_id, number, limit),
    ).fetchall()


def _is_waiting(conn: sqlite3.Connection, key: int | None) -> bool:
    statement = "SELECT 1 FROM message WHERE key = ? AND status < ?"
    return value_of(conn, statement, (key, OVER)) is not None


def awaited(conn: sqlite3.Connection, organization_id: str, number: str) -> bool:
    """Whether a message that forwards an erased text of a number has not left yet."""
    sent = _sent_of_gone_texts(conn, organization_id, number, FORWARDS_MAX)
    return any(_is_waiting(conn, key_of(message_id)) for _, message_id in sent)


def delete_all(conn: sqlite3.Connection, organization_id: str, limit: int) -> int:
    """Delete the forwards of an organization that is deleted; returns how many rows."""
    return _delete(conn, "organization_id = ?", (organization_id,), limit)


def _delete(conn: sqlite3.Connection, which: str, values: Sequence[object], limit: int) -> int:
    return conn.execute(
        "DELETE FROM answer_forwards WHERE (text_id, kind) IN"  # noqa: S608 -- constants
        f" (SELECT text_id, kind FROM answer_forwards WHERE {which} LIMIT ?)",
        (*values, limit),
    ).rowcount


@dataclass(frozen=True, slots=True)
class ForwardRepository:
    """The queue of texts that are forwarded. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    @staticmethod
    def leaving(forward: WaitingForward, limits: AnswerLimits, now_ms: int) -> Around:
        """What makes the unit that accepts the message also decide whether the text may be
        forwarded, and note that it was.

        The unit raises ``ForwardRefused`` if it must not, and ``ForwardSettled`` if it does not
        wait.
        """
        return partial(_leaving, forward, limits, now_ms)

    _store: Store

    due = read(due)
    next_due = read(next_due)
    text_of = read(text_of)
    waits = read(waits)
    fault = read(fault)
    owe_mail = command(owe_mail)
    note_done = command(note_done)
    refuse = command(refuse)
    put_off = command(put_off)
