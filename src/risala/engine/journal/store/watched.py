"""Connections for reading that report failures of the storage.

Damage appears to the first reader of a damaged page, which is hardly ever the writer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol, Self, cast

from risala.engine.journal.store.condition import is_storage_fault
from risala.engine.model.errors import StorageFailed

Meet = Callable[[BaseException], None]


class WatchedConnection(sqlite3.Connection):
    """Raises :class:`StorageFailed` for an error of the storage, and reports it."""

    def __init__(self, *arguments: Any, meet: Meet, **options: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **options)
        self.meet = meet

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:  # noqa: ANN401
        return self.cursor(_WatchedCursor).execute(sql, parameters)


class _WatchedCursor(sqlite3.Cursor):
    def execute(self, sql: str, parameters: Any = (), /) -> Self:  # noqa: ANN401
        try:
            super().execute(sql, parameters)
        except sqlite3.Error as error:
            _tell(self, error)
        return self

    def fetchone(self) -> Any:  # noqa: ANN401 -- a row, as the base class has it
        try:
            return super().fetchone()
        except sqlite3.Error as error:
            _tell(self, error)

    def fetchall(self) -> list[Any]:
        try:
            return super().fetchall()
        except sqlite3.Error as error:
            _tell(self, error)

    def __next__(self) -> Any:  # noqa: ANN401
        try:
            return super().__next__()
        except sqlite3.Error as error:
            _tell(self, error)


def _tell(cursor: sqlite3.Cursor, error: sqlite3.Error) -> NoReturn:
    if _is_fault(error):
        cast(WatchedConnection, cursor.connection).meet(error)
        raise StorageFailed from error
    raise error


def _is_fault(error: sqlite3.Error) -> bool:
    # A write through a connection for reading is a bug; the storage is well.
    readonly = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY
    return is_storage_fault(error) and not readonly


@contextmanager
def telling(meet: Meet) -> Iterator[None]:
    """Storage faults reported, for a block with separate connections.

    Raises:
        StorageFailed: the storage failed it.
    """
    try:
        yield
    except sqlite3.Error as error:
        if not _is_fault(error):
            raise
        meet(error)
        raise StorageFailed from error


# A simulated disk, in place of the machine's own.


class SimulatedDisk(Protocol):
    """Is between the journal and its file: it may be slow, full, broken, or frozen at a crash.

    With it the writer is a task and no thread, and waits on the loop's clock. All else is as with a
    thread: while one transaction is under way the next one gathers.
    """

    def connect(self, *arguments: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401
        """The writer's connection; takes what :class:`sqlite3.Connection` takes."""

    async def begin(self) -> None:
        """Called before each transaction, which includes the units that arrive meanwhile."""

    async def synced(self) -> None:
        """Called after each transaction, before its callers are notified."""

    async def logged(self, is_settled: Callable[[], bool]) -> None:
        """Called after each transaction that a log has to have too; returns once it is settled."""
