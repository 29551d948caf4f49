"""An organization's data about one number, counted before its erasure."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.store.sql import value_of
from risala.engine.model.features import features
from risala.engine.model.numbers import recipient_number
from risala.engine.model.records.upkeep.erasure_progress import NumberFigures

COUNTED_MAX: Final = 10_000
"""The limit of each count."""
_MESSAGES: Final = (
    "SELECT count(*) FROM (SELECT 1 FROM message WHERE recipient = ?"
    " AND organization = (SELECT no FROM organizations WHERE id = ?){more} LIMIT ?)"
)
_INBOUND: Final = (
    "SELECT count(*) FROM (SELECT 1 FROM inbound WHERE sender = ? AND organization_id = ? LIMIT ?)"
)
_SESSIONS: Final = (
    "SELECT count(*) FROM (SELECT 1 FROM verifications WHERE recipient = ?"
    " AND organization_id = ? AND mode IN ('live', 'test') LIMIT ?)"
)


def of(conn: sqlite3.Connection, organization_id: str, number: str) -> NumberFigures:
    """An organization's data about a number."""

    def count(statement: str, whom: int | str) -> int:
        return int(value_of(conn, statement, (whom, organization_id, COUNTED_MAX)))

    recipient = recipient_number(number)
    theirs = {
        name: int(counted()(conn, organization_id, number, COUNTED_MAX))
        for feature in features()
        for name, counted in feature.figures.items()
    }
    return NumberFigures(
        number=number,
        messages=count(_MESSAGES.format(more=""), recipient),
        pending=count(_MESSAGES.format(more=" AND status = 0"), recipient),
        inbound=count(_INBOUND, number),
        verifications=count(_SESSIONS, number),
        opted_out=opt_outs.is_out(conn, organization_id, number),
        **theirs,
    )
