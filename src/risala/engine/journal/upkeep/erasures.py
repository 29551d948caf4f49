"""Erasures as rows: of one number, or all of an organization; and their progress.

The number is in the row as long as the erasure runs; then only its last digits stay.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Final

from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.upkeep import exports
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.records.upkeep.erasures import Erasure, ErasureStep

UNDER_WAY_MAX: Final = 20
"""The limit per organization: each reads all events."""
SHOWN_DIGITS: Final = 4
_TABLE: Final = "erasures"


_ROWS: Final = Rows(Erasure, step=ErasureStep, gone=json.loads)


def find(conn: sqlite3.Connection, erasure_id: str) -> Erasure:
    """One of them.

    Raises:
        NotFound: the id is unknown.
    """
    found = _ROWS.find(table(conn, _TABLE), "id = ?", (erasure_id,))
    if not found:
        raise NotFound("There is no such deletion.")
    return found[0]


def under_way(conn: sqlite3.Connection, broken: BrokenRow | None = None) -> list[Erasure]:
    """Those that are not done, of all organizations, the oldest first."""
    found = table(conn, _TABLE)
    return _ROWS.find(found, "ended_at IS NULL", order_by="created_at, id", broken=broken)


def of_organization(conn: sqlite3.Connection, organization_id: str, limit: int) -> list[Erasure]:
    """The latest first."""
    found = table(conn, _TABLE)
    order = "created_at DESC, id DESC"
    return _ROWS.find(found, "organization_id = ?", (organization_id,), order_by=order, limit=limit)


def begin(
    conn: sqlite3.Connection,
    erasure_id: str,
    organization_id: str,
    number: str | None,
    asked_by: str,
    now_ms: int,
) -> Erasure:
    """Note that something is to be erased; a running erasure of the same number is used.

    Raises:
        Conflict: too many are under way.
    """
    # Only the organization's own are read: none of another's may be in the way.
    own = "ended_at IS NULL AND organization_id = ?"
    mine = _ROWS.find(table(conn, _TABLE), own, (organization_id,))
    for each in mine:
        if each.number == number:
            return each
    if len(mine) >= UNDER_WAY_MAX:
        raise Conflict(
            f"At most {UNDER_WAY_MAX} deletions can run at a time. Wait until one has ended."
        )
    writable(conn, _TABLE).insert(
        {
            "id": erasure_id,
            "organization_id": organization_id,
            "number": number,
            "last4": None if number is None else number[-SHOWN_DIGITS:],
            "asked_by": asked_by,
            "created_at": now_ms,
        }
    )
    exports.drop_all(conn, organization_id, now_ms)
    return find(conn, erasure_id)


def note(
    conn: sqlite3.Connection,
    erasure: Erasure,
    step: ErasureStep,
    place: str,
    gone: Mapping[str, int],
) -> Erasure:
    """Store its progress; ``gone`` is what this unit erased."""
    total = {**erasure.gone}
    for what, count in gone.items():
        if count:
            total[what] = total.get(what, 0) + count
    values = {"step": int(step), "place": place, "gone": json.dumps(total, sort_keys=True)}
    writable(conn, _TABLE).update(erasure.id, values)
    return find(conn, erasure.id)


def end(conn: sqlite3.Connection, erasure: Erasure, now_ms: int) -> Erasure:
    # A file that was begun meanwhile may contain what was erased since.
    exports.drop_all(conn, erasure.organization_id, now_ms)
    writable(conn, _TABLE).update(erasure.id, {"number": None, "ended_at": now_ms})
    return find(conn, erasure.id)
