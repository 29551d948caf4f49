"""Counts of all live messages by the minute, and reasons of failures.

Counted in memory, and written each minute: in the unit of each message it would cost as much as the
message's own counts. A crash loses the last minute, on which no balance depends.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from typing import Final

from risala.engine.model.lines import Kind
from risala.engine.model.numbers import CANCELED, DELIVERED, FAILED, UNDELIVERED
from risala.engine.model.records.messages import Change
from risala.engine.model.records.record import shallow
from risala.engine.model.records.upkeep.service import (
    DAY_MINUTES,
    HOUR_MINUTES,
    KEPT_FAILURE_HOURS,
    MINUTE_MS,
    FailureShare,
    Flow,
    FlowAt,
)
from risala.engine.rules.router import TEST_CARRIER, TEST_ROUTE, plain
from risala.sms.cause import Cause

KEPT_MINUTES: Final = 8 * DAY_MINUTES
"""A week, and one more day to compare its first day with."""
ACCEPTED: Final = 0
WORD_MAX: Final = 60
"""Characters of a carrier's code that are counted by: real ones are shorter."""
WORDS_MAX: Final = 50
"""Different codes in an hour, beyond which they are counted without the code: a carrier may give
each failure a new one."""
_ENDS: Final[Mapping[Kind, int]] = {
    Kind.DELIVERED: DELIVERED,
    Kind.UNDELIVERED: UNDELIVERED,
    Kind.FAILED: FAILED,
    Kind.CANCELED: CANCELED,
}
_FAILURES: Final = frozenset({Kind.UNDELIVERED, Kind.FAILED})
_ADD: Final = (
    "INSERT INTO minute_count (minute, outcome, n) VALUES (?, ?, ?)"
    " ON CONFLICT (minute, outcome) DO UPDATE SET n = n + excluded.n"
)
_ADD_FAILURE: Final = (
    "INSERT INTO failure_count (hour, cause, carrier, word, n) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (hour, cause, carrier, word) DO UPDATE SET n = n + excluded.n"
)
MinuteCounts = Counter[tuple[int, int]]
"""By minute and outcome."""
FailureCounts = Counter[tuple[int, str, str, str]]
"""By hour, cause, carrier and the carrier's code."""


class Minutes:
    """The counts that are not written yet, and reads of all of them: ranges of a key, on the loop's
    thread."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reader = reader
        self._counts: MinuteCounts = Counter()
        self._failures: FailureCounts = Counter()

    def accepted(self, messages: int, at_ms: int) -> None:
        """A number of live messages were accepted."""
        self._counts[at_ms // MINUTE_MS, ACCEPTED] += messages

    def ended(self, change: Change) -> None:
        """A message changed: count it if a live one ended by that."""
        kind = change.line.kind
        outcome = _ENDS.get(kind)
        if outcome is None or plain(change.route) == TEST_ROUTE or change.carrier == TEST_CARRIER:
            return
        minute = change.at // MINUTE_MS
        self._counts[minute, outcome] += 1
        if kind in _FAILURES:
            cause = (change.line.cause or Cause.REJECTED).value
            word = (change.raw or "").strip()[:WORD_MAX]
            self._fail(minute // HOUR_MINUTES, cause, change.carrier or "", word)

    def _fail(self, hour: int, cause: str, carrier: str, word: str) -> None:
        key = (hour, cause, carrier, word)
        if key not in self._failures and len(self._failures) >= WORDS_MAX:
            key = (hour, cause, carrier, "")
        self._failures[key] += 1

    def take(self) -> tuple[MinuteCounts, FailureCounts]:
        """Remove and return the unwritten counts, to write them now."""
        taken = self._counts, self._failures
        self._counts, self._failures = Counter(), Counter()
        return taken

    def put_back(self, counts: MinuteCounts, failures: FailureCounts) -> None:
        """Take the counts back: they could not be written."""
        self._counts += counts
        self._failures += failures

    # -- reading: what is written, and what is not yet

    def flow(self, since: int, until: int) -> Flow:
        """All counts of a period, from the minute ``since`` until before ``until``."""
        rows = self._reader.execute(
            "SELECT outcome, sum(n) FROM minute_count WHERE minute >= ? AND minute < ?"
            " GROUP BY outcome",
            (since, until),
        )
        counts: Counter[int] = Counter(dict(rows))
        for (minute, outcome), count in self._counts.items():
            if since <= minute < until:
                counts[outcome] += count
        return _flow(counts)

    def series(self, since: int, until: int, step: int) -> list[FlowAt]:
        """All counts in periods of ``step`` minutes, including empty ones."""
        rows = self._reader.execute(
            "SELECT minute / ?, outcome, sum(n) FROM minute_count"
            " WHERE minute >= ? AND minute < ? GROUP BY 1, 2",
            (step, since, until),
        )
        by_period: dict[int, Counter[int]] = {
            at: Counter() for at in range(since // step, until // step)
        }
        for at, outcome, count in rows:
            by_period[at][outcome] += count
        for (minute, outcome), count in self._counts.items():
            if minute // step in by_period:
                by_period[minute // step][outcome] += count
        return [
            FlowAt(at * step * MINUTE_MS, **shallow(_flow(counts)))
            for at, counts in by_period.items()
        ]

    def failures(self, since_hour: int, most: int) -> list[FailureShare]:
        """Why live messages did not arrive since then, the most frequent first."""
        rows = self._reader.execute(
            "SELECT cause, carrier, word, sum(n) FROM failure_count WHERE hour >= ?"
            " GROUP BY cause, carrier, word",
            (since_hour,),
        )
        counts: Counter[tuple[str, str, str]] = Counter()
        for cause, carrier, word, count in rows:
            counts[cause, carrier, word] += count
        for (hour, *rest), count in self._failures.items():
            if hour >= since_hour:
                cause, carrier, word = rest
                counts[cause, carrier, word] += count
        ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        return [
            FailureShare(cause, carrier or None, word or None, count)
            for (cause, carrier, word), count in ranked[:most]
        ]

    def failed_by(self, cause: Cause, carrier: str, since_hour: int) -> int:
        """How many live messages failed by ``cause`` at a carrier since then; at most
        :data:`KEPT_FAILURE_HOURS` are known."""
        [(written,)] = self._reader.execute(
            "SELECT coalesce(sum(n), 0) FROM failure_count"
            " WHERE hour >= ? AND cause = ? AND carrier = ?",
            (since_hour, cause.value, carrier),
        )
        return int(written) + sum(
            count
            for (hour, its_cause, its_carrier, _), count in self._failures.items()
            if hour >= since_hour and (its_cause, its_carrier) == (cause.value, carrier)
        )


def _flow(counts: Counter[int]) -> Flow:
    return Flow(
        counts[ACCEPTED],
        counts[DELIVERED],
        counts[UNDELIVERED],
        counts[FAILED],
        counts[CANCELED],
    )


def add(
    conn: sqlite3.Connection, counts: MinuteCounts, failures: FailureCounts, now_ms: int
) -> None:
    """Write counts, and delete those that are too old to be read."""
    conn.executemany(_ADD, [(*key, n) for key, n in counts.items()])
    conn.executemany(_ADD_FAILURE, [(*key, n) for key, n in failures.items()])
    oldest = now_ms // MINUTE_MS - KEPT_MINUTES
    conn.execute("DELETE FROM minute_count WHERE minute < ?", (oldest,))
    first_hour = now_ms // MINUTE_MS // HOUR_MINUTES - KEPT_FAILURE_HOURS
    conn.execute("DELETE FROM failure_count WHERE hour < ?", (first_hour,))
