"""What is read when somebody seems to try, and the lock of the console."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

from risala.engine.journal.people import users
from risala.engine.journal.store import meta
from risala.engine.journal.store.schema.accounts import IS_NEW_PLACE
from risala.engine.journal.store.tables import table
from risala.engine.model.records.upkeep.security import (
    UNLOCKED,
    ConsoleLock,
    FailedDay,
    NewPlace,
    Security,
    TryingAddress,
    UsedKey,
)

DAY_MS: Final = 86_400_000
DAYS: Final = 30
"""Days of the chart: a month shows what is usual."""
WEEK_MS: Final = 7 * DAY_MS
ROWS_MAX: Final = 20
"""Addresses, and keys, that are listed: those that matter first."""
_LOCK: Final = "console_lock"
_BY_DAY: Final = (
    "SELECT at / 86400000, sum(kind = 'customer'), sum(kind = 'operator')"
    " FROM sign_in_failures WHERE at >= ? GROUP BY 1"
)
_BY_ADDRESS: Final = (
    "SELECT address, count(*), count(DISTINCT nullif(email, '')), max(at)"
    " FROM sign_in_failures WHERE at >= ? GROUP BY address ORDER BY 2 DESC, 1 LIMIT ?"
)
_KEYS: Final = (
    "SELECT k.id, k.organization_id, o.name, k.name, k.last4, k.last_used_at, k.last_used_address"
    " FROM api_keys k JOIN organizations o ON o.id = k.organization_id"
    " WHERE k.last_used_address IS NOT NULL AND k.last_used_at IS NOT NULL"
    " ORDER BY k.last_used_at DESC LIMIT ?"
)

_NEW_PLACES: Final = (
    "SELECT k.id, k.organization_id, o.name, k.name, k.last4, p.network, p.first_at, p.last_at"  # noqa: S608 -- constants
    " FROM key_places p JOIN api_keys k ON k.id = p.key_id"
    " JOIN organizations o ON o.id = k.organization_id"
    f" WHERE p.first_at >= ? AND {IS_NEW_PLACE} ORDER BY p.first_at DESC LIMIT ?"
)


def security(conn: sqlite3.Connection, now_ms: int) -> Security:
    """All of it, for a thread: failed sign-ins are up to a hundred thousand rows."""
    today = now_ms // DAY_MS
    first = today - DAYS + 1
    by_day = {
        day: (dashboard, console)
        for day, dashboard, console in conn.execute(_BY_DAY, (first * DAY_MS,))
    }
    days = (FailedDay(day * DAY_MS, *by_day.get(day, (0, 0))) for day in range(first, today + 1))
    addresses = conn.execute(_BY_ADDRESS, (now_ms - WEEK_MS, ROWS_MAX)).fetchall()
    keys = conn.execute(_KEYS, (ROWS_MAX,)).fetchall()
    places = conn.execute(_NEW_PLACES, (first * DAY_MS, ROWS_MAX)).fetchall()
    missing = [each.email for each in users.operators(conn) if not users.has_factor(conn, each.id)]
    return Security(
        tuple(days),
        tuple(TryingAddress(*each) for each in addresses),
        tuple(UsedKey(*each) for each in keys),
        tuple(NewPlace(*each) for each in places),
        tuple(missing),
        lock(conn),
    )


def lock(conn: sqlite3.Connection) -> ConsoleLock:
    """The lock of the console."""
    text = meta.get(conn, _LOCK)
    return UNLOCKED if text is None else ConsoleLock(**json.loads(text))


def lock_console(conn: sqlite3.Connection, address: str, by: str, now_ms: int) -> ConsoleLock:
    """The console answers this address alone, until it is unlocked."""
    meta.put(conn, _LOCK, json.dumps({"address": address, "by": by, "at": now_ms}))
    return lock(conn)


def unlock_console(conn: sqlite3.Connection) -> ConsoleLock:
    """The console answers everybody again."""
    if table(conn, "meta").count_where("key = ?", (_LOCK,)):
        meta.remove(conn, _LOCK)
    return UNLOCKED
