"""What an operator has put over the settings of carriers: a pace, a weight. Until he takes it away.

The settings' file stays as it is: nobody but its owner writes it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, replace
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict
from risala.engine.model.records.carriers import Override

_TABLE: Final = "carrier_overrides"
NOBODY: Final = ""
"""In place of somebody whose account is deleted."""


_ROWS: Final = Rows(Override)


def all_of(conn: sqlite3.Connection) -> dict[str, Override]:
    """By their carriers, those of carriers too that the settings no longer have."""
    found = _ROWS.find(table(conn, _TABLE), order_by="carrier")
    return {one.carrier: one for one in found}


def of_carrier(conn: sqlite3.Connection, carrier: str) -> Override | None:
    found = _ROWS.find(table(conn, _TABLE), "carrier = ?", (carrier,))
    return found[0] if found else None


def put(conn: sqlite3.Connection, override: Override) -> None:
    """Put it over the settings; what it leaves open stays as it was."""
    known = of_carrier(conn, override.carrier)
    if known is not None:
        override = replace(
            override,
            rate_per_s=override.rate_per_s or known.rate_per_s,
            weight=override.weight or known.weight,
        )
    writable(conn, _TABLE).upsert(asdict(override))


def end(conn: sqlite3.Connection, carrier: str, field: str | None) -> None:
    """Let the settings hold again, for one field or for both.

    Raises:
        Conflict: nothing is.
    """
    known = of_carrier(conn, carrier)
    if known is None or (field is not None and getattr(known, field) is None):
        raise Conflict(f"Nothing is put over the settings of {carrier}.")
    rate = known.rate_per_s if field == "weight" else None
    weight = known.weight if field == "rate_per_s" else None
    if rate is None and weight is None:
        writable(conn, _TABLE).delete(carrier)
        return
    left = replace(known, rate_per_s=rate, weight=weight)
    writable(conn, _TABLE).upsert(asdict(left))


def forget_user(conn: sqlite3.Connection, who: str) -> None:
    """Keep what somebody put over the settings, and not who they were."""
    stored = writable(conn, _TABLE)
    for row in list(stored.rows_where("who = ?", (who,))):
        stored.update(row["carrier"], {"who": NOBODY})
