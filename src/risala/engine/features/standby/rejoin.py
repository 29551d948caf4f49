"""The old primary comes back as the standby.

In this order: check that another machine holds the lease; follow what that one has; list what is
only here; set the database here aside. Nothing is deleted.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.standby.lease import LeaseMemory, LeaseStore, SendLease, held, remember
from risala.engine.features.standby.stored.closed_database import list_rest, move_aside
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.journal.upkeep import database_copy
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageUnusable

_ATTEMPTS: Final = 10
"""How many times reading a whole copy is tried before its successor stands: the second one goes
well."""


class RejoinRefused(Exception):
    """The machine does not follow another one; ``str()`` is the reason."""


@dataclass(frozen=True, slots=True)
class RejoinReport:
    """What was done."""

    lease: SendLease
    """The one that the other machine holds."""
    set_aside: Path | None
    """The database that was here; None: there was none."""
    listed: Path | None
    """The file with what only that one has; None: it has nothing of its own, or is unreadable."""
    rest: dict[str, int] | None
    """How much of each kind that is; None: it cannot be read."""
    unreadable: str | None = None
    """Why it cannot be read."""


@dataclass(frozen=True, slots=True)
class Rejoin:
    """Makes a machine follow another in a thread; the caller holds the data directory's lock."""

    copy: StandbyCopy
    data_dir: Path
    database: Path
    lease: LeaseStore | None
    clock: Clock
    progress: database_copy.Progress

    def run(self) -> RejoinReport:
        """Become the standby of whoever holds the lease.

        Raises:
            RejoinRefused: nobody else holds it, or nothing says who does.
            StorageUnusable: there is no whole copy of the other machine's, or it cannot be used.
            BadPiece: the shipped data is not what was written.
            OSError: a store or the disk refuses.
        """
        lease = self._of_another()
        report = RejoinReport(lease, None, None, {})
        if self.database.exists():
            report = self._set_aside(lease)
        mine = held(self.data_dir)
        remember(self.data_dir, LeaseMemory(mine.holder, mine.epoch, serves=False))
        return report

    def _of_another(self) -> SendLease:
        if self.lease is None:
            raise RejoinRefused(
                "Without a lease nothing says which of the two machines is the primary. Set lease "
                "or lease_directory in [standby], or move the database here by hand."
            )
        lease = self.lease.highest()
        if lease is None:
            raise RejoinRefused("Nobody holds the lease: there is no primary to follow.")
        if lease.holder == held(self.data_dir).holder:
            still = "gave the lease up, and nobody has taken it" if lease.released else "holds it"
            raise RejoinRefused(
                f"The lease, number {lease.epoch}, is this machine's own: it {still}. So it is the "
                f"primary. Another one has to take over first."
            )
        return lease

    def _follow(self) -> None:
        """Have all that the store has now. A copy that ends while it is read looks as if nothing
        came after what was read of it, and the new primary begins with another one."""
        for _ in range(_ATTEMPTS):
            shipped = self.copy.store.shipped()
            position = self.copy.follow(self.progress)
            if shipped is None or position is None:
                raise StorageUnusable(f"There is no copy in {self.copy.store} yet.")
            if position.generation == shipped.generation and position.number >= shipped.number:
                return
        raise StorageUnusable(f"The copy in {self.copy.store} changes while it is read. Try again.")

    def _set_aside(self, lease: SendLease) -> RejoinReport:
        self._follow()
        self.copy.refuse_wrong()
        now_ms = self.clock.now_ms()
        moment = datetime.fromtimestamp(now_ms / 1000, UTC)
        listed: Path | None = self.data_dir / f"only-here-{moment:%Y%m%dT%H%M%S.%f}.jsonl"
        rest: dict[str, int] | None = None
        unreadable: str | None = None
        settled = self.copy.file.with_name("rejoin.db")
        assert listed is not None
        try:
            self.copy.settled(settled)
            rest = list_rest(self.database, settled, listed)
        except StorageUnusable as error:
            unreadable = str(error)
        finally:
            database_copy.remove(settled)
            settled.with_name(f"{settled.name}.sha256").unlink(missing_ok=True)
        if rest is None:
            listed = None
        elif not any(rest.values()):
            listed.unlink()
            listed = None
        aside = move_aside(self.database, now_ms)
        return RejoinReport(lease, aside, listed, rest, unreadable)
