"""Pages of payments over all organizations: those that wait for an operator the oldest first, all
others the newest first."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.pages.by_time import Walk, page_by_time
from risala.engine.journal.payments.payments import CLAIMED, PAYMENTS
from risala.engine.journal.store.searching import part, spellings
from risala.engine.journal.store.sql import value_of
from risala.engine.model.records.paging import CursorPage, Place, Steps
from risala.engine.model.records.paying.payments import WAITING, PaymentFilter, StoredPayment

_STATES: Final = {
    WAITING: CLAIMED,
    "open": f"state IN ('begun', 'waiting') AND NOT ({CLAIMED})",
    "confirmed": "state = 'confirmed'",
    "refused": "state = 'refused'",
    "all": "1",
}
_DECIDED: Final = ("confirmed", "refused", "all")
"""States that grow for ever: searched in the whole table, a bounded part of it."""
_BEGINNING: Final = ("",)
"""Sorts before every id."""


def _hit(wanted: PaymentFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted payment."""
    conditions = [_STATES[wanted.state]] if wanted.state in _DECIDED else []
    given: list[object] = []
    if wanted.search is not None:
        ways = ["organization_id LIKE ? ESCAPE '\\'"]
        given.append(part(wanted.search))
        for spelled in spellings(wanted.search):
            ways.append(
                "organization_id IN (SELECT id FROM organizations"
                " WHERE organizations.name LIKE ? ESCAPE '\\')"
            )
            given.append(part(spelled))
        conditions.append(f"({' OR '.join(ways)})")
    return " AND ".join(conditions) or "1", tuple(given)


def _way(wanted: PaymentFilter) -> Walk:
    """The index by which they are read."""
    hit, hit_given = _hit(wanted)
    conditions = [] if wanted.state in _DECIDED else [_STATES[wanted.state]]
    given: list[object] = []
    for column, value in (("id", wanted.payment_id), ("reference_key", wanted.key)):
        if value is not None:
            conditions.append(f"{column} = ?")
            given.append(value)
    where = " AND ".join(conditions) or "1"
    return Walk("payments", where, tuple(given), hit, hit_given, ("id",))


def page(
    conn: sqlite3.Connection, wanted: PaymentFilter, steps: Steps
) -> CursorPage[StoredPayment]:
    """One page of the wanted ones, the newest first."""
    return page_by_time(conn, PAYMENTS, _way(wanted), steps, _place_of)


def queue(
    conn: sqlite3.Connection, wanted: PaymentFilter, steps: Steps
) -> CursorPage[StoredPayment]:
    """The same with the oldest first: ``older`` leads on, ``newer`` back to the beginning."""
    if steps.after is None:
        found = page(conn, wanted, Steps(steps.limit, after=steps.before or _BEGINNING))
    else:
        found = page(conn, wanted, Steps(steps.limit, before=steps.after))
    is_first = steps.before is None and steps.after is None
    back = None if is_first else found.older
    return CursorPage(tuple(reversed(found.found)), back, found.newer, found.looked_to)


def _place_of(payment: StoredPayment) -> Place:
    return (payment.id,)


def is_entered(conn: sqlite3.Connection, key: str) -> bool:
    """Whether a payment has this reference."""
    found = value_of(conn, "SELECT 1 FROM payments WHERE reference_key = ? LIMIT 1", (key,))
    return found is not None


def first_claimed_at(conn: sqlite3.Connection) -> int | None:
    """Since when the first claimed one waits, UTC epoch milliseconds."""
    statement = f"SELECT claimed_at FROM payments WHERE {CLAIMED} ORDER BY id LIMIT 1"  # noqa: S608 -- a constant
    found: int | None = value_of(conn, statement)
    return found
