"""Operators' overrides of carriers' settings: a pace, a weight. They hold until removed.

The settings' file stays as it is: only its owner writes it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, replace
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict
from risala.engine.model.records.carriers.stored import Override

_TABLE: Final = "carrier_overrides"
NOBODY: Final = ""
"""In place of a user whose account is deleted."""


_ROWS: Final = Rows(Override)


def all_of(conn: sqlite3.Connection) -> dict[str, Override]:
    """By carrier, including carriers that are no longer in the settings."""
    found = _ROWS.find(table(conn, _TABLE), order_by="carrier")
    return {one.carrier: one for one in found}


def of_carrier(conn: sqlite3.Connection, carrier: str) -> Override | None:
    """A carrier's override; None: the settings apply."""
    found = _ROWS.find(table(conn, _TABLE), "carrier = ?", (carrier,))
    return found[0] if found else None


def image(conn: sqlite3.Connection, carrier: str) -> Seen:
    """What the audit trail shows of a carrier's override."""
    found = of_carrier(conn, carrier)
    values = {} if found is None else {"ratePerS": found.rate_per_s, "weight": found.weight}
    return Seen(None, values)


def put(conn: sqlite3.Connection, override: Override) -> None:
    """Set the override; fields that are None stay as they were."""
    known = of_carrier(conn, override.carrier)
    if known is not None:
        override = replace(
            override,
            rate_per_s=override.rate_per_s or known.rate_per_s,
            weight=override.weight or known.weight,
        )
    writable(conn, _TABLE).upsert(asdict(override))


def end(conn: sqlite3.Connection, carrier: str, field: str | None) -> None:
    """End the override of one field or of both.

    Raises:
        Conflict: there is no override.
    """
    known = of_carrier(conn, carrier)
    if known is None or (field is not None and getattr(known, field) is None):
        raise Conflict(f"No override is set for {carrier}.")
    rate = known.rate_per_s if field == "weight" else None
    weight = known.weight if field == "rate_per_s" else None
    if rate is None and weight is None:
        writable(conn, _TABLE).delete(carrier)
        return
    left = replace(known, rate_per_s=rate, weight=weight)
    writable(conn, _TABLE).upsert(asdict(left))


def forget_user(conn: sqlite3.Connection, who: str) -> None:
    """Keep a user's overrides, without their name."""
    stored = writable(conn, _TABLE)
    for row in list(stored.rows_where("who = ?", (who,))):
        stored.update(row["carrier"], {"who": NOBODY})
