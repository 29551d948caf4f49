"""Users' accounts at identity providers, as rows: one for each user and provider. An account at the
provider of an organization is known there alone; the console's has no organization."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.people_records.identities import LinkedIdentity

_TABLE: Final = "identities"
_ROWS: Final = Rows(LinkedIdentity)


def find(
    conn: sqlite3.Connection, organization_id: str, issuer: str, subject: str
) -> LinkedIdentity | None:
    """Whose account at a provider it is; None: unknown."""
    key = (organization_id, issuer, subject)
    one = "organization_id = ? AND issuer = ? AND subject = ?"
    found = _ROWS.find(table(conn, _TABLE), one, key)
    return found[0] if found else None


def of_user(
    conn: sqlite3.Connection, user_id: str, organization_id: str, issuer: str
) -> LinkedIdentity | None:
    """A user's account at a provider; None: none is known."""
    key = (user_id, organization_id, issuer)
    one = "user_id = ? AND organization_id = ? AND issuer = ?"
    found = _ROWS.find(table(conn, _TABLE), one, key)
    return found[0] if found else None


def add(conn: sqlite3.Connection, new: LinkedIdentity) -> None:
    writable(conn, _TABLE).insert(
        {
            "organization_id": new.organization_id,
            "issuer": new.issuer,
            "subject": new.subject,
            "user_id": new.user_id,
            "created_at": new.created_at,
            "used_at": new.used_at,
        }
    )


def used(conn: sqlite3.Connection, found: LinkedIdentity, now_ms: int) -> None:
    """Its person has just signed in."""
    writable(conn, _TABLE).update(
        (found.organization_id, found.issuer, found.subject), {"used_at": now_ms}
    )


def forget(conn: sqlite3.Connection, user_id: str) -> int:
    """Delete a user's; returns how many there were. The next sign-in at a provider makes one."""
    stored = writable(conn, _TABLE)
    count = stored.count_where("user_id = ?", (user_id,))
    stored.delete_where("user_id = ?", (user_id,))
    return int(count)


def forget_of_organization(
    conn: sqlite3.Connection, organization_id: str, user_id: str | None = None
) -> None:
    """Delete those at an organization's provider: all of them, or a user's."""
    stored = writable(conn, _TABLE)
    if user_id is None:
        stored.delete_where("organization_id = ?", (organization_id,))
    else:
        one = "organization_id = ? AND user_id = ?"
        stored.delete_where(one, (organization_id, user_id))
