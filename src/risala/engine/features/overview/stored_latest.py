"""Reads where the newest messages of all organizations went, and what each carrier made of them.

No count is kept for it: a bounded number of messages is read, by their keys.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.features.overview.records import CarrierRun, LatestMessages, MessageDestination
from risala.engine.journal.store.repository import Store, scan
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.numbers import DELIVERED, FAILED, MODES, UNDELIVERED
from risala.sms.numbering.countries import network
from risala.sms.numbering.country import country_of_code

LOOKED_MAX: Final = 5000
"""Messages that are looked at, tests too, the newest first: some thirty milliseconds, on a
thread."""
SINCE_MS: Final = 7 * 86_400_000
"""None is looked at that was accepted longer ago."""
DESTINATIONS_MAX: Final = 12
"""Destinations that are told by themselves; the others are told together."""
HALF: Final = 0.5
MOST: Final = 0.95
"""The share of deliveries within whose time a carrier is said to deliver."""
_NEWEST: Final = """
SELECT recipient, carrier, status, accepted_at, CASE WHEN status = ? THEN delivered_at - due_at END
FROM (
  SELECT recipient, carrier, status, mode, delivered_at, key >> ? AS accepted_at,
    coalesce(send_at, created_at, key >> ?) AS due_at
  FROM message WHERE key >= ? ORDER BY key DESC LIMIT ?
) WHERE mode = ?
"""
_NAMES: Final = "SELECT no, name FROM names WHERE no IN (SELECT value FROM json_each(?))"


class _Row(NamedTuple):
    recipient: object
    """Digits as an integer, or what else a message was for."""
    carrier: int | None
    status: int
    accepted_at: int
    took_ms: int | None
    """From when it was due until it arrived."""


def latest(conn: sqlite3.Connection, now_ms: int) -> LatestMessages:
    """The carriers of the newest live messages, and how each did with those that ended."""
    bits, since = KEY_COUNTER_BITS, (now_ms - SINCE_MS) << KEY_COUNTER_BITS
    values = (DELIVERED, bits, bits, since, LOOKED_MAX, MODES.number("live"))
    rows = [_Row(*each) for each in conn.execute(_NEWEST, values)]
    numbers = sorted({each.carrier for each in rows if each.carrier is not None})
    names: dict[int, str] = dict(conn.execute(_NAMES, (json.dumps(numbers),)).fetchall())
    return LatestMessages(
        messages=len(rows),
        since=rows[-1].accepted_at if rows else None,
        destinations=tuple(_destinations(rows)),
        carriers=tuple(_carriers(rows, names)),
    )


def _destinations(rows: Iterable[_Row]) -> list[MessageDestination]:
    """Networks of the plan and countries, those with most messages first."""
    counts, countries = Counter[str](), dict[str, str | None]()
    for each in rows:
        digits = str(each.recipient)
        name = network(f"+{digits}" if isinstance(each.recipient, int) else digits)
        counts[name] += 1
        if name not in countries:
            countries[name] = country_of_code(digits)
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    largest = [
        MessageDestination(network=name, country=countries[name], messages=count)
        for name, count in most[:DESTINATIONS_MAX]
    ]
    others = sum(count for _, count in most[DESTINATIONS_MAX:])
    return [
        *largest,
        *([MessageDestination(network=None, country=None, messages=others)] if others else []),
    ]


def _carriers(rows: Iterable[_Row], names: dict[int, str]) -> list[CarrierRun]:
    """Each carrier's messages that have ended, the busiest carrier first."""
    ended = defaultdict[str, list[_Row]](list)
    for each in rows:
        if each.carrier in names and each.status in (DELIVERED, UNDELIVERED, FAILED):
            ended[names[each.carrier]].append(each)
    runs = [_run(name, of) for name, of in ended.items()]
    return sorted(runs, key=lambda each: (-each.ended, each.carrier))


def _run(carrier: str, rows: Sequence[_Row]) -> CarrierRun:
    times = sorted(max(0, each.took_ms) for each in rows if each.took_ms is not None)
    return CarrierRun(
        carrier=carrier,
        ended=len(rows),
        delivered=sum(each.status == DELIVERED for each in rows),
        median_ms=times[round(HALF * (len(times) - 1))] if times else None,
        most_ms=times[round(MOST * (len(times) - 1))] if times else None,
    )


@dataclass(frozen=True, slots=True)
class LatestRepository:
    """The newest messages, read on a thread."""

    _store: Store

    latest = scan(latest)
