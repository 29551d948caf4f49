"""The queue of automatic answers: a row of each text that is answered, so that it is answered once.

Rules, programs and opt-outs put their answers in. Whether one leaves is decided when its turn
comes, in the transaction that accepts its message: so a crash at any instant sends it once, and the
limits are exact. Its text stands here until then, and no longer.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.answers.records import (
    CODE_MS,
    DAY_MS,
    FAULT_SENTENCES,
    HOUR_MS,
    IN_A_ROW,
    WAITING_MAX,
    AnswerFault,
    AnswerKind,
    AnswerLimits,
    WaitingAnswer,
)
from risala.engine.features.answers.rule_records import PAUSED_SHOWN, PausedNumber
from risala.engine.features.answers.rules.matching import chosen
from risala.engine.journal.messages.messages import Around
from risala.engine.journal.store.named import BrokenRow, Rows, readable
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.commands import AnswerWay
from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.events import EventType
from risala.engine.model.feature_work import Duty, Forgot, RetentionWalk
from risala.engine.model.features import duty
from risala.engine.model.ids import KEY_COUNTER_BITS, first_id
from risala.engine.model.numbers import recipient_number
from risala.engine.model.people import Language
from risala.engine.model.records.conversations import AnswerNote
from risala.engine.model.records.messages import Acceptance, Stamp
from risala.engine.model.times import iso, maybe_iso

is_phone: Final = re.compile(r"\+[1-9][0-9]{6,14}").fullmatch
_NO: Final = "(SELECT no FROM organizations WHERE id = ?)"


class AnswerRefused(Refusal):
    """An automatic answer does not leave."""

    def __init__(self, fault: AnswerFault) -> None:
        super().__init__(f"The automatic answer does not leave: {fault.value}.")
        self.fault = fault


class AnswerSettled(Refusal):
    """An automatic answer has left or was refused already, or its text is gone."""


# -- putting one in


def put_in(
    conn: sqlite3.Connection,
    organization_id: str,
    text_id: str,
    kind: AnswerKind,
    texts: str | Mapping[Language, str],
    stamp: Stamp,
    name: str = "",
    *,
    of_any: bool = False,
) -> bool:
    """Put the answer to a text that came in into the queue, as a part of the caller's transaction.

    A text has at most one answer: the first that is put in counts, also if it cannot leave. The
    transaction that receives a text may call it (``Feature.received``), and any later one. Limits
    are looked at when it is about to leave.

    Args:
        text_id: the text's, as in the event ``sms.received``.
        texts: what is answered, 1 to 1600 characters; by language, that in the language of the text
            is taken, else the first.
        stamp: when it is put in.
        name: who wrote it, shown in the conversation, such as a rule's name; never a secret.
        of_any: the text may be another organization's, or nobody's: who sends STOP means the
            organization that wrote last, wherever the number leads.

    Returns:
        Whether it counts. False: the text has an answer, or is not this organization's.
    """
    came = conn.execute(
        "SELECT sender, body FROM inbound WHERE id = ? AND (? OR organization_id = ?)",
        (text_id, of_any, organization_id),
    ).fetchone()
    if came is None:
        return False
    number, body = came
    fault = _fault_at_once(conn, organization_id, number)
    answer = texts if isinstance(texts, str) else chosen(texts, body)
    put = conn.execute(
        "INSERT INTO answers (text_id, organization_id, number, kind, name, at, due_at, body,"
        " refused) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            *(text_id, organization_id, number, kind.value, name, stamp.now_ms),
            *((stamp.now_ms, answer, None) if fault is None else (None, None, fault.value)),
        ),
    )
    return put.rowcount > 0


def _fault_at_once(
    conn: sqlite3.Connection, organization_id: str, number: str
) -> AnswerFault | None:
    """Why an answer need not wait; None: its turn comes."""
    if not is_phone(number):
        return AnswerFault.NO_PHONE
    waits = value_of(
        conn,
        "SELECT 1 FROM answers WHERE organization_id = ? AND due_at IS NOT NULL LIMIT 1 OFFSET ?",
        (organization_id, WAITING_MAX - 1),
    )
    return None if waits is None else AnswerFault.FULL


# -- letting one leave

_WAITING: Final = Rows(WaitingAnswer, kind=AnswerKind)


def due(
    conn: sqlite3.Connection, now_ms: int, limit: int, broken: BrokenRow
) -> list[WaitingAnswer]:
    """Answers whose turn it is, the longest waiting first."""
    rows = conn.execute(
        f"SELECT {_WAITING.columns} FROM answers"  # noqa: S608 -- constants
        " WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?",
        (now_ms, limit),
    )
    return [*readable(rows.fetchall(), _WAITING.of, 0, broken)]


def next_due(conn: sqlite3.Connection) -> int | None:
    """When the next turn is; None: no answer waits."""
    at: int | None = value_of(conn, "SELECT min(due_at) FROM answers WHERE due_at IS NOT NULL")
    return at


def way_of(conn: sqlite3.Connection, answer: WaitingAnswer) -> AnswerWay | None:
    """How the text came; None: it is no longer kept."""
    row = conn.execute(
        "SELECT carrier, recipient FROM inbound WHERE id = ?", (answer.text_id,)
    ).fetchone()
    return None if row is None else AnswerWay(*row)


def _leaving(
    answer: WaitingAnswer, limits: AnswerLimits, now_ms: int, unit: Unit[Acceptance]
) -> Unit[Acceptance]:
    def accept(conn: sqlite3.Connection) -> Acceptance:
        if not waits(conn, answer.text_id):
            raise AnswerSettled("This answer does not wait.")
        fault = _fault(conn, answer, limits, now_ms)
        if fault is not None:
            raise AnswerRefused(fault)
        accepted = unit(conn)
        if accepted.id is not None:  # else its key was used: its message is there
            note_sent(conn, answer, accepted.id, now_ms)
        return accepted

    return accept


def waits(conn: sqlite3.Connection, text_id: str) -> bool:
    """Whether the answer to a text waits for its turn."""
    statement = "SELECT 1 FROM answers WHERE text_id = ? AND due_at IS NOT NULL"
    return value_of(conn, statement, (text_id,)) is not None


def _fault(
    conn: sqlite3.Connection, answer: WaitingAnswer, limits: AnswerLimits, now_ms: int
) -> AnswerFault | None:
    """Why an answer must not leave; None: it may."""
    whose = (answer.organization_id, answer.number)
    if answers_code(conn, *whose, answer.at):
        return AnswerFault.CODE
    if _pause_until(conn, *whose) > now_ms:
        return AnswerFault.PAUSED
    if _sent_since(conn, *whose, now_ms - DAY_MS, limits.per_number_and_day):
        return AnswerFault.PER_DAY
    most = limits.per_organization_and_hour
    if sent_within_hour(conn, answer.organization_id, now_ms - HOUR_MS, most):
        return AnswerFault.PER_HOUR
    return None


def answers_code(conn: sqlite3.Connection, organization_id: str, number: str, at: int) -> bool:
    """Whether the last message before a text of that time is a code of within an hour, or the text
    is a part of a verification itself."""
    row = conn.execute(
        "SELECT kind, key FROM message INDEXED BY message_by_recipient"  # noqa: S608 -- a constant
        f" WHERE recipient = ? AND organization = {_NO} AND key < ? AND mode = 0"
        " ORDER BY key DESC LIMIT 1",
        (
            recipient_number(number),
            organization_id,
            (at + 1) << KEY_COUNTER_BITS,
        ),
    ).fetchone()
    kind, key = (0, 0) if row is None else row
    if kind == 1 and key >> KEY_COUNTER_BITS > at - CODE_MS:
        return True
    session = conn.execute(
        "SELECT 1 FROM verifications WHERE organization_id = ? AND mode = 'live' AND recipient = ?"
        " AND created_at > ? AND created_at <= ?"
        " AND (status = 'pending' OR updated_at >= ?) LIMIT 1",
        (
            *(organization_id, number),
            *(at - CODE_MS, at, at),
        ),
    ).fetchone()
    return session is not None


def _pause_until(conn: sqlite3.Connection, organization_id: str, number: str) -> int:
    until: int | None = value_of(
        conn,
        "SELECT until FROM answer_pauses WHERE organization_id = ? AND number = ?",
        (organization_id, number),
    )
    return until or 0


def _sent_since(
    conn: sqlite3.Connection, organization_id: str, number: str, since_ms: int, most: int
) -> bool:
    """Whether so many automatic answers left for a number."""
    return (
        value_of(
            conn,
            "SELECT 1 FROM answers WHERE organization_id = ? AND number = ? AND sent_at > ?"
            " LIMIT 1 OFFSET ?",
            (organization_id, number, since_ms, most - 1),
        )
        is not None
    )


def sent_within_hour(
    conn: sqlite3.Connection, organization_id: str, since_ms: int, most: int
) -> bool:
    """Whether so many automatic answers and forwarded texts left as messages since then."""
    return (
        value_of(
            conn,
            "SELECT 1 FROM (SELECT 1 FROM answers INDEXED BY answers_sent"
            " WHERE organization_id = ?1 AND sent_at > ?2 UNION ALL"
            " SELECT 1 FROM answer_forwards INDEXED BY answer_forwards_done"
            " WHERE organization_id = ?1 AND kind = 'sms' AND done_at > ?2) LIMIT 1 OFFSET ?3",
            (organization_id, since_ms, most - 1),
        )
        is not None
    )


def note_sent(
    conn: sqlite3.Connection, answer: WaitingAnswer, message_id: str, now_ms: int
) -> None:
    """An answer left. After the second within an hour no more leave for a day."""
    conn.execute(
        "UPDATE answers SET due_at = NULL, body = NULL, message_id = ?, sent_at = ?"
        " WHERE text_id = ? AND due_at IS NOT NULL",
        (message_id, now_ms, answer.text_id),
    )
    whose = (answer.organization_id, answer.number)
    lifted: int | None = value_of(
        conn,
        "SELECT lifted_at FROM answer_pauses WHERE organization_id = ? AND number = ?",
        whose,
    )
    if _sent_since(conn, *whose, max(now_ms - HOUR_MS, lifted or 0), IN_A_ROW):
        conn.execute(
            "INSERT INTO answer_pauses (organization_id, number, until, lifted_at)"
            " VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET until = excluded.until",
            (*whose, now_ms + DAY_MS, lifted or 0),
        )
        _tell(conn, answer, now_ms)


def _tell(conn: sqlite3.Connection, answer: WaitingAnswer, now_ms: int) -> None:
    """Write the event that answers to a number are paused, where there are conversations."""
    tell = duty(Duty.CONVERSATION_EVENT)
    if tell is not None:
        whose = (answer.organization_id, answer.number)
        tell(conn, *whose, EventType.CONVERSATION_PAUSED, answer.text_id, now_ms)


def refuse(conn: sqlite3.Connection, text_id: str, fault: AnswerFault, why: str = "") -> None:
    """An answer does not leave. Its text goes.

    Args:
        why: the sentence of what refused it, for people; without a text.
    """
    conn.execute(
        "UPDATE answers SET due_at = NULL, body = NULL, refused = ?, why = ?"
        " WHERE text_id = ? AND due_at IS NOT NULL",
        (fault.value, why, text_id),
    )


def withdraw(conn: sqlite3.Connection, organization_id: str, number: str) -> None:
    """No waiting answer to a number leaves any more. Each stays until its text goes, so that
    nothing else answers that."""
    conn.execute(
        "UPDATE answers SET due_at = NULL, body = NULL, refused = ?, why = ''"
        " WHERE organization_id = ? AND number = ? AND due_at IS NOT NULL",
        (AnswerFault.REFUSED.value, organization_id, number),
    )


def put_off(conn: sqlite3.Connection, text_id: str, due_at: int) -> None:
    """An answer cannot leave now: another try."""
    conn.execute(
        "UPDATE answers SET due_at = ? WHERE text_id = ? AND due_at IS NOT NULL", (due_at, text_id)
    )


# -- pauses


def lift(conn: sqlite3.Connection, organization_id: str, number: str, now_ms: int) -> None:
    """Let automatic answers to a number leave again; those before no longer count for a pause.

    Raises:
        NotFound: they are not paused.
    """
    gone = conn.execute(
        "UPDATE answer_pauses SET until = 0, lifted_at = ?1"
        " WHERE organization_id = ?2 AND number = ?3 AND until > ?1",
        (now_ms, organization_id, number),
    ).rowcount
    if not gone:
        raise NotFound("Automatic answers to this number are not paused.")


_PAUSED: Final = Rows(PausedNumber)


def paused(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> list[PausedNumber]:
    """Numbers to which no automatic answers leave now, those that wait longest first."""
    rows = conn.execute(
        f"SELECT {_PAUSED.columns} FROM answer_pauses"  # noqa: S608 -- constants
        " WHERE organization_id = ? AND until > ? ORDER BY until DESC LIMIT ?",
        (organization_id, now_ms, PAUSED_SHOWN),
    )
    return [_PAUSED.of(row) for row in rows]


SHIFTS: Final = (
    "UPDATE answers SET due_at = due_at - :by WHERE due_at > :now",
    "UPDATE answer_pauses SET until = until - :by WHERE until > :now",
    "UPDATE answer_pauses SET lifted_at = :now WHERE lifted_at > :now",
)
"""Move turns and pauses back with the clock."""


def notes_of(conn: sqlite3.Connection, text_ids: Sequence[str]) -> dict[str, AnswerNote]:
    """The automatic answers to texts, by the texts' ids."""
    rows = conn.execute(
        "SELECT text_id, kind, name, refused, why FROM answers"  # noqa: S608 -- markers
        f" WHERE text_id IN ({markers(text_ids)})",
        (*text_ids,),
    )
    return {
        text_id: AnswerNote(kind, name or None, _sentence(refused, why))
        for text_id, kind, name, refused, why in rows
    }


def _sentence(refused: str | None, why: str | None) -> str | None:
    """Why an answer does not leave; None: it left, or waits."""
    if refused is None:
        return None
    return FAULT_SENTENCES.get(AnswerFault(refused), why)


# -- what else there is to do with all tables


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Automatic answers for an owner's file; their texts are those of the messages."""
    rows = conn.execute(
        "SELECT text_id, number, kind, name, at, sent_at, message_id, refused FROM answers"
        " INDEXED BY answers_by_organization WHERE organization_id = ? AND text_id > ?"
        " ORDER BY text_id LIMIT ?",
        (organization_id, after, limit),
    ).fetchall()
    names = ("textId", "number", "kind", "name", "at", "sentAt", "messageId", "refused")
    written = [dict(zip(names, row, strict=True)) for row in rows]
    for each in written:
        each |= {"at": iso(each["at"]), "sentAt": maybe_iso(each["sentAt"])}
    return AccountPart(written, written[-1]["textId"] if len(rows) == limit else None)


def walk_old(conn: sqlite3.Connection, walk: RetentionWalk, before_ms: int, limit: int) -> Forgot:
    """Delete the answers of texts that are old, and pauses that were over then."""
    mine, values = "", list[object]()
    if walk.organizations:
        mine, values = "organization_id = ? AND ", [walk.organizations[0]]
    gone = conn.execute(
        "DELETE FROM answers WHERE text_id IN (SELECT text_id FROM answers"  # noqa: S608 -- constants
        f" WHERE {mine}text_id < ? ORDER BY text_id LIMIT ?)",
        (*values, first_id("mo", max(0, before_ms)), limit),
    ).rowcount
    over = conn.execute(
        "DELETE FROM answer_pauses WHERE (organization_id, number) IN"  # noqa: S608 -- constants
        f" (SELECT organization_id, number FROM answer_pauses WHERE {mine}"
        " max(until, lifted_at) < ? LIMIT ?)",
        (*values, before_ms, limit),
    ).rowcount
    return Forgot(gone + over, "", max(gone, over) < limit)


def erase(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> dict[str, int]:
    """Delete the answers to a number that is erased; those of the organization's texts of later
    stay. A confirmation may answer a text that led to another organization, or to nobody."""
    gone = conn.execute(
        "DELETE FROM answers WHERE text_id IN (SELECT text_id FROM answers a"
        " WHERE organization_id = ?1 AND number = ?2"
        " AND NOT EXISTS (SELECT 1 FROM inbound WHERE id = a.text_id AND organization_id = ?1)"
        " LIMIT ?3)",
        (organization_id, number, limit),
    ).rowcount
    conn.execute(
        "DELETE FROM answer_pauses WHERE organization_id = ?1 AND number = ?2 AND NOT EXISTS"
        " (SELECT 1 FROM answers WHERE organization_id = ?1 AND number = ?2)",
        (organization_id, number),
    )
    return {"automatic answers": gone}


def clear(conn: sqlite3.Connection, limit: int, organization_id: str | None) -> Forgot:
    """Delete the answers of an organization that is deleted; None: there are none."""
    gone = conn.execute(
        "DELETE FROM answers WHERE text_id IN"
        " (SELECT text_id FROM answers WHERE organization_id = ? LIMIT ?)",
        (organization_id, limit),
    ).rowcount
    return Forgot(gone, "", gone < limit)


@dataclass(frozen=True, slots=True)
class AnswerRepository:
    """The queue of automatic answers. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    @staticmethod
    def leaving(answer: WaitingAnswer, limits: AnswerLimits, now_ms: int) -> Around:
        """What makes the unit that accepts an answer's message also decide whether it may leave,
        and note that it did.

        The unit raises ``AnswerRefused`` if it must not, and ``AnswerSettled`` if it does not wait.
        """
        return partial(_leaving, answer, limits, now_ms)

    @staticmethod
    def replying(
        organization_id: str, text_id: str, reply: str, name: str
    ) -> Callable[[sqlite3.Connection, int], bool]:
        """What puts a program's reply in, as :func:`put_in`, in the transaction that ends a
        webhook's delivery: a function of the connection and the time."""
        whose = (organization_id, text_id, AnswerKind.WEBHOOK, reply)
        return lambda conn, now_ms: put_in(conn, *whose, Stamp(now_ms), name)

    _store: Store

    due = read(due)
    next_due = read(next_due)
    way_of = read(way_of)
    waits = read(waits)
    paused = read(paused)
    put_in = command(put_in)
    note_sent = command(note_sent)
    refuse = command(refuse)
    put_off = command(put_off)
    lift = audited_command(lift)
