"""What each kind of stores promises: directories, PostgreSQL, and its model in memory."""

from __future__ import annotations

import hashlib
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from sqlite_utils.utils import sqlite3

from patience import until, until_true
from risala.engine.features.standby.lease import LeaseTaken, held, margin_s
from risala.engine.features.standby.lease_holder import (
    InterimLease,
    LeaseHolder,
    TakeoverUnfinished,
)
from risala.engine.features.standby.lease_watch import LeaseWatch, PrimaryAlive
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.stored.pieces import Current, Shipped
from risala.engine.features.standby.stored.shipper import Shipper
from risala.engine.features.standby.stored.wal import WalPart, WalPlace
from risala.engine.features.standby.takeover import Takeover
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.writer import Journal
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import StorageUnusable

TERM_S = 30
PART = WalPart(WalPlace(0, 0), 0, 0, {})


def unheard(step: str, done: int, total: int) -> None:
    pass


def _refuses() -> None:
    raise OSError("it is away")


class Boot:
    """A clock of a machine's own, set by the test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, span_s: float) -> None:
        self.now += span_s


class TestTheLease:
    def test_the_highest_number_holds(self, places):
        lease = places.lease
        assert lease.highest() is None
        first = lease.take("a", TERM_S, 0, 1, 1)
        assert lease.highest() == first
        assert lease.before(first) is None
        renewed = lease.renew(first, 7, 2)
        assert (renewed.count, renewed.entries, renewed.at) == (1, 7, 2)
        assert lease.highest() == renewed
        second = places.another().lease.take("b", TERM_S, 0, 1, 2)
        assert lease.highest() == second
        assert lease.before(second) == renewed
        with pytest.raises(LeaseTaken) as taken:
            lease.renew(renewed, 0, 2)
        assert taken.value.lease == second

    def test_one_of_two_gets_a_number(self, places):
        places.lease.take("a", TERM_S, 0, 1, 1)
        with pytest.raises(LeaseTaken):
            places.another().lease.take("b", TERM_S, 0, 1, 1)

    def test_an_orderly_end_says_so(self, places):
        first = places.lease.take("a", TERM_S, 0, 1, 1)
        places.lease.renew(first, 0, 5, released=True)
        found = places.another().lease.highest()
        assert (found.released, found.at) == (True, 5)

    def test_many_at_once_and_one_has_it(self, places):
        got: list[str] = []

        async def take(name: str, store) -> None:
            try:
                await trio.to_thread.run_sync(store.take, name, TERM_S, 0, 1, 1)
            except LeaseTaken:
                return
            got.append(name)

        async def main() -> None:
            async with trio.open_nursery() as nursery:
                for number in range(4):
                    nursery.start_soon(take, f"machine {number}", places.another().lease)

        trio.run(main)
        assert got == [places.lease.highest().holder]

    async def test_a_keeper_has_it_again_after_a_restart_and_never_another_s(
        self, places, tmp_path
    ):
        (tmp_path / "data").mkdir()

        def keeper() -> LeaseHolder:
            return LeaseHolder(places.another().lease, tmp_path / "data", TERM_S, SystemClock())

        for _ in range(2):
            await keeper().acquire()
        assert places.lease.highest().epoch == 1
        places.lease.take("other", TERM_S, 0, 0, 2)
        with pytest.raises(LeaseTaken):
            await keeper().acquire()

    def takeover(self, places, tmp_path, boot) -> Takeover:
        (tmp_path / "standby").mkdir(exist_ok=True)
        return Takeover(
            copy=StandbyCopy(tmp_path / "standby", places.pieces),
            data_dir=tmp_path / "standby",
            database=tmp_path / "standby/risala.db",
            lease=places.lease,
            term_s=TERM_S,
            clock=SystemClock(),
            progress=unheard,
            sleep=boot.sleep,
            span_s=boot,
        )

    async def test_a_takeover_watches_and_waits_and_goes_on_when_interrupted(
        self, places, tmp_path
    ):
        places.lease.take("primary", TERM_S, 0, 0, 1)
        boot = Boot()
        before, mine = self.takeover(places, tmp_path, boot)._fence(primary_is_dead=False)
        assert (before.epoch, mine.epoch) == (1, 2)
        assert boot.now - 1000 >= TERM_S + margin_s(TERM_S)
        assert held(tmp_path / "standby").epoch == 2
        keeper = LeaseHolder(places.lease, tmp_path / "standby", TERM_S, SystemClock())
        with pytest.raises(TakeoverUnfinished):
            await keeper.acquire()
        before, again = self.takeover(places, tmp_path, boot)._fence(primary_is_dead=False)
        assert (before.epoch, again.epoch) == (1, 2)

    def test_who_renews_is_alive(self, places, tmp_path):
        lease = places.lease.take("primary", TERM_S, 0, 0, 1)

        class Renewed(Boot):
            def sleep(self, span_s: float) -> None:
                super().sleep(span_s)
                if self.now > 1010:
                    places.lease.renew(lease, 0, 0)

        with pytest.raises(PrimaryAlive):
            self.takeover(places, tmp_path, Renewed())._fence(primary_is_dead=False)
        assert places.lease.highest().epoch == 1

    def test_who_renewed_between_the_last_look_and_the_taking_is_waited_for(
        self, places, tmp_path, monkeypatch
    ):
        first = places.lease.take("primary", TERM_S, 0, 0, 1)
        store, boot = places.another().lease, Boot()
        take = store.take

        def late(*given):
            places.lease.renew(first, 7, 0)
            return take(*given)

        monkeypatch.setattr(store, "take", late)
        takeover = replace(self.takeover(places, tmp_path, boot), lease=store)
        before, mine = takeover._fence(primary_is_dead=False)
        assert (before.count, before.entries, mine.epoch) == (1, 7, 2)
        assert boot.now - 1000 >= 2 * (TERM_S + margin_s(TERM_S))

    def test_a_store_that_could_not_be_read_is_watched_anew(self, places, monkeypatch):
        """Another server may answer afterwards, which has missed the last renewals."""
        places.lease.take("primary", TERM_S, 0, 0, 1)
        boot = Boot()
        watch = LeaseWatch(places.lease, boot)
        watch.observe()
        boot.sleep(TERM_S)
        assert watch.left_s == margin_s(TERM_S)
        with monkeypatch.context() as broken:
            broken.setattr(places.lease, "highest", _refuses)
            with pytest.raises(OSError, match="away"):
                watch.observe()
        assert watch.left_s is None
        watch.observe()
        assert watch.left_s == TERM_S + margin_s(TERM_S)

    def test_a_lease_that_was_given_up_is_over_at_once(self, places):
        first = places.lease.take("primary", TERM_S, 0, 0, 1)
        watch = LeaseWatch(places.another().lease, Boot())
        watch.observe()
        assert watch.left_s
        places.lease.renew(first, 0, 0, released=True)
        watch.observe()
        assert watch.left_s == 0

    def test_it_is_renewed_while_the_copy_is_made_ready(self, places):
        lease, other = places.lease.take("a", 3, 0, 0, 1), places.another().lease
        with InterimLease(places.lease, lease, SystemClock()) as taken:
            until(lambda: other.highest().count > 0, "it is renewed")
            taken.check()
            other.take("b", 3, 0, 0, 2)
            until(lambda: not taken._thread.is_alive(), "it has noticed")
            with pytest.raises(LeaseTaken):
                taken.check()

    def test_without_a_copy_the_primary_keeps_its_lease(self, places, tmp_path):
        places.lease.take("primary", TERM_S, 0, 0, 1)
        with pytest.raises(StorageUnusable, match="There is no copy in"):
            self.takeover(places, tmp_path, Boot()).run(primary_is_dead=True, resend_pending=False)
        assert places.lease.highest().holder == "primary"

    def test_a_whole_takeover(self, places, tmp_path):
        primary = tmp_path / "primary.db"
        open_writer(primary, migrate).close()
        places.lease.take("a", TERM_S, 0, 0, 1)
        ship(places.pieces, primary)
        taken = self.takeover(places, tmp_path, Boot()).run(
            primary_is_dead=False, resend_pending=False
        )
        assert (taken.lease.epoch, taken.position.number, taken.position.at) == (2, 2, 72_000)
        assert held(tmp_path / "standby").serves


def ship(store, database: Path, generation: str = "one") -> list[str]:
    """A whole copy and two pieces without pages, of the fifth second and of the 72nd; the
    checksums."""
    last, _ = store.begin(generation, database)
    sums = [last]
    for number, at in ((1, 5_000), (2, 72_000)):
        piece = pieces.encode(generation, number, at, PART, sums[-1])
        store.add(piece)
        sums.append(piece.sha256)
    store.publish(Current(generation, sums[0]), Shipped(generation, 2, 72_000))
    return sums


@pytest.fixture
def database(tmp_path) -> Path:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("pragma journal_mode = wal")
        conn.execute("create table item (id integer primary key, text text)")
        text = random.Random(1).randbytes(1_500_000)
        conn.execute("insert into item values (1, ?)", (text,))
    return path


class TestPieces:
    @pytest.fixture(autouse=True)
    def lease(self, places) -> None:
        places.lease.take("a", TERM_S, 0, 1, 1)

    def test_what_is_put_is_found(self, places, database, tmp_path):
        assert places.pieces.current() is None
        assert places.pieces.shipped() is None
        sums = ship(places.pieces, database)
        store = places.another("b", 2).pieces  # who follows needs no lease
        assert store.current() == Current("one", sums[0])
        assert store.shipped() == Shipped("one", 2, 72_000)
        store.fetch(store.current(), tmp_path / "fetched", unheard)
        assert hashlib.sha256((tmp_path / "fetched").read_bytes()).hexdigest() == sums[0]
        assert (tmp_path / "fetched").stat().st_size > 1024 * 1024, "of more than a chunk"
        assert store.read("one", 2, sums[1]).sha256 == sums[2]
        assert store.read("one", 3, sums[2]) is None
        with pytest.raises(BadPiece):
            store.read("one", 2, sums[0])

    def test_a_copy_that_is_not_published_is_not_followed(self, places, database, tmp_path):
        sums = ship(places.pieces, database)
        places.pieces.begin("two", database)
        assert places.pieces.current() == Current("one", sums[0])
        assert StandbyCopy(tmp_path / "second", places.pieces).follow(unheard).number == 2

    def test_the_one_before_goes(self, places, database):
        ship(places.pieces, database)
        assert not places.pieces.is_spoilt("one", 3)
        assert places.pieces.is_spoilt("one", 2), "the piece is there already"
        ship(places.pieces, database, "two")
        assert places.pieces.is_spoilt("one", 3)
        assert places.pieces.current().generation == "two"

    def test_it_waits_no_longer_than_it_is_told(self, places):
        places.pieces.wait(0.01)


# -- the whole way, with a journal that is written to ----------------------------------------------


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Journal]:
    journal = Journal(path, lambda db: None)
    async with trio.open_nursery() as nursery:
        await nursery.start(journal.run)
        yield journal
        journal.stop()


def put(number: int, size: int = 100) -> Callable[[sqlite3.Connection], None]:
    def unit(conn: sqlite3.Connection) -> None:
        conn.execute("insert or replace into item values (?, ?)", (number, f"{number:>{size}}"))

    return unit


def rows(path: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as conn:
        return conn.execute("select id, text from item order by id").fetchall()


def is_same(copy: StandbyCopy, place: Path, database: Path) -> bool:
    if copy.follow(unheard) is None:
        return False
    copy.settled(place / "look.db")
    with closing(sqlite3.connect(place / "look.db")) as conn:
        assert conn.execute("pragma integrity_check").fetchone() == ("ok",)
    return rows(place / "look.db") == rows(database)


@pytest.mark.slow
async def test_the_copy_becomes_the_same_while_much_is_written(places, database, tmp_path):
    places.lease.take("a", TERM_S, 0, 1, 1)
    copy, chance = StandbyCopy(tmp_path / "second", places.another().pieces), random.Random(2)
    async with opened(database) as journal, trio.open_nursery() as nursery:
        nursery.start_soon(Shipper(journal, places.pieces, SystemClock(), 0.01).run)
        for number in range(300):
            await journal.commit(put(chance.randrange(200), chance.choice((10, 100, 5000))))
            if number % 50 == 0:
                await trio.to_thread.run_sync(copy.follow, unheard)
        await until_true(lambda: is_same(copy, tmp_path, database))
        nursery.cancel_scope.cancel()
