"""Messages with all their data: parts, timeline, charge and refund, their place in counts."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from risala.engine.journal.messages import counts
from risala.engine.journal.messages.timeline import implied
from risala.engine.journal.store.sql import markers
from risala.engine.journal.upkeep.upgrade.slim.keys import KeyGiver
from risala.engine.journal.upkeep.upgrade.slim.numbering import Numbering
from risala.engine.model.ids import key_ms
from risala.engine.model.lines import Kind, line_of
from risala.engine.model.numbers import (
    ACTIONS,
    ENCODINGS,
    ENTRY_KINDS,
    KINDS,
    MODES,
    STATES,
    STATUSES,
    recipient_number,
)
from risala.engine.model.states import SegmentState, Status

_WAITING: Final = (Status.PENDING, Status.PROCESSING)
_OVER: Final = (Status.DELIVERED, Status.UNDELIVERED, Status.FAILED, Status.CANCELED)
KEPT_ANSWER: Final = 0
"""The version of an answer that is not built again from the row: it is kept as it was sent."""


class _Message(NamedTuple):
    """A row of the former table."""

    seq: int
    id: str
    organization_id: str
    mode: str
    kind: str
    recipient: str
    sender: str
    body: str
    encoding: str
    segments: int
    price: int
    currency: str
    metadata: str
    status: str
    priority: int
    route: str
    due_at: int
    valid_until: int
    resolve_at: int | None
    resolve_action: str | None
    carrier: str | None
    provider_message_id: str | None
    verification_id: str | None
    attempts: int
    refusals: int
    tried: str
    error_code: str | None
    send_at: int | None
    sent_at: int | None
    delivered_at: int | None
    created_at: int
    updated_at: int
    pruned: int
    carrier_code: str | None
    link_losses: int


class _Segment(NamedTuple):
    message_id: str
    number: int
    state: str
    attempt: int
    carrier: str
    carrier_id: str | None
    carrier_key: str | None
    updated_at: int
    uncertain: int


class _Line(NamedTuple):
    message_id: str
    n: int
    at: int
    status: str
    text: str
    carrier: str | None
    attempt: int | None
    segment: int | None
    raw: str | None
    kind: int
    details: str | None

    @property
    def is_plain_first(self) -> bool:
        """Its message's row contains all of it except its details."""
        extras = (self.carrier, self.attempt, self.segment, self.raw)
        return (self.n, self.kind, self.status, self.text, *extras) == (
            *(1, Kind.ACCEPTED, Status.PENDING, ""),
            *(None, None, None, None),
        )


class OldEntry(NamedTuple):
    seq: int
    organization_id: str
    kind: str
    amount: int
    balance_after: int
    reference: str
    at: int
    note: str | None


Row = tuple[Any, ...]
_MESSAGE: Final = (
    "INSERT INTO message (key, id, organization, mode, kind, encoding, priority, status, recipient,"
    " sender, segments, price, currency, route, due_at, valid_until, created_at, updated_at,"
    " sent_at, delivered_at, carrier, attempts, part_state, carrier_key, carrier_id, charge,"
    " metadata, send_at, error_code, carrier_code, refusals, link_losses, uncertain, uncertain_at,"
    " resolve_at, resolve_action, tried, verification_id, answer, accepted, pruned, body)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
    " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SEGMENT: Final = (
    "INSERT INTO segment (message, number, state, attempt, carrier, carrier_key, carrier_id,"
    " updated_at, uncertain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LINE: Final = (
    "INSERT INTO line (message, n, at, kind, status, carrier, attempt, segment, details, raw, text)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_ENTRY: Final = (
    "INSERT INTO entry (seq, organization, kind, amount, balance_after, message, reference, note,"
    " at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class _Old:
    """The data of a step's messages, by their ids."""

    segments: dict[str, list[_Segment]]
    lines: dict[str, list[_Line]]
    entries: dict[str, list[OldEntry]]


def move(conn: sqlite3.Connection, rows_max: int) -> int:
    """Move the next messages, in the order of their acceptance."""
    rows = conn.execute(
        f"SELECT {', '.join(_Message._fields)} FROM old_messages ORDER BY seq LIMIT ?",  # noqa: S608
        (rows_max,),
    )
    messages = [_Message(*row) for row in rows]
    if messages:
        ids = [message.id for message in messages]
        _Step(conn, ids, _old(conn, ids)).move(messages)
        _take_away(conn, ids, messages[-1].seq)
    return len(messages)


class _Step:
    def __init__(self, conn: sqlite3.Connection, ids: list[str], old: _Old) -> None:
        self._conn = conn
        self._old = old
        self._keys = KeyGiver(conn, ids)
        self._numbers = Numbering(conn)
        self._counted: Counter[counts.CountKey] = Counter()
        self._messages: list[Row] = []
        self._segments: list[Row] = []
        self._lines: list[Row] = []
        self._entries: list[Row] = []

    def move(self, messages: Sequence[_Message]) -> None:
        for message in messages:
            waits = message.status in _WAITING
            key = self._keys.give(message.id, message.created_at, waits=waits)
            self._take(key, message)
        self._keys.write()
        self._conn.executemany(_MESSAGE, self._messages)
        self._conn.executemany(_SEGMENT, self._segments)
        self._conn.executemany(_LINE, self._lines)
        self._conn.executemany(INSERT_ENTRY, self._entries)
        counts.add(self._conn, self._counted)

    def _take(self, key: int, old: _Message) -> None:
        parts = self._old.segments.get(old.id, [])
        lines = self._old.lines.get(old.id, [])
        entries = self._old.entries.get(old.id, [])
        accepted = None
        for line in lines:
            if line.is_plain_first and line.at == old.created_at:
                accepted = line.details
            else:
                self._lines.append(self._line(key, line))
        charge = None
        for entry in entries:
            if entry.kind == "charge":
                charge = entry.seq
            self._entries.append(entry_row(entry, key, self._numbers))
        if old.segments > 1:
            self._segments += [self._segment(key, part) for part in parts]
            parts = []
        self._messages.append(self._message(key, old, next(iter(parts), None), charge, accepted))
        self._count(old)

    def _message(
        self,
        key: int,
        old: _Message,
        part: _Segment | None,
        charge: int | None,
        accepted: str | None,
    ) -> Row:
        number = self._numbers
        waits = old.status in _WAITING
        last = next(at for at in (old.delivered_at, old.sent_at, old.created_at) if at is not None)
        due = old.created_at if old.send_at is None else old.send_at
        carrier_key = carrier_id = uncertain_at = None
        if part is not None:
            carrier_key = part.carrier_key
            carrier_id = written(part.carrier_id, carrier_key)
            if part.state == SegmentState.UNCERTAIN:
                uncertain_at = part.updated_at
        if carrier_key is None and carrier_id is None:
            carrier_id = old.provider_message_id
        return (
            *(key, old.id, number.organization(old.organization_id), MODES.number(old.mode)),
            *(KINDS.number(old.kind), ENCODINGS.number(old.encoding), old.priority),
            *(STATUSES.number(old.status), recipient_number(old.recipient)),
            *(number.name(old.sender), old.segments, old.price, old.currency),
            number.name(old.route),
            old.due_at if waits or old.due_at != due else None,
            *(old.valid_until, unless(old.created_at, key_ms(key)), unless(old.updated_at, last)),
            *(old.sent_at, old.delivered_at, number.name(old.carrier), old.attempts),
            None if part is None else STATES.number(part.state),
            *(carrier_key, carrier_id, charge),
            *(None if old.metadata == "{}" else old.metadata, old.send_at),
            *(old.error_code, old.carrier_code, old.refusals, old.link_losses),
            *(0 if part is None else part.uncertain, uncertain_at, old.resolve_at),
            None if old.resolve_action is None else ACTIONS.number(old.resolve_action),
            *(old.tried or None, old.verification_id, KEPT_ANSWER, accepted, old.pruned, old.body),
        )

    def _segment(self, key: int, part: _Segment) -> Row:
        return (
            *(key, part.number, STATES.number(part.state), part.attempt),
            *(self._numbers.name(part.carrier), part.carrier_key),
            *(written(part.carrier_id, part.carrier_key), part.updated_at, part.uncertain),
        )

    def _line(self, key: int, line: _Line) -> Row:
        is_implied = line.status == implied(line_of(line.kind, line.details, line.text).kind)
        return (
            *(key, line.n, line.at, line.kind),
            None if is_implied else STATUSES.number(line.status),
            *(self._numbers.name(line.carrier), line.attempt, line.segment, line.details),
            *(line.raw, line.text or None),
        )

    def _count(self, old: _Message) -> None:
        """Count it as this version would have at its acceptance."""
        organization = self._numbers.organization(old.organization_id)
        mode, kind = MODES.number(old.mode), KINDS.number(old.kind)
        first = counts.accepted(organization, mode, kind, old.recipient, old.created_at)
        since = max(old.created_at, old.send_at or 0)
        became: list[tuple[str, int]] = []
        if old.sent_at is not None:
            became.append((Status.SENT, old.sent_at))
        if old.status in _OVER:
            at = old.updated_at if old.delivered_at is None else old.delivered_at
            became.append((old.status, at))
        self._counted[first] += 1
        for status, at in became:
            bucket = counts.bucket_of(at - since)
            self._counted[(first[0], STATUSES.number(status), *first[2:6], bucket)] += 1


def entry_row(entry: OldEntry, key: int | None, numbers: Numbering) -> Row:
    """A former entry in the present form; ``key`` is its message's, None: it has none."""
    return (
        *(entry.seq, numbers.organization(entry.organization_id), ENTRY_KINDS.number(entry.kind)),
        *(entry.amount, entry.balance_after, key, entry.reference if key is None else None),
        *(entry.note, entry.at if key is None else unless(entry.at, key_ms(key))),
    )


def unless(value: int, told: int) -> int | None:
    """A value; None if it is stored elsewhere."""
    return None if value == told else value


def written(carrier_id: str | None, carrier_key: str | None) -> str | None:
    """A carrier's id as it wrote it; None if that is its one form."""
    return None if carrier_id == carrier_key else carrier_id


def _old(conn: sqlite3.Connection, ids: Sequence[str]) -> _Old:
    segments: defaultdict[str, list[_Segment]] = defaultdict(list)
    for row in _of(conn, "old_segments", "message_id", _Segment._fields, ids, "number"):
        segment = _Segment(*row)
        segments[segment.message_id].append(segment)
    lines: defaultdict[str, list[_Line]] = defaultdict(list)
    for row in _of(conn, "old_timeline", "message_id", _Line._fields, ids, "n"):
        line = _Line(*row)
        lines[line.message_id].append(line)
    entries: defaultdict[str, list[OldEntry]] = defaultdict(list)
    for row in conn.execute(
        f"SELECT {', '.join(OldEntry._fields)} FROM old_ledger"  # noqa: S608 -- names of ours
        f" WHERE kind IN ('charge', 'refund') AND reference IN ({markers(ids)}) ORDER BY seq",
        ids,
    ):
        entry = OldEntry(*row)
        entries[entry.reference].append(entry)
    return _Old(segments, lines, entries)


def _of(
    conn: sqlite3.Connection,
    table: str,
    column: str,
    fields: Iterable[str],
    ids: Sequence[str],
    order: str,
) -> Iterable[Row]:
    return conn.execute(
        f"SELECT {', '.join(fields)} FROM {table}"  # noqa: S608 -- names of ours
        f" WHERE {column} IN ({markers(ids)}) ORDER BY {column}, {order}",
        ids,
    )


def _take_away(conn: sqlite3.Connection, ids: Sequence[str], last: int) -> None:
    marks = markers(ids)
    conn.execute(f"DELETE FROM old_segments WHERE message_id IN ({marks})", ids)  # noqa: S608
    conn.execute(f"DELETE FROM old_timeline WHERE message_id IN ({marks})", ids)  # noqa: S608
    conn.execute(
        "DELETE FROM old_ledger"  # noqa: S608 -- places
        f" WHERE kind IN ('charge', 'refund') AND reference IN ({marks})",
        ids,
    )
    conn.execute("DELETE FROM old_messages WHERE seq <= ?", (last,))
