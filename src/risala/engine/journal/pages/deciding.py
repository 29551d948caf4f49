"""What waits for an operator's word, counted no further than a rail shows it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.accounts import senders
from risala.engine.journal.payments import payments

COUNTED_MAX: Final = 100
"""Of each: a rail shows "99+", and a count must not grow with what waits."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """How much waits; :data:`COUNTED_MAX` stands for that many or more."""

    senders: int
    """Requests that are neither cleared nor denied."""
    payments: int
    """Those that their customers have claimed, and an operator's word settles."""


def deciding(conn: sqlite3.Connection) -> Deciding:
    """Two reads, bounded both."""
    return Deciding(
        senders=senders.count_asked(conn, COUNTED_MAX),
        payments=payments.count_claimed(conn, COUNTED_MAX),
    )
