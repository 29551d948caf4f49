"""Segments that a carrier may be asked about: accepted without a receipt, or uncertain."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.messages import parts
from risala.engine.journal.state import CREATED, load, load_key
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import name_sql
from risala.engine.model.states import SegmentState


@dataclass(frozen=True, slots=True)
class AcceptedPart:
    """A segment that a carrier has accepted, and of which nothing more is known."""

    message_id: str
    number: int
    carrier: str
    carrier_id: str | None
    changed_at: int


@dataclass(frozen=True, slots=True)
class AwaitingPage:
    """What was found among some messages."""

    parts: Sequence[AcceptedPart]
    last: int | None
    """The key to go on after; None: there were no messages."""


@dataclass(frozen=True, slots=True)
class _Single:
    """A message, and the only part of one that has one."""

    key: int
    message_id: str
    segments: int
    part_state: int | None
    carrier: str | None
    carrier_id: str | None
    changed_at: int


_SINGLES: Final = Rows(
    _Single,
    {
        "message_id": "id",
        "carrier": name_sql("carrier"),
        "carrier_id": "coalesce(carrier_id, carrier_key)",
        "changed_at": f"coalesce(updated_at, delivered_at, sent_at, {CREATED})",
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
    found: list[AcceptedPart] = []
    last = None
    for one in map(_SINGLES.of, rows):
        last = one.key
        if one.segments > 1:
            found += _of_several(conn, one.key)
        elif one.part_state == parts.ACCEPTED and one.carrier is not None:
            carrier, name = one.carrier, one.carrier_id
            found.append(AcceptedPart(one.message_id, 1, carrier, name, one.changed_at))
    return AwaitingPage(found, last)


def _of_several(conn: sqlite3.Connection, key: int) -> list[AcceptedPart]:
    rows = conn.execute(
        f"SELECT {_OF_SEVERAL.columns} FROM segment s JOIN message m ON m.key = s.message"  # noqa: S608 -- a constant
        " WHERE s.message = ? AND s.state = 3 ORDER BY s.number",
        (key,),
    )
    return [_OF_SEVERAL.of(row) for row in rows]


def is_awaited(conn: sqlite3.Connection, message_id: str, number: int, carrier_id: str) -> bool:
    """Whether a segment has no final receipt yet, and is known to its carrier by this id."""
    message = load(conn, message_id)
    part = None if message is None else parts.one(conn, message, number)
    return (
        part is not None and part.state is SegmentState.ACCEPTED and part.carrier_id == carrier_id
    )


@dataclass(frozen=True, slots=True)
class UncertainPart:
    """A segment of which nobody knows, and whose id at the carrier is known."""

    carrier: str
    carrier_id: str
    sender: str


def uncertain_due(conn: sqlite3.Connection, now_ms: int, limit: int) -> list[UncertainPart]:
    """Those whose wait is over."""
    rows = conn.execute(
        f"SELECT key, {name_sql('sender')} FROM message WHERE resolve_at <= ?"  # noqa: S608 -- constants
        " ORDER BY resolve_at LIMIT ?",
        (now_ms, limit),
    ).fetchall()
    return [
        UncertainPart(part.carrier, part.carrier_id, sender)
        for key, sender in rows
        for part in parts.of(conn, load_key(conn, key))
        if part.state is SegmentState.UNCERTAIN and part.carrier_id
    ]
