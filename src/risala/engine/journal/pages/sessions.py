"""Pages of an organization's verification sessions, the newest first."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.messages.sessions import SESSIONS
from risala.engine.journal.pages.by_time import Walk, page_by_time
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


def page(
    conn: sqlite3.Connection, wanted: SessionFilter, steps: Steps
) -> CursorPage[VerificationRow]:
    """One page of the wanted sessions."""
    index, where = "verification_by_organization", "organization_id = ? AND mode = ?"
    given: tuple[object, ...] = (wanted.organization_id, wanted.mode)
    if wanted.recipient is not None:
        index, where = "verification_by_phone", f"{where} AND recipient = ?"
        given = (*given, wanted.recipient)
    hit, hit_given = _hit(wanted)
    way = Walk(
        f"verifications INDEXED BY {index}",
        where,
        given,
        hit,
        hit_given,
        ("created_at", "id"),
        since=0 if wanted.since is None else wanted.since,
        until=TIME_END if wanted.until is None else wanted.until,
    )
    return page_by_time(conn, SESSIONS, way, steps, place_of)


def place_of(row: VerificationRow) -> Place:
    return (row.created_at, row.id)
