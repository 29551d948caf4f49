"""The payer of one organization's messages in a unit of work: its balance, or nobody; then its
parts are counted, by day of its own calendar. Parts that failed stay counted.

Operators may choose who pays while the service runs. The settings' file stays as it is then: only
its owner writes it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store import meta
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.sql import value_of
from risala.engine.model.errors import (
    Forbidden,
    InsufficientBalance,
    RateLimited,
    Refusal,
    SpendCapReached,
)
from risala.engine.model.records.ledger import DayAllowance, StoredPayer
from risala.engine.model.records.messages import NewMessage

# -- what was charged on each day of its own calendar. Refunds do not reduce it: a day's cap limits
# what a stolen key can send, delivered or not.


_ADD_SPENT: Final = (
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
            self._conn.execute(_ADD_SPENT, (self._organization_id, day, amount))


# -- the payers of a unit of work


_PAYER_KEY: Final = "payer"
_NOT_ACTIVE: Final = "The organization is not active."
_PARTS_KEY: Final = "self_parts_per_day"
_AT_KEY: Final = "payer_at"
_ADD: Final = (
    "INSERT INTO day_parts (organization, day, parts) VALUES (?, ?, ?)"
    " ON CONFLICT (organization, day) DO UPDATE SET parts = parts + excluded.parts"
)


def stored_payer(conn: sqlite3.Connection) -> StoredPayer | None:
    """The operators' choice; None: the settings apply."""
    payer = meta.get(conn, _PAYER_KEY)
    if payer is None:
        return None
    parts, at = meta.get(conn, _PARTS_KEY), meta.get(conn, _AT_KEY)
    return StoredPayer(payer, int(parts or 0), int(at or 0))


def put_payer(conn: sqlite3.Connection, chosen: StoredPayer) -> None:
    """Store the operators' choice."""
    meta.put(conn, _PAYER_KEY, chosen.payer)
    meta.put(conn, _PARTS_KEY, str(chosen.self_parts_per_day))
    meta.put(conn, _AT_KEY, str(chosen.at))


def sent_parts(conn: sqlite3.Connection, organization: int, day: int) -> int:
    """The parts of a day for which nobody paid; the organization by its number."""
    statement = "SELECT parts FROM day_parts WHERE organization = ? AND day = ?"
    return value_of(conn, statement, (organization, day)) or 0


def parts_of(conn: sqlite3.Connection, organization_id: str, day: int) -> int:
    """:func:`sent_parts` of an organization by its id."""
    statement = (
        "SELECT parts FROM day_parts WHERE day = ?"
        " AND organization = (SELECT no FROM organizations WHERE id = ?)"
    )
    return value_of(conn, statement, (day, organization_id)) or 0


class DayParts:
    """The parts that one unit of work adds for one organization, by day: nearly always a single
    one."""

    def __init__(self, conn: sqlite3.Connection, organization: int) -> None:
        self._conn = conn
        self._organization = organization
        self._before: dict[int, int] = {}
        self._added: Counter[int] = Counter()

    def refusal(self, allowance: DayAllowance, day: int, parts: int, now_ms: int) -> Refusal | None:
        """Why so many more parts cannot be accepted on a day; None: they can."""
        if day not in self._before:
            self._before[day] = sent_parts(self._conn, self._organization, day)
        if self._before[day] + self._added[day] + parts <= allowance.parts:
            return None
        wait_s = max(1, -((now_ms - allowance.ends_at) // 1000))
        return RateLimited(
            "day",
            wait_s,
            f"The limit of {allowance.parts} parts a day is reached. Send again after midnight.",
        )

    def add(self, day: int, parts: int) -> None:
        """Count accepted parts."""
        self._added[day] += parts

    def write(self) -> None:
        """Write the counts."""
        for day, parts in self._added.items():
            self._conn.execute(_ADD, (self._organization, day, parts))


def _overtaken(first: NewMessage, stored: str | None) -> Refusal | None:
    """Why a request that was drafted for another payer than the stored one is not accepted."""
    if stored in (None, "customers" if first.allowance is None else "self"):
        return None
    text = "Who pays for messages has just been changed. Send again in a moment."
    return RateLimited("day", 1, text)


@dataclass(frozen=True, slots=True)
class _Account:
    """An organization's row before a unit."""

    no: int
    status: str
    balance: int
    spend_cap: int | None
    owner_spend_cap: int | None
    payer: str | None
    """The payer that operators chose; None: the settings say it."""


_ACCOUNTS: Final = Rows(
    _Account,
    {"payer": f"(SELECT value FROM meta WHERE key = '{_PAYER_KEY}')"},  # noqa: S608 -- a constant
)
_ACCOUNT: Final = f"SELECT {_ACCOUNTS.columns} FROM organizations WHERE id = ?"  # noqa: S608 -- constants


class BalancePayer:
    """An organization while a unit charges its balance."""

    amount_of = staticmethod(attrgetter("price"))
    """What a message takes from it, in minor units."""

    def __init__(self, conn: sqlite3.Connection, organization_id: str) -> None:
        row = _account(conn, organization_id)
        self.no = row.no
        self.payer = row.payer
        self.is_active = row.status == "active"
        self.balance = row.balance
        self.charged = False
        caps = (row.spend_cap, row.owner_spend_cap)
        self.days = Days(conn, organization_id, caps)

    def refusal(self, item: NewMessage, price: int) -> Refusal | None:
        """Why something like this message, at this price, cannot be accepted."""
        if not self.is_active:
            return Forbidden(_NOT_ACTIVE)
        if item.mode != "live":
            return None
        if refusal := _overtaken(item, self.payer):
            return refusal
        # A positive balance is needed even if the price is zero.
        if self.balance <= 0 or self.balance < price:
            return InsufficientBalance()
        return None if self.days.have_room(item.day, price) else SpendCapReached()

    def leaves_rest(self, price: int) -> bool:
        """Whether the balance stays positive: then no later message with the price zero is
        refused."""
        return self.balance > price

    def charge(self, mode: str, day: int, price: int) -> None:
        """Take the price of an accepted message."""
        if mode == "live":
            self.balance -= price
            self.days.charge(day, price)


class OwnParts:
    """An organization that sends for itself, while a unit counts its parts."""

    amount_of = staticmethod(attrgetter("segments"))
    """What a message takes from its day, in parts."""

    def __init__(self, conn: sqlite3.Connection, organization_id: str) -> None:
        row = _account(conn, organization_id)
        self.no = row.no
        self.payer = row.payer
        self.is_active = row.status == "active"
        self.balance = 0
        self.days = DayParts(conn, row.no)

    def refusal(self, item: NewMessage, parts: int) -> Refusal | None:
        """Why so many parts of messages like this one cannot be accepted."""
        if not self.is_active:
            return Forbidden(_NOT_ACTIVE)
        if refusal := _overtaken(item, self.payer):
            return refusal
        assert item.allowance is not None
        return self.days.refusal(item.allowance, item.day, parts, item.created_at)

    def leaves_rest(self, _: int) -> bool:
        return True

    def charge(self, _: str, day: int, parts: int) -> None:
        """Count the parts of an accepted message; one of a test is never here."""
        self.days.add(day, parts)


def _account(conn: sqlite3.Connection, organization_id: str) -> _Account:
    return _ACCOUNTS.of(conn.execute(_ACCOUNT, (organization_id,)).fetchone())
