"""An organization's spending on each day of its own calendar, counted with each charge.

Refunds do not reduce it: a day's cap limits what a stolen key can send, delivered or not.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import Final

from risala.engine.journal.store.sql import value_of

_ADD: Final = (
    "INSERT INTO spending (organization_id, day, amount) VALUES (?, ?, ?)"
    " ON CONFLICT (organization_id, day) DO UPDATE SET amount = amount + excluded.amount"
)


def spent(conn: sqlite3.Connection, organization_id: str, day: int) -> int:
    """Charged on that day, in minor units."""
    statement = "SELECT amount FROM spending WHERE organization_id = ? AND day = ?"
    return value_of(conn, statement, (organization_id, day)) or 0


class Days:
    """The days that one unit of work charges: nearly always a single one.

    Billing has already checked the room; this is a second check.
    """

    def __init__(
        self, conn: sqlite3.Connection, organization_id: str, caps: Iterable[int | None]
    ) -> None:
        self._conn = conn
        self._organization_id = organization_id
        self._cap = min((cap for cap in caps if cap is not None), default=None)
        self._before: dict[int, int] = {}
        self._charged: Counter[int] = Counter()

    def have_room(self, day: int, price: int) -> bool:
        """Whether the day's cap leaves room for a price."""
        if self._cap is None:
            return True
        if day not in self._before:
            self._before[day] = spent(self._conn, self._organization_id, day)
        return self._before[day] + self._charged[day] + price <= self._cap

    def charge(self, day: int, price: int) -> None:
        """Count a charge."""
        self._charged[day] += price

    def write(self) -> None:
        """Write the counts."""
        for day, amount in self._charged.items():
            self._conn.execute(_ADD, (self._organization_id, day, amount))
