"""What waits for an operator's decision, counted up to the limit that pages show."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.accounts import senders
from risala.engine.journal.payments import payments
from risala.engine.journal.people import approvals
from risala.engine.model.records.figures import DECIDING_MAX, Deciding


def deciding(conn: sqlite3.Connection, now_ms: int) -> Deciding:
    """Three reads, bounded all."""
    return Deciding(
        senders=senders.count_asked(conn, DECIDING_MAX),
        payments=payments.count_claimed(conn, DECIDING_MAX),
        approvals=approvals.count_waiting(conn, now_ms),
    )
