"""What waits for an operator's decision, counted up to the limit that pages show."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.accounts import senders
from risala.engine.model.features import features
from risala.engine.model.records.figures import DECIDING_MAX, Deciding


def deciding(conn: sqlite3.Connection, now_ms: int) -> Deciding:
    """One read of each kind, bounded all."""
    theirs = {
        name: int(count()(conn, now_ms))
        for feature in features()
        for name, count in feature.decides.items()
    }
    return Deciding(
        senders=senders.count_asked(conn, DECIDING_MAX),
        **theirs,
    )
