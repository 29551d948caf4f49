"""Mends a lease whose number nobody can follow, such as one that somebody wrote into the store.

Each holder's number is one more than the former one's. A number at the end of what a store holds
has no next one: then nobody takes over, and nobody serves.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.shipping.closed_database import write_line
from risala.engine.journal.shipping.notes import BadPiece
from risala.engine.journal.upkeep.backup import Progress
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import CallerKind, operator_by
from risala.engine.model.clock import Clock
from risala.engine.upkeep.standby.lease import EPOCH_MAX, SendLease, boot_s, held, remember
from risala.engine.upkeep.standby.lease_store import LeaseStore
from risala.engine.upkeep.standby.lease_watch import LeaseWatch, until_over

ACTION: Final = "standby.mend_lease"
"""Of the line in the audit trail."""


class NothingToMend(Exception):
    """The lease is as a primary writes it; ``str()`` is a sentence."""


@dataclass(frozen=True, slots=True)
class MendedLease:
    """What was done."""

    lease: SendLease
    """As it is now."""
    former: int | None
    """The number that it had; None: what was there could not be read."""
    is_ours: bool
    """This machine held the last lease with a right number, and may serve again."""
    is_written_down: bool
    """There is a database here, and its audit trail has a line."""


@dataclass(frozen=True, slots=True)
class LeaseMending:
    """It runs in a thread; the caller holds the data directory's lock, and no service runs here."""

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
        found = self._found(primary_is_dead=primary_is_dead)
        last, mine = self.store.last_right(), held(self.data_dir)
        is_ours = last is not None and mine.serves and last.holder == mine.holder
        if is_ours and last is not None and last.epoch == mine.epoch:
            lease = last
        elif found is not None:
            lease, is_ours = replace(found, epoch=1 if last is None else last.epoch + 1), False
        elif last is not None:
            lease, is_ours = last, False
        else:
            raise NothingToMend(f"Nobody has held a lease in {self.store}: there is none to mend.")
        self.store.mend(lease)
        if mine.epoch > EPOCH_MAX:  # noted by a version that did not look
            epoch = lease.epoch if lease.holder == mine.holder else 0
            remember(self.data_dir, replace(mine, epoch=epoch))
        former = None if found is None else found.epoch
        is_written = self.database.exists()
        if is_written:
            self._write_down(lease, former, primary_is_dead=primary_is_dead)
        return MendedLease(lease, former, is_ours, is_written)

    def _found(self, *, primary_is_dead: bool) -> SendLease | None:
        """The lease to mend, which is over; None: what is there cannot be read."""
        try:
            found = self.store.highest()
        except BadPiece:
            if primary_is_dead:
                return None
            raise
        if found is None:
            raise NothingToMend(f"Nobody has held a lease in {self.store}: there is none to mend.")
        if found.epoch <= EPOCH_MAX:
            raise NothingToMend(
                f"The lease in {self.store} has the number {found.epoch}, which is right: there is "
                f"nothing to mend."
            )
        if primary_is_dead or found.released:
            return found
        return until_over(LeaseWatch(self.store, self.span_s), found, self.progress, self.sleep)

    def _write_down(self, lease: SendLease, former: int | None, *, primary_is_dead: bool) -> None:
        entry = AuditEntry(
            caller=operator_by(CallerKind.CLI, os.getuid()),
            action=ACTION,
            at=self.clock.now_ms(),
            subject=None,
            said={
                "former": former,
                "epoch": lease.epoch,
                "machine": lease.machine,
                "primaryDeclaredDead": primary_is_dead,
            },
            always=True,
        )
        write_line(self.database, entry)
