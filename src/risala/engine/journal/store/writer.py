"""The journal's one writer: many units of work, one transaction, one disk sync.

A unit of work is a plain callable on the writer's connection that reads, decides and writes. While
one batch of units is being committed the next one gathers, so the batches grow with the load and no
timer is needed. An answer leaves only after its unit is on disk.

**A unit may run twice**: when a batch fails it is rolled back and runs again one unit at a time, so
that one bad unit fails alone. No clock, randomness, ids or effects inside a unit: pass them in.

The results of units are described in :mod:`risala.engine.journal.store.transaction`.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.actors.alarm import Bell
from risala.engine.journal.store.condition import Condition
from risala.engine.journal.store.opening import PAGE_CACHE_MB, Migrate, open_watched, open_writer
from risala.engine.journal.store.presence import mark, refuse_missing
from risala.engine.journal.store.transaction import Done, Unit, WrittenBatch, in_doubt, run_batch
from risala.engine.journal.store.watched import SimulatedDisk
from risala.engine.model.errors import (
    Draining,
    Failed,
    OutcomeUnknown,
    Overloaded,
    StorageFailed,
    StorageUnusable,
)

__all__ = ["Journal", "JournalStatistics", "StorageUnusable", "Unit"]

T = TypeVar("T")

COMMIT_UNITS_MAX: Final = 512
"""The limit of one transaction, and so of one group of pieces. By then a sync costs each of them
nearly nothing (1, 8, 128 and 512 units: 1, 3.7, 9.7 and 13 times as many a second), and units that
arrive meanwhile wait for some 15 ms of writing at most."""
PROBE_S: Final = 1.0
"""How often a failed disk is tried again, so that the service is ready once it works."""
MEMORY_AGAIN_S: Final = 0.1
"""The wait after memory has run out; until there is some again no unit is answered."""

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
    """Units that are not answered yet."""
    queue_peak: int
    last_error: str | None
    """The storage's last failure."""
    doubts: int
    """Commits with an unknown outcome."""
    ailment: str | None
    """The storage's present fault, and what to do; None: no fault is known."""
    lost: bool
    """The open files are no longer those in the database's place."""


class _Entry:
    """A unit, and its waiter (None: waits no longer)."""

    __slots__ = ("answer", "task", "unit")

    def __init__(self, unit: Unit[Any], task: trio.lowlevel.Task | None) -> None:
        self.unit = unit
        self.task = task
        self.answer: Any = None

    def abandon(self, _: Callable[[], None]) -> trio.lowlevel.Abort:
        self.task = None  # the unit commits nevertheless
        return trio.lowlevel.Abort.SUCCEEDED


class CommitLog(Protocol):
    """A second log that must have a batch before it is answered. Called on the writer's thread."""

    @property
    def behind(self) -> bool:
        """Whether something may be written that the log does not have."""
        ...

    @property
    def is_over(self) -> bool:
        """Nothing may be written any more: another machine may have taken over."""
        ...

    def write(self, write: Callable[[], Done]) -> WrittenBatch:
        """Write a batch, and begin to put it into the log."""
        ...

    def is_settled(self, written: WrittenBatch) -> bool:
        """Whether the log has the batch, or it is no longer waited for."""
        ...

    def settle(self, written: WrittenBatch) -> Done:
        """What came of a batch, once it is on this machine's disk and the log has it.

        A fault that the batch did not have before is a sync that failed.
        """
        ...

    def end_soon(self) -> None:
        """The journal stops: wait only a little from now on."""
        ...

    def stop(self) -> None:
        """Nothing more is written. May take as long as a stop may."""
        ...


class Journal:
    """The one writer of a database file, and the source of its readers.

    ``migrate`` brings the schema up to date, outside a transaction; it may raise
    :class:`StorageUnusable` (a newer schema). With ``inline`` units run at once on the loop
    thread, each in its own transaction: slower, and exact under a mock clock. With ``disk`` the
    writer is a task beside that disk.
    """

    def __init__(
        self,
        path: Path,
        migrate: Migrate,
        *,
        commit_units_max: int = COMMIT_UNITS_MAX,
        queue_units_max: int = 4096,
        page_cache_mb: int = PAGE_CACHE_MB,
        inline: bool = False,
        disk: SimulatedDisk | None = None,
    ) -> None:
        self._path = path
        self._migrate = migrate
        self._commit_units_max = commit_units_max
        self.queue_units_max = queue_units_max
        """The most waiting units; further ones are refused."""
        self._page_cache_mb = page_cache_mb
        self._inline = inline and disk is None
        self._disk = disk
        self._handed_in = Bell()
        """Rung for the task that writes, if there is one."""
        self._conn: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._stop = trio.Event()
        self._emptied = trio.Event()
        self._commits = self._units = self._largest = self._used = self._peak = 0
        self._last_error: str | None = None
        self._bug: BaseException | None = None
        self._left: _Entry | None = None
        self._ill = trio.Event()
        self.condition = Condition(path)
        """The storage's condition; all code that sees an error of it reports it here."""
        self.doubts = 0
        """Commits with an unknown outcome. Code that caches data of the disk reads it again when
        this has grown."""
        self.committed = Bell()
        """Rung after each batch that reached the disk."""
        self._log: CommitLog | None = None
        self._log_syncs = False
        """The log syncs what is committed, while the other machine gets it."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Open the file, serve until :meth:`stop` or cancellation, empty the queue, close.

        The thread never outlives this call: a cancellation waits for the given units. Only a hung
        disk can delay it, which the watchdog handles.

        Raises:
            StorageUnusable: the file cannot be opened; one sentence says why.
        """
        if self._conn is not None or self._stop.is_set():
            raise RuntimeError("a journal runs once")
        if self.is_on_loop:
            conn = self._open()
        else:
            conn = await trio.to_thread.run_sync(self._open)
        self._conn = conn
        try:
            if self._inline:
                task_status.started()
                await self._stop.wait()
            elif self._disk is not None:
                await self._serve_by_task(conn, self._disk, task_status)
            else:
                await self._serve(conn, task_status)
        finally:
            self.stop()
            await self._end_log()
            for reader in self._readers:  # before the writer: the last to close folds the WAL in
                reader.close()
            self._readers.clear()
            conn.close()

    def _open(self) -> sqlite3.Connection:
        refuse_missing(self._path)
        make = sqlite3.Connection if self._disk is None else self._disk.connect
        conn = open_writer(self._path, self._migrate, make, self._page_cache_mb)
        mark(self._path)
        self.condition.opened()
        return conn

    def stop(self) -> None:
        """Refuse new units from now on; :meth:`run` ends when the waiting ones are answered."""
        if not self._stop.is_set():
            self._stop.set()
            self._queue.put(None)
            self._handed_in.ring()
            self.end_log_soon()

    def end_log_soon(self) -> None:
        """The service stops: whoever waits for a log that does not answer waits only a little."""
        if self._log is not None:
            self._log.end_soon()

    async def _end_log(self) -> None:
        if self._log is None:
            return
        if self.is_on_loop:
            self._log.stop()
            return
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._log.stop)

    def await_log(self, log: CommitLog) -> None:
        """From the next batch on, answer only what the log has too."""
        self._log = log

    async def settled(self) -> None:
        """Return once the log has all that can be read now; at once if no log is waited for.

        Raises:
            Unavailable: that is not known.
        """
        if self._log is not None and self._log.behind:
            await self.commit(_nothing)

    async def commit(self, unit: Unit[T]) -> T:
        """Run a unit of work and wait until it is on disk.

        Cancelled before the call: nothing happens. Cancelled while waiting: it commits
        nevertheless, and its answer is dropped.

        Raises:
            Refusal: the unit's own, or whatever exception it raised: nothing of it was written.
            StorageFailed: the disk failed; nothing of it was written.
            OutcomeUnknown: the disk failed in the commit; it may be on disk or not.
            Overloaded: too many units wait.
            Draining: the journal is stopping.
        """
        (answer,) = await self.commit_all([unit])
        if isinstance(answer, Failed):
            raise answer.error
        return answer

    async def commit_all(self, units: Sequence[Unit[T]]) -> list[T | Failed]:
        """As :meth:`commit`, for several units that are written in this order.

        Each has its own answer, and no other unit comes between them: usually they are in one
        transaction, and if it fails, each is tried alone.

        Raises:
            StorageFailed, Overloaded, Draining: none of them was accepted.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        entries = [_Entry(unit, None) for unit in units]
        # The last answer wakes the task: the queue keeps their order.
        await self._written(entries, entries[-1].abandon)
        return [entry.answer for entry in entries]

    async def commit_shielded(self, unit: Unit[T]) -> T:
        """As :meth:`commit`, but the caller always gets the answer: a cancellation waits.

        Raises:
            As :meth:`commit` does.
        """
        entry = _Entry(unit, None)
        await self._written([entry], _stay)
        if isinstance(entry.answer, Failed):
            raise entry.answer.error
        answer: T = entry.answer
        return answer

    async def _written(
        self,
        entries: list[_Entry],
        abort: Callable[[Callable[[], None]], trio.lowlevel.Abort],
    ) -> None:
        """Queue entries, and wait until the last one is answered."""
        conn = self._conn
        if conn is None or self._stop.is_set():
            raise Draining
        if self.condition.lasts:
            raise StorageFailed
        if self._used + len(entries) > self.queue_units_max:
            raise Overloaded
        self._used += len(entries)
        self._peak = max(self._peak, self._used)
        entries[-1].task = trio.lowlevel.current_task()
        if self._inline:
            self._answer(entries, self._run_batch(conn, entries), wake=False)
            await trio.lowlevel.cancel_shielded_checkpoint()
        else:
            for entry in entries:
                self._queue.put(entry)
            self._handed_in.ring()
            await trio.lowlevel.wait_task_rescheduled(abort)

    @property
    def path(self) -> Path:
        return self._path

    @property
    def is_inline(self) -> bool:
        """Whether each unit is a transaction of its own, run where it is handed in."""
        return self._inline

    @property
    def is_on_loop(self) -> bool:
        """Whether units run on the loop's thread, as under a mock clock."""
        return self._inline or self._disk is not None

    def reader(self) -> sqlite3.Connection:
        """A new read-only connection for the loop thread; rows are tuples.

        The journal closes it when it stops. Finish or reset every cursor before the next await:
        an open read holds its snapshot, and the WAL with it.
        """
        if self._conn is None or self._stop.is_set():
            raise Draining
        conn = open_watched(self._path, self.meet, self._page_cache_mb)
        self._readers.append(conn)
        return conn

    def statistics(self) -> JournalStatistics:
        self.condition.check()
        return JournalStatistics(
            commits=self._commits,
            units=self._units,
            largest_batch=self._largest,
            queue_used=self._used,
            queue_peak=self._peak,
            last_error=self._last_error,
            doubts=self.doubts,
            ailment=self.condition.ailment.sentence if self.condition.ailment else None,
            lost=self.condition.lost,
        )

    def meet(self, error: BaseException) -> None:
        """On the loop thread: an error of the storage was reported."""
        self.condition.meet(error)
        self._ill.set()

    async def keep_probing(self) -> None:
        """While the disk refuses, try it again and again, until cancelled.

        A service that is not ready gets no messages, and would never notice that the disk works
        again.
        """
        while True:
            await self._ill.wait()
            while self.condition.ailment is not None and not self.condition.lasts:
                await trio.sleep(PROBE_S)
                with suppress(StorageFailed, Overloaded):
                    await self.commit(_probe)
            self._ill = trio.Event()

    async def _serve(self, conn: sqlite3.Connection, status: trio.TaskStatus[None]) -> None:
        token = trio.lowlevel.current_trio_token()
        # A daemon, so that a hung disk cannot block the interpreter's exit as well.
        name = "risala-journal"
        # In this task's context: amounts in the thread's sentences have the currency's decimals.
        work = partial(copy_context().run, self._work, conn, token)
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
        try:
            status.started()
            await self._stop.wait()
        finally:
            self.stop()
            with trio.CancelScope(shield=True):
                await self._emptied.wait()
            thread.join()
        if self._bug is not None:
            raise self._bug

    async def _serve_by_task(
        self, conn: sqlite3.Connection, disk: SimulatedDisk, status: trio.TaskStatus[None]
    ) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._work_as_task, conn, disk)
            try:
                status.started()
                await self._stop.wait()
            finally:
                self.stop()

    async def _work_as_task(self, conn: sqlite3.Connection, disk: SimulatedDisk) -> None:
        """Work as :meth:`_work` does, as a task: until a stop, and never cut short."""
        stopping = False
        with trio.CancelScope(shield=True):
            while not stopping:
                while self._queue.empty():
                    await self._handed_in.wait()
                await disk.begin()
                batch, stopping = self._take()
                if batch:
                    done = await self._run_batch_as_task(conn, batch, disk)
                    await disk.synced()
                    self._answer(batch, done)

    async def _run_batch_as_task(
        self, conn: sqlite3.Connection, batch: list[_Entry], disk: SimulatedDisk
    ) -> Done:
        """Run a batch as :meth:`_run_batch` does; the disk waits instead of a thread."""
        log = self._log
        if log is None or log.is_over:
            return self._run_batch(conn, batch)
        written = self._write_to(log, conn, batch)
        await disk.logged(partial(log.is_settled, written))
        return self._settle(log, written)

    def _work(self, conn: sqlite3.Connection, token: trio.lowlevel.TrioToken) -> None:
        """The thread: take the gathered units, commit them, answer all of them with one wake-up.

        If it ended unnoticed no unit would be answered. So it waits when memory has run out, and a
        bug ends the process.
        """
        try:
            stopping = False
            while not stopping:
                batch, stopping = _insist(self._take)
                if batch:
                    done = self._run_or_doubt(conn, batch)
                    _insist(partial(token.run_sync_soon, self._answer, batch, done))
        except BaseException as bug:  # noqa: BLE001 -- raised by the loop
            self._bug = bug
            token.run_sync_soon(self.stop)
        _insist(partial(token.run_sync_soon, self._emptied.set))

    def _run_or_doubt(self, conn: sqlite3.Connection, batch: list[_Entry]) -> Done:
        """As :meth:`_run_batch`; if memory ran out on the way, the progress is unknown."""
        try:
            return self._run_batch(conn, batch)
        except MemoryError as error:
            return _insist(partial(self._doubt, batch, error))

    def _doubt(self, batch: list[_Entry], error: MemoryError) -> Done:
        self.condition.meet(error)
        return Done([Failed(OutcomeUnknown()) for _ in batch], 0, 0, error, 1)

    def _take(self) -> tuple[list[_Entry], bool]:
        """Wait for a first unit, add the waiting ones; True for the last batch."""
        batch: list[_Entry] = []
        entry = self._left or self._queue.get()
        while entry is not None:
            self._left = entry  # the first of the next batch, if this one has no memory for it
            try:
                batch.append(entry)
            except MemoryError:
                if batch:
                    return batch, False
                raise
            self._left = None
            if len(batch) == self._commit_units_max:
                return batch, False
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _run_batch(self, conn: sqlite3.Connection, batch: list[_Entry]) -> Done:
        """As :meth:`_commit_batch`; answers wait for the log too, if there is one."""
        if self._log is None:
            return self._commit_batch(conn, batch)
        if self._log.is_over:  # another machine may write: this one may not
            return Done([Failed(StorageFailed()) for _ in batch], 0, 0)
        return self._settle(self._log, self._write_to(self._log, conn, batch))

    def _write_to(
        self, log: CommitLog, conn: sqlite3.Connection, batch: list[_Entry]
    ) -> WrittenBatch:
        if not self._log_syncs and not conn.in_transaction:
            # A commit would wait for the disk, and the log only then for the other machine.
            with suppress(sqlite3.Error):  # then SQLite syncs too, until the next batch
                conn.execute("pragma synchronous = normal")
                self._log_syncs = True
        return log.write(partial(self._commit_batch, conn, batch))

    def _settle(self, log: CommitLog, written: WrittenBatch) -> Done:
        done = log.settle(written)
        if done.fault is not None and written.done.fault is None:
            self.condition.meet(done.fault)
        elif done.commits and done.fault is None:
            self.condition.recovered()
        return done

    def _commit_batch(self, conn: sqlite3.Connection, batch: list[_Entry]) -> Done:
        """On the writer's thread: nothing is answered before the place of its write is known."""
        if not self.condition.check():
            return Done([Failed(StorageFailed()) for _ in batch], 0, 0)
        done = run_batch(conn, [entry.unit for entry in batch])
        if done.fault is not None:
            self.condition.meet(done.fault)
        if done.commits and not self.condition.check():
            return in_doubt(done)
        if done.commits and done.fault is None and self._log is None:
            self.condition.recovered()
        return done

    def _answer(self, batch: list[_Entry], done: Done, *, wake: bool = True) -> None:
        """On the loop thread: count, and wake the remaining waiters."""
        self._used -= len(batch)
        self._commits += done.commits
        self._units += sum(not isinstance(answer, Failed) for answer in done.answers)
        self._largest = max(self._largest, done.largest)
        if done.fault is not None:
            self._last_error = str(done.fault)
            _log.debug("storage.refused", units=len(batch), reason=self._last_error)
        self.doubts += done.doubts
        if self.condition.ailment is not None:
            self._ill.set()
        for entry, answer in zip(batch, done.answers, strict=True):
            entry.answer = answer
            if wake and entry.task is not None:
                trio.lowlevel.reschedule(entry.task)
        if done.commits:
            self.committed.ring()


def _insist(act: Callable[[], T]) -> T:
    """On the writer's thread: repeat until there is enough memory."""
    while True:
        try:
            return act()
        except MemoryError:
            time.sleep(MEMORY_AGAIN_S)


def _stay(_: Callable[[], None]) -> trio.lowlevel.Abort:
    """A cancellation has to wait."""
    return trio.lowlevel.Abort.FAILED


def _nothing(_: sqlite3.Connection) -> None:
    """A unit that writes nothing: those before it are settled when it is answered."""


def _probe(conn: sqlite3.Connection) -> None:
    """Write an existing value, in any schema: one page, and its sync."""
    (version,) = conn.execute("pragma user_version").fetchone()
    conn.execute(f"pragma user_version = {version}")
