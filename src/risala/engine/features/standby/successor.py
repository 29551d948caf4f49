"""The standby that takes over by itself: when, and how."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from risala.engine.features.standby.lease import LeaseStore, LeaseTaken, held
from risala.engine.features.standby.lease_watch import LeaseWatch, PrimaryAlive
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.takeover import Takeover
from risala.engine.journal.store.lock import DataLock
from risala.engine.journal.upkeep.database_copy import unheard
from risala.engine.model.clock import Clock

LEASE_FAULTS: Final = (OSError, BadPiece, LeaseTaken, PrimaryAlive)
"""Reasons for which nothing is taken over now."""
_LOOKS: Final = 12
"""Looks in a term: twice as many as the primary has renewals."""
_LOOK_S: Final = 1.0
"""The longest time between two looks: a primary that stopped in order is not waited for longer."""


class MustRejoin(Exception):
    """The machine was succeeded by another one, and has data that the other may not have."""

    def __init__(self, machine: str, epoch: int) -> None:
        super().__init__(
            f"{machine} has taken over from this machine (lease {epoch}). The database here may "
            f"have messages that it does not have. Run `risala standby rejoin` here first."
        )


@dataclass
class Successor:
    """Watches the lease, and takes over when it is over."""

    data_dir: Path
    database: Path
    lease: LeaseStore
    term_s: int
    clock: Clock
    resend_pending: bool = False
    accepts_loss: bool = False
    """Take over with a copy that lacks something too."""
    _watch: LeaseWatch = field(init=False)
    _one: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._watch = LeaseWatch(self.lease)

    @property
    def every_s(self) -> float:
        return min(_LOOK_S, self.term_s / _LOOKS)

    @property
    def is_primary(self) -> bool:
        """Whether this machine is the one that sends, as far as it knows: it has served with the
        lease, and nobody has taken it since. If nobody ever held it, it is the one with a database.

        Raises:
            MustRejoin: somebody has taken it.
        """
        mine = held(self.data_dir)
        if not mine.epoch:
            with suppress(OSError, BadPiece):
                return self.database.exists() and self.lease.highest() is None
        if not mine.serves:
            return False
        try:
            lease = self.lease.highest()
        except (OSError, BadPiece):
            return True  # the service waits for the store, and looks again
        if lease is not None and lease.holder != mine.holder and self.database.exists():
            raise MustRejoin(lease.machine, lease.epoch)
        return lease is None or lease.holder == mine.holder

    def observe(self) -> None:
        """Look at the lease. Call it in a thread.

        Raises:
            OSError: the store cannot be read.
            BadPiece: what it has is not what was written.
        """
        with self._one:
            self._watch.observe()

    @property
    def is_over(self) -> bool:
        """Nobody holds it any more, and somebody did. An interrupted takeover of ours is one too,
        which goes on."""
        seen = self._watch.seen
        if seen is not None and seen.holder == held(self.data_dir).holder:
            return True
        return self._watch.left_s == 0

    def take(self, copy: StandbyCopy) -> dict[str, Any]:
        """Take over; what the log says of it. Call it in a thread.

        Raises:
            PrimaryAlive: the primary has renewed its lease after all.
            LeaseTaken: another machine was faster.
            CopyLacks: the copy lacks something of what was shipped; the primary keeps its lease.
            StorageUnusable: the copy cannot be used, or a service runs here.
            BadPiece: the shipped data is not what was written.
            OSError: a store or the disk refuses.
        """
        with self._one, DataLock(self.data_dir):
            taken = Takeover(
                copy=copy,
                data_dir=self.data_dir,
                database=self.database,
                lease=self.lease,
                term_s=self.term_s,
                clock=self.clock,
                progress=unheard,
                watch=self._watch,
            ).run(
                primary_is_dead=False,
                resend_pending=self.resend_pending,
                accepts_loss=self.accepts_loss,
            )
        aside = taken.restored.set_aside
        return {
            "epoch": None if taken.lease is None else taken.lease.epoch,
            "copy_of": taken.position.at,
            "behind_ms": taken.behind_ms,
            "entries_behind": taken.entries_behind,
            "loss": None if taken.loss is None else str(taken.loss),
            "ended": taken.restored.ended,
            "set_aside": None if aside is None else str(aside),
        }
