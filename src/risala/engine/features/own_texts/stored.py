"""Which short codes and service numbers the operator has texted by which carrier, and what came
back: texts that are for no customer."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.own_texts.feature import ServiceReply
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.feature_work import Forgot, RetentionWalk
from risala.sms.message import Inbound

ANSWER_MS: Final = 31 * 86_400_000
"""How long after the last text to a number what comes from it is an answer: a bundle lasts a month,
and its end is told by the number that sold it."""
NUMBERS_MAX: Final = 100
"""Numbers of one carrier that are remembered: a SIM has a handful of services."""
ANSWERS_MAX: Final = 200
"""Answers of one carrier that are kept; older ones make room."""
SHOWN_MAX: Final = 20
"""Answers that are read at once, the latest."""
_NUMBERS: Final = "own_texts"
_ANSWERS: Final = "own_answers"
_ROWS: Final = Rows.of_record(ServiceReply)


def note(conn: sqlite3.Connection, carrier: str, number: str, now_ms: int) -> None:
    """Remember that a text goes to a number."""
    numbers = writable(conn, _NUMBERS)
    numbers.insert({"carrier": carrier, "number": number, "sent_at": now_ms}, replace=True)
    numbers.delete_where(
        "carrier = ? AND (sent_at < ? OR number NOT IN (SELECT number FROM own_texts"
        " WHERE carrier = ? ORDER BY sent_at DESC LIMIT ?))",
        (carrier, now_ms - ANSWER_MS, carrier, NUMBERS_MAX),
    )


def take(conn: sqlite3.Connection, carriers: Collection[str], message: Inbound) -> bool:
    """Keep a text that answers the operator's; False: it answers none.

    Args:
        carriers: those of the account that it came by.
    """
    carrier: str | None = value_of(
        conn,
        "SELECT carrier FROM own_texts WHERE number = ? AND sent_at >= ?"
        " AND carrier IN (SELECT value FROM json_each(?)) ORDER BY sent_at DESC LIMIT 1",
        (message.sender, message.received_at_ms - ANSWER_MS, json.dumps([*carriers])),
    )
    if carrier is None:
        return False
    answers = writable(conn, _ANSWERS)
    answers.insert(
        {
            "carrier": carrier,
            "received_at": message.received_at_ms,
            "carrier_ids": " ".join(message.carrier_ids),
            "sender": message.sender,
            "text": message.text,
        },
        ignore=True,
    )
    answers.delete_where(
        "carrier = ? AND id NOT IN (SELECT id FROM own_answers WHERE carrier = ?"
        " ORDER BY received_at DESC, id DESC LIMIT ?)",
        (carrier, carrier, ANSWERS_MAX),
    )
    return True


def latest(conn: sqlite3.Connection, carrier: str) -> list[ServiceReply]:
    """A carrier's answers, the latest first."""
    order, whose = "received_at DESC, id DESC", (carrier,)
    answers = table(conn, _ANSWERS)
    return _ROWS.find(answers, "carrier = ?", whose, order_by=order, limit=SHOWN_MAX)


def walk_old(conn: sqlite3.Connection, walk: RetentionWalk, before_ms: int, rows: int) -> Forgot:
    """Delete answers that are old, a few at a time, and numbers that were texted before that."""
    gone = conn.execute(
        "DELETE FROM own_answers WHERE id IN"
        " (SELECT id FROM own_answers WHERE received_at < ? LIMIT ?)",
        (before_ms, rows),
    ).rowcount
    writable(conn, _NUMBERS).delete_where("sent_at < ?", (before_ms,))
    return Forgot(gone, "", done=gone < rows)


@dataclass(frozen=True, slots=True)
class OwnTextRepository:
    """Own texts and their answers; reads are by an index, on the loop's thread."""

    _store: Store

    latest = read(latest)
    note = audited_command(note)
