"""How many messages wait in the queue: bounded queries, however long it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.accounts import accounts
from risala.engine.journal.messages import deadlines, reads
from risala.engine.journal.state import load
from risala.engine.journal.store import meta
from risala.engine.journal.store.names import NUMBER
from risala.engine.journal.store.opening import begin_running, end_in_order
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.model.features import features
from risala.engine.model.numbers import recipient_text
from risala.engine.model.records.messages import HELD_DUE_AT, Unserved
from risala.engine.model.states import Status
from risala.engine.rules.router import FLASH_MARK, NETWORK_EXACTNESS, UNSERVED, plain

# -- after the clock was set back


# Waits for a period of time. Not a time that was chosen (a scheduled message is due at its time),
# nor a message's validity: it merely lasts longer. Features have theirs (``Feature.shifts``).
_SHIFTS: Final = (
    "UPDATE message SET due_at = due_at - :by WHERE status = 0 AND due_at > :now"
    " AND (send_at IS NULL OR due_at <> send_at)"
    " AND due_at < :held",
    "UPDATE message SET resolve_at = resolve_at - :by WHERE resolve_at > :now",
    "UPDATE verifications SET expires_at = expires_at - :by"
    " WHERE status = 'pending' AND expires_at > :now",
    "UPDATE webhook_delivery SET due_at = due_at - :by WHERE state = 'pending' AND due_at > :now",
    "UPDATE webhook_endpoints SET notice_due_at = notice_due_at - :by WHERE notice_due_at > :now",
    "UPDATE mails SET due_at = due_at - :by, useless_at = useless_at - :by"
    " WHERE settled_at IS NULL AND due_at > :now",
    "UPDATE sign_in_requests SET expires_at = expires_at - :by WHERE expires_at > :now",
    "UPDATE one_time_links SET expires_at = expires_at - :by WHERE expires_at > :now",
    "UPDATE email_changes SET expires_at = expires_at - :by WHERE expires_at > :now",
    "UPDATE api_keys SET old_until = old_until - :by WHERE old_until > :now",
    "UPDATE web_sessions SET expires_at = expires_at - :by WHERE expires_at > :now",
)


def follow(conn: sqlite3.Connection, by_ms: int, now_ms: int) -> int:
    """Move the times of waits back by as much as the clock; returns how many rows waited.

    One unit: after a crash all of them are moved or none. ``now_ms`` is by the new clock; what is
    already due by it stays as it is.
    """
    theirs = (each.shifts() for each in features() if each.shifts is not None)
    return sum(
        conn.execute(statement, {"by": by_ms, "now": now_ms, "held": HELD_DUE_AT}).rowcount
        for statement in chain(_SHIFTS, *theirs)
    )


# -- how many wait, and since when


QUEUES_MAX: Final = 500
"""Queues of one route whose oldest message is read: a few milliseconds' worth. With more waiting
organizations, a few seconds of difference do not matter."""
HEADS_MAX: Final = 500
"""Heads of queues that are read: one for each route, priority and organization with waiting
messages. Each is one step down an index."""
_HEAD: Final = (
    "SELECT route, priority, organization, due_at FROM message INDEXED BY message_queue"
    " WHERE status = 0 AND (route, priority, organization) > (?, ?, ?)"
    " ORDER BY route, priority, organization, due_at LIMIT 1"
)
"""The next head of a queue, by the index alone."""


def count(conn: sqlite3.Connection, routes: Iterable[str], count_max: int) -> int:
    """Pending messages of these routes, counted up to ``count_max``."""
    total = 0
    for route in routes:
        (pending,) = conn.execute(
            "SELECT count(*) FROM (SELECT 1 FROM message"  # noqa: S608 -- constants
            f" WHERE status = 0 AND route = {NUMBER} LIMIT ?)",
            (route, count_max - total),
        ).fetchone()
        total += pending
    return total


def oldest(conn: sqlite3.Connection, routes: Iterable[str], now_ms: int) -> int | None:
    """Since when the longest due message of these routes waits; None: none is due.

    Skips along the index from queue to queue, :data:`QUEUES_MAX` of a route at most.
    """
    earliest: int | None = None
    for route in routes:
        last = (-1, -1)
        for _ in range(QUEUES_MAX):
            row = conn.execute(
                "SELECT priority, organization, due_at FROM message"  # noqa: S608 -- constants
                f" WHERE status = 0 AND route = {NUMBER} AND (priority, organization) > (?, ?)"
                " ORDER BY priority, organization, due_at LIMIT 1",
                (route, *last),
            ).fetchone()
            if row is None:
                break
            priority, organization, due_at = row
            last = (priority, organization)
            if due_at <= now_ms and (earliest is None or due_at < earliest):
                earliest = due_at
    return earliest


def oldest_due(conn: sqlite3.Connection, now_ms: int) -> dict[str, int]:
    """Since when the oldest due message has waited, by route; except messages of held organizations
    and those without a carrier."""
    earliest: dict[str, int] = {}
    place = (-1, -1, -1)
    for _ in range(HEADS_MAX):
        row = conn.execute(_HEAD, place).fetchone()
        if row is None:
            break
        route, priority, organization, due_at = row
        place = (route, priority, organization)
        if due_at is not None and due_at <= now_ms and _is_active(conn, organization):
            name = value_of(conn, "SELECT name FROM names WHERE no = ?", (route,))
            if name is not None and plain(name) != UNSERVED:
                earliest[name] = min(due_at, earliest.get(name, due_at))
    return earliest


def _is_active(conn: sqlite3.Connection, organization: int) -> bool:
    status = value_of(conn, "SELECT status FROM organizations WHERE no = ?", (organization,))
    return bool(status == "active")


def unserved(conn: sqlite3.Connection, count_max: int) -> Unserved:
    """Messages without a carrier, counted up to ``count_max``."""
    rows = conn.execute(
        "SELECT recipient FROM message WHERE status = 0 AND typeof(recipient) <> 'blob'"
        " AND route IN (SELECT no FROM names WHERE name IN (?, ?)) LIMIT ?",
        (UNSERVED, FLASH_MARK + UNSERVED, count_max),
    )
    prefixes = [recipient_text(number)[: NETWORK_EXACTNESS + 1] for (number,) in rows]
    return Unserved(len(prefixes), tuple(sorted(set(prefixes))))


def is_unserved(conn: sqlite3.Connection, message_id: str) -> bool:
    """Whether this message waits because no enabled carrier serves its number."""
    message = load(conn, message_id)
    if message is None or message.status is not Status.PENDING:
        return False
    return plain(message.route) == UNSERVED


def due(conn: sqlite3.Connection, now_ms: int) -> tuple[int, int | None]:
    """How many messages are due, and since when the oldest is. Reads the whole queue."""
    total, oldest = conn.execute(
        "SELECT count(*), min(due_at) FROM message WHERE status = 0 AND due_at <= ?",
        (now_ms,),
    ).fetchone()
    return total, oldest


def held(conn: sqlite3.Connection) -> int:
    """The number of messages that a restore holds. It counts them."""
    query = "SELECT count(*) FROM message WHERE status = 0 AND due_at >= ?"
    return int(value_of(conn, query, (HELD_DUE_AT,)) or 0)


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class QueueRepository:
    """What is due, by queue. Reads on the loop's thread are by an index, and of as many rows as is
    asked for; those over all queues skip from one to the next. What a restore holds is counted and
    sorted on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    queues = read(reads.queues)
    due = read(reads.due)
    next_due = read(reads.next_due)
    message = read(reads.row)
    acknowledged_parts = read(reads.acknowledged_parts)
    may_send = read(accounts.is_active)
    interrupted = read(deadlines.interrupted)
    due_keys = read(deadlines.due)
    next_deadline = read(deadlines.next_deadline)

    def routes(self) -> str | None:
        """The fingerprint of the routes by which everything was last sorted."""
        return meta.get(self._store.reader, "routes")

    count = read(count)
    oldest = read(oldest)
    oldest_due = read(oldest_due)
    unserved = read(unserved)
    is_unserved = read(is_unserved)

    # -- commands

    note_running = command(begin_running)
    note_stopped = command(end_in_order)
    follow_clock = command(follow)
    recover = command(deadlines.recover)
    reroute = command(reads.reroute)

    async def note_routes(self, fingerprint: str) -> None:
        """Everything is sorted into these routes."""
        await self._store.commit(partial(meta.put, key="routes", value=fingerprint))
