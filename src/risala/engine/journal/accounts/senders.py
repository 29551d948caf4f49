"""Alphanumeric senders: requested, cleared or denied, approved by volume or at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from risala.engine.journal.rows import Stamp
from risala.engine.journal.webhooks import outbox
from risala.engine.model.commands import Sender
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.rules.sender_marks import Owned
from risala.sms.address import fold_sender

WEEKLY_MESSAGES: Final = 2000
"""Accepted live messages of seven days that approve a cleared sender (specification §3.2)."""
WEEK_HOURS: Final = 168
HOUR_MS: Final = 3_600_000

_SENDER: Final = (
    "SELECT id, organization_id, name, status, cleared, description, reason, created_at,"
    " updated_at FROM senders"
)


def _sender(row: Sequence[Any]) -> Sender:
    values = [*row]
    values[4] = bool(values[4])
    return Sender(*values)


def sender(conn: sqlite3.Connection, sender_id: str) -> Sender:
    """One sender.

    Raises:
        NotFound: there is none of this id.
    """
    row = conn.execute(f"{_SENDER} WHERE id = ?", (sender_id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no sender {sender_id}.")
    return _sender(row)


def by_name(conn: sqlite3.Connection, organization_id: str, name: str) -> Sender | None:
    """The organization's sender of this name, compared without case and with spaces folded."""
    row = conn.execute(
        f"{_SENDER} WHERE organization_id = ? AND folded = ?",
        (organization_id, fold_sender(name)),
    ).fetchone()
    return None if row is None else _sender(row)


def senders(conn: sqlite3.Connection, organization_id: str | None) -> list[Sender]:
    """Senders of one organization, or of all, the oldest request first."""
    where = "" if organization_id is None else " WHERE organization_id = ?"
    arguments = () if organization_id is None else (organization_id,)
    return [_sender(row) for row in conn.execute(f"{_SENDER}{where} ORDER BY id", arguments)]


def owned_names(conn: sqlite3.Connection) -> list[Owned]:
    """What organizations go by: their own names, and their senders that were not denied."""
    rows = conn.execute(
        "SELECT id, name, name FROM organizations"
        " UNION SELECT o.id, o.name, s.name FROM senders s"
        " JOIN organizations o ON o.id = s.organization_id WHERE s.status <> 'denied'"
        " ORDER BY 1, 3"
    )
    return [Owned(*row) for row in rows]


def waiting_for_volume(conn: sqlite3.Connection) -> set[str]:
    """Organizations with a cleared sender that is not approved yet."""
    rows = conn.execute(
        "SELECT DISTINCT organization_id FROM senders WHERE status = 'pending' AND cleared = 1"
    )
    return {row[0] for row in rows}


def add(conn: sqlite3.Connection, new: Sender) -> Sender:
    """Request a name; a denied one may be requested again.

    Raises:
        Conflict: it is on the account already.
    """
    old = by_name(conn, new.organization_id, new.name)
    if old is not None and old.status != "denied":
        raise Conflict(f"The sender {old.name!r} is on the account already: {old.status}.")
    if old is not None:
        conn.execute("DELETE FROM senders WHERE id = ?", (old.id,))
    conn.execute(
        "INSERT INTO senders (id, organization_id, name, folded, status, cleared, description,"
        " created_at, updated_at) VALUES (?, ?, ?, ?, 'pending', 0, ?, ?, ?)",
        (
            *(new.id, new.organization_id, new.name, fold_sender(new.name)),
            *(new.description, new.created_at, new.created_at),
        ),
    )
    return sender(conn, new.id)


def clear(conn: sqlite3.Connection, sender_id: str, *, waive: bool, stamp: Stamp) -> Sender:
    """Have nothing against a name: it is approved at its volume, or with ``waive`` at once.

    Raises:
        NotFound: there is none of this id.
        Conflict: it is denied, or another organization has the name.
    """
    old = sender(conn, sender_id)
    if old.status == "denied":
        raise Conflict(f"The sender {old.name!r} was denied; it must be requested again.")
    _refuse_taken(conn, old)
    if old.status == "pending":
        conn.execute(
            "UPDATE senders SET cleared = 1, updated_at = ? WHERE id = ?",
            (stamp.now_ms, sender_id),
        )
        if waive:
            _approve(conn, old, stamp)
        else:
            approve_by_volume(conn, old.organization_id, stamp)
    return sender(conn, sender_id)


def _refuse_taken(conn: sqlite3.Connection, wanted: Sender) -> None:
    taken = conn.execute(
        "SELECT organization_id FROM senders WHERE folded = ? AND organization_id <> ?"
        " AND (status = 'approved' OR (status = 'pending' AND cleared = 1))",
        (fold_sender(wanted.name), wanted.organization_id),
    ).fetchone()
    if taken is not None:
        raise Conflict(f"The name {wanted.name!r} is used by the organization {taken[0]}.")


def deny(conn: sqlite3.Connection, sender_id: str, reason: str, stamp: Stamp) -> Sender:
    """Refuse a name, also one that was approved.

    Raises:
        NotFound: there is none of this id.
    """
    old = sender(conn, sender_id)
    if old.status != "denied":
        conn.execute(
            "UPDATE senders SET status = 'denied', cleared = 0, reason = ?, updated_at = ?"
            " WHERE id = ?",
            (reason, stamp.now_ms, sender_id),
        )
        outbox.sender_event(conn, sender(conn, sender_id), stamp)
    return sender(conn, sender_id)


def weekly_volume(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> int:
    """Accepted live messages of the last seven days, codes among them.

    The oldest hour counts whole: at most an hour's messages too many, never one too few.
    """
    (volume,) = conn.execute(
        "SELECT coalesce(sum(messages), 0) FROM accepted_hours"
        " WHERE organization_id = ? AND hour >= ?",
        (organization_id, now_ms // HOUR_MS - WEEK_HOURS),
    ).fetchone()
    return int(volume)


def approve_by_volume(conn: sqlite3.Connection, organization_id: str, stamp: Stamp) -> None:
    """Approve the organization's cleared senders where its week's volume is reached."""
    if weekly_volume(conn, organization_id, stamp.now_ms) < WEEKLY_MESSAGES:
        return
    waiting = conn.execute(
        f"{_SENDER} WHERE organization_id = ? AND status = 'pending' AND cleared = 1 ORDER BY id",
        (organization_id,),
    ).fetchall()
    for row in waiting:
        _approve(conn, _sender(row), stamp)


def _approve(conn: sqlite3.Connection, old: Sender, stamp: Stamp) -> None:
    conn.execute(
        "UPDATE senders SET status = 'approved', updated_at = ? WHERE id = ?",
        (stamp.now_ms, old.id),
    )
    outbox.sender_event(conn, sender(conn, old.id), stamp)
