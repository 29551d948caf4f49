"""Retention's walks, and owners' choices of days."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.repositories.store import Store, audited_command, read
from risala.engine.journal.store import meta
from risala.engine.journal.upkeep import retention, retention_days
from risala.engine.model.features import features
from risala.engine.model.ids import first_id
from risala.engine.model.records.upkeep.retention import (
    Forgot,
    RetentionWalk,
    WalkKind,
)

ROWS_AT_ONCE: Final = 100
"""Rows of one unit: some milliseconds of the writer."""
PASSED: Final = "retention.passed"
"""The file's note of when everything was last walked through."""
OLDEST: Final[Mapping[str, Callable[[sqlite3.Connection], int | None]]] = {
    "texts": partial(retention.oldest_message, walk="texts"),
    "timelines": partial(retention.oldest_message, walk="timelines"),
    "events": retention.oldest_event,
    "inbound": retention.oldest_inbound,
}
"""By the operator's rules: when the core's oldest remaining row was accepted, or came."""


def walk_on(conn: sqlite3.Connection, walk: RetentionWalk, now_ms: int, after: str) -> Forgot:
    """Do one small unit of a walk.

    Args:
        after: where the last unit stopped, of a walk whose place is not noted in the file.
    """
    before_ms, name, whose = now_ms - walk.age_ms, walk.name, walk.organizations
    one = whose[0] if whose else None
    match walk.kind:
        case WalkKind.TEXTS:
            return retention.texts(conn, name, before_ms, ROWS_AT_ONCE, one)
        case WalkKind.TIMELINES:
            return retention.timelines(conn, name, before_ms, ROWS_AT_ONCE)
        case WalkKind.EVENTS:
            return retention.events(conn, after, before_ms, ROWS_AT_ONCE, now_ms)
        case WalkKind.CHOSEN_EVENTS:
            return retention.chosen_events(conn, name, whose, before_ms, ROWS_AT_ONCE, now_ms)
        case WalkKind.INBOUND:
            before = first_id("mo", max(0, before_ms))
            return retention.inbound(conn, before, ROWS_AT_ONCE, one)
        case WalkKind.CLEARED:
            return _clear(conn)
        case kind:
            work = next(each.walks[kind] for each in features() if kind in each.walks)
            forgot: Forgot = work()(conn, walk, before_ms, ROWS_AT_ONCE)
            return forgot


def _clear(conn: sqlite3.Connection) -> Forgot:
    """Delete rows of what was deleted or is old."""
    for feature in features():
        if feature.cleared is not None:
            cleared: Forgot = feature.cleared()(conn, ROWS_AT_ONCE, None)
            if not cleared.done:
                return cleared
    return Forgot(0, "", done=True)


@dataclass(frozen=True, slots=True)
class RetentionRepository:
    """Old rows, and the days that owners chose. All reads are on the loop's thread, by an index.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    days_of = read(retention_days.of_organization)
    chosen = read(retention_days.chosen)

    def oldest(self, rule: str) -> int | None:
        """When the oldest row was made that one of the operator's rules has left."""
        read = OLDEST.get(rule)
        if read is None:
            read = next(each.oldest[rule] for each in features() if rule in each.oldest)()
        return read(self._store.reader)

    def passed_at(self) -> int | None:
        """When everything was last looked through, UTC epoch milliseconds; None: never."""
        noted = meta.get(self._store.reader, PASSED)
        return None if noted is None else int(noted)

    choose = audited_command(retention_days.choose)

    async def note_passed(self, now_ms: int) -> None:
        """Note that everything was looked through."""
        await self._store.commit(lambda conn: meta.put(conn, PASSED, str(now_ms)))

    forget = audited_command(walk_on)
