"""Verification sessions with the messages of their codes: what each counts as.

Codes without a message, which nobody sends, are not among them.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from risala.config.channels import SMS
from risala.dataclass import dataclass
from risala.engine.features.code_figures.rules import MINUTE_MS, rounded_s
from risala.engine.journal.session_messages import message_ids
from risala.engine.journal.store.names import name_sql
from risala.engine.model.features import features
from risala.engine.model.ids import key_of
from risala.engine.model.numbers import CANCELED, DELIVERED, FAILED, MODES, SENT, UNDELIVERED
from risala.engine.model.states import SessionState
from risala.engine.rules.days import day_of
from risala.engine.rules.router import CHANNEL_MARK
from risala.sms.numbering.countries import UNKNOWN, network

LATE_MS: Final = 2 * 3_600_000
"""What comes later than this after a code was asked for is not counted: twice as long as a code can
be valid."""
CountryOf = Callable[[str], str | None]
"""The two letters of the country that a number belongs to."""
_LEFT: Final = frozenset({SENT, DELIVERED, UNDELIVERED})
_REFUNDED: Final = frozenset({FAILED, CANCELED})
_ENDED: Final = frozenset({DELIVERED, UNDELIVERED, FAILED, CANCELED})
_SESSIONS: Final = (
    "SELECT v.rowid, v.id, v.message_id, o.no, o.time_zone, o.deleted_at, v.mode, v.recipient,"
    " v.status, v.created_at, v.updated_at, v.expires_at, v.features, v.language"
    " FROM {source}"
    " CROSS JOIN organizations o ON o.id = v.organization_id"
)
_MESSAGES: Final = (
    f"SELECT id, status, {name_sql('route')}, {name_sql('carrier')},"  # noqa: S608 -- constants
    f" {name_sql('api_key')}, CASE WHEN charge IS NULL THEN 0 ELSE price END"
    " FROM message WHERE key IN (SELECT value FROM json_each(?))"
)


class Cell(NamedTuple):
    """What codes are counted by. A text is empty where nothing is known."""

    organization: int
    mode: int
    day: int
    """In the organization's time zone, since 1970-01-01."""
    network: str
    country: str
    carrier: str
    channel: str
    api_key: str
    language: str


@dataclass(frozen=True, slots=True)
class CodeSession:
    """A session with what became of its code."""

    row: int
    """The session's place, in the order in which sessions were opened; it stays."""
    id: str
    cell: Cell
    is_deleted: bool
    """The session's organization is deleted."""
    is_over: bool
    has_message: bool
    has_left: bool
    has_arrived: bool
    has_ended: bool
    """The session has ended, and so has each delivery of its code."""
    cost: int
    """The price of all deliveries; what failed or was withdrawn is refunded."""
    created_at: int
    expires_at: int
    took_ms: int | None
    """From asking to entering; None: it was not entered."""

    @property
    def is_sent(self) -> bool:
        return self.has_left or self.took_ms is not None

    @property
    def is_delivered(self) -> bool:
        return self.has_arrived or self.took_ms is not None

    def may_change(self, now_ms: int) -> bool:
        """Whether it may yet count as something else. A code of the future is one from before the
        clock was set back, and waits no longer than others."""
        is_late = not 0 <= now_ms - self.created_at < LATE_MS
        is_over = self.is_over or now_ms - self.expires_at >= LATE_MS
        return not (is_over and (self.has_ended or is_late))


class _Row(NamedTuple):
    place: int
    id: str
    message_id: str
    organization: int
    zone: str
    deleted_at: int | None
    mode: str
    recipient: str
    status: str
    created_at: int
    updated_at: int
    expires_at: int
    features: str | None
    language: str | None


class _Message(NamedTuple):
    """A message by which a code comes."""

    status: int = CANCELED
    route: str | None = None
    carrier: str | None = None
    api_key: str | None = None
    price: int = 0

    @property
    def channel(self) -> str:
        mark, name = (self.route or "")[:1], (self.route or "")[1:]
        return name if mark == CHANNEL_MARK else SMS


def read(
    conn: sqlite3.Connection,
    source: str,
    where: str,
    values: Sequence[object],
    country_of: CountryOf,
) -> list[CodeSession]:
    """Sessions with their messages, by two statements, and one for each that has channels.

    Args:
        source: the table ``verifications v``, with the index that is used.
        where: what follows, with the order and a limit.
    """
    rows = conn.execute(f"{_SESSIONS.format(source=source)} {where}", values).fetchall()
    sessions = [_Row(*row) for row in rows]
    ids = [
        dict.fromkeys((each.message_id, *message_ids(conn, each.id, each.features)))
        for each in sessions
    ]
    keys = [key for each in ids for one in each if (key := key_of(one)) is not None]
    known = conn.execute(_MESSAGES, (json.dumps(keys),))
    messages = {message_id: _Message(*rest) for message_id, *rest in known}
    return [
        _session(row, [messages[one] for one in each if one in messages], country_of)
        for row, each in zip(sessions, ids, strict=True)
    ]


def _way_of(row: _Row) -> str:
    """What a session counts as that has no code; empty: it has one."""
    names = (row.features or "").split()
    ways = (each.session_way for each in features() if each.name in names)
    return next(filter(None, ways), "")


def _session(row: _Row, messages: Sequence[_Message], country_of: CountryOf) -> CodeSession:
    """A session counts where its code arrived, or else was sent last."""
    arrived = [each for each in messages if each.status == DELIVERED]
    known, of = network(row.recipient), (arrived or messages or [_Message()])[-1]
    cell = Cell(
        *(row.organization, MODES.number(row.mode), day_of(row.zone, row.created_at)),
        *("" if known == UNKNOWN else known, country_of(row.recipient) or ""),
        *(of.carrier or "", _way_of(row) or of.channel, of.api_key or "", row.language or ""),
    )
    is_entered = row.status == SessionState.APPROVED
    return CodeSession(
        row=row.place,
        id=row.id,
        cell=cell,
        is_deleted=row.deleted_at is not None,
        is_over=row.status != SessionState.PENDING,
        has_message=bool(messages),
        has_left=any(each.status in _LEFT for each in messages),
        has_arrived=bool(arrived),
        has_ended=all(each.status in _ENDED for each in messages),
        cost=sum(each.price for each in messages if each.status not in _REFUNDED),
        created_at=row.created_at,
        expires_at=row.expires_at,
        took_ms=max(0, row.updated_at - row.created_at) if is_entered else None,
    )


@dataclass(slots=True)
class CodeCounts:
    """Counts of codes, which grow."""

    asked: int = 0
    sent: int = 0
    delivered: int = 0
    entered: int = 0
    in_minute: int = 0
    cost: int = 0
    times: Counter[int] = field(default_factory=Counter)
    """How many took how many seconds, rounded."""

    def add(self, other: CodeCounts) -> None:
        self.asked += other.asked
        self.sent += other.sent
        self.delivered += other.delivered
        self.entered += other.entered
        self.in_minute += other.in_minute
        self.cost += other.cost
        self.times.update(other.times)

    def count(self, session: CodeSession) -> None:
        """Count one more code."""
        self.asked += 1
        self.sent += session.is_sent
        self.delivered += session.is_delivered
        self.cost += session.cost
        if session.took_ms is not None:
            self.entered += 1
            self.in_minute += session.took_ms <= MINUTE_MS
            self.times[rounded_s(session.took_ms)] += 1


def summed(sessions: Iterable[CodeSession]) -> dict[Cell, CodeCounts]:
    """The codes of sessions by what they are counted by."""
    sums: dict[Cell, CodeCounts] = {}
    for each in sessions:
        if each.has_message:
            sums.setdefault(each.cell, CodeCounts()).count(each)
    return sums
