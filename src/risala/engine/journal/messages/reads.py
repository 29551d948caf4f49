"""Messages: reading one, and taking the next ones from the queue."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.messages import parts, timeline
from risala.engine.journal.state import CREATED, MESSAGE_CLASS, find_key, load
from risala.engine.journal.store import names
from risala.engine.journal.store.named import BrokenRow, Rows, readable
from risala.engine.journal.store.names import NUMBER, known_name, name_sql
from risala.engine.journal.store.sql import value_of
from risala.engine.model.audit import Seen, masked
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.errors import NotFound
from risala.engine.model.ids import key_of
from risala.engine.model.lines import Kind, Line, Wait
from risala.engine.model.numbers import ENCODINGS, KINDS, MODES, STATUSES, recipient_text
from risala.engine.model.records.messages import DueRow, MessageView, Place
from risala.engine.model.records.record import audit_image
from risala.engine.model.states import ACKNOWLEDGED, Mode, Status
from risala.engine.rules.router import UNSERVED, as_flash, plain
from risala.sms.values import quickly


def _mode(number: int) -> Mode:
    return Mode(MODES.word(number))


_VIEWS: Final = Rows(
    MessageView,
    {
        "organization_id": "(SELECT id FROM organizations WHERE no = organization)",
        "to": "recipient",
        "sender": name_sql("sender"),
        "body": "CASE WHEN pruned & 1 = 0 THEN body END",
        "carrier": name_sql("carrier"),
        "provider_message_id": "coalesce(carrier_id, carrier_key)",
        "metadata": "coalesce(metadata, '{}')",
        "message_class": MESSAGE_CLASS,
        "created_at": CREATED,
        "updated_at": f"coalesce(updated_at, delivered_at, sent_at, {CREATED})",
        "api_key": name_sql("api_key"),
    },
    to=recipient_text,
    mode=_mode,
    kind=KINDS.word,
    encoding=ENCODINGS.word,
    status=STATUSES.word,
    metadata=json.loads,
)
_VIEW: Final = f"SELECT {_VIEWS.columns} FROM message WHERE key = ?"  # noqa: S608 -- a constant
# Whose it is decides here: reading another's whole would take longer than finding nothing.
_OWN: Final = "mode = ? AND organization = (SELECT no FROM organizations WHERE id = ?)"
_OWN_IS: Final = f"SELECT 1 FROM message WHERE key = ? AND id = ? AND {_OWN}"  # noqa: S608 -- same
_OWN_VIEW: Final = f"{_VIEW} AND {_OWN}"
_DUE_ROWS: Final = Rows(
    DueRow,
    {
        "seq": "key",
        "organization_id": "(SELECT id FROM organizations WHERE no = organization)",
        "sender": name_sql("sender"),
        "route": name_sql("route"),
        "due_at": f"coalesce(due_at, {CREATED})",
        "tried": "coalesce(tried, '')",
        "created_at": CREATED,
    },
    make=quickly(DueRow),
    sender=known_name,
    kind=KINDS.word,
    recipient=recipient_text,
    encoding=ENCODINGS.word,
    mode=MODES.word,
)
_DUE_ID, _DUE_AT = (list(DueRow.__slots__).index(name) for name in ("id", "due_at"))
_ROW: Final = f"SELECT {_DUE_ROWS.columns} FROM message"  # noqa: S608 -- a constant
_QUEUE: Final = (
    f"status = 0 AND route = {NUMBER} AND priority = ?"  # noqa: S608 -- constants
    " AND organization = (SELECT no FROM organizations WHERE id = ?)"
)
# Two queries, because one for both, `(due_at, key) > (?, ?)`, walks over all rows of the same time
# each time: a campaign's messages are all due at the same time.
_DUE_THEN: Final = f"{_ROW} WHERE {_QUEUE} AND due_at = ? AND key > ? AND valid_until > ?"
_DUE_LATER: Final = f"{_ROW} WHERE {_QUEUE} AND due_at > ? AND due_at <= ? AND valid_until > ?"

_UNSERVED: Final = Line(Kind.WAITS, values={"wait": Wait.UNSERVED.value})
_SERVED: Final = Line(Kind.SERVED)
Queue = tuple[str, int, str]
"""Route, priority and organization."""


def view(conn: sqlite3.Connection, message_id: str) -> MessageView | None:
    """Any message; None: the id is unknown."""
    key = find_key(conn, message_id)
    if key is None:
        return None
    return _VIEWS.of(conn.execute(_VIEW, (key,)).fetchone())


def image(conn: sqlite3.Connection, message_id: str) -> Seen | None:
    """What the audit trail shows of a message: no text, and of the number the ends."""
    message = view(conn, message_id)
    if message is None:
        return None
    return Seen(message.organization_id, {**audit_image(message), "to": masked(message.to)})


def own_view(
    conn: sqlite3.Connection, message_id: str, organization_id: str, mode: Mode
) -> MessageView | None:
    """A message of an organization and mode, no code; None: unknown, or another's. The time that it
    takes does not reveal which of the two (``make timing``)."""
    own, key = (MODES.number(mode.value), organization_id), key_of(message_id)
    if key is None or conn.execute(_OWN_IS, (key, message_id, *own)).fetchone() is None:
        return None
    return own_view_of_key(conn, key, organization_id, mode)


def own_view_of_key(
    conn: sqlite3.Connection, key: int, organization_id: str, mode: Mode
) -> MessageView | None:
    """A message of an organization and mode by its key, no code; None: unknown, or another's."""
    own = (MODES.number(mode.value), organization_id)
    row = conn.execute(_OWN_VIEW, (key, *own)).fetchone()
    view = None if row is None else _VIEWS.of(row)
    return None if view is None or view.kind != "sms" else view


def after(
    conn: sqlite3.Connection, organization_id: str, key: int, limit: int
) -> list[MessageView]:
    """An organization's messages after a key, including codes, the oldest first."""
    rows = conn.execute(
        f"SELECT {_VIEWS.columns} FROM message"  # noqa: S608 -- constants
        " WHERE organization = (SELECT no FROM organizations WHERE id = ?) AND key > ?"
        " ORDER BY key LIMIT ?",
        (organization_id, key, limit),
    )
    return [_VIEWS.of(row) for row in rows]


def shown(
    conn: sqlite3.Connection, message_id: str
) -> tuple[MessageView, tuple[TimelineEntry, ...]]:
    """Any message, with its timeline.

    Raises:
        NotFound: the id is unknown.
    """
    message = view(conn, message_id)
    if message is None:
        raise NotFound(f"There is no message {message_id}.")
    return message, timeline.read(conn, message_id)


def due(
    conn: sqlite3.Connection,
    route: str,
    priority: int,
    organization_id: str,
    now_ms: int,
    after: Place,
    count: int,
    broken: BrokenRow | None = None,
) -> list[DueRow]:
    """The next ``count`` due messages of one organization on one route, oldest first.

    Args:
        broken: told of rows that are no message, which are left out; None: such a one is raised.
    """
    queue, due_rows = (route, priority, organization_id), list[DueRow]()
    while len(due_rows) < count:
        missing = count - len(due_rows)
        rows = _due_columns(conn, queue, now_ms, after, missing)
        due_rows += readable(rows, _DUE_ROWS.of, _DUE_ID, broken)
        if len(rows) < missing or len(due_rows) == count:
            break
        after = rows[-1][_DUE_AT], rows[-1][0]  # rows were left out: read on behind them
    return due_rows


def _due_columns(
    conn: sqlite3.Connection, queue: tuple[str, int, str], now_ms: int, after: Place, count: int
) -> list[tuple[Any, ...]]:
    """Rows of the next due messages, as :data:`_DUE_ROWS` selects them."""
    due_at, key = after
    if due_at > now_ms:
        return []
    rows = conn.execute(
        f"{_DUE_THEN} ORDER BY key LIMIT ?", (*queue, due_at, key, now_ms, count)
    ).fetchall()
    if len(rows) < count:
        rows += conn.execute(
            f"{_DUE_LATER} ORDER BY message.due_at, key LIMIT ?",
            (*queue, due_at, now_ms, now_ms, count - len(rows)),
        ).fetchall()
    return rows


def row(conn: sqlite3.Connection, message_id: str) -> DueRow | None:
    """One message in the scheduler's form, with any status."""
    key = find_key(conn, message_id)
    if key is None:
        return None
    return _DUE_ROWS.of(conn.execute(f"{_ROW} WHERE key = ?", (key,)).fetchone())


def next_due(
    conn: sqlite3.Connection,
    route: str,
    priority: int,
    organization_id: str,
    after_ms: int,
) -> int | None:
    """When the next message of one organization on one route falls due after ``after_ms``."""
    due_at: int | None = value_of(
        conn,
        f"SELECT due_at FROM message WHERE {_QUEUE} AND due_at > ? ORDER BY due_at LIMIT 1",  # noqa: S608 -- constants
        (route, priority, organization_id, after_ms),
    )
    return due_at


_FIRST: Final = (-1, -1, -1)
"""Before every queue, in numbers."""
_FIRST_OF_QUEUE: Final = (
    "SELECT id FROM message WHERE status = 0 AND route = ? AND priority = ? AND organization = ?"
    " ORDER BY due_at LIMIT 1"
)


def queues(conn: sqlite3.Connection, broken: BrokenRow | None = None) -> list[Queue]:
    """Every (route, priority, organization) that has pending messages.

    Skips along the index: the cost depends on queues, not on messages.

    Args:
        broken: told of the first message of each queue that is none, because its route or its
            organization is not there; None: such queues are passed over in silence.
    """
    waiting: list[Queue] = []
    last = _FIRST
    while True:
        row = conn.execute(
            "SELECT route, priority, organization FROM message WHERE status = 0"
            " AND (route, priority, organization) > (?, ?, ?)"
            " ORDER BY route, priority, organization LIMIT 1",
            last,
        ).fetchone()
        if row is None:
            return sorted(waiting)
        last = row
        if None not in (words := _in_words(conn, row)):
            waiting.append(words)
        elif broken is not None:
            broken(value_of(conn, _FIRST_OF_QUEUE, row), LookupError("a queue of nobody"))


def _in_words(conn: sqlite3.Connection, queue: tuple[int, int, int]) -> Queue:
    route, priority, organization = queue
    words: Queue = conn.execute(
        f"SELECT {name_sql('?1')}, ?2, (SELECT id FROM organizations WHERE no = ?3)",  # noqa: S608 -- constants
        (route, priority, organization),
    ).fetchone()
    return words


def acknowledged_parts(conn: sqlite3.Connection, message_id: str) -> frozenset[int]:
    """Numbers of the segments that a carrier has accepted already."""
    message = load(conn, message_id)
    if message is None:
        return frozenset()
    return frozenset(part.number for part in parts.of(conn, message) if part.state in ACKNOWLEDGED)


def reroute(
    conn: sqlite3.Connection,
    queue: Queue,
    after: Place,
    route_key: Callable[[str], str],
    count: int,
    now_ms: int,
) -> Place | None:
    """Sort ``count`` pending messages of a queue into routes again; where to continue, or None.

    If a message loses its last carrier, or gets one again, its timeline shows it.
    """
    rows = [
        _QUEUED.of(row)
        for row in conn.execute(
            f"SELECT {_QUEUED.columns} FROM message WHERE {_QUEUE} AND (due_at, key) > (?, ?)"  # noqa: S608 -- constants
            " ORDER BY due_at, key LIMIT ?",
            (*queue, *after, count),
        )
    ]
    sorted_anew = [(as_flash(route_key(row.recipient), queue[0]), row.key) for row in rows]
    moved = [(route, key) for route, key in sorted_anew if route != queue[0]]
    numbers = {route: names.number(conn, route) for route, _ in moved}
    conn.executemany(
        "UPDATE message SET route = ? WHERE key = ?",
        [(numbers[route], key) for route, key in moved],
    )
    for route, key in moved:
        if UNSERVED in (plain(route), plain(queue[0])):
            line = _UNSERVED if plain(route) == UNSERVED else _SERVED
            timeline.append(conn, key, TimelineEntry(now_ms, Status.PENDING.value, line))
    return (rows[-1].due_at, rows[-1].key) if len(rows) == count else None


@dataclass(frozen=True, slots=True)
class _Queued:
    """A pending message, with the fields that decide its route."""

    due_at: int
    key: int
    recipient: str


_QUEUED: Final = Rows(_Queued, recipient=recipient_text)
