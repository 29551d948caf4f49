"""Web sessions as rows: by the hash of a token, which itself is not stored."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.people import Device, SessionKind
from risala.engine.model.people_records import StoredSession
from risala.engine.rules.people.lifetimes import GRACE_MS, IDLE_MS, is_over

DEVICES_MAX: Final = 30
"""For one user and kind; the one that was unused for longest ends."""

_TABLE: Final = "web_sessions"


@dataclass(frozen=True, slots=True)
class _Stored:
    id: str
    user_id: str
    kind: SessionKind
    agent: str
    address: str
    created_at: int
    used_at: int
    expires_at: int
    stale: bool
    hash: bytes
    fresh_at: int
    two_factors: bool
    organization_id: str | None

    @property
    def device(self) -> Device:
        return Device(
            self.id,
            self.user_id,
            self.kind,
            self.agent,
            self.address,
            self.created_at,
            self.used_at,
            self.expires_at,
            self.fresh_at,
            self.two_factors,
            self.organization_id,
        )

    def is_over(self, now_ms: int) -> bool:
        return is_over(self.kind, self.used_at, self.expires_at, now_ms)


_STORED: Final = Rows(_Stored, kind=SessionKind, stale=bool, two_factors=bool)


def by_hash(
    conn: sqlite3.Connection, digest: bytes, kind: SessionKind, now_ms: int
) -> StoredSession | None:
    """The session whose token has this hash; None: unknown, or the session is over."""
    rows = _STORED.find(
        table(conn, _TABLE),
        "hash = ? OR (previous_hash = ? AND previous_until > ?)",
        (digest, digest, now_ms),
    )
    if not rows or rows[0].kind is not kind or rows[0].is_over(now_ms):
        return None
    row = rows[0]
    return StoredSession(row.device, row.stale, row.hash != digest)


def of_user(conn: sqlite3.Connection, user_id: str, now_ms: int) -> list[Device]:
    """A user's sessions, the newest first."""
    sessions = _STORED.find(
        table(conn, _TABLE), "user_id = ?", (user_id,), order_by="created_at DESC, id DESC"
    )
    return [row.device for row in sessions if not row.is_over(now_ms)]


def add(conn: sqlite3.Connection, new: Device, digest: bytes) -> Device:
    """Store a session; if a user has too many, some end."""
    stored = writable(conn, _TABLE)
    mine = _STORED.find(
        stored,
        "user_id = ? AND kind = ?",
        (new.user_id, new.kind.value),
        order_by="used_at DESC, id DESC",
    )
    for row in mine[DEVICES_MAX - 1 :]:
        stored.delete(row.id)
    stored.insert(
        {
            "id": new.id,
            "user_id": new.user_id,
            "kind": new.kind.value,
            "hash": digest,
            "stale": False,
            "agent": new.agent,
            "address": new.address,
            "created_at": new.created_at,
            "used_at": new.used_at,
            "expires_at": new.expires_at,
            "fresh_at": new.fresh_at,
            "two_factors": new.two_factors,
            "organization_id": new.organization_id,
        }
    )
    return new


def rotate(
    conn: sqlite3.Connection, digest: bytes, kind: SessionKind, new: bytes, now_ms: int
) -> bool:
    """Set another token for a session; False if it is unknown, or was just rotated."""
    session = by_hash(conn, digest, kind, now_ms)
    if session is None or session.is_previous:
        return False
    values = {
        "hash": new,
        "previous_hash": digest,
        "previous_until": now_ms + GRACE_MS,
        "stale": False,
    }
    writable(conn, _TABLE).update(session.device.id, values)
    return True


def freshen(conn: sqlite3.Connection, session_id: str, now_ms: int) -> None:
    """The session's user has just shown who they are."""
    conn.execute("UPDATE web_sessions SET fresh_at = ? WHERE id = ?", (now_ms, session_id))


def make_stale(conn: sqlite3.Connection, user_id: str) -> None:
    """A user's role changed: the tokens of all their sessions must be replaced."""
    stored = writable(conn, _TABLE)
    for row in _STORED.find(stored, "user_id = ?", (user_id,)):
        stored.update(row.id, {"stale": True})


def end(
    conn: sqlite3.Connection,
    user_id: str,
    *,
    session_id: str | None = None,
    but: str | None = None,
    kind: SessionKind | None = None,
) -> int:
    """End a user's sessions: one, all except one, all of a kind, or all; returns the number."""
    stored, ended = writable(conn, _TABLE), 0
    for row in _STORED.find(stored, "user_id = ?", (user_id,)):
        if session_id in (None, row.id) and row.id != but and kind in (None, row.kind):
            stored.delete(row.id)
            ended += 1
    return ended


def end_bound(
    conn: sqlite3.Connection, organization_id: str, user_id: str | None = None
) -> list[str]:
    """End the sessions by an organization's identity provider: all of them, or a user's.

    Returns:
        The users whose sessions they were.
    """
    stored, ended = writable(conn, _TABLE), set()
    for row in _STORED.find(stored, "organization_id = ?", (organization_id,)):
        if user_id in (None, row.user_id):
            stored.delete(row.id)
            ended.add(row.user_id)
    return sorted(ended)


def touch(conn: sqlite3.Connection, used: dict[str, int]) -> None:
    """Store when sessions were last used."""
    conn.executemany(
        "UPDATE web_sessions SET used_at = ? WHERE id = ?",
        [(at, session_id) for session_id, at in used.items()],
    )


def forget_over(conn: sqlite3.Connection, now_ms: int) -> None:
    """Delete expired sessions."""
    stored = writable(conn, _TABLE)
    stored.delete_where("expires_at <= ?", (now_ms,))
    for kind, idle_ms in IDLE_MS.items():
        stored.delete_where("kind = ? AND used_at <= ?", (kind.value, now_ms - idle_ms))


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class WebSessionRepository:
    """The sessions of signed-in users. All reads are by an index, on the loop's thread.
    :class:`SignInRepository` gives a session to who signs in.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    by_hash = read(by_hash)
    of_user = read(of_user)

    # -- commands

    rotate = command(rotate)
    end = audited_command(end)
    touch = command(touch)
    forget_over = command(forget_over)
