"""The networks that each key was used from, as rows: a few for each key, and not for ever."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.schema.accounts import IS_NEW_PLACE
from risala.engine.journal.store.tables import table
from risala.engine.model.records.keys import KeyPlace

PLACES_MAX: Final = 20
"""Of each key, the last ones: a program has a few, and a key that leaked shows among them."""
KEPT_MS: Final = 90 * 86_400_000
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


def of_key(conn: sqlite3.Connection, key_id: str) -> list[KeyPlace]:
    """The places of a key, the last one first."""
    return [_PLACES.of(row) for row in conn.execute(_OF_KEY, (key_id,))]


def note(conn: sqlite3.Connection, seen: Mapping[tuple[str, str], int]) -> None:
    """Store when keys were used from where: by key and network. Of a deleted key, nothing."""
    for (key_id, network), at in seen.items():
        conn.execute(_NOTE, {"key_id": key_id, "network": network, "at": at})
    for key_id in {key_id for key_id, _ in seen}:
        conn.execute(_TOO_MANY, {"key_id": key_id, "most": PLACES_MAX})


def forget_old(conn: sqlite3.Connection, now_ms: int) -> None:
    """Delete the places that no key was used from for long."""
    if table(conn, "key_places").count_where("last_at < ?", (now_ms - KEPT_MS,)):
        conn.execute("DELETE FROM key_places WHERE last_at < ?", (now_ms - KEPT_MS,))
