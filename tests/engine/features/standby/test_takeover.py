"""A whole takeover in one process: fenced, restored, remembered; and a keeper that has no lease."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from patience import until_true
from risala.engine.features.standby.lease import LeaseDirectory, held
from risala.engine.features.standby.lease_holder import AGAIN_S, TELL_EVERY, LeaseHolder
from risala.engine.features.standby.stored import notes, pieces
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.piece_store import PieceDirectory
from risala.engine.features.standby.stored.wal import WalPart, WalPlace
from risala.engine.features.standby.takeover import Takeover
from risala.engine.journal.audit.books import audit
from risala.engine.journal.store.opening import open_reader, open_writer, stopped_at
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.sentences import sentence
from risala.plugins.testing.fake_driver import FakeDriver

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
            copy=StandbyCopy(standby, PieceDirectory(tmp_path / "shipped")),
            data_dir=standby,
            database=standby / "risala.db",
            lease=directory,
            term_s=TERM_S,
            clock=SystemClock(),
            progress=lambda step, done, total: None,
            sleep=lambda span_s: None,
            span_s=lambda: float(next(spans)),
        )

    return one


def ship(primary: Path, directory: Path) -> None:
    """A whole copy, as a primary ships one."""
    snapshot = pieces.folder(directory, "one") / pieces.SNAPSHOT
    snapshot.parent.mkdir(parents=True)
    shutil.copyfile(primary, snapshot)
    current = pieces.Current("one", hashlib.sha256(snapshot.read_bytes()).hexdigest())
    pieces.put(directory / pieces.CURRENT, json.dumps(asdict(current)).encode())
    pieces.put_note(directory / pieces.SHIPPED, pieces.Shipped("one", 0, 0))


@pytest.fixture
def shipped(tmp_path, lease):
    """What a primary has left that holds the lease and has just begun to ship."""
    primary = tmp_path / "primary.db"
    open_writer(primary, migrate).close()
    ship(primary, tmp_path / "shipped")
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
    with pytest.raises(notes.BadPiece, match="0000000002"):
        begin().run(primary_is_dead=False, resend_pending=False)
    assert lease.highest().holder == "primary"
    taken = begin().run(primary_is_dead=False, resend_pending=False, leaves_out_damaged=True)
    assert (taken.position.number, taken.position.at, taken.behind_ms) == (1, 5_000, 67_000)


class Stands:
    """A clock that stands."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms


async def stopped(open_house, tmp_path) -> tuple[dict[str, str], int]:
    """A primary that stopped in order; what it had not sent, and when it stopped."""
    async with open_house(drivers={"fake": FakeDriver(delivers=True)}) as house:
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        now_ms = house.gateway.services.recorder.clock.now_ms()
        ids = {
            "due": await house.send("due"),
            "later": await house.send("later", send_at=now_ms + 7_200_000),
        }
    at = stopped_at(tmp_path / "risala.db")
    assert at is not None
    with closing(open_writer(tmp_path / "risala.db", migrate)) as conn:
        conn.execute("pragma wal_checkpoint(truncate)")
    return ids, at


@pytest.mark.parametrize("end", ["released", "killed later", "stopped once more, unshipped"])
async def test_after_an_orderly_stop_what_was_due_goes_on(open_house, tmp_path, begin, lease, end):
    ids, at = await stopped(open_house, tmp_path)
    ship(tmp_path / "risala.db", tmp_path / "shipped")
    first = lease.take("primary", TERM_S, 0, at, 1)
    if end != "killed later":
        lease.renew(first, 0, at if end == "released" else at + 5_000, released=True)
    standby = tmp_path / "standby"
    clock = Stands(at + 10_000)
    taken = replace(begin(), clock=clock).run(primary_is_dead=False, resend_pending=False)
    restored = taken.restored
    if end != "released":  # what the copy shows may be older than what was done
        assert (restored.proved, restored.ended, restored.held) == (0, 1, 1)
        return
    assert (restored.proved, restored.scheduled) == (1, 1)
    assert (restored.ended, restored.held) == (0, 0)
    shutil.copyfile(standby / "risala.db", tmp_path / "risala.db")
    driver = FakeDriver(delivers=True)
    async with open_house(drivers={"fake": driver}) as house:
        await house.gateway.perform("carriers.resume", {"carrier": "fake"})
        await house.wait_status(ids["due"], "delivered")
        told = [sentence(entry) for entry in house.gateway.show_message(ids["due"])[1]]
        assert "Restored from a backup: it had not been sent yet, and continues." in told
        assert (await house.gateway.perform("audit", {}))["clean"]


class TestAKeeperWithoutALease:
    @pytest.fixture
    def keeper(self, tmp_path):
        (tmp_path / "data").mkdir()
        return LeaseHolder(
            LeaseDirectory(tmp_path / "lease"), tmp_path / "data", TERM_S, SystemClock()
        )

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
