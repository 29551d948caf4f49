"""What an operator has put over the settings of carriers: a pace, a weight. Until he takes it away.

The settings' file stays as it is: nobody but its owner writes it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable

_TABLE: Final = "carrier_overrides"
NOBODY: Final = ""
"""In place of somebody whose account is deleted."""


@dataclass(frozen=True, slots=True)
class Override:
    """Of one carrier. None: the settings' own value holds."""

    carrier: str
    rate_per_s: float | None
    weight: int | None
    changed_at: int
    """UTC epoch milliseconds."""
    who: str


_ROWS: Final = Rows(Override)


def all_of(conn: sqlite3.Connection) -> dict[str, Override]:
    """By their carriers, those of carriers too that the settings no longer have."""
    found = _ROWS.find(table(conn, _TABLE), order_by="carrier")
    return {one.carrier: one for one in found}


def of_carrier(conn: sqlite3.Connection, carrier: str) -> Override | None:
    found = _ROWS.find(table(conn, _TABLE), "carrier = ?", (carrier,))
    return found[0] if found else None


def put(conn: sqlite3.Connection, override: Override) -> None:
    """Put it over the settings, in place of what was there of this carrier; one that overrides
    nothing takes that away."""
    if override.rate_per_s is None and override.weight is None:
        end(conn, override.carrier)
    else:
        writable(conn, _TABLE).upsert(asdict(override))


def end(conn: sqlite3.Connection, carrier: str) -> None:
    """Let the settings hold again; where they do, nothing changes."""
    writable(conn, _TABLE).delete_where("carrier = ?", (carrier,))


def forget_user(conn: sqlite3.Connection, who: str) -> None:
    """Keep what somebody put over the settings, and not who they were."""
    stored = writable(conn, _TABLE)
    for row in list(stored.rows_where("who = ?", (who,))):
        stored.update(row["carrier"], {"who": NOBODY})
