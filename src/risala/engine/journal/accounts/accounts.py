"""Organizations, keys and senders as rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from risala.engine.journal.people import mails
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.people_records.mails import MailKind
from risala.engine.model.records.accounts import DELETED
from risala.engine.model.records.keys import ApiKey, NewValue
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.record import audit_image, shallow

KEYS_MAX: Final = 200
"""Per organization: one for each of its programs, and some reserve. They are listed together, and a
member, or a stolen session, could make any number of them."""

ORGANIZATIONS: Final = Rows.of_record(
    Organization,
    {
        "status": "CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END",
        "operator_spend_cap": "spend_cap",
        "spent_today": "NULL",
    },
)
# Read for every request; manual changes go through the tables.
_ORGANIZATION: Final = f"SELECT {ORGANIZATIONS.columns} FROM organizations WHERE id = ?"  # noqa: S608 -- a constant


KEYS: Final = Rows.of_record(ApiKey)
_KEY_BY_HASH: Final = f"SELECT {KEYS.columns} FROM api_keys WHERE hash = ?"  # noqa: S608 -- a constant
_KEY_BY_OLD_HASH: Final = f"SELECT {KEYS.columns} FROM api_keys WHERE old_hash = ?"  # noqa: S608 -- a constant


def add_organization(conn: sqlite3.Connection, organization: Organization) -> Organization:
    (last,) = conn.execute("SELECT coalesce(max(no), 0) FROM organizations").fetchone()
    writable(conn, "organizations").insert(
        {
            "id": organization.id,
            "no": last + 1,
            "name": organization.name,
            "status": organization.status,
            "currency": organization.currency,
            "price_per_segment": organization.price_per_segment,
            "time_zone": organization.time_zone,
            "created_at": organization.created_at,
        }
    )
    return organization


def organizations(conn: sqlite3.Connection) -> list[Organization]:
    """Every organization, deleted ones too, by its id."""
    return ORGANIZATIONS.find(table(conn, "organizations"), order_by="id")


def organization(conn: sqlite3.Connection, organization_id: str) -> Organization:
    """One organization.

    Raises:
        NotFound: the id is unknown.
    """
    row = conn.execute(_ORGANIZATION, (organization_id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no organization {organization_id}.")
    return ORGANIZATIONS.of(row)


def organization_image(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What the audit trail shows of an organization."""
    found = organization(conn, organization_id)
    return Seen(found.id, audit_image(found))


def is_active(conn: sqlite3.Connection, organization_id: str) -> bool:
    """Whether its messages may leave: it exists, and is neither suspended nor deleted."""
    sql = "SELECT status FROM organizations WHERE id = ?"
    status: str | None = value_of(conn, sql, (organization_id,))
    return status == "active"


def balance(conn: sqlite3.Connection, organization_id: str) -> int:
    """The balance in minor units; 0 for an unknown organization."""
    return value_of(conn, "SELECT balance FROM organizations WHERE id = ?", (organization_id,)) or 0


def change_organization(
    conn: sqlite3.Connection, organization_id: str, changes: Mapping[str, object]
) -> None:
    """Change what can be set of an organization: fields by their names.

    Raises:
        NotFound: the id is unknown.
    """
    organization(conn, organization_id)
    columns = {"operator_spend_cap": "spend_cap"}
    values = {columns.get(name, name): value for name, value in changes.items()}
    writable(conn, "organizations").update(organization_id, values)


def set_organization_status(
    conn: sqlite3.Connection, organization_id: str, status: str
) -> Organization:
    """Suspend or resume an organization.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is deleted.
    """
    if organization(conn, organization_id).status == DELETED:
        raise Conflict("The organization is deleted.")
    writable(conn, "organizations").update(organization_id, {"status": status})
    return organization(conn, organization_id)


def mark_deleted(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> None:
    """Delete an organization's own row; part of the unit that does the rest."""
    values = {"status": "suspended", "deleted_at": now_ms}
    writable(conn, "organizations").update(organization_id, values)


def add_key(conn: sqlite3.Connection, key: ApiKey, digest: bytes) -> ApiKey:
    """Store a key by its hash.

    Raises:
        NotFound: no such organization.
        Conflict: it has too many.
    """
    organization(conn, key.organization_id)
    stored = writable(conn, "api_keys")
    if stored.count_where("organization_id = ?", (key.organization_id,)) >= KEYS_MAX:
        raise Conflict(f"An organization can have at most {KEYS_MAX} keys. Delete one first.")
    stored.insert({**columns_of(shallow(key)), "hash": digest})
    return key


def keys(conn: sqlite3.Connection, organization_id: str) -> list[ApiKey]:
    """The keys of an organization, the oldest first."""
    return KEYS.find(
        table(conn, "api_keys"),
        "organization_id = ?",
        (organization_id,),
        order_by="created_at, id",
    )


def key(conn: sqlite3.Connection, key_id: str) -> ApiKey:
    """One key.

    Raises:
        NotFound: the id is unknown.
    """
    found = KEYS.find(table(conn, "api_keys"), "id = ?", (key_id,))
    if not found:
        raise NotFound(f"There is no key {key_id}.")
    return found[0]


def key_by_hash(conn: sqlite3.Connection, digest: bytes) -> ApiKey | None:
    """The key of this value, by the hash of that."""
    row = conn.execute(_KEY_BY_HASH, (digest,)).fetchone()
    return None if row is None else KEYS.of(row)


def key_by_old_hash(conn: sqlite3.Connection, digest: bytes) -> ApiKey | None:
    """The key that had this value before it was rotated."""
    row = conn.execute(_KEY_BY_OLD_HASH, (digest,)).fetchone()
    return None if row is None else KEYS.of(row)


def set_key_enabled(conn: sqlite3.Connection, key_id: str, *, enabled: bool) -> ApiKey:
    """Enable or disable a key; a disabled one is kept and rejected on every request.

    Raises:
        NotFound: the id is unknown.
    """
    key(conn, key_id)
    writable(conn, "api_keys").update(key_id, {"enabled": enabled})
    return key(conn, key_id)


def change_key(conn: sqlite3.Connection, key_id: str, changes: Mapping[str, object]) -> ApiKey:
    """Change a key's settings: fields by their names.

    Raises:
        NotFound: the id is unknown.
    """
    key(conn, key_id)
    writable(conn, "api_keys").update(key_id, columns_of(changes))
    return key(conn, key_id)


def rotate_key(
    conn: sqlite3.Connection, key_id: str, new: NewValue, old_until: int | None
) -> ApiKey:
    """Give a key another value.

    Args:
        old_until: until when the present value stays valid; None: it ends now.

    Raises:
        NotFound: the id is unknown.
    """
    old = key(conn, key_id)
    keeps = old_until is not None
    digest_before = value_of(conn, "SELECT hash FROM api_keys WHERE id = ?", (key_id,))
    writable(conn, "api_keys").update(
        key_id,
        {
            "hash": new.digest,
            "last4": new.last4,
            "value_at": new.made_at,
            "expires_at": new.expires_at,
            "old_hash": digest_before if keeps else None,
            "old_last4": old.last4 if keeps else None,
            "old_until": old_until,
        },
    )
    return key(conn, key_id)


def end_old_value(conn: sqlite3.Connection, key_id: str) -> ApiKey:
    """End the validity of a key's former value.

    Raises:
        NotFound: the id is unknown.
    """
    key(conn, key_id)
    gone = {"old_hash": None, "old_last4": None, "old_until": None}
    writable(conn, "api_keys").update(key_id, gone)
    return key(conn, key_id)


def delete_key(conn: sqlite3.Connection, key_id: str) -> ApiKey:
    """Delete a key for good.

    Raises:
        NotFound: the id is unknown.
    """
    gone = key(conn, key_id)
    writable(conn, "api_keys").delete(key_id)
    return gone


def touch_keys(conn: sqlite3.Connection, used: dict[str, tuple[int, str | None]]) -> None:
    """Store when keys were last used, and from where."""
    conn.executemany(
        "UPDATE api_keys SET last_used_at = ?, last_used_address = ? WHERE id = ?",
        [(at, address, key_id) for key_id, (at, address) in used.items()],
    )


# Mails to owners that a key expires soon: owed three times, each time once.

DAY_MS: Final = 86_400_000
EARLY_MS: Final = 14 * DAY_MS
"""Time to find out who uses a key, and to put another in its place."""
LATER_MS: Final = 3 * DAY_MS
"""For those who forgot the first mail."""
LATE_MS: Final = DAY_MS
"""The last day: while there are still hours to do something."""

# The last step that has begun: a key is told of once in each. One that was made later than that
# is as its makers wanted it.
_DUE: Final = """
    expires_at > :now AND expires_at <= :now + :early AND enabled = 1
    AND max(created_at, coalesce(value_at, 0), coalesce(reminded_at, 0))
      < expires_at - CASE
        WHEN expires_at <= :now + :late THEN :late
        WHEN expires_at <= :now + :later THEN :later
        ELSE :early END
    AND organization_id IN (
      SELECT id FROM organizations WHERE status = 'active' AND deleted_at IS NULL
    )
"""


def due(conn: sqlite3.Connection, now_ms: int) -> list[str]:
    """The ids of keys that expire soon and whose owners are to be told now: fourteen, three and one
    day before."""
    steps = {"early": EARLY_MS, "later": LATER_MS, "late": LATE_MS}
    given = {"now": now_ms, **steps}
    rows = conn.execute(f"SELECT id FROM api_keys WHERE {_DUE}", given)  # noqa: S608 -- a constant
    return [key_id for (key_id,) in rows]


def owe(conn: sqlite3.Connection, key_id: str, now_ms: int) -> None:
    """Owe the owners of a key that expires soon a mail."""
    for key in KEYS.find(table(conn, "api_keys"), "id = ?", (key_id,)):
        details = {"key": key.id, "expires_at": key.expires_at}
        mails.owe_owners(conn, key.organization_id, MailKind.KEY_EXPIRES, details, now_ms)
        writable(conn, "api_keys").update(key.id, {"reminded_at": now_ms})
