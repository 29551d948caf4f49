"""A copy that follows: whatever is written, in whatever pieces, it becomes the same database."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
import trio
from sqlite_utils import Database
from sqlite_utils.utils import sqlite3

from cases import seeds
from patience import HANG_S, until_true
from risala.engine.features.standby.stored import notes, pieces, wal
from risala.engine.features.standby.stored import shipper as module
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.piece_store import PieceDirectory
from risala.engine.features.standby.stored.shipper import Shipper
from risala.engine.features.standby.stored.shipping_status import ShippingStatus
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.writer import Journal
from risala.engine.journal.upkeep import database_copy
from risala.engine.model.clock import SystemClock

pytestmark = pytest.mark.slow


def migrate(db: Database) -> None:
    with db.atomic():
        db.execute("create table if not exists item (id integer primary key, text text)")
        db.execute("create index if not exists item_text on item (text)")


def unheard(step: str, done: int, total: int) -> None:
    pass


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Journal]:
    journal = Journal(path, migrate)
    async with trio.open_nursery() as nursery:
        await nursery.start(journal.run)
        yield journal
        journal.stop()


@asynccontextmanager
async def shipping(journal: Journal, directory: Path) -> AsyncIterator[None]:
    await trio.Path(directory).mkdir(exist_ok=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Shipper(journal, PieceDirectory(directory), SystemClock(), 0.01).run)
        yield
        nursery.cancel_scope.cancel()


def rows(path: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as conn:
        return conn.execute("select id, text from item order by id").fetchall()


def whole(copy: StandbyCopy, target: Path) -> list[tuple[int, str]]:
    """What is in the copy, which SQLite finds whole."""
    copy.settled(target)
    with closing(sqlite3.connect(target)) as conn:
        assert conn.execute("pragma integrity_check").fetchone() == ("ok",)
    return rows(target)


def put(number: int, size: int = 100) -> Callable[[sqlite3.Connection], None]:
    def unit(conn: sqlite3.Connection) -> None:
        conn.execute("insert or replace into item values (?, ?)", (number, f"{number:>{size}}"))

    return unit


def drop_below(number: int) -> Callable[[sqlite3.Connection], None]:
    def unit(conn: sqlite3.Connection) -> None:
        conn.execute("delete from item where id < ?", (number,))

    return unit


async def write_much(journal: Journal, seed: int, count: int) -> None:
    """Rows made, changed and deleted, enough that the WAL begins anew again and again."""
    chance = random.Random(seed)
    for number in range(count):
        await journal.commit(put(chance.randrange(count), chance.choice((10, 100, 5000))))
        if number % 97 == 0:
            await journal.commit(drop_below(chance.randrange(count // 4)))


@pytest.mark.parametrize("seed", seeds(1, 3))
async def test_the_copy_becomes_the_same_while_much_is_written(tmp_path, seed):
    database, shipped = tmp_path / "a.db", tmp_path / "shipped"
    copy = StandbyCopy(tmp_path / "standby", PieceDirectory(shipped))
    async with opened(database) as journal:
        for number in range(300):
            await journal.commit(put(number))
        async with shipping(journal, shipped), trio.open_nursery() as nursery:
            nursery.start_soon(write_much, journal, seed, 800)
            followed = 0
            while len(nursery.child_tasks):
                position = await trio.to_thread.run_sync(copy.follow, unheard)
                if position is not None and position.number != followed:
                    # Whenever it is looked at, it is whole.
                    followed = position.number
                    await trio.to_thread.run_sync(whole, copy, tmp_path / "look.db")
                await trio.sleep(0.02)
            await until_true(lambda: copy.follow(unheard) and _same(copy, tmp_path, database))
        position = copy.follow(unheard)
        assert position is not None
        assert position.number > 2
        assert wal.beside(database).stat().st_size < 64 * 1024 * 1024


async def test_readers_hold_nothing_up_and_nothing_is_missed(tmp_path):
    """A reader that stays keeps the WAL from being folded in; it grows, and is shipped."""
    database, shipped = tmp_path / "a.db", tmp_path / "shipped"
    copy = StandbyCopy(tmp_path / "standby", PieceDirectory(shipped))
    async with opened(database) as journal, shipping(journal, shipped):
        await until_true(lambda: copy.follow(unheard) is not None)
        with closing(open_reader(database)) as reader:
            reader.execute("begin")
            reader.execute("select count(*) from item").fetchone()
            await write_much(journal, 1, 200)
            await until_true(lambda: copy.follow(unheard) and _same(copy, tmp_path, database))
        await write_much(journal, 2, 200)
        await until_true(lambda: copy.follow(unheard) and _same(copy, tmp_path, database))


def _same(copy: StandbyCopy, place: Path, database: Path) -> bool:
    return whole(copy, place / "look.db") == rows(database)


class HeldUp(Shipper):
    """Waits in the middle of its n-th write to the directory until it is let go."""

    def hold(self, step: str) -> tuple[trio.Event, threading.Event]:
        reached, let_go, original = trio.Event(), threading.Event(), getattr(self, step)

        def held(*given):
            trio.from_thread.run_sync(reached.set)
            assert let_go.wait(HANG_S)
            return original(*given)

        setattr(self, step, held)
        return reached, let_go


@pytest.mark.parametrize("step", ["_snapshot", "_publish", "_add"])
async def test_a_stop_in_the_middle_of_a_piece_leaves_nothing_out(tmp_path, step):
    database, shipped = tmp_path / "a.db", tmp_path / "shipped"
    copy = StandbyCopy(tmp_path / "standby", PieceDirectory(shipped))
    shipped.mkdir()
    async with opened(database) as journal:
        await journal.commit(put(1))
        shipper = HeldUp(journal, PieceDirectory(shipped), SystemClock(), 0.01)
        async with trio.open_nursery() as nursery:
            if step == "_add":
                nursery.start_soon(shipper.run)
                await until_true(lambda: copy.follow(unheard) is not None)
                reached, let_go = shipper.hold(step)
                await journal.commit(put(2))
            else:
                reached, let_go = shipper.hold(step)
                nursery.start_soon(shipper.run)
            await reached.wait()
            await journal.commit(put(3))
            nursery.cancel_scope.cancel()
            let_go.set()
        await trio.to_thread.run_sync(copy.follow, unheard)
        assert await trio.to_thread.run_sync(_same, copy, tmp_path, database)


async def test_a_stop_does_not_wait_for_a_directory_that_hangs(tmp_path, monkeypatch):
    database, shipped = tmp_path / "a.db", tmp_path / "shipped"
    monkeypatch.setattr(module, "LAST_S", 0.05)
    shipped.mkdir()
    async with opened(database) as journal:
        shipper = HeldUp(journal, PieceDirectory(shipped), SystemClock(), 0.01)
        reached, let_go = shipper.hold("_snapshot")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(shipper.run)
            await reached.wait()
            nursery.cancel_scope.cancel()
        let_go.set()
        assert pieces.current(shipped) is None


async def test_each_start_begins_a_generation_and_the_one_before_goes(tmp_path):
    database, shipped = tmp_path / "a.db", tmp_path / "shipped"
    copy = StandbyCopy(tmp_path / "standby", PieceDirectory(shipped))
    found = []
    for number in range(3):
        async with opened(database) as journal, shipping(journal, shipped):
            before = pieces.current(shipped)
            await journal.commit(put(number))
            await until_true(lambda before=before: pieces.current(shipped) != before)
            await until_true(lambda: copy.follow(unheard) and _same(copy, tmp_path, database))
        assert copy.follow(unheard) is not None
        found.append(pieces.current(shipped))
        # A stop does not wait for the directory: what tidies it may end after it.
        await until_true(lambda: len(list(shipped.glob("gen-*"))) == 1)
        assert [row[0] for row in whole(copy, tmp_path / "look.db")] == list(range(number + 1))
    assert len({each.generation for each in found}) == 3


async def test_a_directory_that_is_missing_is_tried_again(tmp_path):
    """It is not made: a whole copy would fill the disk below what is not mounted."""
    database, shipped = tmp_path / "a.db", tmp_path / "shipped"
    async with opened(database) as journal, trio.open_nursery() as nursery:
        shipper = Shipper(journal, PieceDirectory(shipped), SystemClock(), 0.01, again_s=0.01)
        nursery.start_soon(shipper.run)
        for number in range(50):
            await journal.commit(put(number))
        assert not shipped.exists()
        shipped.mkdir()
        await until_true((shipped / pieces.CURRENT).exists)
        nursery.cancel_scope.cancel()


async def test_how_old_the_copy_is_is_known_without_a_look(tmp_path):
    database, shipped, away = tmp_path / "a.db", tmp_path / "shipped", tmp_path / "away"
    standing = ShippingStatus()
    assert standing.age_s is None

    async def until_shipped_after(at_s: float) -> None:
        await until_true(lambda: trio.current_time() - standing.age_s > at_s)

    async with opened(database) as journal, trio.open_nursery() as nursery:
        clock = SystemClock()
        shipper = Shipper(
            journal, PieceDirectory(shipped), clock, 0.01, standing=standing, again_s=0.01
        )
        nursery.start_soon(shipper.run)
        # It counts from the start where nothing could be shipped yet.
        await until_true(lambda: standing.age_s is not None and standing.age_s > 0.1)
        assert "No such file or directory" in (standing.failing or "")
        shipped.mkdir()
        await until_shipped_after(trio.current_time())
        for _ in range(2):
            shipped.rename(away)
            await until_true(lambda: standing.age_s > 0.3)
            away.rename(shipped)
            await until_shipped_after(trio.current_time())
        nursery.cancel_scope.cancel()


class TestWhatIsNotWhatWasWritten:
    @pytest.fixture
    async def made(self, tmp_path) -> Path:
        shipped = tmp_path / "shipped"
        async with opened(tmp_path / "a.db") as journal, shipping(journal, shipped):
            await until_true(lambda: pieces.current(shipped) is not None)
            for number in range(4):
                await journal.commit(put(number))
                want = number + 2
                await until_true(lambda want=want: pieces.shipped(shipped).number >= want)
        return shipped

    def file(self, shipped: Path, number: int) -> Path:
        return pieces.file_of(shipped, pieces.current(shipped).generation, number)

    async def test_a_flipped_bit(self, made, tmp_path):
        path = self.file(made, 3)
        data = bytearray(path.read_bytes())
        data[-20] ^= 1
        path.write_bytes(data)
        with pytest.raises(notes.BadPiece):
            StandbyCopy(tmp_path / "standby", PieceDirectory(made)).follow(unheard)

    async def test_a_piece_in_the_place_of_another(self, made, tmp_path):
        shutil.copy(self.file(made, 2), self.file(made, 3))
        with pytest.raises(notes.BadPiece):
            StandbyCopy(tmp_path / "standby", PieceDirectory(made)).follow(unheard)

    async def test_a_snapshot_that_was_cut_off(self, made, tmp_path):
        path = pieces.folder(made, pieces.current(made).generation) / pieces.SNAPSHOT
        path.write_bytes(path.read_bytes()[:-4096])
        with pytest.raises(notes.BadPiece):
            StandbyCopy(tmp_path / "standby", PieceDirectory(made)).follow(unheard)

    async def test_a_missing_piece_ends_what_is_followed(self, made, tmp_path):
        self.file(made, 3).unlink()
        position = StandbyCopy(tmp_path / "standby", PieceDirectory(made)).follow(unheard)
        assert position.number == 2

    async def test_a_kill_between_a_piece_and_its_note_is_made_up_for(self, made, tmp_path):
        copy = StandbyCopy(tmp_path / "standby", PieceDirectory(made))
        position = copy.follow(unheard)
        want = whole(copy, tmp_path / "look.db")
        note = copy.file.with_name("position.json")
        told = json.loads(note.read_text())
        head = json.loads(self.file(made, position.number).read_bytes().partition(b"\n")[0])
        note.write_text(
            json.dumps({**told, "number": told["number"] - 1, "sha256": head["before"]})
        )
        assert copy.follow(unheard) == position
        assert whole(copy, tmp_path / "look.db") == want

    @pytest.mark.parametrize("another", [False, True])
    async def test_a_piece_that_was_applied_and_then_forgotten_leaves_nothing(
        self, made, tmp_path, another
    ):
        """A crash before its note, and a failover to a server that lacks it, or has another one."""
        copy = StandbyCopy(tmp_path / "standby", PieceDirectory(made))
        position = copy.follow(unheard)
        note = copy.file.with_name("position.json")
        last = self.file(made, position.number)
        head = json.loads(last.read_bytes().partition(b"\n")[0])
        told = {**json.loads(note.read_text()), "number": position.number - 1}
        note.write_text(json.dumps({**told, "sha256": head["before"]}))
        last.unlink()
        if another:
            generation, number = position.generation, position.number
            part = wal.WalPart(wal.WalPlace(0, 0), 0, 0, {})
            pieces.write(made, generation, number, 7, part, head["before"])
        found = copy.follow(unheard)
        fresh = StandbyCopy(tmp_path / "fresh", PieceDirectory(made))
        assert fresh.follow(unheard) == found
        looks = [whole(each, tmp_path / "look.db") for each in (copy, fresh)]
        assert looks[0] == looks[1]

    async def test_many_pieces_are_applied_with_one_sync(self, made, tmp_path, monkeypatch):
        copy, synced = StandbyCopy(tmp_path / "standby", PieceDirectory(made)), []
        fsync = os.fsync
        monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(fd), fsync(fd)))
        found = copy.follow(unheard)
        all_at_once = len(synced)
        monkeypatch.setattr("risala.engine.features.standby.stored.copy.BATCH_PIECES", 1)
        one_by_one = StandbyCopy(tmp_path / "other", PieceDirectory(made))
        assert one_by_one.follow(unheard) == found
        assert len(synced) > 2 * all_at_once
        looks = [whole(each, tmp_path / "look.db") for each in (copy, one_by_one)]
        assert looks[0] == looks[1]


async def test_a_wal_that_began_anew_unseen_is_a_gap(tmp_path):
    database = tmp_path / "a.db"
    async with opened(database) as journal:
        await journal.commit(wal.manual)
        await journal.commit(put(1))
        first = await journal.commit(lambda _: wal.turn(database, None))
        assert first.place.frames > 0
        for _ in range(2):  # folded in twice, by others
            await journal.commit(put(2))
            await journal.commit(lambda _: wal.turn(database, None))
        await journal.commit(put(3))
        with pytest.raises(wal.Gap):
            await journal.commit(lambda _: wal.turn(database, first.place))


async def test_what_a_turn_has_read_outlives_its_transaction(tmp_path):
    """The WAL that it has folded in may begin anew before the next turn."""
    database = tmp_path / "a.db"
    tail = wal.WalTail(database)

    def fail(conn: sqlite3.Connection) -> None:
        tail.turn(conn)
        raise ZeroDivisionError

    async with opened(database) as journal:
        await journal.commit(wal.manual)
        await journal.commit(put(1, 5000))
        await journal.commit(tail.turn)
        tail.forget()
        await journal.commit(lambda _: wal.turn(database, None))  # all of it is in the file
        content = bytearray(await trio.Path(database).read_bytes())
        await journal.commit(put(2, 5000))
        with pytest.raises(ZeroDivisionError):
            await journal.commit(fail)
        await journal.commit(put(3, 5000))  # at the beginning of the WAL: page 2 is not there now
        await journal.commit(tail.turn)
        part = tail.part()
        content.extend(bytes(part.database_pages * part.page_bytes - len(content)))
        for number, page in part.pages.items():
            content[(number - 1) * part.page_bytes : number * part.page_bytes] = page
        assert bytes(content) == await trio.Path(database).read_bytes()


async def test_a_directory_that_is_away_for_a_while_misses_nothing(tmp_path):
    database, shipped = tmp_path / "a.db", tmp_path / "shipped"
    copy = StandbyCopy(tmp_path / "standby", PieceDirectory(shipped))
    shipped.mkdir()
    async with opened(database) as journal, trio.open_nursery() as nursery:
        nursery.start_soon(
            Shipper(journal, PieceDirectory(shipped), SystemClock(), 0.01, again_s=0.01).run
        )
        await until_true((shipped / pieces.SHIPPED).exists)
        generation = pieces.current(shipped)
        away = shipped.rename(tmp_path / "away")
        await write_much(journal, 3, 300)
        away.rename(shipped)
        await until_true(lambda: copy.follow(unheard) and _same(copy, tmp_path, database))
        assert pieces.current(shipped) == generation
        nursery.cancel_scope.cancel()


async def test_a_directory_that_is_full_for_a_while_misses_nothing(tmp_path, monkeypatch):
    """Copies and pieces are cut off in their midst, and leave no room taken behind them."""
    database, shipped = tmp_path / "a.db", tmp_path / "shipped"
    copy = StandbyCopy(tmp_path / "standby", PieceDirectory(shipped))
    shipped.mkdir()
    full = Full(monkeypatch)
    async with opened(database) as journal, trio.open_nursery() as nursery:
        await write_much(journal, 4, 100)
        nursery.start_soon(
            Shipper(journal, PieceDirectory(shipped), SystemClock(), 0.01, again_s=0.01).run
        )
        await until_true(lambda: full.refused >= 3)
        assert len(list(shipped.glob("gen-*"))) <= 1
        full.is_full = False
        await until_true((shipped / pieces.SHIPPED).exists)
        generation, full.is_full, full.refused = pieces.current(shipped), True, 0
        await write_much(journal, 5, 100)
        await until_true(lambda: full.refused >= 3)
        assert pieces.current(shipped) == generation
        full.is_full = False
        await until_true(lambda: copy.follow(unheard) and _same(copy, tmp_path, database))
        assert pieces.current(shipped) == generation
        assert len(list(shipped.glob("gen-*"))) == 1
        nursery.cancel_scope.cancel()


class Full:
    """A disk that takes the first half of whatever is written."""

    def __init__(self, monkeypatch) -> None:
        self.is_full = True
        self.refused = 0
        self._copy, self._put = database_copy.copy, pieces.put
        monkeypatch.setattr(database_copy, "copy", self.copy)
        monkeypatch.setattr(pieces, "put", self.put)

    def _refuse(self, path: Path, data: bytes) -> None:
        path.write_bytes(data[: len(data) // 2])
        self.refused += 1
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def copy(self, source, target, progress) -> None:
        self._copy(source, target, progress)
        if self.is_full:
            self._refuse(target, target.read_bytes())

    def put(self, path: Path, data: bytes) -> None:
        if self.is_full:
            self._refuse(path.with_name(f".{path.name}.partial"), data)
        self._put(path, data)
