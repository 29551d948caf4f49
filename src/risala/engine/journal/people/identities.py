"""Users' accounts at identity providers, as rows: one for each user and provider."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.people_records.identities import LinkedIdentity

_TABLE: Final = "identities"
_ROWS: Final = Rows(LinkedIdentity)


def find(conn: sqlite3.Connection, issuer: str, subject: str) -> LinkedIdentity | None:
    """Whose account at a provider it is; None: unknown."""
    found = _ROWS.find(table(conn, _TABLE), "issuer = ? AND subject = ?", (issuer, subject))
    return found[0] if found else None


def of_user(conn: sqlite3.Connection, user_id: str, issuer: str) -> LinkedIdentity | None:
    """A user's account at a provider; None: none is known."""
    found = _ROWS.find(table(conn, _TABLE), "user_id = ? AND issuer = ?", (user_id, issuer))
    return found[0] if found else None


def add(conn: sqlite3.Connection, new: LinkedIdentity) -> None:
    writable(conn, _TABLE).insert(
        {
            "issuer": new.issuer,
            "subject": new.subject,
            "user_id": new.user_id,
            "created_at": new.created_at,
            "used_at": new.used_at,
        }
    )


def used(conn: sqlite3.Connection, found: LinkedIdentity, now_ms: int) -> None:
    """Its person has just signed in."""
    writable(conn, _TABLE).update((found.issuer, found.subject), {"used_at": now_ms})


def forget(conn: sqlite3.Connection, user_id: str) -> int:
    """Delete a user's; returns how many there were. The next sign-in at a provider makes one."""
    stored = writable(conn, _TABLE)
    count = stored.count_where("user_id = ?", (user_id,))
    stored.delete_where("user_id = ?", (user_id,))
    return int(count)
