"""Sign-ins that failed: a table of their own, since strangers write it.

It is bounded by time and by rows; the audit trail, which is kept for ever, gets a line for the
first one of an address in an hour, and at most :data:`AUDITED_PER_HOUR` in all.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from risala.engine.journal.store.tables import table, writable
from risala.engine.model.people import SessionKind
from risala.engine.rules.people.lifetimes import FAILURES_KEPT_MS, HOUR_MS

FAILURES_MAX: Final = 100_000
"""Rows in all: some 15 MB."""
SLOW_MAX: Final = 10_000
"""Of them, rows that an operator's slow windows count: a hundred operators' in 30 days. They have
room of their own, since strangers can write the rest of the table full within hours."""
TIDIED_AT_ONCE: Final = 100
"""Old rows that go with each new one: more than come."""
AUDITED_PER_HOUR: Final = 200
COUNTED_MAX: Final = 10_000
"""Failures are counted up to here."""
_TABLE: Final = "sign_in_failures"
_TOO_OLD: Final = (
    "DELETE FROM sign_in_failures WHERE at < ?"
    " AND seq IN (SELECT seq FROM sign_in_failures ORDER BY seq LIMIT ?)"
)
_TOO_MANY: Final = (
    "DELETE FROM sign_in_failures WHERE slow = 0"
    " AND seq <= (SELECT max(seq) FROM sign_in_failures) - ?"
)
_TOO_MANY_SLOW: Final = (
    "DELETE FROM sign_in_failures WHERE slow = 1 AND seq <= ("
    "SELECT seq FROM sign_in_failures WHERE slow = 1 ORDER BY seq DESC LIMIT 1 OFFSET ?)"
)
_MOVED: Final = "UPDATE sign_in_failures SET email = ? WHERE email = ?"
_COUNTED: Final = (
    "SELECT kind, reason, count(*) FROM (SELECT kind, reason, at FROM sign_in_failures"
    " ORDER BY seq DESC LIMIT ?) WHERE at > ? GROUP BY kind, reason"
)


SITES: Final = {SessionKind.CUSTOMER: "dashboard", SessionKind.OPERATOR: "console"}
"""What operators call the pages of each kind of session."""


class FailureReason(StrEnum):
    WRONG_CODE = "wrong_code"
    NOT_ALLOWED = "not_allowed"
    """The code was right, and nobody may come in by it."""
    EXPIRED = "expired"
    """The code was too old."""
    HELD_UP = "held_up"
    """The code was not judged: strangers tried too many wrong ones at this operator's address."""
    LINK = "link"
    """A link was used before, too old or never made; noted once a minute for each site."""
    LIMITED = "limited"
    """A limit that strangers share was reached; noted once a minute for each."""
    SLOWED = "slowed"
    """A limit of this client alone was reached; noted once a minute for each."""


@dataclass(frozen=True, slots=True)
class SignInFailure:
    at: int
    """UTC epoch milliseconds."""
    kind: SessionKind
    email: str
    """A user's address, else the hash of what was typed. Empty: of no address alone."""
    address: str
    """Of the client."""
    reason: FailureReason
    known_browser: bool = False
    """Somebody signed in on it with this address before."""
    is_slow: bool = False
    """An operator's slow windows count it."""


def add(conn: sqlite3.Connection, new: SignInFailure) -> bool:
    """Write one down, and take away what is too old or too much; whether the audit trail gets a
    line for it."""
    audited = _is_to_be_audited(conn, new)
    writable(conn, _TABLE).insert(
        {
            "at": new.at,
            "kind": new.kind.value,
            "email": new.email,
            "address": new.address,
            "reason": new.reason.value,
            "known_browser": new.known_browser,
            "audited": audited,
            "slow": new.is_slow,
        }
    )
    conn.execute(_TOO_OLD, (new.at - FAILURES_KEPT_MS, TIDIED_AT_ONCE))
    conn.execute(_TOO_MANY, (FAILURES_MAX - SLOW_MAX,))
    if new.is_slow:
        conn.execute(_TOO_MANY_SLOW, (SLOW_MAX,))
    return audited


def move(conn: sqlite3.Connection, old: str, new: str) -> None:
    """A user has another address: their failures go along, and the old one stands nowhere."""
    conn.execute(_MOVED, (new, old))


def _is_to_be_audited(conn: sqlite3.Connection, new: SignInFailure) -> bool:
    found, since = table(conn, _TABLE), new.at - HOUR_MS
    if found.count_where("audited = 1 AND at > ?", (since,)) >= AUDITED_PER_HOUR:
        return False
    where = "audited = 1 AND at > ? AND kind = ? AND email = ?"
    return not found.count_where(where, (since, new.kind.value, new.email))


def strangers_tries(conn: sqlite3.Connection, kind: SessionKind, email: str, since: int) -> int:
    """Wrong codes for an address since then, from browsers that nobody has signed in on."""
    where = "kind = ? AND email = ? AND at > ? AND slow = 1"
    return table(conn, _TABLE).count_where(where, (kind.value, email, since))


def counted(conn: sqlite3.Connection, since: int) -> dict[tuple[SessionKind, FailureReason], int]:
    """How many failed since then, by where and why; up to :data:`COUNTED_MAX` of the newest."""
    rows = conn.execute(_COUNTED, (COUNTED_MAX, since))
    return {(SessionKind(kind), FailureReason(reason)): count for kind, reason, count in rows}


def newest(conn: sqlite3.Connection, count: int) -> list[SignInFailure]:
    """The newest first."""
    rows = table(conn, _TABLE).rows_where(order_by="seq DESC", limit=count)
    return [
        SignInFailure(
            row["at"],
            SessionKind(row["kind"]),
            row["email"],
            row["address"],
            FailureReason(row["reason"]),
            bool(row["known_browser"]),
            bool(row["slow"]),
        )
        for row in rows
    ]
