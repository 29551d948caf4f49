"""What is behind, over all organizations: deliveries of webhooks, and mails. Bounded looks."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

COUNTED_MAX: Final = 1000
"""Rows of each that are counted; more are told as so many."""
BEHIND_MS: Final = 60_000
"""A delivery that is still owed after a minute has failed at least once, or waits for others."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Things that should have left."""

    count: int
    """No further than :data:`COUNTED_MAX`."""
    oldest: int | None
    """Since when the oldest is owed, UTC epoch milliseconds."""
    of: int = 0
    """Of how many endpoints, among those counted."""


def webhooks(conn: sqlite3.Connection, now_ms: int) -> Behind:
    """Deliveries that have been owed for longer than :data:`BEHIND_MS`."""
    count, oldest, endpoints = conn.execute(
        "SELECT count(*), min(created_at), count(DISTINCT endpoint_id) FROM"
        " (SELECT created_at, endpoint_id FROM webhook_delivery INDEXED BY webhook_delivery_due"
        " WHERE state = 'pending' AND created_at <= ? LIMIT ?)",
        (now_ms - BEHIND_MS, COUNTED_MAX),
    ).fetchone()
    return Behind(count, oldest, endpoints)


@dataclass(frozen=True, slots=True)
class MailsWaiting:
    waiting: int
    """Owed; no further than :data:`COUNTED_MAX`."""
    failing: int
    """Those of them that the mailer refused at least once."""
    oldest: int | None


def mails(conn: sqlite3.Connection) -> MailsWaiting:
    """Mails that are owed, the first that are due."""
    waiting, failing, oldest = conn.execute(
        "SELECT count(*), coalesce(sum(tries > 0), 0), min(created_at) FROM"
        " (SELECT tries, created_at FROM mails INDEXED BY mails_due"
        " WHERE settled_at IS NULL ORDER BY due_at LIMIT ?)",
        (COUNTED_MAX,),
    ).fetchone()
    return MailsWaiting(waiting, failing, oldest)
