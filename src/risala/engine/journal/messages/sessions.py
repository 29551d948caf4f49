"""A verification session's row and its changes, and the sealed text of a code that other software
made: used by codes and by their messages."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.state import MessageState
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.pages import Walk, page_by_time, page_of_walks
from risala.engine.journal.store.searching import NumberIndex, numbers_with
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.webhooks import outbox
from risala.engine.model.features import features
from risala.engine.model.records.asks import TIME_END, CursorPage, Place, Steps
from risala.engine.model.records.message_lists import SessionFilter
from risala.engine.model.records.messages import Stamp
from risala.engine.model.records.verify.sessions import SESSIONS_MAX, Funnel
from risala.engine.model.states import SessionState
from risala.engine.rules.verification import TABLE, Trigger, VerificationRow

SESSIONS: Final = Rows(VerificationRow, status=SessionState)
_FIND: Final = f"SELECT {SESSIONS.columns} FROM verifications WHERE id = ?"  # noqa: S608 -- a constant


def find(conn: sqlite3.Connection, verification_id: str) -> VerificationRow | None:
    """Any session; None: the id is unknown."""
    row = conn.execute(_FIND, (verification_id,)).fetchone()
    return None if row is None else SESSIONS.of(row)


def shift(
    conn: sqlite3.Connection, row: VerificationRow, trigger: Trigger, stamp: Stamp
) -> SessionState | None:
    """Write a trigger's effect on a session, with its event; returns the new state.

    None, and nothing is written, if the session cannot change, or has changed since ``row`` was
    read: another guess was judged meanwhile, or its time came.
    """
    step = TABLE.get((row.status, trigger))
    if step is None:
        return None
    guesses = 1 if trigger in (Trigger.CODE_WRONG, Trigger.LAST_CODE_WRONG) else 0
    written = conn.execute(
        "UPDATE verifications SET status = ?, reason = ?, attempts = attempts + ?, updated_at = ?"
        " WHERE id = ? AND status = ? AND attempts = ?",
        (step.to, step.reason, guesses, stamp.now_ms, row.id, row.status, row.attempts),
    )
    if written.rowcount == 0:
        return None
    if step.event is not None:
        outbox.verification_event(conn, row.id, step.event, stamp)
    if row.features is not None and step.to is not SessionState.PENDING:
        for feature in features():
            if feature.name in row.feature_names and feature.session_ended is not None:
                feature.session_ended()(conn, row.id)
    return step.to


def sealed(conn: sqlite3.Connection, message_key: int) -> bytes | None:
    """A code's sealed text; None: there is none, or no longer."""
    code: bytes | None = value_of(
        conn, "SELECT sealed FROM hook_codes WHERE message = ?", (message_key,)
    )
    return code


def forget_sealed(conn: sqlite3.Connection, message: MessageState) -> None:
    """A message has left or ended: the text of other software's code is needed no more."""
    if message.kind == "code" and message.verification_id is None:
        conn.execute("UPDATE hook_codes SET sealed = NULL WHERE message = ?", (message.key,))


# -- pages, the newest first


def _hit(filters: SessionFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted session."""
    if filters.status is None:
        return "1", ()
    if filters.status == SessionState.PENDING:
        return "status = 'pending' AND expires_at > ?", (filters.now_ms,)
    if filters.status == SessionState.EXPIRED:
        over = "status = 'expired' OR status = 'pending' AND expires_at <= ?"
        return over, (filters.now_ms,)
    return "status = ?", (filters.status,)


_MINE: Final = "organization_id = ? AND mode = ?"
_PHONES: Final = "verifications INDEXED BY verification_by_phone"


def page(
    conn: sqlite3.Connection, filters: SessionFilter, steps: Steps
) -> CursorPage[VerificationRow]:
    """One page of the wanted sessions.

    Raises:
        TooManyNumbersError: too many numbers have the digits.
    """
    mine = (filters.organization_id, filters.mode)
    if filters.part is not None:
        index = NumberIndex(_PHONES, "recipient", _MINE, mine)
        numbers = numbers_with(conn, index, filters.part)
        ways = [_way(filters, each) for each in numbers]
        return page_of_walks(conn, SESSIONS, ways, steps, place_of)
    return page_by_time(conn, SESSIONS, _way(filters, filters.recipient), steps, place_of)


def _way(filters: SessionFilter, recipient: str | None) -> Walk:
    """To the wanted sessions of one number; None: of any."""
    source, where = "verifications INDEXED BY verification_by_organization", _MINE
    values: tuple[object, ...] = (filters.organization_id, filters.mode)
    if recipient is not None:
        source, where, values = _PHONES, f"{where} AND recipient = ?", (*values, recipient)
    hit, hit_values = _hit(filters)
    return Walk(
        source,
        where,
        values,
        hit,
        hit_values,
        ("created_at", "id"),
        since=0 if filters.since is None else filters.since,
        until=TIME_END if filters.until is None else filters.until,
    )


def funnel(
    conn: sqlite3.Connection,
    organization_id: str,
    mode: str,
    since_ms: int,
    until_ms: int,
    *,
    sessions_max: int = SESSIONS_MAX,
) -> Funnel:
    """The results of a period's verification sessions."""
    rows = conn.execute(
        "SELECT status, attempts > 0, count(*) FROM (SELECT status, attempts FROM verifications"
        " WHERE organization_id = ? AND mode = ? AND created_at >= ? AND created_at < ?"
        " ORDER BY created_at DESC LIMIT ?) GROUP BY 1, 2",
        (organization_id, mode, since_ms, until_ms, sessions_max),
    ).fetchall()
    by_status = {
        each: sum(count for status, _, count in rows if status == each)
        for each in ("approved", "expired", "pending")
    }
    whole = sum(count for *_, count in rows)
    tried = sum(count for status, was_tried, count in rows if was_tried or status == "approved")
    return Funnel(sessions=whole, tried=tried, is_cut=whole == sessions_max, **by_status)


def place_of(row: VerificationRow) -> Place:
    return (row.created_at, row.id)
