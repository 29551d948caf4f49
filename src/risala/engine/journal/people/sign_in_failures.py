"""Failed sign-ins: in a separate table, since strangers cause them.

It is limited by time and by rows; the audit trail, which is kept for ever, gets a line for the
first one of an address in an hour, and at most :data:`AUDITED_PER_HOUR` in all.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store.tables import table, writable
from risala.engine.model.people import SessionKind
from risala.engine.model.people_records import FailureReason, SignInFailure
from risala.engine.rules.people.lifetimes import FAILURES_KEPT_MS, HOUR_MS

FAILURES_MAX: Final = 100_000
"""Rows in all: some 15 MB."""
SLOW_MAX: Final = 10_000
"""Rows for operators' slow windows: a hundred operators' in 30 days. They have a separate limit,
since strangers can fill the rest of the table within hours."""
TIDIED_AT_ONCE: Final = 100
"""Old rows that are deleted with each new one: more than come in."""
AUDITED_PER_HOUR: Final = 200
COUNTED_MAX: Final = 10_000
"""The limit up to which failures are counted."""
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


def add(conn: sqlite3.Connection, new: SignInFailure) -> bool:
    """Store one, and delete what is too old or too much; returns whether the audit trail gets a
    line."""
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
    """A user has another address: their failures get it too, and the old one is removed."""
    conn.execute(_MOVED, (new, old))


def _is_to_be_audited(conn: sqlite3.Connection, new: SignInFailure) -> bool:
    stored, since = table(conn, _TABLE), new.at - HOUR_MS
    if stored.count_where("audited = 1 AND at > ?", (since,)) >= AUDITED_PER_HOUR:
        return False
    where = "audited = 1 AND at > ? AND kind = ? AND email = ?"
    return not stored.count_where(where, (since, new.kind.value, new.email))


def strangers_tries(conn: sqlite3.Connection, kind: SessionKind, email: str, since: int) -> int:
    """Wrong codes for an address since then, from browsers without an earlier sign-in."""
    where = "kind = ? AND email = ? AND at > ? AND slow = 1 AND reason = 'wrong_code'"
    return table(conn, _TABLE).count_where(where, (kind.value, email, since))


def factor_tries(conn: sqlite3.Connection, kind: SessionKind, email: str, since: int) -> int:
    """Wrong second factors of a user since then, from browsers without an earlier sign-in."""
    where = "kind = ? AND email = ? AND at > ? AND slow = 1 AND reason = 'wrong_factor'"
    return table(conn, _TABLE).count_where(where, (kind.value, email, since))


def counted(conn: sqlite3.Connection, since: int) -> dict[tuple[SessionKind, FailureReason], int]:
    """How many failed since then, by place and reason; up to :data:`COUNTED_MAX` of the newest."""
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
