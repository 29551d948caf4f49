"""Pages of an organization's verification sessions, the newest first."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.messages.sessions import SESSIONS
from risala.engine.journal.store.pages import Walk, page_by_time, page_of_walks
from risala.engine.journal.store.searching import NumberIndex, numbers_with
from risala.engine.model.records.message_lists import SessionFilter
from risala.engine.model.records.paging import TIME_END, CursorPage, Place, Steps
from risala.engine.model.states import SessionState
from risala.engine.rules.verification import VerificationRow


def _hit(wanted: SessionFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted session."""
    if wanted.status is None:
        return "1", ()
    if wanted.status == SessionState.PENDING:
        return "status = 'pending' AND expires_at > ?", (wanted.now_ms,)
    if wanted.status == SessionState.EXPIRED:
        over = "status = 'expired' OR status = 'pending' AND expires_at <= ?"
        return over, (wanted.now_ms,)
    return "status = ?", (wanted.status,)


_MINE: Final = "organization_id = ? AND mode = ?"
_PHONES: Final = "verifications INDEXED BY verification_by_phone"


def page(
    conn: sqlite3.Connection, wanted: SessionFilter, steps: Steps
) -> CursorPage[VerificationRow]:
    """One page of the wanted sessions.

    Raises:
        TooManyNumbersError: too many numbers have the digits.
    """
    mine = (wanted.organization_id, wanted.mode)
    if wanted.part is not None:
        index = NumberIndex(_PHONES, "recipient", _MINE, mine)
        numbers = numbers_with(conn, index, wanted.part)
        ways = [_way(wanted, each) for each in numbers]
        return page_of_walks(conn, SESSIONS, ways, steps, place_of)
    return page_by_time(conn, SESSIONS, _way(wanted, wanted.recipient), steps, place_of)


def _way(wanted: SessionFilter, recipient: str | None) -> Walk:
    """To the wanted sessions of one number; None: of any."""
    source, where = "verifications INDEXED BY verification_by_organization", _MINE
    given: tuple[object, ...] = (wanted.organization_id, wanted.mode)
    if recipient is not None:
        source, where, given = _PHONES, f"{where} AND recipient = ?", (*given, recipient)
    hit, hit_given = _hit(wanted)
    return Walk(
        source,
        where,
        given,
        hit,
        hit_given,
        ("created_at", "id"),
        since=0 if wanted.since is None else wanted.since,
        until=TIME_END if wanted.until is None else wanted.until,
    )


def place_of(row: VerificationRow) -> Place:
    return (row.created_at, row.id)
