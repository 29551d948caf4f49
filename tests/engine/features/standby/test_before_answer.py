"""Answers that wait for a real PostgreSQL: restarted, cut off, full, or without what it had."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import pytest
import trio
from tests.engine.features.standby.test_postgresql import full

from patience import HANG_S, until_true
from risala.engine.features.standby.stored import wal
from risala.engine.features.standby.stored.awaited_log import AwaitedLog
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.takeover import Takeover
from risala.engine.journal.store import meta
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.writer import Journal
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import EngineError

TERM_S = 30


class Primary:
    """A machine that holds the lease, and whose answers wait for PostgreSQL."""

    def __init__(self, folder: Path, places) -> None:
        self.path = folder / "risala.db"
        self.folder = folder
        self.places = places
        places.lease.take("a", TERM_S, 0, 1, 1)
        self.journal = Journal(self.path, migrate)
        given = self.path, places.pieces, places.another().pieces, SystemClock()
        self.log = AwaitedLog(*given, answer_wait_s=5, every_s=0.05, again_s=0.05)
        self.fenced: list[str] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[trio.Nursery]:
        async with trio.open_nursery() as nursery:
            await nursery.start(self.journal.run)
            await self.journal.commit(wal.manual)
            self.journal.await_log(self.log)
            self.log.start(self.fenced.append)
            with trio.fail_after(HANG_S):
                await trio.to_thread.run_sync(self.log.wait_whole)
            yield nursery
            self.journal.stop()

    async def put(self, text: str) -> None:
        with trio.fail_after(HANG_S):
            await self.journal.commit(lambda conn: meta.put(conn, f"test {text}", text))

    def takeover(self, *, holder: str = "b") -> Takeover:
        other = self.folder / "other"
        other.mkdir(exist_ok=True)
        places = self.places.another(holder, 2)
        return Takeover(
            copy=StandbyCopy(other, places.pieces),
            data_dir=other,
            database=other / "risala.db",
            lease=places.lease,
            term_s=TERM_S,
            clock=SystemClock(),
            progress=lambda step, done, total: None,
        )


def texts(path: Path) -> set[str]:
    with closing(open_reader(path)) as conn:
        rows = conn.execute("SELECT value FROM meta WHERE key LIKE 'test %'")
        return {text for (text,) in rows}


@pytest.fixture
def primary(tmp_path, in_postgresql) -> Primary:
    return Primary(tmp_path, in_postgresql)


def copied(primary: Primary) -> set[str]:
    copy = StandbyCopy(primary.folder / "look", primary.places.another().pieces)
    assert copy.follow(lambda step, done, total: None) is not None
    target = primary.folder / "look.db"
    copy.settled(target)
    return texts(target)


async def test_what_is_answered_is_committed_there(primary):
    async with primary.running():
        for number in range(5):
            await primary.put(f"{number}")
            assert f"{number}" in copied(primary)


async def test_after_a_takeover_nothing_is_missing_and_the_old_one_is_fenced(primary):
    async with primary.running():
        for number in range(5):
            await primary.put(f"{number}")
        run = partial(primary.takeover().run, primary_is_dead=True, resend_pending=False)
        taken = await trio.to_thread.run_sync(run)
        assert taken.has_all
        assert texts(taken.restored.database) == {"0", "1", "2", "3", "4"}
        with pytest.raises(EngineError):
            await primary.put("late")
        assert primary.fenced
        with pytest.raises(EngineError):
            await primary.put("later")


async def test_an_order_to_go_on_alone_is_known_to_a_takeover(primary):
    async with primary.running():
        await primary.put("one")
        await trio.to_thread.run_sync(primary.log.go_async)
        await primary.put("two")
    run = partial(primary.takeover().run, primary_is_dead=True, resend_pending=False)
    taken = await trio.to_thread.run_sync(run)
    assert not taken.has_all


@pytest.mark.slow
async def test_postgresql_is_restarted_in_the_middle(primary, tables):
    stop = trio.Event()
    answered: set[str] = set()

    async def write(name: int) -> None:
        number = 0
        while not stop.is_set():
            await primary.put(f"{name}-{number}")
            answered.add(f"{name}-{number}")
            number += 1

    async def some_more() -> None:
        wanted = len(answered) + 5
        await until_true(lambda: len(answered) > wanted)

    async with primary.running():
        generation = primary.log.status().generation
        async with trio.open_nursery() as writers:
            for name in range(4):
                writers.start_soon(write, name)
            for _ in range(2):
                await some_more()
                await trio.to_thread.run_sync(tables.restart)
            await some_more()
            stop.set()
        assert answered <= copied(primary)
        assert primary.log.status().generation == generation


async def test_its_connection_is_cut_while_the_outcome_is_unknown(primary, tables, installation):
    """A lock of the test's holds the piece up; then its connection is cut."""
    from risala.engine.features.standby.postgresql.session import PostgresqlSession

    async with primary.running() as nursery:
        await primary.put("one")
        blocking = PostgresqlSession(tables.url(), installation)
        free, blocked = threading.Event(), threading.Event()

        def block(conn) -> None:
            with conn.transaction():
                conn.execute("LOCK TABLE risala_standby.piece IN SHARE MODE")
                blocked.set()
                assert free.wait(HANG_S)

        nursery.start_soon(trio.to_thread.run_sync, partial(blocking.run, block))
        await trio.to_thread.run_sync(blocked.wait)
        nursery.start_soon(primary.put, "two")
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND query LIKE '%risala_standby.piece%'"
        )
        await until_true(lambda: tables.sql(waiting) == "1")
        cut = waiting.replace("count(*)", "pg_terminate_backend(pid)")
        assert tables.sql(cut) == "t"
        await until_true(lambda: primary.log.status().failing is not None)
        assert primary.log.status().pieces_behind == 1
        free.set()
        await primary.put("three")
        assert copied(primary) == {"one", "two", "three"}
        blocking.close()


async def test_a_server_that_lost_pieces_is_noticed_though_nothing_is_written(primary, tables):
    async with primary.running():
        await primary.put("one")
        await primary.put("two")
        generation = primary.log.status().generation
        tables.sql(f"DELETE FROM risala_standby.piece WHERE generation = '{generation}'")
        await until_true(lambda: primary.log.status().generation not in (None, generation))
        assert copied(primary) == {"one", "two"}


async def test_its_disk_is_full_for_a_while(primary, tables):
    async with primary.running() as nursery:
        await primary.put("one")
        answered = trio.Event()

        async def put() -> None:
            await primary.put("two")
            answered.set()

        with full(tables):
            nursery.start_soon(put)
            await until_true(lambda: primary.log.status().failing is not None)
            assert "no room left" in primary.log.status().failing
            assert not answered.is_set()
        await answered.wait()
        assert copied(primary) == {"one", "two"}
