"""Calls to the operator's addresses: a row is owed until it is settled, so that none is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import Final

from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.rules.alerts.holding import AlertTurn
from risala.engine.rules.alerts.turning import AlertCall

KEPT_MS: Final = 7 * 86_400_000
"""How long the result of a call is kept."""
_TABLE: Final = "alert_calls"


_CALLS: Final = Rows(AlertCall, what=AlertTurn)


def owe(
    conn: sqlite3.Connection, alert: int, what: AlertTurn, urls: Iterable[str], now_ms: int
) -> None:
    """Owe a call to each address, in the unit that is the reason for it."""
    stored = writable(conn, _TABLE)
    for url in urls:
        stored.insert(
            {
                "alert": alert,
                "what": what.value,
                "url": url,
                "created_at": now_ms,
                "due_at": now_ms,
            }
        )


def first(
    conn: sqlite3.Connection, besides: Collection[str] = (), broken: BrokenRow | None = None
) -> AlertCall | None:
    """The call that is due first, but for those with these numbers."""
    rows, limit, order = table(conn, _TABLE), 1 + len(besides), "due_at, seq"
    found = _CALLS.find(rows, "settled_at IS NULL", order_by=order, limit=limit, broken=broken)
    return next((each for each in found if str(each.seq) not in besides), None)


def begin(conn: sqlite3.Connection, seq: int) -> int:
    """An attempt begins; returns the number of attempts, including it."""
    stored = writable(conn, _TABLE)
    tries = int(stored.get(seq)["tries"]) + 1
    stored.update(seq, {"tries": tries})
    return tries


def put_off(conn: sqlite3.Connection, seq: int, due_at: int) -> None:
    """A call is tried again then."""
    writable(conn, _TABLE).update(seq, {"due_at": due_at})


def settle(conn: sqlite3.Connection, seq: int, outcome: str, now_ms: int) -> None:
    """A call is owed no longer."""
    writable(conn, _TABLE).update(seq, {"settled_at": now_ms, "outcome": outcome})


def forget_settled(conn: sqlite3.Connection, now_ms: int) -> None:
    writable(conn, _TABLE).delete_where("settled_at <= ?", (now_ms - KEPT_MS,))
