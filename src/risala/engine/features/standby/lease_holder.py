"""Holds the lease while the service runs, and ends the service before another can take it.

The service ends by its own code first. A process that was stopped goes on at the very instruction
where it was. If that is between a check of the lease and the write that the check was for, no code
of ours comes first, however near the two are. A timer of the kernel does: ``SIGKILL`` ends a
stopped process as it is.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import structlog
import trio

from risala.engine.features.standby.lease import (
    EPOCH_MAX,
    LeaseMemory,
    LeaseStore,
    LeaseTaken,
    NoNextLease,
    SendLease,
    boot_s,
    held,
    remember,
)
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.model.clock import Clock
from risala.engine.model.errors import NotTheSender

_SIGEV_SIGNAL: Final = 0
_SIGEVENT: Final = struct.Struct("@Pii52x")
"""``struct sigevent``: a value, which signal, how to notify. The kernel reads 64 octets of it."""
_ITIMERSPEC: Final = struct.Struct("@llll")
"""``struct itimerspec``: an interval, then the time; seconds and nanoseconds of each."""
_TIMER_ABSTIME: Final = 1
"""``time.h``: the time of a timer is a moment, not a span."""
_LIBRARIES: Final = (None, "librt.so.1")
"""Libraries that have timers: the C library, or the one beside it (glibc before 2.34)."""

log = structlog.get_logger(__name__)


class KillTimer:
    """Has the kernel kill this process at a given moment, whether or not the process runs then.

    One timer on the clock of :func:`~risala.engine.features.standby.lease.boot_s`.

    If the system refuses one, as a sandbox may, the log says so, and :meth:`set` does nothing.
    """

    def __init__(self) -> None:
        self._library: ctypes.CDLL | None = None
        self._timer = ctypes.c_void_p()
        event = _SIGEVENT.pack(0, signal.SIGKILL, _SIGEV_SIGNAL)
        for name in _LIBRARIES:
            with suppress(OSError, AttributeError):
                library = ctypes.CDLL(name, use_errno=True)
                timer = ctypes.byref(self._timer)
                _check(library.timer_create(time.CLOCK_BOOTTIME, event, timer))
                self._library = library
                return
        log.warning("lease.no_kill_timer")

    def set(self, at_s: float | None) -> None:
        """Kill this process at that moment instead of the one set before; None: never.

        A moment that has passed is now.
        """
        if self._library is None:
            return
        at = (0, 0) if at_s is None else (int(at_s), int(at_s % 1 * 1e9))
        spec = _ITIMERSPEC.pack(0, 0, *at)
        _check(self._library.timer_settime(self._timer, _TIMER_ABSTIME, spec, None))


def _check(result: int) -> None:
    if result:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


RENEWALS: Final = 6
"""Renewals in a term: so many may fail in a row, except those of the last third."""
STOP_SHARE: Final = 1 / 3
"""The share of the term at which the service stops in order. Submits that drivers already have can
leave in that time."""
KILL_AFTER_S: Final = 1.0
"""From the end of the lease until the kernel kills a process that has not ended by itself. Half of
:data:`~risala.engine.features.standby.lease.MARGIN_S`: nobody else sends yet."""
EXIT_NO_LEASE: Final = 75
"""EX_TEMPFAIL: the service manager may try again."""
AGAIN_S: Final = 1.0
TELL_EVERY: Final = 10
"""Attempts to get the lease between two lines of the log."""
_LOOK_S: Final = 0.05


class TakeoverUnfinished(NotTheSender):
    """The data here may be older than the primary's, and the primary may still send."""

    def __init__(self) -> None:
        super().__init__("A takeover was started here and has not finished. Run it again.")


def killed_by_nobody(at_s: float | None) -> None:
    """Do nothing: the holder ends by its own code only."""


class LeaseHolder:
    """The lease of one run of the service."""

    def __init__(
        self,
        store: LeaseStore,
        data_dir: Path,
        term_s: int,
        clock: Clock,
        *,
        boot: Callable[[], float] = boot_s,
        end: Callable[[int], object] = os._exit,
        kill_at: Callable[[float | None], object] = killed_by_nobody,
    ) -> None:
        """``end`` ends the process at once: nothing may be done after the lease. ``kill_at`` has it
        ended at a moment of ``boot``, even if no code of ours runs then
        (:meth:`KillTimer.set`)."""
        self._store = store
        self._data_dir = data_dir
        self._term_s = term_s
        self._clock = clock
        self._boot = boot
        self._end = end
        self._kill_at = kill_at
        self._until_s = 0.0
        self._lease: SendLease | None = None
        self._over = threading.Event()
        self.gone: str | None = None
        """Why the service had to stop; None: it did not."""

    async def acquire(self) -> None:
        """Wait until the lease is ours.

        Raises:
            LeaseTaken: another machine has it.
            TakeoverUnfinished: it was taken, and the takeover is not complete.
        """
        attempt = 0
        while True:
            began_s = self._boot()
            try:
                self._lease = await _in_thread(self._take)
            except (OSError, BadPiece) as error:
                if attempt % TELL_EVERY == 0:
                    log.warning("lease.waiting", reason=str(error))
                attempt += 1
                await trio.sleep(AGAIN_S)
            else:
                self._until_s = began_s + self._term_s
                log.info("lease.held", epoch=self._lease.epoch, term_s=self._term_s)
                return

    def _take(self) -> SendLease:
        mine, highest = held(self._data_dir), self._store.highest()
        if highest is None or highest.epoch < mine.epoch:
            if mine.epoch:
                raise OSError(
                    f"the store no longer has the lease {mine.epoch}; check that it is the "
                    f"former one: that the directory is mounted, or the database is the same"
                )
            # The memory is on disk before the lease is: otherwise a crash in between would leave a
            # lease that nobody could recognise as ours.
            remember(self._data_dir, mine)
            lease = self._store.take(mine.holder, self._term_s, 0, self._clock.now_ms(), 1)
            remember(self._data_dir, LeaseMemory(mine.holder, 1, serves=True))
            return lease
        if highest.epoch > EPOCH_MAX:
            raise NoNextLease(highest, self._store)
        if highest.holder != mine.holder:
            raise LeaseTaken(highest)
        if highest.epoch == mine.epoch and highest.epoch > 1 and not mine.serves:
            raise TakeoverUnfinished
        remember(self._data_dir, LeaseMemory(mine.holder, highest.epoch, serves=True))
        return self._store.renew(highest, highest.entries, self._clock.now_ms())

    async def keep(self, entries: Callable[[], int | None], stop: Callable[[str], None]) -> None:
        """Renew until cancelled; ``stop`` is called once, if renewals have failed for long.

        Args:
            entries: the number of the ledger's last entry; None: unknown, the former one stays.
            stop: orders the service to stop, with the reason.
        """
        threading.Thread(target=self._watch, name="risala-lease", daemon=True).start()
        self._kill_at(self._until_s + KILL_AFTER_S)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._stop_in_time, stop)
                while self.gone is None:
                    await trio.sleep(self._term_s / RENEWALS)
                    await self._renew(entries(), stop)
                await trio.sleep_forever()  # the thread waits for the end
        finally:
            # In order: losing the lease while the service closes is no reason to end it hard.
            self._over.set()
            self._kill_at(None)

    async def release(self, stopped_at: int | None = None) -> None:
        """Record that nothing more is sent, so that a takeover need not wait.

        Args:
            stopped_at: when the service stopped in order, by the database; None: it did not.
        """
        if self._lease is None or self.gone is not None:
            return
        work = partial(
            self._store.renew,
            self._lease,
            self._lease.entries,
            self._clock.now_ms() if stopped_at is None else stopped_at,
            released=True,
        )
        with trio.move_on_after(self._term_s / RENEWALS):
            try:
                await _in_thread(work)
            except (OSError, BadPiece, LeaseTaken) as error:
                log.warning("lease.not_released", reason=str(error))

    async def _renew(self, entries: int | None, stop: Callable[[str], None]) -> None:
        lease = self._lease
        assert lease is not None
        if entries is None:
            entries = lease.entries
        began_s = self._boot()
        work = partial(self._store.renew, lease, entries, self._clock.now_ms())
        try:
            renewed = await _in_thread(work)
        except LeaseTaken as error:
            self._order(str(error), stop)
        except (OSError, BadPiece) as error:
            left_s = self._until_s - self._boot()
            log.warning("lease.not_renewed", reason=str(error), left_s=round(left_s, 1))
        else:
            if self.gone is None:
                self._lease, self._until_s = renewed, began_s + self._term_s
                self._kill_at(self._until_s + KILL_AFTER_S)

    async def _stop_in_time(self, stop: Callable[[str], None]) -> None:
        """Not in the renewals' task: one of them may hang in the store."""
        while self.gone is None:
            await trio.sleep(_LOOK_S)
            if self._boot() > self._until_s - self._term_s * STOP_SHARE:
                self._order("The lease could not be renewed: another machine may take it.", stop)

    def _order(self, reason: str, stop: Callable[[str], None]) -> None:
        if self.gone is None:
            self.gone = reason
            log.error("lease.lost", reason=reason)
            stop(reason)

    def lost(self, reason: str, stop: Callable[[str], None]) -> None:
        """Somebody else has learnt that the lease is another machine's: order the stop."""
        self._order(reason, stop)

    def fence(self) -> None:
        """End the process at once if the lease is over.

        A process that nobody let run until its lease was over continues where it was:
        :meth:`_watch` runs a moment later than the next send. If it was between this check and that
        send, only the kernel can end it in time (``kill_at``).
        """
        if self._is_over:
            self._end(EXIT_NO_LEASE)

    @property
    def _is_over(self) -> bool:
        return self._boot() >= self._until_s

    def _watch(self) -> None:
        """The thread: even if the loop is blocked, the process does not outlive the lease."""
        while not self._over.wait(_LOOK_S):
            if self._is_over:
                self._end(EXIT_NO_LEASE)
                return


async def _in_thread(work: Callable[[], SendLease]) -> SendLease:
    """A hanging store blocks nothing; a late write is to a lease of ours."""
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)


_END_S: Final = 5.0
"""Seconds that the end waits for a renewal under way: a hanging store hangs no takeover."""


class InterimLease:
    """Renews a lease that was just taken, while its new holder makes the copy ready to serve: in a
    thread, from ``with`` to the end of the block.

    Nothing is sent meanwhile, so that nothing has to end in time: a lease that was lost is said by
    :meth:`check`.
    """

    def __init__(self, store: LeaseStore | None, lease: SendLease | None, clock: Clock) -> None:
        """None: there is nothing to renew."""
        self._store, self._lease, self._clock = store, lease, clock
        self._over = threading.Event()
        self._taken: LeaseTaken | None = None
        self._thread = threading.Thread(target=self._keep, name="risala-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join(_END_S)

    def check(self) -> None:
        """Refuse to go on without the lease.

        Raises:
            LeaseTaken: another machine has it.
        """
        if self._taken is not None:
            raise self._taken

    def _keep(self) -> None:
        if self._store is None or self._lease is None:
            return
        lease = self._lease
        while not self._over.wait(lease.term_s / RENEWALS):
            try:
                lease = self._store.renew(lease, lease.entries, self._clock.now_ms())
            except LeaseTaken as error:
                self._taken = error
                return
            except (OSError, BadPiece) as error:
                log.warning("lease.not_renewed", reason=str(error))
