"""Users' accounts at identity providers, as rows: one for each user and provider. An account at the
provider of an organization is known there alone; the console's has no organization."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import Final

from risala.engine.features.providers.records import LinkedIdentity
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.tables import table, writable

_TABLE: Final = "identities"
_ROWS: Final = Rows(LinkedIdentity)


def find(
    conn: sqlite3.Connection, organization_id: str, issuer: str, subject: str
) -> LinkedIdentity | None:
    """The user's identity that has an account at a provider; None: unknown."""
    key = (organization_id, issuer, subject)
    one = "organization_id = ? AND issuer = ? AND subject = ?"
    rows = _ROWS.find(table(conn, _TABLE), one, key)
    return rows[0] if rows else None


def of_user(
    conn: sqlite3.Connection, user_id: str, organization_id: str, issuer: str
) -> LinkedIdentity | None:
    """A user's account at a provider; None: none is known."""
    key = (user_id, organization_id, issuer)
    one = "user_id = ? AND organization_id = ? AND issuer = ?"
    rows = _ROWS.find(table(conn, _TABLE), one, key)
    return rows[0] if rows else None


def add(conn: sqlite3.Connection, new: LinkedIdentity) -> None:
    writable(conn, _TABLE).insert(columns_of(asdict(new)))


def used(conn: sqlite3.Connection, identity: LinkedIdentity, now_ms: int) -> None:
    """Note that the person of an identity has just signed in."""
    writable(conn, _TABLE).update(
        (identity.organization_id, identity.issuer, identity.subject), {"used_at": now_ms}
    )


def forget(conn: sqlite3.Connection, user_id: str) -> int:
    """Delete a user's; returns how many there were. The next sign-in at a provider makes one."""
    stored = writable(conn, _TABLE)
    count = stored.count_where("user_id = ?", (user_id,))
    stored.delete_where("user_id = ?", (user_id,))
    return int(count)


def forget_of_organization(conn: sqlite3.Connection, organization_id: str) -> None:
    """Delete those at an organization's provider."""
    writable(conn, _TABLE).delete_where("organization_id = ?", (organization_id,))
