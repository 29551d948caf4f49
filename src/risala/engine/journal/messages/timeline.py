"""The timeline of a message: its events as lines, and the carrier's own codes.

The first line comes from the message's row: that it was accepted, and what it waited for then.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.state import CREATED, find_key
from risala.engine.journal.store import names
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.sql import value_of
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.lines import SENT, Kind, Line, line_of
from risala.engine.model.numbers import STATUSES
from risala.engine.model.states import Status

ENTRIES_MAX: Final = 200
"""A message throttled for two days must not collect endless lines, nor one whose receipt a carrier
repeats for ever; its end is always written."""

_ENDS: Final = frozenset(
    (Kind.SENT, Kind.DELIVERED, Kind.UNDELIVERED, Kind.FAILED, Kind.CANCELED),
)
"""Each comes once in a message's life."""
IMPLIED: Final = {
    Kind.ATTEMPT: Status.PROCESSING,
    Kind.SENT: Status.SENT,
    Kind.DELIVERED: Status.DELIVERED,
    Kind.UNDELIVERED: Status.UNDELIVERED,
    Kind.FAILED: Status.FAILED,
    Kind.CANCELED: Status.CANCELED,
    Kind.UNCERTAIN: Status.PROCESSING,
    Kind.REPEATED: Status.PROCESSING,
}
"""The status of a kind, which is then not stored; of all others it is ``pending``."""
APPEND: Final = (
    "INSERT INTO line (message, n, at, kind, status, carrier, attempt, segment, details, raw)"  # noqa: S608 -- constants
    " SELECT ?1, last + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"
    " FROM (SELECT coalesce(max(n), 1) AS last FROM line WHERE message = ?1)"
    f" WHERE last < {ENTRIES_MAX} OR ?10"
)
"""Adds an entry, with the values of :func:`row_of`; beyond :data:`ENTRIES_MAX` only one that ends
its message."""
LineRow = tuple[object, ...]


def row_of(key: int, entry: TimelineEntry, carrier: int | None) -> LineRow:
    """An entry as a line to be stored; ``carrier`` is its carrier as a number."""
    line, status = entry.line, entry.status
    return (
        *(key, entry.at, line.kind.value),
        None if status == IMPLIED.get(line.kind, Status.PENDING) else STATUSES.number(status),
        # For a message that goes whole, a line belongs to no segment.
        *(carrier, entry.attempt, entry.segment or None, line.details, entry.raw or None),
        entry.line.kind in _ENDS,
    )


def append(conn: sqlite3.Connection, key: int, entry: TimelineEntry) -> None:
    """Add one entry to the timeline of the message with this key."""
    unfold(conn, key)
    carrier = None if entry.carrier is None else names.number(conn, entry.carrier)
    conn.execute(APPEND, row_of(key, entry, carrier))


_UNFOLD: Final = (
    "INSERT INTO line (message, n, at, kind, carrier, attempt, segment, raw)"
    " WITH own AS (SELECT coalesce(max(n), 1) AS last FROM line WHERE message = ?1)"
    " SELECT key, last + 1, attempt_at, 2, carrier, attempts, 1, NULL"
    " FROM message, own WHERE key = ?1 AND told >= 2"
    " UNION ALL SELECT key, last + 2, sent_at, 3, carrier, attempts, NULL, sent_raw"
    " FROM message, own WHERE key = ?1 AND told >= 3"
    " UNION ALL SELECT key, last + 3, delivered_at, 4, carrier, attempts, NULL, receipt_raw"
    " FROM message, own WHERE key = ?1 AND told >= 4"
)
_UNTOLD: Final = (
    "UPDATE message SET told = NULL, attempt_at = NULL, sent_raw = NULL, receipt_raw = NULL"
    " WHERE key = ?"
)


def unfold(conn: sqlite3.Connection, key: int) -> None:
    """Write out the lines in a message's row: it is no longer an ordinary case."""
    if value_of(conn, "SELECT told FROM message WHERE key = ?", (key,)) is not None:
        conn.execute(_UNFOLD, (key,))
        conn.execute(_UNTOLD, (key,))


@dataclass(frozen=True, slots=True)
class _RowTimeline:
    """The part of a timeline that is in a message's row."""

    created_at: int
    accepted: str | None
    gone: int
    told: int | None
    attempt_at: int
    sent_at: int
    delivered_at: int
    carrier: str | None
    attempts: int
    sent_raw: str | None
    receipt_raw: str | None

    @property
    def first(self) -> list[TimelineEntry]:
        """The first line, if it is kept."""
        return [] if self.gone else [first_line(self.created_at, self.accepted)]

    @property
    def last(self) -> list[TimelineEntry]:
        """The lines after all those with separate rows."""
        entries = []
        by, stage = (self.carrier, self.attempts), self.told or 0
        if stage >= ATTEMPT_TOLD:
            entries.append(TimelineEntry(self.attempt_at, "processing", ATTEMPT, *by, segment=1))
        if stage >= SENT_TOLD:
            entries.append(TimelineEntry(self.sent_at, "sent", SENT, *by, raw=self.sent_raw))
        if stage >= DELIVERED_TOLD:
            at, raw = self.delivered_at, self.receipt_raw
            entries.append(TimelineEntry(at, "delivered", DELIVERED, *by, raw=raw))
        return entries


ATTEMPT_TOLD: Final = 2
SENT_TOLD: Final = 3
DELIVERED_TOLD: Final = 4
"""Values of ``message.told``."""
ATTEMPT: Final = Line(Kind.ATTEMPT)
DELIVERED: Final = Line(Kind.DELIVERED)
_KEPT: Final = Rows(
    _RowTimeline, {"created_at": CREATED, "gone": "pruned & 2", "carrier": name_sql("carrier")}
)
_OF_ROW: Final = f"SELECT {_KEPT.columns} FROM message WHERE key = ?"  # noqa: S608 -- a constant
_LINES: Final = (
    f"SELECT n, kind, details, at, status, {name_sql('carrier')}, attempt, segment, raw"  # noqa: S608 -- constants
    " FROM line WHERE message = ? ORDER BY n"
)


_LAST: Final = (
    f"SELECT kind, details, at, status, {name_sql('carrier')}, attempt, segment, raw"  # noqa: S608 -- constants
    " FROM line WHERE message = ? ORDER BY n DESC LIMIT 1"
)


def first_line(created_at: int, accepted: str | None) -> TimelineEntry:
    """The line in a message's row."""
    line = line_of(Kind.ACCEPTED, accepted)
    return TimelineEntry(created_at, Status.PENDING.value, line)


def read(conn: sqlite3.Connection, message_id: str) -> tuple[TimelineEntry, ...]:
    """The whole of it; empty if it is no longer kept, or the message does not exist."""
    key = find_key(conn, message_id)
    if key is None:
        return ()
    rows = conn.execute(_LINES, (key,)).fetchall()
    has_first, entries = False, []
    for n, *line in rows:
        has_first = has_first or n == 1
        entries.append(entry_of(*line))
    kept = _KEPT.of(conn.execute(_OF_ROW, (key,)).fetchone())
    return (*([] if has_first else kept.first), *entries, *kept.last)


def last_line(conn: sqlite3.Connection, key: int) -> TimelineEntry:
    """The last known entry of a message, at least its acceptance."""
    kept = _KEPT.of(conn.execute(_OF_ROW, (key,)).fetchone())
    if kept.last:
        return kept.last[-1]
    row = conn.execute(_LAST, (key,)).fetchone()
    return first_line(kept.created_at, kept.accepted) if row is None else entry_of(*row)


def entry_of(
    kind: int,
    details: str | None,
    at: int,
    status: int | None,
    carrier: str | None,
    attempt: int | None,
    segment: int | None,
    raw: str | None,
) -> TimelineEntry:
    """A stored line."""
    line: Line = line_of(kind, details)
    implied = IMPLIED.get(line.kind, Status.PENDING)
    word = implied.value if status is None else STATUSES.word(status)
    return TimelineEntry(at, word, line, carrier, attempt, segment, raw)
