"""Messages: looking at one, and taking the next ones from the queue."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Final

from risala.engine.journal.messages import timeline
from risala.engine.journal.rows import DueRow, Place
from risala.engine.journal.store import meta
from risala.engine.journal.store.named import Rows
from risala.engine.model.commands import MessageView, Mode, TimelineEntry
from risala.engine.model.errors import NotFound
from risala.engine.model.lines import Kind, Line, Wait
from risala.engine.model.states import ACKNOWLEDGED
from risala.engine.rules.router import UNSERVED

_VIEWS: Final = Rows(
    MessageView,
    {"to": "recipient", "body": "CASE WHEN pruned & 1 = 0 THEN body END"},
    mode=Mode,
    metadata=json.loads,
)
_VIEW: Final = f"SELECT {_VIEWS.columns} FROM messages WHERE id = ?"  # noqa: S608 -- a constant
_DUE_ROWS: Final = Rows(DueRow)
_ROW: Final = f"SELECT {_DUE_ROWS.columns} FROM messages"  # noqa: S608 -- a constant
_DUE = (
    f"{_ROW} WHERE status = 'pending' AND route = ? AND priority = ? AND organization_id = ?"
    " AND (due_at, seq) > (?, ?) AND due_at <= ? AND valid_until > ?"
    " ORDER BY due_at, seq LIMIT ?"
)

_UNSERVED: Final = Line(Kind.WAITS, values={"wait": Wait.UNSERVED.value})
_SERVED: Final = Line(Kind.SERVED)


def known_response(
    conn: sqlite3.Connection, organization_id: str, mode: str, key: str
) -> bytes | None:
    """The answer that was given for this idempotency key, byte for byte."""
    row = conn.execute(
        "SELECT response FROM idempotency WHERE organization_id = ? AND mode = ? AND key = ?",
        (organization_id, mode, key),
    ).fetchone()
    return None if row is None else bytes(row[0])


def view(conn: sqlite3.Connection, message_id: str) -> MessageView | None:
    row = conn.execute(_VIEW, (message_id,)).fetchone()
    return None if row is None else _VIEWS.of(row)


def shown(
    conn: sqlite3.Connection, message_id: str
) -> tuple[MessageView, tuple[TimelineEntry, ...]]:
    """Any message, with its timeline.

    Raises:
        NotFound: there is none of this id.
    """
    found = view(conn, message_id)
    if found is None:
        raise NotFound(f"There is no message {message_id}.")
    return found, timeline.read(conn, message_id)


def due(
    conn: sqlite3.Connection,
    route: str,
    priority: int,
    organization_id: str,
    now_ms: int,
    after: Place,
    count: int,
) -> list[DueRow]:
    """The next ``count`` due messages of one organization on one route, oldest first."""
    rows = conn.execute(_DUE, (route, priority, organization_id, *after, now_ms, now_ms, count))
    return [_DUE_ROWS.of(row) for row in rows]


def row(conn: sqlite3.Connection, message_id: str) -> DueRow | None:
    """One message as the scheduler sees it, whatever its status."""
    found = conn.execute(f"{_ROW} WHERE id = ?", (message_id,)).fetchone()
    return None if found is None else _DUE_ROWS.of(found)


def begun_narrow(conn: sqlite3.Connection) -> frozenset[str]:
    """Messages that were begun by a version which cut all texts for an 8-bit reference.

    Their other parts must be cut where the first ones were.
    """
    return frozenset((meta.get(conn, "begun_narrow") or "").split())


def next_due(
    conn: sqlite3.Connection,
    route: str,
    priority: int,
    organization_id: str,
    after_ms: int,
) -> int | None:
    """When the next message of one organization on one route falls due after ``after_ms``."""
    row = conn.execute(
        "SELECT due_at FROM messages WHERE status = 'pending' AND route = ? AND priority = ?"
        " AND organization_id = ? AND due_at > ? ORDER BY due_at LIMIT 1",
        (route, priority, organization_id, after_ms),
    ).fetchone()
    return None if row is None else row[0]


def queues(conn: sqlite3.Connection) -> list[tuple[str, int, str]]:
    """Every (route, priority, organization) that has pending messages.

    Skips along the index: the time is by queues, not by messages.
    """
    found: list[tuple[str, int, str]] = []
    last = ("", -1, "")
    while True:
        row = conn.execute(
            "SELECT route, priority, organization_id FROM messages WHERE status = 'pending'"
            " AND (route, priority, organization_id) > (?, ?, ?)"
            " ORDER BY route, priority, organization_id LIMIT 1",
            last,
        ).fetchone()
        if row is None:
            return found
        last = row
        found.append(row)


def acknowledged_parts(conn: sqlite3.Connection, message_id: str) -> frozenset[int]:
    """Numbers of the segments that a carrier has accepted already."""
    rows = conn.execute(
        "SELECT number FROM segments WHERE message_id = ? AND state IN (?, ?, ?)",
        (message_id, *ACKNOWLEDGED),
    )
    return frozenset(row[0] for row in rows)


def reroute(
    conn: sqlite3.Connection,
    queue: tuple[str, int, str],
    after: tuple[int, int],
    route_key: Callable[[str], str],
    count: int,
    now_ms: int,
) -> tuple[int, int] | None:
    """Sort ``count`` pending messages of one queue into routes anew; where to go on, or None.

    One that nobody serves any more, or somebody again, is told so in its timeline.
    """
    rows = conn.execute(
        "SELECT due_at, seq, recipient, id FROM messages WHERE status = 'pending' AND route = ?"
        " AND priority = ? AND organization_id = ? AND (due_at, seq) > (?, ?)"
        " ORDER BY due_at, seq LIMIT ?",
        (*queue, *after, count),
    ).fetchall()
    moved = [
        (key, seq, message_id)
        for _, seq, recipient, message_id in rows
        if (key := route_key(recipient)) != queue[0]
    ]
    conn.executemany(
        "UPDATE messages SET route = ? WHERE seq = ?", [(key, seq) for key, seq, _ in moved]
    )
    for key, _, message_id in moved:
        if key == UNSERVED:
            timeline.append(conn, message_id, TimelineEntry(now_ms, "pending", _UNSERVED))
        elif queue[0] == UNSERVED:
            timeline.append(conn, message_id, TimelineEntry(now_ms, "pending", _SERVED))
    return (rows[-1][0], rows[-1][1]) if len(rows) == count else None
