"""What a repository reads and writes with: a connection for reading, and the one writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import field
from functools import wraps
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

import trio

from risala.dataclass import dataclass
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.journal.store.transaction import Unit
from risala.engine.journal.store.watched import telling
from risala.engine.journal.store.writer import Journal
from risala.engine.model.audit import AuditEntry

T = TypeVar("T")
P = ParamSpec("P")

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
    sealing: SealingKeys
    """Seals the secrets that are stored, and opens them."""
    _scans: trio.CapacityLimiter = field(default_factory=_limiter)

    @classmethod
    def open(cls, journal: Journal, sealing: SealingKeys | None = None) -> Store:
        """The store of a journal that runs; its sealing keys are beside the database, unless they
        are given."""
        keys = sealing or SealingKeys(journal.path.parent)
        return cls(journal, journal.reader(), keys)

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


class _Repository(Protocol):
    @property
    def _store(self) -> Store: ...


R = TypeVar("R", bound=_Repository)


def read(
    work: Callable[Concatenate[sqlite3.Connection, P], T],
) -> Callable[Concatenate[R, P], T]:
    """A repository's method that reads on the loop's thread; what it says and takes is in ``work``.

    So ``work`` finds its rows by an index, and a bounded number of them.
    """

    @wraps(work)
    def method(self: R, /, *args: P.args, **named: P.kwargs) -> T:
        return work(self._store.reader, *args, **named)

    return method


def scan(
    work: Callable[Concatenate[sqlite3.Connection, P], T],
) -> Callable[Concatenate[R, P], Awaitable[T]]:
    """A repository's method that may read many rows: on a thread, as :meth:`Store.scan` does."""

    @wraps(work)
    async def method(self: R, /, *args: P.args, **named: P.kwargs) -> T:
        return await self._store.scan(lambda conn: work(conn, *args, **named))

    return method


def command(
    work: Callable[Concatenate[sqlite3.Connection, P], T],
) -> Callable[Concatenate[R, P], Awaitable[T]]:
    """A repository's method that commits a unit of work, without an entry in the audit trail; what
    it says and takes is in ``work``. It returns once that is on disk.

    Raises:
        Refusal: the unit refused; nothing was written.
        Unavailable: it could not be written.
    """

    @wraps(work)
    async def method(self: R, /, *args: P.args, **named: P.kwargs) -> T:
        return await self._store.commit(lambda conn: work(conn, *args, **named))

    return method


def audited_command(
    work: Callable[Concatenate[sqlite3.Connection, P], T],
) -> Callable[Concatenate[R, AuditEntry | None, P], Awaitable[T]]:
    """As :func:`command`, with a line in the audit trail: first the method takes its entry, or None
    where the engine acts by itself.
    """

    @wraps(work)
    async def method(self: R, by: AuditEntry | None, /, *args: P.args, **named: P.kwargs) -> T:
        return await self._store.commit(lambda conn: work(conn, *args, **named), by)

    return method
