"""Hooks, and their storms of alerts, as they are stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.hooks.records import Hook, StoredSecrets, Storm
from risala.engine.journal.accounts import accounts
from risala.engine.journal.sealed.columns import SealedColumn
from risala.engine.journal.store.named import Rows, columns_of, columns_of_record
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict
from risala.engine.rules.sealing import SecretPurpose

HOOKS_MAX: Final = 50
"""The limit per organization: far more programs than one customer connects."""
STORM_MESSAGES: Final = 5
"""Alerts of a hook that leave one by one within a window; the others become one message."""
STORM_WINDOW_MS: Final = 5 * 60_000
"""The length of a storm from its first alert on: as long as a person takes to look at the first
messages."""
STORM_TEXT_MAX: Final = 100
"""Characters kept of the first alert that is held: its message has room for no more."""
SHIFTS: Final = (
    "UPDATE hooks SET old_until = old_until - :by WHERE old_until > :now",
    "UPDATE hook_storms SET ends_at = ends_at - :by WHERE ends_at > :now",
)
"""Move the times of waits back with the clock."""
_LATER: Final = {"old_until", "last_used_at", "disabled_at"}
"""What a new hook has not."""
_TABLE: Final = "hooks"
_REMEDY: Final = "risala hook rotate {}"
SEALED: Final = (
    SealedColumn(_TABLE, "secret", SecretPurpose.HOOK_SECRET, _REMEDY),
    SealedColumn(_TABLE, "old_secret", SecretPurpose.HOOK_SECRET, _REMEDY),
)
_ROWS: Final = Rows.of_record(Hook)
_SECRETS: Final = Rows(StoredSecrets)
_STORMS: Final = Rows(Storm)


def add(conn: sqlite3.Connection, hook: Hook, secret: bytes) -> Hook:
    """Store a hook.

    Raises:
        NotFound: no such organization.
        Conflict: the organization has too many.
    """
    accounts.organization(conn, hook.organization_id)
    stored = writable(conn, _TABLE)
    if stored.count_where("organization_id = ?", (hook.organization_id,)) >= HOOKS_MAX:
        raise Conflict(f"An organization can have at most {HOOKS_MAX} hooks. Delete one first.")
    stored.insert({**columns_of_record(hook, without=_LATER), "secret": secret})
    return hook


def hook(conn: sqlite3.Connection, hook_id: str) -> Hook:
    """One hook.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(table(conn, _TABLE), hook_id, "There is no hook {}.")


def secrets(conn: sqlite3.Connection, hook_id: str) -> StoredSecrets:
    """What proves the callers of a hook.

    Raises:
        NotFound: the id is unknown.
    """
    return _SECRETS.one(table(conn, _TABLE), hook_id, "There is no hook {}.")


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[Hook]:
    """The hooks of an organization, the oldest first."""
    return _ROWS.find(
        table(conn, _TABLE), "organization_id = ?", (organization_id,), order_by="created_at, id"
    )


def change(conn: sqlite3.Connection, hook_id: str, values: Mapping[str, Any]) -> Hook:
    """Change a hook's settings.

    Raises:
        NotFound: the id is unknown.
    """
    hook(conn, hook_id)
    if values:
        writable(conn, _TABLE).update(hook_id, columns_of(values))
    return hook(conn, hook_id)


def rotate(
    conn: sqlite3.Connection, hook_id: str, secret: bytes, last4: str, old_until: int | None
) -> Hook:
    """Give a hook a new secret.

    Args:
        old_until: until when the present one works too; None: it ends now.

    Raises:
        NotFound: the id is unknown.
    """
    former = secrets(conn, hook_id).secret
    values = {
        "secret": secret,
        "last4": last4,
        "old_secret": None if old_until is None else former,
        "old_until": old_until,
    }
    writable(conn, _TABLE).update(hook_id, values)
    return hook(conn, hook_id)


def delete(conn: sqlite3.Connection, hook_id: str) -> Hook:
    """Delete a hook for good; what it holds of a storm is not sent.

    Raises:
        NotFound: the id is unknown.
    """
    deleted = hook(conn, hook_id)
    writable(conn, "hook_storms").delete_where("hook = ?", (hook_id,))
    writable(conn, _TABLE).delete(hook_id)
    return deleted


def touch(conn: sqlite3.Connection, used: dict[str, int]) -> None:
    """Store when hooks were last used."""
    conn.executemany(
        "UPDATE hooks SET last_used_at = ? WHERE id = ?",
        [(at, hook_id) for hook_id, at in used.items()],
    )


# -- storms


def take_alert(conn: sqlite3.Connection, hook_id: str, text: str, now_ms: int) -> tuple[bool, int]:
    """Whether an alert leaves by itself, and when its window ends.

    False: it is counted, and becomes part of one message at that end.

    Raises:
        NotFound: the id is unknown.
    """
    hook(conn, hook_id)
    storms = _STORMS.find(
        table(conn, "hook_storms"), "hook = ? AND ends_at > ?", (hook_id, now_ms), limit=1
    )
    stored = writable(conn, "hook_storms")
    if not storms:
        ends_at = now_ms + STORM_WINDOW_MS
        stored.insert({"hook": hook_id, "ends_at": ends_at, "passed": 1, "held": 0})
        return True, ends_at
    (open_one,) = storms
    passes = open_one.passed < STORM_MESSAGES
    counted: dict[str, Any] = {"passed": open_one.passed + 1}
    if not passes:
        counted = {"held": open_one.held + 1, "text": open_one.text or text[:STORM_TEXT_MAX]}
    stored.update((hook_id, open_one.ends_at), counted)
    return passes, open_one.ends_at


def storms(conn: sqlite3.Connection) -> list[Storm]:
    """All windows, the next to end first."""
    return _STORMS.find(table(conn, "hook_storms"), order_by="ends_at, hook")


def end_storm(conn: sqlite3.Connection, ended: Storm) -> None:
    """Forget a window that is over and whose message is accepted."""
    writable(conn, "hook_storms").delete((ended.hook, ended.ends_at))


def end_storms(conn: sqlite3.Connection, organization_id: str, _: int) -> None:
    """Forget the storms of an organization that is deleted."""
    whose = "hook IN (SELECT id FROM hooks WHERE organization_id = ?)"
    writable(conn, "hook_storms").delete_where(whose, (organization_id,))


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class HookRepository:
    """Hooks. All reads are by an index, on the loop's thread; ``storms`` reads every window.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    Each that names a hook raises ``NotFound`` if the id is unknown.
    """

    _store: Store

    hook = read(hook)
    of_organization = read(of_organization)
    storms = read(storms)
    change = audited_command(change)
    delete = audited_command(delete)
    touch = command(touch)
    take_alert = command(take_alert)
    end_storm = command(end_storm)

    def secrets(self, hook_id: str) -> StoredSecrets:
        """What proves the callers of a hook.

        Raises:
            SecretLost: it cannot be opened.
        """
        stored = secrets(self._store.reader, hook_id)
        old = stored.old_secret
        return replace(
            stored,
            secret=self._opened(hook_id, stored.secret),
            old_secret=None if old is None else self._opened(hook_id, old),
        )

    async def add(self, by: AuditEntry | None, hook: Hook, secret: bytes) -> Hook:
        """:func:`add` with a secret that is sealed."""
        unit = partial(add, hook=hook, secret=self._sealed(hook.id, secret))
        return await self._store.commit(unit, by)

    async def rotate(
        self, by: AuditEntry | None, hook_id: str, secret: bytes, last4: str, old_until: int | None
    ) -> Hook:
        """:func:`rotate` with a secret that is sealed."""
        sealed = self._sealed(hook_id, secret)
        return await self._store.commit(
            lambda conn: rotate(conn, hook_id, sealed, last4, old_until), by
        )

    def _opened(self, hook_id: str, sealed: bytes) -> bytes:
        purpose = SecretPurpose.HOOK_SECRET
        return self._store.sealing.unseal(purpose, hook_id, sealed.decode("latin-1"))

    def _sealed(self, hook_id: str, secret: bytes) -> bytes:
        return self._store.sealing.seal(SecretPurpose.HOOK_SECRET, hook_id, secret).encode()
