"""API keys as rows: by the hashes of their values, and the mails that one expires soon."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.accounts.accounts import organization
from risala.engine.journal.people import mails
from risala.engine.journal.store.audit_log import write
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.schema.accounts import IS_NEW_PLACE
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import PROCESS
from risala.engine.model.errors import Conflict
from risala.engine.model.people_records import MailKind
from risala.engine.model.records.keys import ApiKey, KeyPlace, NewValue
from risala.engine.model.records.record import shallow
from risala.engine.model.times import iso
from risala.engine.rules.people.key_age import DAY_MS, GRACE_MS, age_days

KEYS_MAX: Final = 200
"""Per organization: one for each of its programs, and some reserve. They are listed together, and a
member, or a stolen session, could make any number of them."""
KEYS: Final = Rows.of_record(ApiKey)
_KEY_BY_HASH: Final = f"SELECT {KEYS.columns} FROM api_keys WHERE hash = ?"  # noqa: S608 -- a constant
_KEY_BY_OLD_HASH: Final = f"SELECT {KEYS.columns} FROM api_keys WHERE old_hash = ?"  # noqa: S608 -- a constant


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
    return KEYS.one(table(conn, "api_keys"), key_id, "There is no key {}.")


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
    values = {"now": now_ms, **steps}
    rows = conn.execute(f"SELECT id FROM api_keys WHERE {_DUE}", values)  # noqa: S608 -- a constant
    return [key_id for (key_id,) in rows]


def owe(conn: sqlite3.Connection, key_id: str, now_ms: int) -> None:
    """Owe the owners of a key that expires soon a mail."""
    for key in KEYS.find(table(conn, "api_keys"), "id = ?", (key_id,)):
        details = {"key": key.id, "expires_at": key.expires_at}
        mails.owe_owners(conn, key.organization_id, MailKind.KEY_EXPIRES, details, now_ms)
        writable(conn, "api_keys").update(key.id, {"reminded_at": now_ms})


# -- a date for keys without one, or with one that is too late for the rule of their organization or
# of the service


AT_ONCE: Final = 200
"""Keys that one unit of work changes, each with its line in the audit trail."""
ACTION: Final = "key.aged"
"""The line of a key that got its date."""
_DAYS: Final = (
    "(SELECT min(coalesce(key_age_days, :service), coalesce(:service, key_age_days))"
    " FROM organizations WHERE id = organization_id AND deleted_at IS NULL)"
)
_LATEST: Final = f"max(coalesce(value_at, created_at) + {DAY_MS} * {_DAYS}, :now + {GRACE_MS})"
_TOO_LATE: Final = f"{_DAYS} IS NOT NULL AND (expires_at IS NULL OR expires_at > {_LATEST})"


def has_age_rule(conn: sqlite3.Connection) -> bool:
    """Whether any organization has a rule of its own."""
    return table(conn, "organizations").count_where("key_age_days IS NOT NULL") > 0


def date_keys(conn: sqlite3.Connection, service: int | None, now_ms: int) -> int:
    """Give a date to keys that have none, or too late a one; returns to how many.

    Args:
        service: the days of the service's own rule; None: it has none.
    """
    values = {"service": service, "now": now_ms}
    keys = KEYS.find(table(conn, "api_keys"), _TOO_LATE, values, limit=AT_ONCE)
    for key in keys:
        days = age_days(organization(conn, key.organization_id).key_age_days, service)
        assert days is not None, "the statement found those with a rule"
        at = max(key.made_at + days * DAY_MS, now_ms + GRACE_MS)
        writable(conn, "api_keys").update(key.id, {"expires_at": at})
        details = {"expires_at": iso(at), "days": days}
        entry = AuditEntry(
            caller=PROCESS,
            action=ACTION,
            at=now_ms,
            subject=key.id,
            organization_id=key.organization_id,
            details=details,
            always=True,
        )
        write(conn, entry)
    return len(keys)


# -- the networks that each key was used from: a few for each key, and not for ever


PLACES_MAX: Final = 20
"""Last places of each key: a program has a few, and a key that leaked shows among them."""
PLACES_KEPT_MS: Final = 90 * 86_400_000
"""As long as failed sign-ins, whose addresses are looked at beside these."""
_PLACES: Final = Rows.of_record(KeyPlace, {"is_new": IS_NEW_PLACE})
_OF_KEY: Final = (
    f"SELECT {_PLACES.columns} FROM key_places p WHERE key_id = ? ORDER BY last_at DESC, network"  # noqa: S608 -- constants
)
_NOTE: Final = (
    "INSERT INTO key_places (key_id, network, first_at, last_at)"
    " SELECT id, :network, :at, :at FROM api_keys WHERE id = :key_id"
    " ON CONFLICT DO UPDATE SET last_at = max(last_at, excluded.last_at)"
)
_TOO_MANY: Final = (
    "DELETE FROM key_places WHERE key_id = :key_id AND network IN (SELECT network FROM key_places"
    " WHERE key_id = :key_id ORDER BY last_at DESC, network LIMIT -1 OFFSET :most)"
)


def places_of(conn: sqlite3.Connection, key_id: str) -> list[KeyPlace]:
    """The places of a key, the last one first."""
    return [_PLACES.of(row) for row in conn.execute(_OF_KEY, (key_id,))]


def note_places(conn: sqlite3.Connection, seen: Mapping[tuple[str, str], int]) -> None:
    """Store when keys were used from where: by key and network. Of a deleted key, nothing."""
    for (key_id, network), at in seen.items():
        conn.execute(_NOTE, {"key_id": key_id, "network": network, "at": at})
    for key_id in {key_id for key_id, _ in seen}:
        conn.execute(_TOO_MANY, {"key_id": key_id, "most": PLACES_MAX})


def forget_old_places(conn: sqlite3.Connection, now_ms: int) -> None:
    """Delete the places that no key was used from for long."""
    if table(conn, "key_places").count_where("last_at < ?", (now_ms - PLACES_KEPT_MS,)):
        conn.execute("DELETE FROM key_places WHERE last_at < ?", (now_ms - PLACES_KEPT_MS,))


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class KeyRepository:
    """API keys. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    Each that names a key raises ``NotFound`` if the id is unknown.
    """

    _store: Store

    of_digest = read(key_by_hash)
    of_old_digest = read(key_by_old_hash)
    of_organization = read(keys)
    key = read(key)
    add = audited_command(add_key)
    set_enabled = audited_command(set_key_enabled)
    change = audited_command(change_key)
    rotate = audited_command(rotate_key)
    end_old_value = audited_command(end_old_value)
    delete = audited_command(delete_key)
    touch = command(touch_keys)
    to_remind = read(due)
    owe_reminder = command(owe)
    has_age_rule = read(has_age_rule)
    date_keys = command(date_keys)
    places = read(places_of)
    note_places = command(note_places)
    forget_old_places = command(forget_old_places)
