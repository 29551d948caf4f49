"""A standby becomes the sending machine.

In this order: compare the copy with all that shows what was shipped, and refuse one that lacks
something; watch the primary's lease until it is over; compare again; make the next lease; follow
what was still shipped; put the copy in the database's place by the rules of a restored backup;
write it into the audit trail.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from risala.dataclass import dataclass
from risala.engine.features.backup.stored.restore import RestoreReport, restore
from risala.engine.features.standby.copy_check import CopyLacks, CopyLoss, PrimaryLease, examined
from risala.engine.features.standby.lease import (
    EPOCH_MAX,
    LeaseMemory,
    LeaseStore,
    NoNextLease,
    SendLease,
    boot_s,
    held,
    margin_s,
    remember,
)
from risala.engine.features.standby.lease_holder import InterimLease
from risala.engine.features.standby.lease_watch import (
    LOOK_S,
    LeaseWatch,
    PrimaryAlive,
    is_same,
    until_over,
)
from risala.engine.features.standby.stored.closed_database import last_entry, write_line
from risala.engine.features.standby.stored.copy import CopyPosition, StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.journal.store.opening import stopped_at
from risala.engine.journal.upkeep import database_copy
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import CallerKind, operator_by
from risala.engine.model.clock import Clock
from risala.engine.model.records.messages import Stamp


def _unexamined() -> None:
    """The copy is not looked at."""


@dataclass(frozen=True, slots=True)
class TakeoverReport:
    """What a takeover has done, and what it has lost."""

    restored: RestoreReport
    position: CopyPosition
    at: int
    """The time by this machine's clock (UTC epoch milliseconds)."""
    lease: SendLease | None
    """Our lease; None: there is no lease."""
    behind_ms: int | None
    """How long after the copy's last data the primary was last seen, by its own clock; None:
    unknown."""
    entries_behind: int | None
    """Ledger entries that the primary had then and the copy does not; None: unknown."""
    has_all: bool
    """Every answer had waited for the copy: it has all of them, and all that was sent."""
    loss: CopyLoss | None
    """What the copy lacks of what was shipped, by an operator's word; None: nothing, as far as
    anything shows."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """One standby's takeover. It runs in a thread; the caller holds the data directory's lock."""

    copy: StandbyCopy
    data_dir: Path
    database: Path
    lease: LeaseStore | None
    term_s: int
    clock: Clock
    progress: database_copy.Progress
    sleep: Callable[[float], object] = time.sleep
    span_s: Callable[[], float] = boot_s
    watch: LeaseWatch | None = None
    """What has watched the lease already; None: it is watched now."""

    def run(
        self,
        *,
        primary_is_dead: bool,
        resend_pending: bool,
        leaves_out_damaged: bool = False,
        accepts_loss: bool = False,
    ) -> TakeoverReport:
        """Take over.

        Args:
            primary_is_dead: do not wait for its lease to end.
            resend_pending: send waiting messages, which may arrive twice.
            leaves_out_damaged: take what was shipped before a damaged file.
            accepts_loss: go on though the copy lacks something of what was shipped.

        Raises:
            PrimaryAlive: the primary renews its lease, or without one may be alive.
            LeaseTaken: a third machine was faster.
            CopyLacks: the copy lacks something, and that is not accepted. Unless that shows only
                after the lease was taken, the primary keeps it.
            StorageUnusable: there is no whole copy, or it cannot be used. If a newer version wrote
                it, the primary goes on.
            BadPiece: the shipped data is not what was written.
            OSError: a store or the disk refuses.
        """
        examine = partial(
            self._examined, leaves_out_damaged=leaves_out_damaged, accepts_loss=accepts_loss
        )
        # Before the primary ends for it: otherwise neither would serve.
        examine(self._primary)
        self.copy.refuse_damaged(self.progress)
        before, mine = self._fence(
            primary_is_dead=primary_is_dead, passes=partial(examine, self._primary)
        )
        with InterimLease(self.lease, mine, self.clock) as interim_lease:
            primary = PrimaryLease(before, is_expected=self.lease is not None)
            position, loss = examine(lambda: primary, holds_lease=mine is not None)
            interim_lease.check()
            is_whole = loss is None and not leaves_out_damaged
            has_all = is_whole and self.copy.store.is_awaited(position.generation)
            restored = self._restore(resend_pending, before if is_whole else None, has_all=has_all)
            behind, now_ms = self._behind(before, position), self.clock.now_ms()
            taken = TakeoverReport(restored, position, now_ms, mine, *behind, has_all, loss)
            self._write_down(taken, primary_is_dead=primary_is_dead)
            interim_lease.check()
        if mine is not None:
            remember(self.data_dir, LeaseMemory(mine.holder, mine.epoch, serves=True))
        return taken

    def _primary(self) -> PrimaryLease:
        """What the lease shows of the primary now; after an interrupted takeover it is ours."""
        if self.lease is None:
            return PrimaryLease(None, is_expected=False)
        lease = self.lease.highest()
        if lease is None or lease.holder != held(self.data_dir).holder:
            return PrimaryLease(lease, is_expected=True)
        return PrimaryLease(self.lease.before(lease), is_expected=False)

    def _examined(
        self,
        primary: Callable[[], PrimaryLease],
        *,
        leaves_out_damaged: bool,
        accepts_loss: bool,
        holds_lease: bool = False,
    ) -> tuple[CopyPosition, CopyLoss | None]:
        """Follow; where the copy is, and what it lacks, which was accepted then."""

        def follow() -> CopyPosition | None:
            followed = self.copy.follow(self.progress, leaves_out_damaged=leaves_out_damaged)
            if followed is not None:
                self.copy.refuse_wrong()
            return followed

        position, loss = examined(self.copy, primary, follow)
        if loss is not None and not (accepts_loss or leaves_out_damaged):
            raise CopyLacks(loss, holds_lease=holds_lease)
        return position, loss

    def _fence(
        self, *, primary_is_dead: bool, passes: Callable[[], object] = _unexamined
    ) -> tuple[SendLease | None, SendLease | None]:
        """The primary's lease and ours; after this returns, the primary sends nothing more.

        Args:
            passes: examines the copy once more before the lease is taken, and raises what ends the
                takeover.
        """
        if self.lease is None:
            if not primary_is_dead:
                raise PrimaryAlive(
                    "Without a lease it is unknown whether the primary still sends. If you know "
                    "that it does not, use --i-know-the-primary-is-dead."
                )
            return None, None
        former, mine = self.lease.highest(), held(self.data_dir)
        if former is not None and former.holder == mine.holder:
            return self._again(former, mine, primary_is_dead=primary_is_dead), former
        if former is None and not primary_is_dead:
            raise PrimaryAlive(
                f"Nobody has held the lease in {self.lease}, so it is unknown whether a primary "
                f"sends: the lease may be lost, or in another place. If you know that the primary "
                f"does not send, use --i-know-the-primary-is-dead."
            )
        if former is not None and former.epoch >= EPOCH_MAX:
            raise NoNextLease(former, self.lease)
        waits = not primary_is_dead and former is not None and not former.released
        if former is not None and waits:
            former = self._watched(former)
        passes()
        remember(self.data_dir, mine)
        epoch = 1 if former is None else former.epoch + 1
        now_ms = self.clock.now_ms()
        lease = self.lease.take(mine.holder, self.term_s, 0, now_ms, epoch)
        remember(self.data_dir, LeaseMemory(mine.holder, epoch))
        if former is not None and waits:
            former = self._ended(former, lease)
        return former, lease

    def _ended(self, seen: SendLease, ours: SendLease) -> SendLease:
        """The primary's lease as it was when we took ours. If it was renewed after our last look,
        it has to be waited for once more."""
        assert self.lease is not None
        if self.lease.settles_s:
            self._wait("looking at the primary's lease again", self.lease.settles_s)
        before = self.lease.before(ours)
        if before is None or not (before.released or is_same(before, seen)):
            self._wait("waiting for the primary to end", seen.term_s + margin_s(seen.term_s))
        return seen if before is None else before

    def _again(
        self, ours: SendLease, mine: LeaseMemory, *, primary_is_dead: bool
    ) -> SendLease | None:
        """Continue an interrupted takeover; returns the primary's lease. It is unknown how long it
        had waited, so it waits again."""
        assert self.lease is not None
        if mine.serves:
            raise PrimaryAlive("This machine already holds the lease. Start the service.")
        before = self.lease.before(ours)
        if before is not None and not before.released and not primary_is_dead:
            self._wait("waiting for the primary to end", before.term_s + margin_s(before.term_s))
        return before

    def _watched(self, lease: SendLease) -> SendLease:
        """The primary's lease, which is over.

        Raises:
            PrimaryAlive: the primary renews it.
        """
        assert self.lease is not None
        watch = self.watch or LeaseWatch(self.lease, self.span_s)
        return until_over(watch, lease, self.progress, self.sleep)

    def _wait(self, what: str, span_s: float) -> None:
        until_s = self.span_s() + span_s
        while (left_s := until_s - self.span_s()) > 0:
            self.progress(what, int(span_s - left_s), int(span_s))
            self.sleep(min(LOOK_S, left_s))

    def _restore(
        self, resend_pending: bool, before: SendLease | None, *, has_all: bool
    ) -> RestoreReport:
        settled = self.copy.file.with_name("takeover.db")
        self.copy.settled(settled)
        is_last = _is_as_released(settled, before)
        try:
            return restore(
                settled,
                self.database,
                resend_pending=resend_pending,
                even_unclean=False,
                stamp=lambda: Stamp(self.clock.now_ms()),
                progress=self.progress,
                shown_by=settled if is_last else None,
                goes_on=has_all,
            )
        finally:
            database_copy.remove(settled)
            settled.with_name(f"{settled.name}.sha256").unlink(missing_ok=True)

    def _behind(
        self, before: SendLease | None, position: CopyPosition
    ) -> tuple[int | None, int | None]:
        try:
            shipped = self.copy.store.shipped()
        except (OSError, BadPiece):
            shipped = None
        seen = [each.at for each in (before, shipped) if each is not None]
        behind_ms = max(0, max(seen) - position.at) if seen else None
        if before is None:
            return behind_ms, None
        return behind_ms, max(0, before.entries - last_entry(self.database))

    def _write_down(self, taken: TakeoverReport, *, primary_is_dead: bool) -> None:
        entry = AuditEntry(
            caller=operator_by(CallerKind.CLI, os.getuid()),
            action="standby.takeover",
            at=self.clock.now_ms(),
            subject=None,
            details={
                "copyOf": taken.position.at,
                "behindMs": taken.behind_ms,
                "entriesBehind": taken.entries_behind,
                "ended": taken.restored.ended,
                "kept": taken.restored.kept,
                "held": taken.restored.held,
                "epoch": None if taken.lease is None else taken.lease.epoch,
                "primaryDeclaredDead": primary_is_dead,
                "hasAll": taken.has_all,
                "loss": None if taken.loss is None else taken.loss.json(),
            },
            always=True,
        )
        write_line(self.database, entry)


def _is_as_released(copy: Path, before: SendLease | None) -> bool:
    """Whether the copy has everything of the primary: it stopped in order, released its lease, and
    the copy has the mark of that very stop. A mark alone may be from an earlier stop, if later data
    was not shipped."""
    if before is None or not before.released:
        return False
    return stopped_at(copy) == before.at
