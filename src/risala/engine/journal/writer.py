"""The journal's one writer: many units of work, one transaction, one disk sync.

A unit of work is a plain callable on the writer's connection that reads, decides and writes. While
one batch of units is being committed the next one gathers, so that the batches grow with the load
and nobody waits for a timer. An answer leaves only after its unit is on the disk.

**A unit may run twice**: when a batch fails it is rolled back and runs again one unit at a time,
so that one bad unit fails alone. No clock, randomness, ids or effects inside a unit: hand them in.

What comes of a unit::

    it returns                           committed, then the value is the answer
    Refusal, nothing written by it       the refusal is the answer; its neighbours commit
    Refusal after a write, any bug       rolled back, alone; the exception is the answer
    the disk is full, broken, read-only  StorageFailed for the whole batch, nothing written
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import structlog
import trio

from risala.engine.errors import Draining, Overloaded, Refusal, StorageFailed
from risala.engine.journal.lock import StorageUnusable
from risala.engine.journal.opening import Migrate, open_reader, open_writer

__all__ = ["Journal", "JournalStatistics", "StorageUnusable", "Unit"]

T = TypeVar("T")
Unit: TypeAlias = Callable[[sqlite3.Connection], T]
"""Reads, decides and writes in one transaction; pure otherwise, because it may run twice."""

# Busy belongs here too: a second run would wait for the stray writer once per unit.
_STORAGE_FAULTS = "FULL IOERR CORRUPT READONLY CANTOPEN NOTADB BUSY"
_STORAGE_CODES: Final = frozenset(getattr(sqlite3, f"SQLITE_{f}") for f in _STORAGE_FAULTS.split())

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class JournalStatistics:
    commits: int
    """Transactions that reached the disk."""
    units: int
    """Units of work in them, refusals not counted."""
    largest_batch: int
    """Most units that shared one transaction."""
    queue_used: int
    """Units handed in and not yet answered."""
    queue_peak: int
    last_error: str | None
    """The storage's last failure."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """How a unit went wrong."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of a batch: an answer for each unit, in order."""

    answers: Sequence[Any]
    commits: int
    largest: int
    fault: BaseException | None = None
    """The storage's failure, where it took the whole batch."""


class _Entry:
    """A unit that was handed in, and who waits for it (None: waits no longer)."""

    __slots__ = ("answer", "task", "unit")

    def __init__(self, unit: Unit[Any], task: trio.lowlevel.Task) -> None:
        self.unit = unit
        self.task: trio.lowlevel.Task | None = task
        self.answer: Any = None

    def abandon(self, _: Callable[[], None]) -> trio.lowlevel.Abort:
        self.task = None  # the unit commits all the same
        return trio.lowlevel.Abort.SUCCEEDED


class Journal:
    """The one writer of a database file, and the source of its readers.

    ``migrate`` brings the schema up to date, outside a transaction; it may raise
    :class:`StorageUnusable` (a newer schema). With ``inline`` units run at once on the loop
    thread, each in its own transaction: slower, and exact under a mock clock.
    """

    def __init__(
        self,
        path: Path,
        migrate: Migrate,
        *,
        commit_units_max: int = 512,
        queue_units_max: int = 4096,
        inline: bool = False,
    ) -> None:
        self._path = path
        self._migrate = migrate
        self._commit_units_max = commit_units_max
        self._queue_units_max = queue_units_max
        self._inline = inline
        self._conn: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._stop = trio.Event()
        self._emptied = trio.Event()
        self._commits = self._units = self._largest = self._used = self._peak = 0
        self._last_error: str | None = None
        self.on_commit: Callable[[], None] = lambda: None
        """Called on the loop thread after each batch that reached the disk; must be quick."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Open the file, serve until :meth:`stop` or cancellation, empty the queue, close.

        The thread never outlives this call: a cancellation waits for what was handed in. Only a
        hung disk can hold it, and that is the watchdog's business.

        Raises:
            StorageUnusable: the file cannot be opened; one sentence says why.
        """
        if self._conn is not None or self._stop.is_set():
            raise RuntimeError("a journal runs once")
        if self._inline:
            conn = open_writer(self._path, self._migrate)
        else:
            conn = await trio.to_thread.run_sync(open_writer, self._path, self._migrate)
        self._conn = conn
        try:
            if self._inline:
                task_status.started()
                await self._stop.wait()
            else:
                await self._serve(conn, task_status)
        finally:
            self.stop()
            for reader in self._readers:  # before the writer: the last to close folds the WAL in
                reader.close()
            self._readers.clear()
            conn.close()

    def stop(self) -> None:
        """Refuse new units from now on; :meth:`run` ends when those handed in are answered."""
        if not self._stop.is_set():
            self._stop.set()
            self._queue.put(None)

    async def commit(self, unit: Unit[T]) -> T:
        """Run a unit of work and wait until it is on the disk.

        Cancelled before the call: nothing happens. Cancelled while waiting: it commits all the
        same, and nobody hears of it.

        Raises:
            Refusal: the unit's own, or whatever exception it raised: nothing of it was written.
            StorageFailed: the disk failed it; nothing of it was written.
            Overloaded: too many units wait.
            Draining: the journal is stopping.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        conn = self._conn
        if conn is None or self._stop.is_set():
            raise Draining
        if self._used >= self._queue_units_max:
            raise Overloaded
        self._used += 1
        self._peak = max(self._peak, self._used)
        entry = _Entry(unit, trio.lowlevel.current_task())
        if self._inline:
            self._answer([entry], _run_batch(conn, [entry]), wake=False)
            await trio.lowlevel.cancel_shielded_checkpoint()
        else:
            self._queue.put(entry)
            await trio.lowlevel.wait_task_rescheduled(entry.abandon)
        if isinstance(entry.answer, _Failed):
            raise entry.answer.error
        answer: T = entry.answer
        return answer

    @property
    def path(self) -> Path:
        return self._path

    def reader(self) -> sqlite3.Connection:
        """A new read-only connection for the loop thread; rows are tuples.

        The journal closes it when it stops. Finish or reset every cursor before the next await:
        an open read holds its snapshot, and the WAL with it.
        """
        if self._conn is None or self._stop.is_set():
            raise Draining
        conn = open_reader(self._path)
        self._readers.append(conn)
        return conn

    def statistics(self) -> JournalStatistics:
        return JournalStatistics(
            commits=self._commits,
            units=self._units,
            largest_batch=self._largest,
            queue_used=self._used,
            queue_peak=self._peak,
            last_error=self._last_error,
        )

    async def _serve(self, conn: sqlite3.Connection, status: trio.TaskStatus[None]) -> None:
        token = trio.lowlevel.current_trio_token()
        # A daemon, so that a hung disk cannot hold the interpreter's exit as well.
        name = "risala-journal"
        thread = threading.Thread(target=self._work, args=(conn, token), name=name, daemon=True)
        thread.start()
        try:
            status.started()
            await self._stop.wait()
        finally:
            self.stop()
            with trio.CancelScope(shield=True):
                await self._emptied.wait()
            thread.join()

    def _work(self, conn: sqlite3.Connection, token: trio.lowlevel.TrioToken) -> None:
        """The thread: take what has gathered, commit it, answer all of it by one wake-up."""
        stopping = False
        while not stopping:
            batch, stopping = self._take()
            if batch:
                token.run_sync_soon(self._answer, batch, _run_batch(conn, batch))
        token.run_sync_soon(self._emptied.set)

    def _take(self) -> tuple[list[_Entry], bool]:
        """Wait for a first unit, add those that are there; True when it was the last batch."""
        batch: list[_Entry] = []
        entry = self._queue.get()
        while entry is not None:
            batch.append(entry)
            if len(batch) == self._commit_units_max:
                return batch, False
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _answer(self, batch: list[_Entry], done: _Done, *, wake: bool = True) -> None:
        """On the loop thread: count, and wake whoever still waits."""
        self._used -= len(batch)
        self._commits += done.commits
        self._units += sum(not isinstance(answer, _Failed) for answer in done.answers)
        self._largest = max(self._largest, done.largest)
        if done.fault is not None:
            self._last_error = str(done.fault)
            _log.error("storage_failed", units=len(batch), exc_info=done.fault)
        for entry, answer in zip(batch, done.answers, strict=True):
            entry.answer = answer
            if wake and entry.task is not None:
                trio.lowlevel.reschedule(entry.task)
        if done.commits:
            self.on_commit()


def _run_batch(conn: sqlite3.Connection, batch: Sequence[_Entry]) -> _Done:
    """Commit a batch, or each unit of it that can be. Never raises."""
    try:
        answers = _transaction(conn, batch)
    except BaseException as error:  # noqa: BLE001 -- it becomes an answer
        if _is_storage_fault(error):
            # An exception for each waiter: a shared one would gather all their tracebacks.
            return _Done([_Failed(StorageFailed()) for _ in batch], 0, 0, error)
        if len(batch) == 1:
            return _Done([_Failed(error)], 0, 0)
    else:
        return _Done(answers, 1, len(batch))
    alone = [_run_batch(conn, [entry]) for entry in batch]
    return _Done(
        [done.answers[0] for done in alone],
        sum(done.commits for done in alone),
        max(done.largest for done in alone),
        next((done.fault for done in alone if done.fault is not None), None),
    )


def _transaction(conn: sqlite3.Connection, batch: Sequence[_Entry]) -> list[Any]:
    """All units in one transaction, or an exception and none of them."""
    try:
        if conn.in_transaction:  # the last rollback failed with the disk
            conn.rollback()
        conn.execute("begin immediate")
        answers = [_attempt(conn, entry.unit) for entry in batch]
        conn.execute("commit")
    except BaseException:
        if conn.in_transaction:
            conn.rollback()
        raise
    return answers


def _attempt(conn: sqlite3.Connection, unit: Unit[Any]) -> object:
    before = conn.total_changes
    try:
        answer: object = unit(conn)
    except Refusal as refusal:
        if conn.total_changes != before:
            raise  # what it wrote must go, and only a rollback takes it away
        answer = _Failed(refusal)
    if not conn.in_transaction:
        raise _TransactionEnded("a unit of work ended the transaction that it shares with others")
    return answer


class _TransactionEnded(Exception):
    """A bug, or a disk failure that a unit hid. Running the rest again could double it."""


def _is_storage_fault(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        # An extended code's low byte is the plain code.
        return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _STORAGE_CODES
    return isinstance(error, _TransactionEnded)
