"""Alphanumeric senders: requested, cleared or denied, approved by volume or at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import NUMBER
from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.searching import part, spellings
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Conflict
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.records.accounts import (
    CLEARED,
    REQUESTED,
    UNDECIDED_MAX,
    WEEK_HOURS,
    WEEKLY_MESSAGES,
    SenderRequestFilter,
    Undecided,
)
from risala.engine.model.records.asks import CursorPage, Place, Steps
from risala.engine.model.records.messages import Stamp
from risala.engine.model.records.senders import SENT_MAX, Sender
from risala.engine.rules.likeness import Owned
from risala.sms.address import fold_sender

HOUR_MS: Final = 3_600_000
SENDERS_MAX: Final = 200
"""Per organization, in any state: an operator checks each, and a member could request any number of
them."""

SENDERS: Final = Rows.of_record(Sender)
_OWNED: Final = Rows(Owned)
# Read for every message; manual changes go through the table.
_BY_NAME: Final = f"SELECT {SENDERS.columns} FROM senders WHERE organization_id = ? AND folded = ?"  # noqa: S608 -- a constant
_WAITING: Final = "status = 'pending' AND cleared = 1"
_ASKED: Final = "status = 'pending' AND cleared = 0"


def sender(conn: sqlite3.Connection, sender_id: str) -> Sender:
    """One sender.

    Raises:
        NotFound: the id is unknown.
    """
    return SENDERS.one(table(conn, "senders"), sender_id, "There is no sender {}.")


def by_name(conn: sqlite3.Connection, organization_id: str, name: str) -> Sender | None:
    """The organization's sender of this name, compared without case and with spaces folded."""
    row = conn.execute(_BY_NAME, (organization_id, fold_sender(name))).fetchone()
    return None if row is None else SENDERS.of(row)


def senders(conn: sqlite3.Connection, organization_id: str | None) -> list[Sender]:
    """Senders of one organization, or of all, the oldest request first."""
    stored = table(conn, "senders")
    if organization_id is None:
        return SENDERS.find(stored, order_by="id")
    return SENDERS.find(stored, "organization_id = ?", (organization_id,), order_by="id")


def owned_names(conn: sqlite3.Connection) -> list[Owned]:
    """The names of organizations, and their senders that were not denied."""
    rows = conn.execute(
        f"SELECT {_OWNED.columns} FROM"  # noqa: S608 -- a constant
        " (SELECT id AS organization_id, name AS organization, name FROM organizations"
        " WHERE deleted_at IS NULL"
        " UNION SELECT o.id, o.name, s.name FROM senders s"
        " JOIN organizations o ON o.id = s.organization_id WHERE s.status <> 'denied')"
        " ORDER BY organization_id, name"
    )
    return [_OWNED.of(row) for row in rows]


def count_asked(conn: sqlite3.Connection, count_max: int) -> int:
    """Requests that wait for an operator, counted up to a limit."""
    return len([*table(conn, "senders").rows_where(_ASKED, select="1", limit=count_max)])


def waiting_for_volume(conn: sqlite3.Connection) -> set[str]:
    """Organizations with a cleared sender that is not approved yet."""
    rows = table(conn, "senders").rows_where(_WAITING, select="organization_id")
    return {row["organization_id"] for row in rows}


def add(conn: sqlite3.Connection, new: Sender) -> Sender:
    """Request a name; a denied one may be requested again.

    Raises:
        Conflict: it is on the account already, or there are too many.
    """
    old = by_name(conn, new.organization_id, new.name)
    if old is not None and old.status != "denied":
        raise Conflict(f"The sender {old.name!r} is already on the account: {old.status}.")
    stored = writable(conn, "senders")
    if old is not None:
        stored.delete(old.id)
    if stored.count_where("organization_id = ?", (new.organization_id,)) >= SENDERS_MAX:
        raise Conflict(
            f"An organization can have at most {SENDERS_MAX} senders, including denied ones."
        )
    stored.insert(
        {
            "id": new.id,
            "organization_id": new.organization_id,
            "name": new.name,
            "folded": fold_sender(new.name),
            "status": "pending",
            "cleared": False,
            "description": new.description,
            "created_at": new.created_at,
            "updated_at": new.created_at,
        }
    )
    return sender(conn, new.id)


def clear(conn: sqlite3.Connection, sender_id: str, *, waive: bool, stamp: Stamp) -> Sender:
    """Clear a name: it is approved at its volume, or with ``waive`` at once.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is denied, or another organization has the name.
    """
    old = sender(conn, sender_id)
    if old.status == "denied":
        raise Conflict(f"The sender {old.name!r} was denied. It must be requested again.")
    _refuse_used_name(conn, old)
    if old.status == "pending":
        since = stamp.now_ms if old.cleared_at is None else old.cleared_at
        cleared = {"cleared": True, "cleared_at": since, "updated_at": stamp.now_ms}
        writable(conn, "senders").update(sender_id, cleared)
        if waive:
            _approve(conn, old, stamp)
        else:
            approve_by_volume(conn, old.organization_id, stamp)
    return sender(conn, sender_id)


def _refuse_used_name(conn: sqlite3.Connection, new: Sender) -> None:
    taken = SENDERS.find(
        table(conn, "senders"),
        f"folded = ? AND organization_id <> ? AND (status = 'approved' OR ({_WAITING}))",
        (fold_sender(new.name), new.organization_id),
        limit=1,
    )
    if taken:
        owner = taken[0].organization_id
        raise Conflict(f"The name {new.name!r} is already used by the organization {owner}.")


def deny(conn: sqlite3.Connection, sender_id: str, reason: str, stamp: Stamp) -> Sender:
    """Refuse a name, even an approved one.

    Raises:
        NotFound: the id is unknown.
    """
    old = sender(conn, sender_id)
    if old.status != "denied":
        denied = {"status": "denied", "cleared": False, "cleared_at": None, "reason": reason}
        writable(conn, "senders").update(sender_id, {**denied, "updated_at": stamp.now_ms})
        outbox.sender_event(conn, sender(conn, sender_id), stamp)
    return sender(conn, sender_id)


def weekly_volume(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> int:
    """Accepted live messages of the last seven days, codes among them.

    The oldest hour counts whole: at most an hour's messages too many, never one too few.
    """
    return volume(conn, organization_id, now_ms, WEEK_HOURS)


def volume(conn: sqlite3.Connection, organization_id: str, now_ms: int, hours: int) -> int:
    """Accepted live messages of the last ``hours``, codes among them."""
    (count,) = conn.execute(
        "SELECT coalesce(sum(n), 0) FROM hour_count WHERE outcome = 0 AND mode = 0"
        " AND organization = (SELECT no FROM organizations WHERE id = ?) AND hour >= ?",
        (organization_id, now_ms // HOUR_MS - hours),
    ).fetchone()
    return int(count)


def sent_by_name(
    conn: sqlite3.Connection,
    organization_id: str,
    names: Sequence[str],
    since_ms: int,
    *,
    counted_max: int = SENT_MAX,
) -> dict[str, int]:
    """Live messages by sender since then: a value of ``counted_max`` means that or more."""
    statement = (
        "SELECT count(*) FROM (SELECT 1 FROM message INDEXED BY message_by_sender"  # noqa: S608 -- constants
        " WHERE organization = (SELECT no FROM organizations WHERE id = ?)"
        f" AND sender = {NUMBER} AND key >= ? AND mode = 0 LIMIT ?)"
    )
    since = since_ms << KEY_COUNTER_BITS
    return {
        name: value_of(conn, statement, (organization_id, name, since, counted_max))
        for name in names
    }


def approve_by_volume(conn: sqlite3.Connection, organization_id: str, stamp: Stamp) -> None:
    """Approve the organization's cleared senders if its week's volume is reached."""
    if weekly_volume(conn, organization_id, stamp.now_ms) < WEEKLY_MESSAGES:
        return
    for waiting in SENDERS.find(
        table(conn, "senders"),
        f"organization_id = ? AND {_WAITING}",
        (organization_id,),
        order_by="id",
    ):
        _approve(conn, waiting, stamp)


def _approve(conn: sqlite3.Connection, old: Sender, stamp: Stamp) -> None:
    approved = {"status": "approved", "updated_at": stamp.now_ms}
    writable(conn, "senders").update(old.id, approved)
    outbox.sender_event(conn, sender(conn, old.id), stamp)


# -- pages of requests for them, over all organizations


_STATES: Final = {
    REQUESTED: "status = 'pending' AND cleared = 0",
    CLEARED: "status = 'pending' AND cleared = 1",
    "approved": "status = 'approved'",
    "denied": "status = 'denied'",
}
WAITING_MAX: Final = 300
"""Requests that wait for the operator and are sorted together, the oldest: each is compared with
every name in use."""


def _hit(filters: SenderRequestFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted request, in addition to its state."""
    if filters.search is None:
        return "1", ()
    names = spellings(filters.search)
    ways = ["organization_id LIKE ? ESCAPE '\\'"]
    values = [part(filters.search)]
    for spelled in names:
        ways.append("senders.name LIKE ? ESCAPE '\\'")
        ways.append(
            "organization_id IN (SELECT id FROM organizations"
            " WHERE organizations.name LIKE ? ESCAPE '\\')"
        )
        values += [part(spelled)] * 2
    return f"({' OR '.join(ways)})", tuple(values)


def waiting(conn: sqlite3.Connection, filters: SenderRequestFilter) -> list[Sender]:
    """Undecided requests, the oldest first."""
    hit, values = _hit(filters)
    rows = conn.execute(
        f"SELECT {SENDERS.columns} FROM senders"  # noqa: S608 -- constants
        f" WHERE {_STATES[REQUESTED]} AND {hit} ORDER BY id LIMIT ?",
        (*values, WAITING_MAX),
    )
    return [SENDERS.of(row) for row in rows]


def page(
    conn: sqlite3.Connection, filters: SenderRequestFilter, steps: Steps
) -> CursorPage[Sender]:
    """One page of those in another state, the newest first."""
    hit, values = _hit(filters)
    way = Walk("senders", _STATES[filters.state], (), hit, values, ("id",))
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


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class SenderRepository:
    """Senders. All reads are on the loop's thread: the number of senders is bounded.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    sender = read(sender)
    by_name = read(by_name)
    all = read(senders)
    owned_names = read(owned_names)
    waiting_for_volume = read(waiting_for_volume)
    volume = read(volume)
    sent_by_name = read(sent_by_name)
    undecided = read(undecided)
    requested = read(waiting)
    page = read(page)
    add = audited_command(add)
    clear = audited_command(clear)
    deny = audited_command(deny)
