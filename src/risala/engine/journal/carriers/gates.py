"""Operators' gates of carriers: paused, or draining. They hold until changed."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.records.carriers.stored import CarrierGate

_TABLE: Final = "carrier_gates"
NOBODY: Final = ""
"""In place of a user whose account is deleted."""


_ROWS: Final = Rows(CarrierGate)


def all_of(conn: sqlite3.Connection) -> dict[str, CarrierGate]:
    """By carrier, including carriers that are no longer in the settings."""
    found = _ROWS.find(table(conn, _TABLE), order_by="carrier")
    return {one.carrier: one for one in found}


def put(conn: sqlite3.Connection, gate: CarrierGate) -> None:
    writable(conn, _TABLE).upsert(asdict(gate))


def open_again(conn: sqlite3.Connection, carrier: str) -> None:
    writable(conn, _TABLE).delete_where("carrier = ?", (carrier,))


def forget_user(conn: sqlite3.Connection, who: str) -> None:
    """Keep a user's changes, without their name."""
    stored = writable(conn, _TABLE)
    for row in list(stored.rows_where("who = ?", (who,))):
        stored.update(row["carrier"], {"who": NOBODY})
