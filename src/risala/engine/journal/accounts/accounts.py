"""Organizations, keys and senders as rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from risala.engine.journal.rows import OrganizationChange
from risala.engine.model.commands import ApiKey, KeyType, Mode, Organization
from risala.engine.model.errors import NotFound

_ORGANIZATION = (
    "SELECT id, name, status, balance, currency, price_per_segment, smart_encoding, sms_per_s,"
    " created_at, low_balance, spend_cap, owner_spend_cap, time_zone FROM organizations"
)
_KEY = (
    "SELECT id, organization_id, type, mode, name, last4, enabled, created_at, last_used_at,"
    " allowed_origins FROM api_keys"
)


def add_organization(conn: sqlite3.Connection, organization: Organization) -> Organization:
    conn.execute(
        "INSERT INTO organizations (id, name, status, currency, price_per_segment, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            organization.id,
            organization.name,
            organization.status,
            organization.currency,
            organization.price_per_segment,
            organization.created_at,
        ),
    )
    return organization


def organizations(conn: sqlite3.Connection) -> list[Organization]:
    return [_organization(row) for row in conn.execute(f"{_ORGANIZATION} ORDER BY id")]


def organization(conn: sqlite3.Connection, organization_id: str) -> Organization:
    """One organization.

    Raises:
        NotFound: there is none of this id.
    """
    row = conn.execute(f"{_ORGANIZATION} WHERE id = ?", (organization_id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no organization {organization_id}.")
    return _organization(row)


def _organization(row: Sequence[Any]) -> Organization:
    values = [*row]
    values[6] = bool(values[6])
    return Organization(*values)


def balance(conn: sqlite3.Connection, organization_id: str) -> int:
    """The balance in minor units; 0 for an organization that is not there."""
    row = conn.execute(
        "SELECT balance FROM organizations WHERE id = ?", (organization_id,)
    ).fetchone()
    return 0 if row is None else row[0]


def change_organization(
    conn: sqlite3.Connection, organization_id: str, change: OrganizationChange
) -> Organization:
    """Change an organization's own settings.

    Raises:
        NotFound: there is none of this id.
    """
    old = organization(conn, organization_id)
    conn.execute(
        "UPDATE organizations SET name = ?, price_per_segment = ?, smart_encoding = ?,"
        " sms_per_s = ?, low_balance = ?, spend_cap = ?, owner_spend_cap = ?, time_zone = ?"
        " WHERE id = ?",
        (
            old.name if change.name is None else change.name,
            change.price_per_segment if change.sets_price else old.price_per_segment,
            int(old.smart_encoding if change.smart_encoding is None else change.smart_encoding),
            change.sms_per_s if change.sets_rate else old.sms_per_s,
            change.low_balance if change.sets_low_balance else old.low_balance,
            change.operator_spend_cap if change.sets_operator_spend_cap else old.operator_spend_cap,
            change.owner_spend_cap if change.sets_owner_spend_cap else old.owner_spend_cap,
            change.time_zone or old.time_zone,
            organization_id,
        ),
    )
    return organization(conn, organization_id)


def set_organization_status(
    conn: sqlite3.Connection, organization_id: str, status: str
) -> Organization:
    """Suspend or resume an organization.

    Raises:
        NotFound: there is none of this id.
    """
    organization(conn, organization_id)
    conn.execute("UPDATE organizations SET status = ? WHERE id = ?", (status, organization_id))
    return organization(conn, organization_id)


def add_key(conn: sqlite3.Connection, key: ApiKey, digest: bytes) -> ApiKey:
    """Store a key by its hash.

    Raises:
        NotFound: no such organization.
    """
    organization(conn, key.organization_id)
    conn.execute(
        "INSERT INTO api_keys (id, organization_id, type, mode, name, hash, last4, enabled,"
        " created_at, allowed_origins) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(key.id, key.organization_id, key.type, key.mode, key.name, digest, key.last4),
            *(int(key.enabled), key.created_at, _origins_text(key.allowed_origins)),
        ),
    )
    return key


def _origins_text(origins: tuple[str, ...] | None) -> str | None:
    return None if origins is None else json.dumps(origins)


def _key(row: Sequence[Any]) -> ApiKey:
    values = [*row]
    values[2] = KeyType(values[2])
    values[3] = Mode(values[3])
    values[6] = bool(values[6])
    values[9] = None if values[9] is None else tuple(json.loads(values[9]))
    return ApiKey(*values)


def keys(conn: sqlite3.Connection, organization_id: str) -> list[ApiKey]:
    rows = conn.execute(
        f"{_KEY} WHERE organization_id = ? ORDER BY created_at, id", (organization_id,)
    )
    return [_key(row) for row in rows]


def key(conn: sqlite3.Connection, key_id: str) -> ApiKey:
    """One key.

    Raises:
        NotFound: there is none of this id.
    """
    row = conn.execute(f"{_KEY} WHERE id = ?", (key_id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no key {key_id}.")
    return _key(row)


def key_by_hash(conn: sqlite3.Connection, digest: bytes) -> ApiKey | None:
    row = conn.execute(f"{_KEY} WHERE hash = ?", (digest,)).fetchone()
    return None if row is None else _key(row)


def set_key_enabled(conn: sqlite3.Connection, key_id: str, *, enabled: bool) -> ApiKey:
    """Enable or disable a key; a disabled one is kept and rejected on every request.

    Raises:
        NotFound: there is none of this id.
    """
    key(conn, key_id)
    conn.execute("UPDATE api_keys SET enabled = ? WHERE id = ?", (int(enabled), key_id))
    return key(conn, key_id)


def set_key_origins(
    conn: sqlite3.Connection, key_id: str, origins: tuple[str, ...] | None
) -> ApiKey:
    """Restrict a key to these origins; None lifts that.

    Raises:
        NotFound: there is none of this id.
    """
    key(conn, key_id)
    text = _origins_text(origins)
    conn.execute("UPDATE api_keys SET allowed_origins = ? WHERE id = ?", (text, key_id))
    return key(conn, key_id)


def delete_key(conn: sqlite3.Connection, key_id: str) -> ApiKey:
    """Forget a key for good.

    Raises:
        NotFound: there is none of this id.
    """
    gone = key(conn, key_id)
    conn.execute("DELETE FROM api_keys WHERE id = ?", (key_id,))
    return gone


def touch_keys(conn: sqlite3.Connection, used: dict[str, int]) -> None:
    """Write down when keys were last used."""
    conn.executemany(
        "UPDATE api_keys SET last_used_at = ? WHERE id = ?",
        [(at, key_id) for key_id, at in used.items()],
    )
