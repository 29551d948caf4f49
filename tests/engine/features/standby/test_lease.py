"""The lease: whatever is slow, hangs, or was on its way for long, two never hold it at once."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from patience import until
from processes import environment
from risala.engine.features.standby import lease_holder
from risala.engine.features.standby.lease import (
    SETTLES_S,
    LeaseDirectory,
    LeaseLost,
    LeaseTaken,
    boot_s,
    held,
    margin_s,
)
from risala.engine.features.standby.lease_holder import (
    EXIT_NO_LEASE,
    KILL_AFTER_S,
    LeaseHolder,
    TakeoverUnfinished,
)
from risala.engine.features.standby.lease_watch import PrimaryAlive
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.piece_store import PieceDirectory
from risala.engine.features.standby.takeover import Takeover
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import StorageUnusable

TERM_S = 30
STOPPED = """
import os, signal, sys
from pathlib import Path
import trio, trio.testing
from risala.engine.model.clock import SystemClock
from risala.engine.features.standby.lease import LeaseDirectory
from risala.engine.features.standby.lease_holder import KillTimer, LeaseHolder

async def main():
    directory, data = map(Path, sys.argv[1:])
    holder = LeaseHolder(LeaseDirectory(directory), data, 1, SystemClock(), kill_at=KillTimer().set)
    await holder.acquire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(holder.keep, int, print)
        await trio.testing.wait_all_tasks_blocked()
        holder.fence()
        os.kill(os.getpid(), signal.SIGSTOP)
        os.write(2, b"sent")

trio.run(main)
"""
"""A primary that is stopped after its check of the lease, and before the write that follows."""


class Boot:
    """A clock of a machine's own, set by the test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, span: float) -> None:
        self.now += span


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "lease").mkdir()
    return LeaseDirectory(tmp_path / "lease")


def unheard(step: str, done: int, total: int) -> None:
    pass


def ship(database: Path, directory: Path) -> None:
    """A directory as a primary leaves it that has just begun to ship."""
    snapshot = pieces.folder(directory, "one") / pieces.SNAPSHOT
    snapshot.parent.mkdir(parents=True)
    shutil.copyfile(database, snapshot)
    current = pieces.Current("one", hashlib.sha256(snapshot.read_bytes()).hexdigest())
    pieces.put(directory / pieces.CURRENT, json.dumps(asdict(current)).encode())


class TestFiles:
    def test_the_highest_number_holds(self, directory):
        assert directory.highest() is None
        first = directory.take("a", TERM_S, 0, 1, 1)
        assert directory.highest() == first
        second = directory.take("b", TERM_S, 0, 1, 2)
        assert directory.highest() == second
        with pytest.raises(LeaseTaken):
            directory.renew(first, 0, 2)

    def test_one_of_two_gets_a_number(self, directory):
        directory.take("a", TERM_S, 0, 1, 1)
        with pytest.raises(LeaseTaken):
            directory.take("b", TERM_S, 0, 1, 1)

    def test_a_write_that_comes_late_harms_nobody(self, directory, tmp_path):
        first = directory.take("a", TERM_S, 0, 1, 1)
        second = directory.take("b", TERM_S, 0, 1, 2)
        # The primary's renewal, which has hung in the kernel since before.
        (tmp_path / "lease/0000000001.json").write_text("{}")
        assert directory.highest() == second
        with pytest.raises(LeaseTaken):
            directory.renew(first, 0, 2)

    def test_a_renewal_that_was_overtaken_while_it_was_written_does_not_count(
        self, directory, tmp_path
    ):
        lease = directory.take("a", TERM_S, 0, 1, 1)

        class Overtaken(LeaseDirectory):
            looks = 0

            def highest(self):
                found = super().highest()
                self.looks += 1
                if self.looks == 1:
                    directory.take("b", TERM_S, 0, 1, 2)
                return found

        with pytest.raises(LeaseTaken):
            Overtaken(tmp_path / "lease").renew(lease, 0, 2)

    def test_a_directory_that_is_not_mounted_is_no_directory_without_a_lease(
        self, directory, tmp_path
    ):
        lease = directory.take("a", TERM_S, 0, 1, 1)
        (tmp_path / "lease").rename(tmp_path / "away")
        with pytest.raises(FileNotFoundError):
            directory.highest()
        (tmp_path / "lease").mkdir()  # the mount point below
        with pytest.raises(LeaseLost):
            directory.renew(lease, 0, 2)
        assert list((tmp_path / "lease").iterdir()) == []


@pytest.mark.parametrize("seed", range(200))
def test_two_never_hold_it_at_once(tmp_path, seed):
    """The primary's steps and the standby's in any order, with any delay between them.

    A renewal is: look at the clock, look at the files, write, look again. Each takes as long as it
    likes. What the service goes by is the end of its last renewal that counted.
    """
    chance = random.Random(seed)
    (tmp_path / "lease").mkdir()
    directory, now = LeaseDirectory(tmp_path / "lease"), 0.0
    lease = directory.take("primary", TERM_S, 0, 0, 1)
    until = now + TERM_S
    taken_at = chance.uniform(0, 200)
    free_at = taken_at + TERM_S + margin_s(TERM_S)
    taken = False
    while now < free_at:
        began = now
        steps = [chance.choice((0, 0, 1, 20, 90)) * chance.random() for _ in range(3)]
        try:
            for step in steps:
                now += step
                if not taken and now >= taken_at:
                    directory.take("standby", TERM_S, 0, 0, 2)
                    taken = True
                directory._refuse_later(lease)
            lease = replace(lease, count=lease.count + 1)
        except LeaseTaken:
            break
        if began < until:  # else the service has ended by itself
            until = began + TERM_S
        now += TERM_S / 6
    assert until <= free_at


class TestKeeper:
    def keeper(self, tmp_path, **more) -> LeaseHolder:
        (tmp_path / "data").mkdir(exist_ok=True)
        return LeaseHolder(
            LeaseDirectory(tmp_path / "lease"), tmp_path / "data", TERM_S, SystemClock(), **more
        )

    async def test_it_is_ours_again_after_a_restart_and_never_another_s(self, tmp_path, directory):
        for _ in range(2):
            await self.keeper(tmp_path).acquire()
        assert directory.highest().epoch == 1
        directory.take("other", TERM_S, 0, 0, 2)
        with pytest.raises(LeaseTaken):
            await self.keeper(tmp_path).acquire()

    async def test_it_waits_for_a_directory_and_makes_no_lease_of_its_own(
        self, tmp_path, directory, autojump_clock
    ):
        await self.keeper(tmp_path).acquire()
        (tmp_path / "lease").rename(tmp_path / "away")
        (tmp_path / "lease").mkdir()
        with trio.move_on_after(100) as waited:
            await self.keeper(tmp_path).acquire()
        assert waited.cancelled_caught
        assert list((tmp_path / "lease").iterdir()) == []

    async def test_without_renewals_the_service_is_stopped_with_time_to_spare(
        self, tmp_path, directory
    ):
        boot, ends, orders = Boot(), [], []
        stopped = trio.Event()
        keeper = self.keeper(tmp_path, boot=boot, end=ends.append)

        def stop(reason: str) -> None:
            orders.append((boot.now, reason))
            stopped.set()

        await keeper.acquire()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keeper.keep, int, stop)
            (tmp_path / "lease").rename(tmp_path / "away")
            boot.now += TERM_S * 2 / 3 + 0.1
            await stopped.wait()
            nursery.cancel_scope.cancel()
        assert ends == []
        assert len(orders) == 1
        assert keeper.gone is not None

    async def test_a_loop_that_stands_still_does_not_outlive_the_lease(self, tmp_path, directory):
        boot, ended = Boot(), threading.Event()
        codes = []

        def end(code: int) -> None:
            codes.append(code)
            ended.set()

        keeper = self.keeper(tmp_path, boot=boot, end=end)
        await keeper.acquire()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keeper.keep, int, print)
            await trio.testing.wait_all_tasks_blocked()
            boot.now += TERM_S
            ended.wait()  # blocks the loop, as a bug would
            nursery.cancel_scope.cancel()
        assert codes == [EXIT_NO_LEASE]

    async def test_whoever_was_frozen_past_the_lease_sends_nothing(self, tmp_path, directory):
        boot, codes = Boot(), []
        keeper = self.keeper(tmp_path, boot=boot, end=codes.append)
        await keeper.acquire()
        keeper.fence()
        assert codes == []
        boot.now += TERM_S
        keeper.fence()
        assert codes == [EXIT_NO_LEASE]

    async def test_the_kernel_ends_it_within_the_margin_of_whoever_waits(self, tmp_path, directory):
        boot, killed_at = Boot(), []
        keeper = self.keeper(tmp_path, boot=boot, kill_at=killed_at.append)
        await keeper.acquire()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keeper.keep, int, print)
            await trio.testing.wait_all_tasks_blocked()
            boot.now += 5
            await keeper._renew(0, print)
            nursery.cancel_scope.cancel()
        ends = [1000 + TERM_S, 1005 + TERM_S]
        assert killed_at == [*(end + KILL_AFTER_S for end in ends), None]
        assert margin_s(0) > KILL_AFTER_S

    @pytest.mark.slow
    def test_a_process_that_is_stopped_between_the_check_and_the_write_writes_nothing(
        self, tmp_path, directory
    ):
        (tmp_path / "data").mkdir()
        command = (sys.executable, "-c", STOPPED, str(tmp_path / "lease"), str(tmp_path / "data"))
        log, carrier = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen(command, env=environment(), stdout=log, stderr=carrier) as process:
            ways = os.WSTOPPED | os.WEXITED | os.WNOWAIT
            stopped = os.waitid(os.P_PID, process.pid, ways)
            assert stopped is not None
            assert stopped.si_code == os.CLD_STOPPED
            late_s = boot_s() + 1 + margin_s(1)
            until(lambda: process.poll() is not None or boot_s() > late_s, "its lease is over")
            process.send_signal(signal.SIGCONT)
            _, written = process.communicate()
        assert (written, process.returncode) == (b"", -signal.SIGKILL)

    def test_where_the_kernel_does_not_help_the_log_says_so(self, monkeypatch):
        monkeypatch.setattr(lease_holder, "_LIBRARIES", ("librt-of-nowhere.so",))
        with capture_logs() as logs:
            lease_holder.KillTimer().set(0.001)
        assert [entry["event"] for entry in logs] == ["lease.no_kill_timer"]

    async def test_a_renewal_counts_from_before_it_began(self, tmp_path, directory):
        boot = Boot()

        class Slow(SystemClock):
            def now_ms(self) -> int:
                boot.now += 20  # the directory takes so long
                return super().now_ms()

        (tmp_path / "data").mkdir()
        given = (directory, tmp_path / "data", TERM_S, Slow())
        keeper = LeaseHolder(*given, boot=boot)
        await keeper.acquire()
        began_s = boot.now
        await keeper._renew(0, print)
        assert keeper._until_s == began_s + TERM_S < boot.now + TERM_S

    async def test_an_orderly_end_says_so(self, tmp_path, directory):
        keeper = self.keeper(tmp_path)
        await keeper.acquire()
        await keeper.release()
        assert directory.highest().released

    async def test_an_orderly_end_says_when_it_was_as_the_database_has_it(
        self, tmp_path, directory
    ):
        keeper = self.keeper(tmp_path)
        await keeper.acquire()
        await keeper.release(1_234)
        assert (directory.highest().released, directory.highest().at) == (True, 1_234)


class TestFence:
    def takeover(self, tmp_path, boot, directory) -> Takeover:
        (tmp_path / "standby").mkdir(exist_ok=True)
        return Takeover(
            copy=StandbyCopy(tmp_path / "standby", PieceDirectory(tmp_path / "shipped")),
            data_dir=tmp_path / "standby",
            database=tmp_path / "standby/risala.db",
            lease=directory,
            term_s=TERM_S,
            clock=SystemClock(),
            progress=unheard,
            sleep=boot.sleep,
            span_s=boot,
        )

    def test_it_waits_once_for_the_primary_s_lease_to_be_over(self, tmp_path, directory):
        directory.take("primary", TERM_S, 0, 0, 1)
        boot = Boot()
        before, mine = self.takeover(tmp_path, boot, directory)._fence(primary_is_dead=False)
        assert (before.epoch, mine.epoch) == (1, 2)
        once_s = TERM_S + margin_s(TERM_S)
        assert once_s <= boot.now - 1000 < once_s + SETTLES_S + 1
        assert held(tmp_path / "standby").epoch == 2

    def test_who_renews_is_alive(self, tmp_path, directory):
        lease = directory.take("primary", TERM_S, 0, 0, 1)

        class Renewed(Boot):
            def sleep(self, span: float) -> None:
                super().sleep(span)
                if self.now > 1010:
                    directory.renew(lease, 0, 0)

        with pytest.raises(PrimaryAlive):
            self.takeover(tmp_path, Renewed(), directory)._fence(primary_is_dead=False)
        assert directory.highest().epoch == 1

    def test_a_copy_of_a_newer_version_leaves_the_primary_its_lease(self, tmp_path, directory):
        primary = tmp_path / "primary.db"
        open_writer(primary, migrate).close()
        with closing(sqlite3.connect(primary)) as conn, conn:
            conn.execute(
                "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
                " SELECT migration_set, 'm999_later', applied_at FROM _sqlite_migrations LIMIT 1"
            )
        ship(primary, tmp_path / "shipped")
        directory.take("primary", TERM_S, 0, 0, 1)
        takeover = self.takeover(tmp_path, Boot(), directory)
        for primary_is_dead in (False, True):
            with pytest.raises(StorageUnusable, match=r"newer Risala \(it has 'm999_later'\)"):
                takeover.run(primary_is_dead=primary_is_dead, resend_pending=False)
        assert directory.highest().holder == "primary"
        assert not (tmp_path / "standby/risala.db").exists()
        assert [*(tmp_path / "standby").glob("**/*.db-*")] == []

    def test_who_has_ended_in_order_or_is_dead_is_not_waited_for(self, tmp_path, directory):
        lease = directory.take("primary", TERM_S, 0, 0, 1)
        boot = Boot()
        directory.renew(lease, 0, 0, released=True)
        self.takeover(tmp_path, boot, directory)._fence(primary_is_dead=False)
        assert boot.now == 1000
        directory.take("third", TERM_S, 0, 0, 3)
        self.takeover(tmp_path, boot, directory)._fence(primary_is_dead=True)
        assert boot.now == 1000
        assert directory.highest().epoch == 4

    def test_a_takeover_that_was_interrupted_goes_on(self, tmp_path, directory):
        directory.take("primary", TERM_S, 0, 0, 1)
        boot = Boot()
        self.takeover(tmp_path, boot, directory)._fence(primary_is_dead=False)
        began = boot.now
        before, again = self.takeover(tmp_path, boot, directory)._fence(primary_is_dead=False)
        assert (before.epoch, again.epoch) == (1, 2)
        # Nobody knows how long the first one had waited.
        assert boot.now - began >= TERM_S + margin_s(TERM_S)

    async def test_a_service_does_not_start_in_the_middle_of_a_takeover(self, tmp_path, directory):
        directory.take("primary", TERM_S, 0, 0, 1)
        self.takeover(tmp_path, Boot(), directory)._fence(primary_is_dead=True)
        keeper = LeaseHolder(
            LeaseDirectory(tmp_path / "lease"), tmp_path / "standby", TERM_S, SystemClock()
        )
        with pytest.raises(TakeoverUnfinished):
            await keeper.acquire()

    async def test_who_serves_takes_nothing_over(self, tmp_path, directory):
        (tmp_path / "standby").mkdir()
        keeper = LeaseHolder(
            LeaseDirectory(tmp_path / "lease"), tmp_path / "standby", TERM_S, SystemClock()
        )
        await keeper.acquire()
        with pytest.raises(PrimaryAlive, match="already"):
            self.takeover(tmp_path, Boot(), directory)._fence(primary_is_dead=True)

    def test_without_a_lease_somebody_has_to_know(self, tmp_path):
        takeover = self.takeover(tmp_path, Boot(), None)
        with pytest.raises(PrimaryAlive):
            takeover._fence(primary_is_dead=False)
        assert takeover._fence(primary_is_dead=True) == (None, None)
