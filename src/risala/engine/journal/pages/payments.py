"""Pages of payments, over all organizations: those that wait for an operator the oldest first, all
others the newest first."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.pages.organizations import part, spellings
from risala.engine.journal.pages.stretch import Place, Steps, Stretch, Walk, stretch
from risala.engine.journal.payments.payments import CLAIMED, PAYMENTS
from risala.engine.journal.payments.stored import StoredPayment
from risala.engine.journal.store.sql import value_of

WAITING: Final = "claimed"
_STATES: Final = {
    WAITING: CLAIMED,
    "open": f"state IN ('begun', 'waiting') AND NOT ({CLAIMED})",
    "confirmed": "state = 'confirmed'",
    "refused": "state = 'refused'",
    "all": "1",
}
STATES: Final = tuple(_STATES)
_DECIDED: Final = ("confirmed", "refused", "all")
"""States that grow for ever: met on the way through the whole table, a bounded part of it."""
_BEGINNING: Final = ("",)
"""Sorts before every id."""


@dataclass(frozen=True, slots=True)
class PaymentFilter:
    """Which payments a list is of."""

    state: str = WAITING
    """One of :data:`STATES`."""
    search: str | None = None
    """Part of the organization's name or id; None: whichever."""
    key: str | None = None
    """A reference as it is compared: only payments that have it."""
    payment_id: str | None = None
    """Only this one."""

    def _hit(self) -> tuple[str, tuple[object, ...]]:
        """The condition that a payment on the way is wanted."""
        conditions = [_STATES[self.state]] if self.state in _DECIDED else []
        given: list[object] = []
        if self.search is not None:
            ways = ["organization_id LIKE ? ESCAPE '\\'"]
            given.append(part(self.search))
            for spelled in spellings(self.search):
                ways.append(
                    "organization_id IN (SELECT id FROM organizations"
                    " WHERE organizations.name LIKE ? ESCAPE '\\')"
                )
                given.append(part(spelled))
            conditions.append(f"({' OR '.join(ways)})")
        return " AND ".join(conditions) or "1", tuple(given)

    def way(self) -> Walk:
        """The index on which they are met."""
        hit, hit_given = self._hit()
        conditions = [] if self.state in _DECIDED else [_STATES[self.state]]
        given: list[object] = []
        for column, value in (("id", self.payment_id), ("reference_key", self.key)):
            if value is not None:
                conditions.append(f"{column} = ?")
                given.append(value)
        where = " AND ".join(conditions) or "1"
        return Walk("payments", where, tuple(given), hit, hit_given, ("id",))


def page(conn: sqlite3.Connection, wanted: PaymentFilter, steps: Steps) -> Stretch[StoredPayment]:
    """One page of those that are wanted, the newest first."""
    return stretch(conn, PAYMENTS, wanted.way(), steps, _place_of)


def queue(conn: sqlite3.Connection, wanted: PaymentFilter, steps: Steps) -> Stretch[StoredPayment]:
    """The same with the oldest first: ``older`` leads on, ``newer`` back to where it begins."""
    if steps.after is None:
        found = page(conn, wanted, Steps(steps.limit, after=steps.before or _BEGINNING))
    else:
        found = page(conn, wanted, Steps(steps.limit, before=steps.after))
    is_first = steps.before is None and steps.after is None
    back = None if is_first else found.older
    return Stretch(tuple(reversed(found.found)), back, found.newer, found.looked_to)


def _place_of(payment: StoredPayment) -> Place:
    return (payment.id,)


def is_entered(conn: sqlite3.Connection, key: str) -> bool:
    """Whether a payment has this reference."""
    found = value_of(conn, "SELECT 1 FROM payments WHERE reference_key = ? LIMIT 1", (key,))
    return found is not None


def first_claimed_at(conn: sqlite3.Connection) -> int | None:
    """Since when the first of those that wait does, UTC epoch milliseconds."""
    statement = f"SELECT claimed_at FROM payments WHERE {CLAIMED} ORDER BY id LIMIT 1"  # noqa: S608 -- a constant
    found: int | None = value_of(conn, statement)
    return found
