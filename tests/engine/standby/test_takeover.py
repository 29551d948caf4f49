"""A whole takeover in one process: fenced, restored, remembered; and a keeper that has no lease."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import closing
from dataclasses import asdict

import pytest
import trio
from structlog.testing import capture_logs

from patience import until_true
from risala.engine.journal.shipping import pieces
from risala.engine.journal.shipping.copy import StandbyCopy
from risala.engine.journal.shipping.wal import WalPart, WalPlace
from risala.engine.journal.store.lock import StorageUnusable
from risala.engine.journal.store.opening import open_reader, open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.upkeep.audit import audit
from risala.engine.model.clock import SystemClock
from risala.engine.standby.keeper import AGAIN_S, TELL_EVERY, LeaseKeeper
from risala.engine.standby.lease import LeaseDirectory, held
from risala.engine.standby.takeover import Takeover

TERM_S = 30


@pytest.fixture
def lease(tmp_path):
    (tmp_path / "lease").mkdir()
    return LeaseDirectory(tmp_path / "lease")


@pytest.fixture
def begin(tmp_path, lease):
    """``begin()``: a takeover as the command makes it, with no time that passes."""
    standby = tmp_path / "standby"
    standby.mkdir()

    def one(directory: LeaseDirectory | None = lease) -> Takeover:
        spans = iter(range(0, 10_000, 100))
        return Takeover(
            copy=StandbyCopy(standby, tmp_path / "shipped"),
            data_dir=standby,
            database=standby / "risala.db",
            shipped=tmp_path / "shipped",
            lease=directory,
            term_s=TERM_S,
            clock=SystemClock(),
            progress=lambda step, done, total: None,
            sleep=lambda span_s: None,
            span_s=lambda: float(next(spans)),
        )

    return one


@pytest.fixture
def shipped(tmp_path, lease):
    """What a primary has left that holds the lease and has just begun to ship."""
    primary = tmp_path / "primary.db"
    open_writer(primary, migrate).close()
    snapshot = pieces.folder(tmp_path / "shipped", "one") / pieces.SNAPSHOT
    snapshot.parent.mkdir(parents=True)
    shutil.copyfile(primary, snapshot)
    current = pieces.Current("one", hashlib.sha256(snapshot.read_bytes()).hexdigest())
    pieces.put(tmp_path / "shipped" / pieces.CURRENT, json.dumps(asdict(current)).encode())
    return lease.take("primary", TERM_S, 0, 0, 1)


def test_it_ends_with_a_database_and_the_lease(tmp_path, begin, shipped, lease):
    taken = begin().run(primary_is_dead=False, resend_pending=False)
    assert (taken.lease.epoch, lease.highest().epoch) == (2, 2)
    assert (taken.restored.set_aside, taken.restored.ended) == (None, 0)
    assert taken.entries_behind == 0
    memory = held(tmp_path / "standby")
    assert (memory.epoch, memory.serves) == (2, True)
    with closing(open_reader(tmp_path / "standby/risala.db")) as conn:
        assert audit(conn).faults == ()


def test_it_may_be_run_again_until_it_has_ended(tmp_path, begin, shipped, lease):
    begin()._fence(primary_is_dead=False)
    assert not held(tmp_path / "standby").serves
    taken = begin().run(primary_is_dead=False, resend_pending=False)
    assert (taken.lease.epoch, taken.entries_behind) == (2, 0)
    assert held(tmp_path / "standby").serves


def test_without_a_lease_it_cannot_say_what_the_primary_had(tmp_path, begin, shipped):
    taken = begin(None).run(primary_is_dead=True, resend_pending=False)
    assert (taken.lease, taken.entries_behind) == (None, None)
    assert (tmp_path / "standby/risala.db").exists()


def test_without_a_copy_the_primary_keeps_its_lease(tmp_path, begin, lease):
    lease.take("primary", TERM_S, 0, 0, 1)
    (tmp_path / "shipped").mkdir()
    with pytest.raises(StorageUnusable, match="There is no copy"):
        begin().run(primary_is_dead=True, resend_pending=False)
    assert lease.highest().holder == "primary"


@pytest.fixture
def cut(tmp_path, shipped):
    """The second of two pieces has lost its end on its way."""
    directory = tmp_path / "shipped"
    last = pieces.current(directory).sha256
    for number, at in ((1, 5_000), (2, 72_000)):
        last = pieces.write(directory, "one", number, at, WalPart(WalPlace(0, 0), 0, 0, {}), last)
    pieces.put_note(directory / pieces.SHIPPED, pieces.Shipped("one", 2, 72_000))
    piece = pieces.file_of(directory, "one", 2)
    piece.write_bytes(piece.read_bytes()[:-4])


def test_a_piece_that_was_cut_is_left_out_where_that_is_asked(tmp_path, begin, cut, lease):
    with pytest.raises(pieces.BadPiece, match="0000000002"):
        begin().run(primary_is_dead=False, resend_pending=False)
    assert lease.highest().holder == "primary"
    taken = begin().run(primary_is_dead=False, resend_pending=False, leaves_out_damaged=True)
    assert (taken.position.number, taken.position.at, taken.behind_ms) == (1, 5_000, 67_000)


class TestAKeeperWithoutALease:
    @pytest.fixture
    def keeper(self, tmp_path):
        (tmp_path / "data").mkdir()
        return LeaseKeeper(tmp_path / "lease", tmp_path / "data", TERM_S, SystemClock())

    async def test_says_now_and_then_that_it_waits(self, tmp_path, lease, keeper, autojump_clock):
        await keeper.acquire()
        for path in (tmp_path / "lease").iterdir():
            path.unlink()  # as a directory looks that is not mounted
        began_s = trio.current_time()
        with capture_logs() as logs:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keeper.acquire)
                await until_true(lambda: len(logs) == 2)
                nursery.cancel_scope.cancel()
        assert [entry["event"] for entry in logs] == ["lease.waiting"] * 2
        assert trio.current_time() - began_s >= AGAIN_S * TELL_EVERY

    async def test_has_nothing_to_give_back(self, lease, keeper):
        await keeper.release()
        assert lease.highest() is None
