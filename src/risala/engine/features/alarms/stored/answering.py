"""Which texts that come in end alarms. It is asked of each text, so that it imports little."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.store.sql import value_of
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.rules.keywords import START_WORDS, STOP_WORDS, only_word


def ended_by(conn: sqlite3.Connection, number: str, text: str) -> list[str]:
    """The alarms that a text ends."""
    if value_of(conn, "SELECT 1 FROM alarms WHERE state = 'going' LIMIT 1") is None:
        return []
    return _answered(conn, number, text)


def _answered(conn: sqlite3.Connection, number: str, text: str) -> list[str]:
    """The alarms that a text would end: those of the organization whose alarm wrote to the number
    last, where the text begins with their chains' words."""
    rows = conn.execute(
        "SELECT a.id, a.organization_id, c.word FROM alarm_steps s JOIN alarms a"
        " ON a.id = s.alarm_id JOIN alarm_chains c ON c.id = a.chain_id WHERE s.number = ?"
        " AND s.outcome = 'sent' AND a.state = 'going' AND a.mode = 'live'"
        " ORDER BY s.at DESC, a.id DESC",
        (number,),
    ).fetchall()
    whose = next((organization_id for _, organization_id, _ in rows), None)
    if whose is None or _is_of_opt_outs(conn, whose, number, text):
        return []
    from risala.engine.features.alarms.rules import says

    ended = (alarm_id for alarm_id, its, word in rows if its == whose and says(word, text))
    return [*dict.fromkeys(ended)]


def _is_of_opt_outs(conn: sqlite3.Connection, organization_id: str, number: str, text: str) -> bool:
    """Whether a text is a word of the opt-outs, which it is alone."""
    work = duty(Duty.OPT_OUTS)
    return is_reserved(text) or (
        work is not None and work.means_something(conn, organization_id, number, text)
    )


def is_reserved(text: str) -> bool:
    """Whether a text says STOP or START, and nothing else."""
    return only_word(text) in STOP_WORDS | START_WORDS


def means_more(conn: sqlite3.Connection, organization_id: str, word: str) -> bool:
    """Whether a word means something else to an organization already."""
    return _is_of_opt_outs(conn, organization_id, "", word)
