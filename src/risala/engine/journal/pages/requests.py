"""Pages of requests for senders, over all organizations."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts.senders import SENDERS
from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.journal.store.searching import part, spellings
from risala.engine.journal.store.sql import value_of
from risala.engine.model.records.accounts import (
    CLEARED,
    REQUESTED,
    UNDECIDED_MAX,
    SenderRequestFilter,
    Undecided,
)
from risala.engine.model.records.paging import CursorPage, Place, Steps
from risala.engine.model.records.senders import Sender

_STATES: Final = {
    REQUESTED: "status = 'pending' AND cleared = 0",
    CLEARED: "status = 'pending' AND cleared = 1",
    "approved": "status = 'approved'",
    "denied": "status = 'denied'",
}
WAITING_MAX: Final = 300
"""Requests that wait for the operator and are sorted together, the oldest: each is compared with
every name in use."""


def _hit(wanted: SenderRequestFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted request, in addition to its state."""
    if wanted.search is None:
        return "1", ()
    names = spellings(wanted.search)
    ways = ["organization_id LIKE ? ESCAPE '\\'"]
    given = [part(wanted.search)]
    for spelled in names:
        ways.append("senders.name LIKE ? ESCAPE '\\'")
        ways.append(
            "organization_id IN (SELECT id FROM organizations"
            " WHERE organizations.name LIKE ? ESCAPE '\\')"
        )
        given += [part(spelled)] * 2
    return f"({' OR '.join(ways)})", tuple(given)


def waiting(conn: sqlite3.Connection, wanted: SenderRequestFilter) -> list[Sender]:
    """Undecided requests, the oldest first."""
    hit, given = _hit(wanted)
    rows = conn.execute(
        f"SELECT {SENDERS.columns} FROM senders"  # noqa: S608 -- constants
        f" WHERE {_STATES[REQUESTED]} AND {hit} ORDER BY id LIMIT ?",
        (*given, WAITING_MAX),
    )
    return [SENDERS.of(row) for row in rows]


def page(conn: sqlite3.Connection, wanted: SenderRequestFilter, steps: Steps) -> CursorPage[Sender]:
    """One page of those in another state, the newest first."""
    hit, given = _hit(wanted)
    way = Walk("senders", _STATES[wanted.state], (), hit, given, ("id",))
    return page_by_time(conn, SENDERS, way, steps, _place_of)


def _place_of(sender: Sender) -> Place:
    return (sender.id,)


def undecided(conn: sqlite3.Connection) -> Undecided:
    """The number of undecided ones, and since when the oldest waits."""
    count, oldest = conn.execute(
        "SELECT count(*), min(created_at) FROM (SELECT created_at FROM senders"  # noqa: S608 -- constants
        f" WHERE {_STATES[REQUESTED]} ORDER BY id LIMIT ?)",
        (UNDECIDED_MAX,),
    ).fetchone()
    return Undecided(count, oldest)


def organization_name(conn: sqlite3.Connection, organization_id: str) -> str:
    """An organization's name."""
    statement = "SELECT name FROM organizations WHERE id = ?"
    return str(value_of(conn, statement, (organization_id,)))
