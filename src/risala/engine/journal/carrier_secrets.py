"""Secrets that drivers keep, such as tokens of devices, sealed with the service's key.

A secret belongs to a carrier and its driver. Nobody else reads it, and it goes with either.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal import carriers
from risala.engine.journal.store.repository import Store, command
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import SecretLost
from risala.engine.model.records.carriers.stored import TooManyNotes
from risala.engine.rules.sealing import SecretPurpose
from risala.plugins.contract import (
    NOTE_KEY_CHARACTERS_MAX,
    SECRET_CHARACTERS_MAX,
    SECRETS_MAX,
)

_TABLE: Final = "carrier_secrets"


@dataclass(frozen=True, slots=True)
class SecretOwner:
    """The carrier and the driver that secrets belong to."""

    carrier: str
    driver: str

    def bound_to(self, key: str) -> str:
        """The id of a secret's row. Names of carriers and drivers have no spaces."""
        return f"{self.carrier} {self.driver} {key}"


def check_secrets(secrets: Mapping[str, str | None]) -> None:
    """Raises ValueError for a key or a text that is too long; it says nothing of the text."""
    for key, text in secrets.items():
        if not 0 < len(key) <= NOTE_KEY_CHARACTERS_MAX:
            raise ValueError(f"a secret's key has 1 to {NOTE_KEY_CHARACTERS_MAX} characters")
        if text is not None and len(text) > SECRET_CHARACTERS_MAX:
            raise ValueError(f"a secret has at most {SECRET_CHARACTERS_MAX} characters")


def write(
    conn: sqlite3.Connection, owner: SecretOwner, sealed: Mapping[str, str | None], now_ms: int
) -> None:
    """Write secrets, which are sealed, and delete those that are None.

    Raises:
        TooManyNotes: none of them was written, once the unit is rolled back.
    """
    stored = writable(conn, _TABLE)
    for key, text in sealed.items():
        if text is None:
            stored.delete_where("id = ?", (owner.bound_to(key),))
    rows = [
        {
            "id": owner.bound_to(key),
            "carrier": owner.carrier,
            "driver": owner.driver,
            "key": key,
            "secret": text,
            "updated_at": now_ms,
        }
        for key, text in sealed.items()
        if text is not None
    ]
    if rows:
        stored.upsert_all(rows)
        if stored.count_where("carrier = ?", (owner.carrier,)) > SECRETS_MAX:
            raise TooManyNotes


def sealed_of(conn: sqlite3.Connection, owner: SecretOwner, prefix: str) -> dict[str, str]:
    """The sealed secrets whose keys have this prefix, by key."""
    rows = table(conn, _TABLE).rows_where(
        "carrier = :carrier AND driver = :driver AND key >= :prefix"
        " AND substr(key, 1, length(:prefix)) = :prefix",
        {"carrier": owner.carrier, "driver": owner.driver, "prefix": prefix},
        order_by="key",
    )
    return {row["key"]: row["secret"] for row in rows}


def owners(conn: sqlite3.Connection) -> set[SecretOwner]:
    """The carriers and drivers that have stored secrets."""
    rows = table(conn, _TABLE).rows_where(select="DISTINCT carrier, driver")
    return {SecretOwner(row["carrier"], row["driver"]) for row in rows}


def forget(conn: sqlite3.Connection, carrier: str, keys: Sequence[str]) -> None:
    """Delete a carrier's notes and secrets of these keys; missing ones do not matter."""
    carriers.forget_notes(conn, carrier, keys)
    stored = writable(conn, _TABLE)
    for key in keys:
        stored.delete_where("carrier = ? AND key = ?", (carrier, key))


def forget_all(conn: sqlite3.Connection, gone: Collection[SecretOwner]) -> None:
    """Delete all secrets of these owners."""
    stored = writable(conn, _TABLE)
    for owner in gone:
        stored.delete_where("carrier = ? AND driver = ?", (owner.carrier, owner.driver))


@dataclass(frozen=True, slots=True)
class CarrierSecretRepository:
    """Secrets that drivers keep. Reads are on the loop's thread: by an index, of one carrier."""

    _store: Store

    async def remember(
        self,
        owner: SecretOwner,
        secrets: Mapping[str, str | None],
        notes: Mapping[str, str | None],
        now_ms: int,
    ) -> None:
        """Seal and write secrets, and notes in the same transaction; delete those that are None.

        Raises:
            ValueError: a key or a text is too long.
            TooManyNotes: none of them was written.
        """
        check_secrets(secrets)
        carriers.check_notes(notes)
        seal, purpose = self._store.sealing.seal, SecretPurpose.CARRIER_SECRET
        sealed = {
            key: None if text is None else seal(purpose, owner.bound_to(key), text.encode())
            for key, text in secrets.items()
        }

        def unit(conn: sqlite3.Connection) -> None:
            write(conn, owner, sealed, now_ms)
            carriers.remember_notes(conn, owner.carrier, notes, now_ms)

        await self._store.commit(unit)

    def recall(self, owner: SecretOwner, prefix: str) -> tuple[dict[str, str], list[str]]:
        """The secrets whose keys have this prefix, by key; and the keys of those that no key here
        opens."""
        opened: dict[str, str] = {}
        lost: list[str] = []
        unseal, purpose = self._store.sealing.unseal, SecretPurpose.CARRIER_SECRET
        for key, sealed in sealed_of(self._store.reader, owner, prefix).items():
            try:
                opened[key] = unseal(purpose, owner.bound_to(key), sealed).decode()
            except SecretLost:
                lost.append(key)
        return opened, lost

    async def keep_only(self, present: Collection[SecretOwner]) -> None:
        """Delete the secrets of all others; writes nothing where there are none."""
        gone = owners(self._store.reader) - set(present)
        if gone:
            await self._forget(gone)

    _forget = command(forget_all)
