"""Messages that wait for a carrier's report or for a phone.

Segments that a carrier may be asked about, accepted without a receipt; and messages to a phone that
the carrier reports as reachable again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.messages import parts, timeline
from risala.engine.journal.messages.matching import LATE_MS
from risala.engine.journal.state import CREATED, load, load_key
from risala.engine.journal.store import names
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.sql import markers
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import Kind, Line
from risala.engine.model.numbers import recipient_number
from risala.engine.model.states import SegmentState

REACHED_MAX: Final = 20
"""Messages to a phone, the latest, whose timelines get the line that it is reachable again. A phone
that was off for days has a few; a monitor's own number may have thousands."""
_REACHABLE: Final = Line(Kind.REACHABLE)


@dataclass(frozen=True, slots=True)
class AcceptedPart:
    """A segment that a carrier has accepted, without further news."""

    message_id: str
    number: int
    carrier: str
    carrier_id: str | None
    changed_at: int


@dataclass(frozen=True, slots=True)
class AwaitingPage:
    """The results among some messages."""

    parts: Sequence[AcceptedPart]
    last: int | None
    """The key to continue after; None: there were no messages."""


@dataclass(frozen=True, slots=True)
class _Single:
    """A message with a single part, and that part."""

    key: int
    message_id: str
    segments: int
    part_state: int | None
    carrier: str | None
    carrier_id: str | None
    changed_at: int


_CHANGED_AT: Final = f"coalesce(updated_at, delivered_at, sent_at, {CREATED})"
_SINGLES: Final = Rows(
    _Single,
    {
        "message_id": "id",
        "carrier": name_sql("carrier"),
        "carrier_id": "coalesce(carrier_id, carrier_key)",
        "changed_at": _CHANGED_AT,
    },
)
_OF_SEVERAL: Final = Rows(
    AcceptedPart,
    {
        "message_id": "m.id",
        "carrier": name_sql("s.carrier"),
        "carrier_id": "coalesce(s.carrier_id, s.carrier_key)",
        "changed_at": "s.updated_at",
    },
)


def accepted_since(conn: sqlite3.Connection, after: int, limit: int) -> AwaitingPage:
    """The accepted segments of the next ``limit`` messages after a key."""
    rows = conn.execute(
        f"SELECT {_SINGLES.columns} FROM message WHERE key > ? ORDER BY key LIMIT ?",  # noqa: S608 -- a constant
        (after, limit),
    ).fetchall()
    segments: list[AcceptedPart] = []
    last = None
    for one in map(_SINGLES.of, rows):
        last = one.key
        if one.segments > 1:
            segments += _of_several(conn, one.key)
        elif one.part_state == parts.ACCEPTED and one.carrier is not None:
            carrier, name = one.carrier, one.carrier_id
            segments.append(AcceptedPart(one.message_id, 1, carrier, name, one.changed_at))
    return AwaitingPage(segments, last)


def _of_several(conn: sqlite3.Connection, key: int) -> list[AcceptedPart]:
    rows = conn.execute(
        f"SELECT {_OF_SEVERAL.columns} FROM segment s JOIN message m ON m.key = s.message"  # noqa: S608 -- a constant
        " WHERE s.message = ? AND s.state = 3 ORDER BY s.number",
        (key,),
    )
    return [_OF_SEVERAL.of(row) for row in rows]


def is_awaited(conn: sqlite3.Connection, message_id: str, number: int, carrier_id: str) -> bool:
    """Whether a segment has no final receipt yet, and its carrier knows it by this id."""
    message = load(conn, message_id)
    part = None if message is None else parts.one(conn, message, number)
    return (
        part is not None and part.state is SegmentState.ACCEPTED and part.carrier_id == carrier_id
    )


def note_reachable(
    conn: sqlite3.Connection, carrier: str, carriers: Sequence[str], number: str, now_ms: int
) -> None:
    """Write into timelines that a phone can be reached again: of messages sent through these
    carriers without a final receipt, and of those waiting for another attempt.

    Only the latest :data:`REACHED_MAX` are searched, and none gets the line twice in a row: a
    carrier may repeat the report without end.

    Args:
        carrier: the one that reports it, one of ``carriers``.
        number: as complete as it is known; with or without ``+``.
    """
    recipient = recipient_number(f"+{number.removeprefix('+')}")
    known = [no for name in carriers if (no := names.known(conn, name)) is not None]
    if not isinstance(recipient, int) or not known:
        return
    waiting = conn.execute(
        f"SELECT key FROM message WHERE recipient = ? AND {_CHANGED_AT} > ?"  # noqa: S608 -- constants
        f" AND (+status = 2 OR +status = 0 AND attempts > 0) AND +carrier IN ({markers(known)})"
        " ORDER BY +key DESC LIMIT ?",
        (recipient, now_ms - LATE_MS, *known, REACHED_MAX),
    ).fetchall()
    for (key,) in waiting:
        if timeline.last_line(conn, key).line.kind is not Kind.REACHABLE:
            entry = TimelineEntry(now_ms, load_key(conn, key).status, _REACHABLE, carrier)
            timeline.append(conn, key, entry)
