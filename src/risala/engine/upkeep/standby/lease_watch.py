"""Finds out from outside when a lease is over, by looking whether it is renewed.

A renewal is valid for the term, counted from before it was written. So a lease that stands
unchanged for the term after somebody has *seen* it is over: whichever renewal wrote what was seen
began earlier. What remains is a renewal between the last look and the taking of the next lease. The
store keeps the lease as it was when it was taken (:meth:`~.lease_store.LeaseStore.before`): if that
still is what was seen, there was none. So one wait is enough, and no clock but the watcher's own
counts.

Whatever breaks the sight begins the wait again: a store that could not be read may be another one
afterwards, such as a replica that has missed the last renewals.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from risala.engine.journal.shipping.notes import BadPiece
from risala.engine.journal.upkeep.backup import Progress
from risala.engine.upkeep.standby.lease import SendLease, boot_s, margin_s
from risala.engine.upkeep.standby.lease_store import LeaseStore

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
            found = self._store.highest()
        except (OSError, BadPiece):
            self.seen = None
            raise
        if found is None or not is_same(found, self.seen):
            self._since_s = self._span_s()  # after the read: what was seen is older
        self.seen = found
        return found

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
    found: SendLease,
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
            if now is not None and not (is_same(now, found) or now.released):
                raise PrimaryAlive(
                    f"{now.machine} holds the lease and renews it. Stop the service there first."
                )
        left_s, term_s = watch.left_s, found.term_s
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
