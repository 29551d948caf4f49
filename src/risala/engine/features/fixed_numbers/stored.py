"""Numbers with a fixed code, as they are stored: the codes are sealed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from risala.dataclass import dataclass
from risala.engine.features.fixed_numbers.feature import DAY_MS, NUMBERS_MAX, FixedNumber
from risala.engine.journal.accounts import accounts
from risala.engine.journal.people import mails
from risala.engine.journal.sealed.columns import SealedColumn
from risala.engine.journal.store.audit_log import write
from risala.engine.journal.store.named import Rows, columns_of_record
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import AuditEntry, Seen, masked
from risala.engine.model.callers import PROCESS
from risala.engine.model.errors import Conflict, NotFound, SecretLost
from risala.engine.model.people_records import MailKind
from risala.engine.model.times import iso
from risala.engine.rules.sealing import SecretPurpose

if TYPE_CHECKING:
    from risala.engine.journal.repositories import Repositories

EARLY_MS: Final = 7 * DAY_MS
"""How long before a number's end its owners are told; of one that was set for less than twice as
long, when half of its time is over."""
ENDED: Final = "fixed_number.ended"
"""The line of a number that came to its end."""
PROVEN: Final = (
    "A code that was sent to this number has been entered: it is somebody's account. Take a number"
    " that only your reviewers use."
)
_TABLE: Final = "fixed_numbers"
_ONE: Final = "organization_id = ? AND number = ?"
_ROWS: Final = Rows.of_record(FixedNumber)
SEALED: Final = (
    SealedColumn(_TABLE, "code", SecretPurpose.FIXED_CODE, "risala verify fix NUMBER"),
)
SHIFTS: Final = ("UPDATE fixed_numbers SET ends_at = ends_at - :by WHERE ends_at > :now",)
"""Move the ends back with the clock."""


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[FixedNumber]:
    """The numbers of an organization, the oldest first; an end may be over for an hour."""
    whose = (organization_id,)
    return _ROWS.find(table(conn, _TABLE), "organization_id = ?", whose, order_by="set_at, id")


def find(conn: sqlite3.Connection, organization_id: str, number: str) -> FixedNumber | None:
    """A number of an organization; None: it has no fixed code."""
    rows = _ROWS.find(table(conn, _TABLE), _ONE, (organization_id, number))
    return rows[0] if rows else None


def by_id(conn: sqlite3.Connection, fixed_id: str) -> FixedNumber | None:
    """One by its id; None: it was removed."""
    rows = _ROWS.find(table(conn, _TABLE), "id = ?", (fixed_id,))
    return rows[0] if rows else None


def image(conn: sqlite3.Connection, fixed_id: str) -> Seen | None:
    """What the audit trail shows of one: the end of its number, and no code."""
    fixed = by_id(conn, fixed_id)
    return None if fixed is None else _seen(fixed)


def _seen(fixed: FixedNumber) -> Seen:
    values = {"number": masked(fixed.number), "ends_at": iso(fixed.ends_at)}
    return Seen(fixed.organization_id, values)


def put(conn: sqlite3.Connection, new: FixedNumber, sealed: str) -> FixedNumber:
    """Give a number a fixed code, or another one and another end.

    Args:
        sealed: the code, sealed for its id.

    Raises:
        NotFound: no such organization.
        Conflict: the number was verified by an SMS, or the organization has too many.
    """
    accounts.organization(conn, new.organization_id)
    if value_of(conn, _PROVEN, (new.organization_id, new.number)):
        raise Conflict(PROVEN)
    stored = writable(conn, _TABLE)
    others = "organization_id = ? AND id <> ? AND ends_at > ?"
    if stored.count_where(others, (new.organization_id, new.id, new.set_at)) >= NUMBERS_MAX:
        raise Conflict(
            f"An organization can have at most {NUMBERS_MAX} numbers with a fixed code. Remove one"
            " first."
        )
    stored.delete_where(_ONE, (new.organization_id, new.number))
    stored.insert({**columns_of_record(new, without=()), "code": sealed})
    return new


_PROVEN: Final = (
    "SELECT 1 FROM verifications WHERE organization_id = ? AND mode = 'live' AND recipient = ?"
    " AND status = 'approved' AND message_id <> '' LIMIT 1"
)
"""A session whose code came by SMS; those of a fixed code prove nothing of a number."""


def remove(conn: sqlite3.Connection, organization_id: str, number: str) -> FixedNumber:
    """Take a number's fixed code away: it works no more, also for sessions that are pending.

    Raises:
        NotFound: it has none.
    """
    gone = find(conn, organization_id, number)
    if gone is None:
        raise NotFound("This number has no fixed code.")
    writable(conn, _TABLE).delete(gone.id)
    return gone


def erase(
    conn: sqlite3.Connection, organization_id: str, number: str, _limit: int
) -> dict[str, int]:
    """Delete a number that is erased."""
    stored = writable(conn, _TABLE)
    gone = stored.count_where(_ONE, (organization_id, number))
    stored.delete_where(_ONE, (organization_id, number))
    return {"fixed codes": gone}


# -- the end


def to_remind(conn: sqlite3.Connection, now_ms: int) -> list[str]:
    """Ids of numbers that end soon, and whose owners were not told yet."""
    due = (
        "SELECT id FROM fixed_numbers WHERE reminded_at IS NULL AND ends_at > :now"
        " AND ends_at - :now <= min(:early, (ends_at - set_at) / 2)"
    )
    rows = conn.execute(due, {"now": now_ms, "early": EARLY_MS})
    return [fixed_id for (fixed_id,) in rows]


def owe(conn: sqlite3.Connection, fixed_id: str, now_ms: int) -> None:
    """Owe the owners of a number that ends soon a mail."""
    fixed = by_id(conn, fixed_id)
    if fixed is None:
        return
    details = {"fixed": fixed.id}
    mails.owe_owners(conn, fixed.organization_id, MailKind.FIXED_NUMBER_ENDS, details, now_ms)
    writable(conn, _TABLE).update(fixed.id, {"reminded_at": now_ms})


def end_due(conn: sqlite3.Connection, now_ms: int) -> Sequence[str]:
    """Delete the numbers whose end is over; returns their ids."""
    over = _ROWS.find(table(conn, _TABLE), "ends_at <= ?", (now_ms,))
    for fixed in over:
        writable(conn, _TABLE).delete(fixed.id)
        seen = _seen(fixed)
        entry = AuditEntry(
            caller=PROCESS,
            action=ENDED,
            at=now_ms,
            subject=fixed.id,
            organization_id=fixed.organization_id,
            details=seen.values,
            always=True,
        )
        write(conn, entry)
    return [fixed.id for fixed in over]


@dataclass(frozen=True, slots=True)
class FixedNumberRepository:
    """Numbers with a fixed code. All reads are by an index, on the loop's thread; there are a few
    for each organization.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    of_organization = read(of_organization)
    find = read(find)
    by_id = read(by_id)
    to_remind = read(to_remind)

    def sealed(self, fixed_id: str, code: str) -> str:
        """A code as the database keeps it."""
        return self._store.sealing.seal(SecretPurpose.FIXED_CODE, fixed_id, code.encode())

    def code_of(self, organization_id: str, number: str, now_ms: int) -> str | None:
        """The code of a number; None: it has none now, or the key that sealed it is lost."""
        row = self._store.reader.execute(
            "SELECT id, code FROM fixed_numbers WHERE organization_id = ? AND number = ?"
            " AND ends_at > ?",
            (organization_id, number, now_ms),
        ).fetchone()
        if row is None:
            return None
        fixed_id, sealed = row
        try:
            return self._store.sealing.unseal(SecretPurpose.FIXED_CODE, fixed_id, sealed).decode()
        except SecretLost:
            return None

    put = audited_command(put)
    remove = audited_command(remove)
    owe = command(owe)
    end_due = command(end_due)


def fixed_code(
    repositories: Repositories, organization_id: str, number: str, now_ms: int
) -> str | None:
    """The code of an organization's number at a time; None: it gets codes by SMS."""
    return repositories.part(FixedNumberRepository).code_of(organization_id, number, now_ms)
