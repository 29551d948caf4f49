"""Backlogs over all organizations: deliveries of webhooks, and mails. All queries are bounded."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.model.records.upkeep.service import MailsWaiting
from risala.engine.model.records.webhooks import BEHIND_COUNTED_MAX, Behind

BEHIND_MS: Final = 60_000
"""A delivery that is still owed after a minute has failed at least once, or waits for others."""


def webhooks(conn: sqlite3.Connection, now_ms: int) -> Behind:
    """Deliveries that have been owed for longer than :data:`BEHIND_MS`."""
    count, oldest, endpoints = conn.execute(
        "SELECT count(*), min(created_at), count(DISTINCT endpoint_id) FROM"
        " (SELECT created_at, endpoint_id FROM webhook_delivery INDEXED BY webhook_delivery_due"
        " WHERE state = 'pending' AND created_at <= ? LIMIT ?)",
        (now_ms - BEHIND_MS, BEHIND_COUNTED_MAX),
    ).fetchone()
    return Behind(count, endpoints, oldest)


def mails(conn: sqlite3.Connection) -> MailsWaiting:
    """Mails that are owed, the first that are due."""
    waiting, failing, oldest = conn.execute(
        "SELECT count(*), coalesce(sum(tries > 0), 0), min(created_at) FROM"
        " (SELECT tries, created_at FROM mails INDEXED BY mails_due"
        " WHERE settled_at IS NULL ORDER BY due_at LIMIT ?)",
        (BEHIND_COUNTED_MAX,),
    ).fetchone()
    return MailsWaiting(waiting, failing, oldest)
