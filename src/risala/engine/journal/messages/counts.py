"""How many messages were accepted in each hour, and their results: counted when they happen.

All results count in the hour of the message's acceptance, so that for each hour the share of
delivered messages and their speed are known. The time runs from when a message was due.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Final

from risala.engine.journal.state import MessageState
from risala.engine.model.numbers import KINDS, MODES, STATUSES
from risala.engine.model.records.messages import NewMessage
from risala.sms.numbering.countries import network

HOUR_MS: Final = 3_600_000
ACCEPTED: Final = 0
"""The result that each message has: ``pending`` as a number."""
CountKey = tuple[int, int, int, int, int, str, int]
_ADD: Final = (
    "INSERT INTO hour_count (organization, outcome, hour, mode, kind, network, bucket, n)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (organization, outcome, hour, mode, kind, network, bucket)"
    " DO UPDATE SET n = n + excluded.n"
)


def bucket_of(took_ms: int) -> int:
    """The least number whose power of two is greater than the milliseconds that it took.

    So the median is exact within a factor of two.
    """
    return max(0, took_ms).bit_length()


def accepted(organization: int, mode: int, kind: int, recipient: str, created_at: int) -> CountKey:
    return _accepted(organization, mode, kind, created_at // HOUR_MS, network(recipient))


def count_accepted(
    counted: Counter[CountKey], organization: int, news: Sequence[NewMessage]
) -> None:
    """Count messages of one request that were accepted."""
    first = news[0]
    mode, kind, hour = (
        MODES.number(first.mode),
        KINDS.number(first.kind),
        first.created_at // HOUR_MS,
    )
    networks: dict[str, int] = {}
    for new in news:
        name = network(new.recipient)
        networks[name] = networks.get(name, 0) + 1
    for name, n in networks.items():
        counted[_accepted(organization, mode, kind, hour, name)] += n


def _accepted(organization: int, mode: int, kind: int, hour: int, name: str) -> CountKey:
    return organization, ACCEPTED, hour, mode, kind, name, 0


def outcome(message: MessageState, at: int) -> CountKey:
    """Count that a message has reached its present status."""
    where = message.counted_in
    if where is None:
        where = message.counted_in = (
            *(message.created_at // HOUR_MS, MODES.number(message.mode)),
            *(KINDS.number(message.kind), network(message.recipient)),
        )
    outcome_number = STATUSES.numbers[message.status]
    return (
        *(message.organization, outcome_number, *where),
        bucket_of(at - message.counted_from),
    )


def add(conn: sqlite3.Connection, counted: Counter[CountKey]) -> None:
    """Write the counts; part of the unit in which they happened."""
    conn.executemany(_ADD, [(*key, n) for key, n in counted.items()])
