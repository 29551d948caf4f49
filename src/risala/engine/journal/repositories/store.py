"""What a repository reads and writes with: a connection for reading, and the one writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final, TypeVar

import trio

from risala.engine.journal.audit.audited import audited
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.transaction import Unit
from risala.engine.journal.store.watched import telling
from risala.engine.journal.store.writer import Journal
from risala.engine.model.audit import AuditEntry

T = TypeVar("T")

SCANS_AT_ONCE: Final = 2
"""Reads on threads at the same time: each takes a connection with its page cache, and the
interpreter from all other code."""


def _limiter() -> trio.CapacityLimiter:
    return trio.CapacityLimiter(SCANS_AT_ONCE)


@dataclass(frozen=True, slots=True)
class Store:
    """The database, as the repositories use it."""

    journal: Journal
    reader: sqlite3.Connection
    """For reads on the loop's thread: by an index, and of a bounded number of rows."""
    _scans: trio.CapacityLimiter = field(default_factory=_limiter)

    @classmethod
    def open(cls, journal: Journal) -> Store:
        """The store of a journal that runs."""
        return cls(journal, journal.reader())

    async def commit(self, unit: Unit[T], by: AuditEntry | None = None) -> T:
        """Commit a unit of work, with its line of the audit trail if it has an entry.

        Raises:
            Refusal: the unit refused; nothing was written.
            Unavailable: it could not be written.
        """
        return await self.journal.commit(audited(by, unit))

    async def scan(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read what may take long, on a thread with a connection of its own. A cancellation waits
        for its end.

        Where the journal runs on the loop's thread, so does this: a mock clock stays exact.

        Raises:
            StorageFailed: the storage failed it.
        """

        def read() -> T:
            with closing(open_reader(self.journal.path)) as conn:
                return work(conn)

        with telling(self.journal.meet):
            if self.journal.is_on_loop:
                await trio.lowlevel.checkpoint()
                return read()
            return await trio.to_thread.run_sync(read, limiter=self._scans)
