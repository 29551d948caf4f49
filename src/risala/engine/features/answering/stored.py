"""The secrets in carriers' addresses, as they are stored: their hashes alone."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store.named import Rows, columns_of_record
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.tables import table, writable

_TABLE: Final = "carrier_addresses"


@dataclass(frozen=True, slots=True, repr=False)
class StoredAddress:
    """The secrets of one carrier's address."""

    carrier: str
    hash: bytes
    """SHA-256 of the secret in force."""
    made_at: int
    former_hash: bytes | None = None
    former_until: int | None = None
    """Until when the former secret works; None: there is none."""

    def has(self, secret_hash: bytes, now_ms: int) -> bool:
        """Whether a secret with this hash works now. The hash is of 187 random bits: what its
        comparison takes tells nothing."""
        if secret_hash == self.hash:
            return True
        return secret_hash == self.former_hash and now_ms < (self.former_until or 0)


_ROWS: Final = Rows(StoredAddress)


def addresses(conn: sqlite3.Connection) -> dict[str, StoredAddress]:
    """By carrier, including carriers that are no longer in the settings."""
    return {each.carrier: each for each in _ROWS.find(table(conn, _TABLE))}


def replace(
    conn: sqlite3.Connection, carrier: str, new_hash: bytes, now_ms: int, former_ms: int
) -> StoredAddress:
    """Put another secret in force; the present one works for ``former_ms`` more."""
    known = addresses(conn).get(carrier)
    stored = (
        StoredAddress(carrier, new_hash, now_ms)
        if known is None
        else StoredAddress(carrier, new_hash, now_ms, known.hash, now_ms + former_ms)
    )
    writable(conn, _TABLE).upsert(columns_of_record(stored, without=frozenset()), pk="carrier")
    return stored


@dataclass(frozen=True, slots=True)
class AddressRepository:
    """The secrets in carriers' addresses."""

    _store: Store

    addresses = read(addresses)
    replace = audited_command(replace)
