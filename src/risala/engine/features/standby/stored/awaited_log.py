"""The log that answers wait for: what the writer commits is in a store of another machine first.

The writer's thread commits a batch, reads what SQLite has committed, syncs it and waits. Meanwhile
a thread of the log's own (:mod:`~risala.engine.features.standby.stored.log_sender`) puts it into
the store. While one batch is away the next one gathers, so that batches grow with the load. It is
answered when this machine's disk has it and the store too. The caller may be told that the outcome
is unknown (:mod:`risala.engine.actors.answer_window`); the batch goes on as soon as both have it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import field, replace
from enum import Enum
from io import FileIO
from math import inf
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.standby.feature import LogState
from risala.engine.features.standby.stored import wal
from risala.engine.features.standby.stored.chain import WrittenPages
from risala.engine.features.standby.stored.log_sender import AGAIN_S, PIECES_BYTES_MAX, LogSender
from risala.engine.features.standby.stored.piece_store import Fenced, PieceStore
from risala.engine.journal.store.transaction import Done, WrittenBatch, in_doubt
from risala.engine.model.clock import Clock

LAST_S: Final = 3.0
"""Seconds that a stop waits for the log."""
LATE_MAX: Final = 3
"""How many times in a row the log is late until new work is refused at once: one alone may be a
failover."""
WAIT_STEPS_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0)
"""The histogram's limits: from a machine next to this one to a failover."""


class Lateness:
    """Measures the writer's waits for the log. One thread begins and ends them, others read."""

    def __init__(self, answer_wait_s: float) -> None:
        self._answer_wait_s = answer_wait_s
        self._since_s: float | None = None
        self._late = 0

    def begin(self, now_s: float) -> None:
        """The writer waits from now on."""
        self._since_s = now_s

    def end(self, now_s: float) -> None:
        """The log has answered."""
        late = self._spans(now_s)
        self._since_s = None
        self._late = self._late + late if late else 0

    def late(self, now_s: float) -> int:
        """How often in a row an answer was not there in time; 0: the last one was."""
        return self._late + self._spans(now_s)

    def left_s(self, now_s: float) -> float:
        """Seconds until what is waited for should be there."""
        since_s = self._since_s
        return self._answer_wait_s - (0.0 if since_s is None else now_s - since_s)

    def is_late(self, now_s: float) -> bool:
        """Whether what is waited for now should have been there."""
        return self._spans(now_s) > 0

    def refuses(self, now_s: float) -> bool:
        """Whether new work is refused at once, until the log answers."""
        return self._since_s is not None and self.late(now_s) >= LATE_MAX

    def _spans(self, now_s: float) -> int:
        since_s = self._since_s
        return 0 if since_s is None else int((now_s - since_s) / self._answer_wait_s)


@dataclass(slots=True)
class LogWaits:
    """How long batches took until the store had them. One thread adds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(WAIT_STEPS_S) + 1))
    """Counts of waits: for each limit those up to it and above the one before; the last are above
    all."""
    sum_s: float = 0.0

    def add(self, span_s: float) -> None:
        self.counts[bisect_left(WAIT_STEPS_S, span_s)] += 1
        self.sum_s += span_s

    def copy(self) -> LogWaits:
        return LogWaits(list(self.counts), self.sum_s)


class LogMode(Enum):
    BEFORE_ANSWER = "before_answer"
    ASYNC = "async"
    """Answers do not wait, by an operator's order."""


class OrderRefused(Exception):
    """The store does not take an order; ``str()`` says why."""


class AwaitedLog:
    """See the module's text. The writer's thread writes and settles; all else is for any."""

    def __init__(
        self,
        database: Path,
        store: PieceStore,
        copies: PieceStore,
        clock: Clock,
        *,
        answer_wait_s: float,
        every_s: float,
        again_s: float = AGAIN_S,
        pieces_bytes_max: int = PIECES_BYTES_MAX,
        span_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """``copies`` is another way to the same store, for what takes long: orders go there too."""
        self.answer_wait_s = answer_wait_s
        self._span_s = span_s
        self._database = database
        self._wal: FileIO | None = None
        """The WAL, to sync it. The writer's thread alone uses it."""
        self._synced = 0
        self._pages = WrittenPages(database)
        self._changed = threading.Condition()
        """Guards the mode, the end, and how far the store has come."""
        self._mode = LogMode.BEFORE_ANSWER
        self._held = 0
        self._ends_s: float | None = None
        self._is_over = False
        self._lateness = Lateness(answer_wait_s)
        self._waits = LogWaits()
        self.behind = False
        """Something may be written that the store does not have."""
        self._sender = LogSender(
            database,
            self._pages,
            (store, copies),
            clock,
            self._reached,
            lambda: self._mode is LogMode.BEFORE_ANSWER,
            every_s=every_s,
            again_s=again_s,
            pieces_bytes_max=pieces_bytes_max,
            span_s=span_s,
        )

    def write(self, write: Callable[[], Done]) -> WrittenBatch:
        """Write a batch, and let the store have it. On the writer's thread."""
        began_s = self._span_s()
        self._lateness.begin(began_s)
        try:
            with self._pages.writing:
                self.behind = True
                done = write()
                mark = self._read(done)
        except BaseException:
            self._lateness.end(self._span_s())
            raise
        self._sender.wake()
        return WrittenBatch(done, mark, began_s)

    def settle(self, written: WrittenBatch) -> Done:
        """What came of a batch, once it is on this machine's disk and the store has it.

        On the writer's thread. If the service stops meanwhile, its outcome is unknown, as it is
        after a sync that failed.
        """
        try:
            self._sync(written.mark)
            is_held = self._wait(written.mark)
        except OSError as error:
            self._sender.doubt("this machine's disk has not taken a write")
            return replace(in_doubt(written.done), fault=error)
        finally:
            now_s = self._span_s()
            self._lateness.end(now_s)
        self.behind = not is_held
        if written.done.commits:
            self._waits.add(now_s - written.began_s)
        return written.done if is_held else in_doubt(written.done)

    def _sync(self, mark: int) -> None:
        """The writer's commits are not synced by SQLite while a log is awaited."""
        if mark > self._synced:
            if self._wal is None:
                path = wal.beside(self._database)
                self._wal = open(path, "rb", buffering=0)  # noqa: SIM115 -- kept
            os.fdatasync(self._wal.fileno())
            self._synced = mark

    def _read(self, done: Done) -> int:
        """Read what the batch has written; its mark."""
        try:
            mark = self._pages.read(is_sure=done.fault is None and not done.doubts)
        except (wal.Gap, sqlite3.Error, OSError) as error:
            return self._sender.doubt(str(error))
        if done.doubts:
            return self._sender.doubt("a commit to this machine's disk is in doubt")
        return mark

    def is_settled(self, written: WrittenBatch) -> bool:
        """Whether :meth:`settle` returns at once."""
        return self._has(written.mark) or self._is_over or self._left_s() <= 0

    def _has(self, mark: int) -> bool:
        """Whether the store has this, or answers do not wait."""
        return self._held >= mark or self._mode is not LogMode.BEFORE_ANSWER

    def _left_s(self) -> float:
        """Seconds until nothing is waited for any more."""
        return inf if self._ends_s is None else self._ends_s - self._span_s()

    def _wait(self, mark: int) -> bool:
        """Until the store has this, or answers do not wait; False: the end came first."""
        with self._changed:
            while not self._has(mark):
                left_s = self._left_s()
                if self._is_over or left_s <= 0:
                    return False
                self._changed.wait(None if left_s == inf else left_s)
        return True

    def _reached(self, mark: int | None) -> None:
        """The sender's report: up to where the store has it. None: it takes nothing more."""
        with self._changed:
            if mark is None:
                self._is_over = True
            else:
                self._held = max(self._held, mark)
            self._changed.notify_all()

    # -- who looks

    @property
    def is_over(self) -> bool:
        """The store takes nothing more from this machine, which then may write nothing."""
        return self._is_over

    @property
    def waits(self) -> bool:
        """Whether answers wait."""
        return self._mode is LogMode.BEFORE_ANSWER

    @property
    def is_late(self) -> bool:
        """Whether what is waited for now should have been there."""
        return self.waits and self._lateness.is_late(self._span_s())

    @property
    def late_in_s(self) -> float:
        """Seconds until what is waited for should be there; 0 or less: it should be by now."""
        if not self.waits:
            return self.answer_wait_s
        return self._lateness.left_s(self._span_s())

    @property
    def refuses(self) -> bool:
        """Whether new work is refused at once, until the store answers."""
        return self.waits and self._lateness.refuses(self._span_s())

    def status(self) -> LogState:
        """All that is known of it, without asking the store."""
        sent, now_s = self._sender.progress(), self._span_s()
        behind = self._pages.mark - self._held
        is_whole = behind == 0 and sent.chain is not None
        return LogState(
            mode=self._mode.value,
            awaited=sent.awaited,
            generation=None if sent.chain is None else sent.chain.generation,
            number=0 if sent.chain is None else sent.chain.number,
            pieces_behind=behind,
            behind_s=0.0 if is_whole else max(0.0, now_s - sent.complete_s),
            late=self._lateness.late(now_s),
            refuses=self.refuses,
            failing=sent.failing,
            room_bytes=sent.room_bytes,
        )

    def wait_spans(self) -> LogWaits:
        """How long batches took until the store had them, up to now."""
        return self._waits.copy()

    # -- begin, orders, end

    def start(self, fenced: Callable[[str], object]) -> None:
        """Begin with a whole copy.

        Args:
            fenced: told when the store takes nothing more from this machine, with the reason.
        """
        self._sender.start(fenced)

    def wait_whole(self) -> None:
        """Return once a whole copy stands, or the end has come. Call it in a thread."""
        self._sender.wait_whole()

    def go_async(self) -> None:
        """Let answers go without waiting, once the store has the mark that they do. In a thread.

        Raises:
            OrderRefused: the store has not taken the mark, and answers go on waiting: a takeover
                would rely on that.
        """
        try:
            self._sender.mark_async(self.answer_wait_s)
        except (OSError, Fenced) as error:
            raise OrderRefused(str(error)) from error
        with self._changed:
            self._mode = LogMode.ASYNC
            self._changed.notify_all()

    def go_before_answer(self) -> None:
        """Let answers wait again. The store is told once it has all that was written before."""
        with self._changed:
            self._mode = LogMode.BEFORE_ANSWER
        self._sender.wake()

    def end_soon(self) -> None:
        """The service stops: what waits for the log waits :data:`LAST_S` at most."""
        with self._changed:
            if self._ends_s is None:
                self._ends_s = self._span_s() + LAST_S
            self._changed.notify_all()

    def stop(self) -> None:
        """End, after :data:`LAST_S` at most: then what the store does not have is not waited
        for."""
        with self._changed:
            self._changed.wait_for(self._has_all, LAST_S)
        self._reached(None)
        self._sender.stop(LAST_S)
        self.close()

    def close(self) -> None:
        """Close the files of this machine's database: nothing is written any more."""
        # A thread that hangs in the store may hold the lock; a stop does not wait for it.
        if self._pages.writing.acquire(timeout=LAST_S):
            try:
                self._pages.close()
            finally:
                self._pages.writing.release()
        if self._wal is not None:
            self._wal.close()

    def _has_all(self) -> bool:
        return self._is_over or self._held >= self._pages.mark
