"""Finds out from outside when a lease is over, by looking whether it is renewed.

A renewal is valid for the term, counted from before it was written. So a lease that stands
unchanged for the term after somebody has *seen* it is over: whichever renewal wrote what was seen
began earlier. What remains is a renewal between the last look and the taking of the next lease. The
store keeps the lease as it was when it was taken (:meth:`~.lease.LeaseStore.before`): if that
still is what was seen, there was none. So one wait is enough, and no clock but the watcher's own
counts.

Whatever breaks the sight begins the wait again: a store that could not be read may be another one
afterwards, such as a replica that has missed the last renewals.

Each holder's number is one more than the former one's. A number at the end of what a store holds,
such as one that somebody wrote into it, has no next one: then nobody takes over, and nobody serves.
:class:`LeaseMending` gives such a lease its right number.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.standby.lease import (
    EPOCH_MAX,
    LeaseStore,
    SendLease,
    boot_s,
    held,
    margin_s,
    remember,
)
from risala.engine.features.standby.stored.closed_database import write_line
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.journal.upkeep.database_copy import Progress
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import CallerKind, operator_by
from risala.engine.model.clock import Clock

LOOK_S: Final = 0.2
"""Seconds between two looks at a lease that somebody waits for."""


class PrimaryAlive(Exception):
    """The primary renews its lease, or may."""


class LeaseWatch:
    """One watcher of one lease. Its looks are in one thread at a time."""

    def __init__(self, store: LeaseStore, span_s: Callable[[], float] = boot_s) -> None:
        """``span_s`` is a clock that never jumps."""
        self._store = store
        self._span_s = span_s
        self._since_s = 0.0
        self.seen: SendLease | None = None
        """The lease as it was at the last look; None: there is none, or nothing is known."""

    def observe(self) -> SendLease | None:
        """The present lease; None: it was never held.

        Raises:
            OSError: the store cannot be read; the wait begins again.
            BadPiece: what it has is not what was written; likewise.
        """
        try:
            lease = self._store.highest()
        except (OSError, BadPiece):
            self.seen = None
            raise
        if lease is None or not is_same(lease, self.seen):
            self._since_s = self._span_s()  # after the read: what was seen is older
        self.seen = lease
        return lease

    @property
    def left_s(self) -> float | None:
        """Seconds until the lease that was seen is over, 0 if it is; None: there is none."""
        if self.seen is None:
            return None
        if self.seen.released:
            return 0.0
        term_s = self.seen.term_s
        return max(0.0, self._since_s + term_s + margin_s(term_s) - self._span_s())


def until_over(
    watch: LeaseWatch,
    lease: SendLease,
    progress: Progress,
    sleep: Callable[[float], object],
) -> SendLease:
    """The lease that was found, which is over now.

    Raises:
        PrimaryAlive: its holder renews it.
        BadPiece: what is there meanwhile is not what was written.
    """
    while True:
        with suppress(OSError):  # the watch has begun again
            now = watch.observe()
            if now is not None and not (is_same(now, lease) or now.released):
                raise PrimaryAlive(
                    f"{now.machine} holds the lease and renews it. Stop the service there first."
                )
        left_s, term_s = watch.left_s, lease.term_s
        if watch.seen is not None and left_s == 0:
            return watch.seen
        done = 0 if left_s is None else max(0, int(term_s - left_s))
        progress("watching the primary", done, term_s)
        sleep(LOOK_S)


def is_same(lease: SendLease, other: SendLease | None) -> bool:
    """Whether nobody has renewed or taken it between the two looks."""
    if other is None:
        return False
    return (lease.epoch, lease.count, lease.holder) == (other.epoch, other.count, other.holder)


ACTION: Final = "standby.mend_lease"
"""The operation of the line in the audit trail."""


class NothingToMend(Exception):
    """The lease is as a primary writes it; ``str()`` is a sentence."""


@dataclass(frozen=True, slots=True)
class MendedLease:
    """What was done."""

    lease: SendLease
    """The lease as it is now."""
    former: int | None
    """The number that it had; None: what was there could not be read."""
    is_ours: bool
    """Whether this machine held the last lease with a right number, and may serve again."""
    is_written_down: bool
    """Whether there is a database here, and its audit trail has a line."""


@dataclass(frozen=True, slots=True)
class LeaseMending:
    """Mends a lease in a thread; the caller holds the data directory's lock, and no service runs
    here."""

    store: LeaseStore
    data_dir: Path
    database: Path
    clock: Clock
    progress: Progress
    sleep: Callable[[float], object] = time.sleep
    span_s: Callable[[], float] = boot_s

    def run(self, *, primary_is_dead: bool) -> MendedLease:
        """Give the lease the number after the last right one; nothing else of it changes. If this
        machine held that last one, it holds it again.

        Args:
            primary_is_dead: do not wait until whoever holds it has ended.

        Raises:
            NothingToMend: its number is right.
            PrimaryAlive: somebody renews it.
            BadPiece: what is there cannot be read, and ``primary_is_dead`` is not set.
            StorageUnusable: SQLite refused the line of the audit trail; the lease is mended.
            OSError: the store or the disk refuses.
        """
        present = self._found(primary_is_dead=primary_is_dead)
        last, mine = self.store.last_right(), held(self.data_dir)
        is_ours = last is not None and mine.serves and last.holder == mine.holder
        if is_ours and last is not None and last.epoch == mine.epoch:
            lease = last
        elif present is not None:
            lease, is_ours = replace(present, epoch=1 if last is None else last.epoch + 1), False
        elif last is not None:
            lease, is_ours = last, False
        else:
            raise NothingToMend(f"Nobody has held a lease in {self.store}: there is none to mend.")
        self.store.mend(lease)
        if mine.epoch > EPOCH_MAX:  # noted by a version that did not look
            epoch = lease.epoch if lease.holder == mine.holder else 0
            remember(self.data_dir, replace(mine, epoch=epoch))
        former = None if present is None else present.epoch
        is_written = self.database.exists()
        if is_written:
            self._write_down(lease, former, primary_is_dead=primary_is_dead)
        return MendedLease(lease, former, is_ours, is_written)

    def _found(self, *, primary_is_dead: bool) -> SendLease | None:
        """The lease to mend, which is over; None: what is there cannot be read."""
        try:
            lease = self.store.highest()
        except BadPiece:
            if primary_is_dead:
                return None
            raise
        if lease is None:
            raise NothingToMend(f"Nobody has held a lease in {self.store}: there is none to mend.")
        if lease.epoch <= EPOCH_MAX:
            raise NothingToMend(
                f"The lease in {self.store} has the number {lease.epoch}, which is right: there is "
                f"nothing to mend."
            )
        if primary_is_dead or lease.released:
            return lease
        return until_over(LeaseWatch(self.store, self.span_s), lease, self.progress, self.sleep)

    def _write_down(self, lease: SendLease, former: int | None, *, primary_is_dead: bool) -> None:
        entry = AuditEntry(
            caller=operator_by(CallerKind.CLI, os.getuid()),
            action=ACTION,
            at=self.clock.now_ms(),
            subject=None,
            details={
                "former": former,
                "epoch": lease.epoch,
                "machine": lease.machine,
                "primaryDeclaredDead": primary_is_dead,
            },
            always=True,
        )
        write_line(self.database, entry)
