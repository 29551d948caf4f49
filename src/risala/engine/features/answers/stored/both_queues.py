"""What is kept of both queues, of answers and of forwards: read for threads, forgotten, erased."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from risala.dataclass import dataclass
from risala.engine.features.answers.rule_records import SentByRule
from risala.engine.features.answers.stored import forwards, queue
from risala.engine.journal.store.repository import Store, read
from risala.engine.journal.store.sql import value_of
from risala.engine.model.feature_work import Forgot, RetentionWalk
from risala.engine.model.ids import key_of
from risala.engine.model.records.conversations import ANSWER_KEY, FORWARD_KEY, AnswerNote

_SENT = "SELECT client_key FROM message WHERE key = ? AND api_key IS NULL"
_BY_RULE = {
    # An answer has its rule's name alone.
    ANSWER_KEY: "SELECT (SELECT CASE count(*) WHEN 1 THEN min(id) END FROM answer_rules r"
    " WHERE r.name = a.name AND r.organization_id = a.organization_id), name FROM answers a"
    " WHERE text_id = ? AND message_id = ? AND kind = 'rule'",
    FORWARD_KEY: "SELECT (SELECT id FROM answer_rules WHERE id = rule_id), name"
    " FROM answer_forwards WHERE text_id = ? AND message_id = ? AND kind = 'sms'",
}
SHIFTS = (*queue.SHIFTS, *forwards.SHIFTS)
"""Move turns and pauses back with the clock."""


def notes_of(conn: sqlite3.Connection, text_ids: Sequence[str]) -> dict[str, AnswerNote]:
    """The automatic answers to texts, and where they were forwarded, by the texts' ids."""
    notes, forwarded = queue.notes_of(conn, text_ids), forwards.forwarded(conn, text_ids)
    return notes | {
        text_id: notes.get(text_id, AnswerNote(None, None, None))._replace(forwards=each)
        for text_id, each in forwarded.items()
    }


def sent_by(conn: sqlite3.Connection, message_id: str) -> SentByRule:
    """The rule by which a message was sent. Its idempotency key names the text that came in; of
    programs' messages the key is their own."""
    none = SentByRule(message_id)
    client_key = value_of(conn, _SENT, (key_of(message_id),))
    begin, _, text_id = (client_key or "").partition(":")
    statement = _BY_RULE.get(f"{begin}:")
    rule = None if statement is None else conn.execute(statement, (text_id, message_id)).fetchone()
    if rule is None:
        return none
    return SentByRule(message_id, f"{begin}:" == FORWARD_KEY, *rule)


def walk_old(conn: sqlite3.Connection, walk: RetentionWalk, before_ms: int, limit: int) -> Forgot:
    """Delete the answers and forwards of texts that are old, and pauses that were over then."""
    forgot = queue.walk_old(conn, walk, before_ms, limit)
    gone = forwards.delete_old(conn, walk.organizations, before_ms, limit)
    return Forgot(forgot.rows + gone, "", forgot.done and gone < limit)


def withdraw(conn: sqlite3.Connection, organization_id: str, number: str) -> None:
    """Let no waiting answer to a number leave, and no forward of its texts or to it: an erasure
    begins. The rows stay until their texts go, so that nothing else answers these."""
    queue.withdraw(conn, organization_id, number)
    forwards.withdraw(conn, organization_id, number)


def erase(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> dict[str, int]:
    """Delete what a number that is erased was answered, and what was forwarded of it or to it."""
    gone = forwards.erase(conn, organization_id, number, limit)
    return {**queue.erase(conn, organization_id, number, limit), "forwarded texts": gone}


def clear(conn: sqlite3.Connection, limit: int, organization_id: str | None) -> Forgot:
    """Delete both queues of an organization that is deleted; None: there is none."""
    forgot = queue.clear(conn, limit, organization_id)
    gone = 0 if organization_id is None else forwards.delete_all(conn, organization_id, limit)
    return Forgot(forgot.rows + gone, "", forgot.done and gone < limit)


@dataclass(frozen=True, slots=True)
class AnswerQueues:
    """Both queues, read by an index, on the loop's thread."""

    _store: Store

    sent_by = read(sent_by)
