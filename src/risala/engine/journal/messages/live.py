"""What a reader missed, from the rows: events in their order, and how messages stand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from risala.engine.model.commands import LifeEvent
from risala.engine.model.lines import line_of

_STANDING: Final = (
    "SELECT t.kind, t.details, t.text, t.at, m.id, m.organization_id, m.recipient, m.status,"
    " t.carrier, t.attempt, t.segment, t.raw"
    " FROM messages m JOIN timeline t ON t.message_id = m.id"
    " WHERE m.id = ? ORDER BY t.n DESC LIMIT 1"
)
# Each gives the latest rows first: a message's id and when something happened to it. Together they
# know of every change but one, back into the queue, which its next attempt shows.
_ACCEPTED: Final = "SELECT id, created_at FROM messages ORDER BY seq DESC LIMIT ?"
_TOLD: Final = (
    "SELECT coalesce(v.message_id, e.subject), e.created_at FROM events e"
    " LEFT JOIN verifications v ON e.type = 'verify.sent' AND v.id = e.subject"
    " ORDER BY e.seq DESC LIMIT ?"
)
_REFUNDED: Final = (
    "SELECT CASE kind WHEN 'refund' THEN reference END, at FROM ledger ORDER BY seq DESC LIMIT ?"
)
_UNDER_WAY: Final = "SELECT id FROM messages WHERE status = 'processing' LIMIT ?"


def standings(conn: sqlite3.Connection, message_ids: Iterable[str]) -> list[LifeEvent]:
    """How messages stand, each by the last entry of its timeline; what is no message is left out"""
    found: list[LifeEvent] = []
    for message_id in message_ids:
        row = conn.execute(_STANDING, (message_id,)).fetchone()
        if row is not None:
            kind, details, text, at, identity, organization_id, recipient, status, *rest = row
            line = line_of(kind, details, text)
            found.append(LifeEvent(at, identity, organization_id, recipient, status, line, *rest))
    return found


def changed_since(conn: sqlite3.Connection, since_ms: int, rows_max: int) -> list[str] | None:
    """Messages that may have changed since then; None where more rows tell of that than given."""
    found: dict[str, None] = {}
    for query in (_ACCEPTED, _TOLD, _REFUNDED):
        rows = conn.execute(query, (rows_max + 1,)).fetchall()
        if len(rows) > rows_max and rows[-1][1] >= since_ms:
            return None
        found |= dict.fromkeys(message_id for message_id, at in rows if at >= since_ms)
    under_way = conn.execute(_UNDER_WAY, (rows_max + 1,)).fetchall()
    if len(under_way) > rows_max:
        return None
    found |= dict.fromkeys(message_id for (message_id,) in under_way)
    found.pop(None, None)  # type: ignore[call-overload]
    return list(found)
