"""Memory runs out on the writer's thread: nobody waits for ever, and nobody is told what is not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trio

from patience import HANG_S
from risala.engine.journal.store.transaction import run_batch
from risala.engine.journal.store.writer import Journal
from risala.engine.model.errors import Failed, OutcomeUnknown, StorageFailed


def put(conn: sqlite3.Connection) -> str:
    conn.execute("insert into item default values")
    return "put"


def too_much(conn: sqlite3.Connection) -> None:
    put(conn)
    raise MemoryError


def migrate(db: Any) -> None:
    db.execute("create table if not exists item (id integer primary key)")


class Sparse(sqlite3.Connection):
    """Finds no memory where it is told."""

    lacking = ""

    def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
        done = super().execute(sql, *more)
        if sql == self.lacking:
            self.lacking = ""
            raise MemoryError  # after the frames are synced
        return done


def test_one_that_takes_too_much_fails_alone():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        migrate(conn)
        done = run_batch(conn, [put, too_much, put])
        assert [each for each in done.answers if not isinstance(each, Failed)] == ["put", "put"]
        assert isinstance(done.answers[1].error, StorageFailed)
        assert isinstance(done.fault, MemoryError)
        assert conn.execute("select count(*) from item").fetchone() == (2,)


def test_in_the_commit_nobody_knows():
    with closing(sqlite3.connect(":memory:", isolation_level=None, factory=Sparse)) as conn:
        migrate(conn)
        conn.lacking = "commit"
        done = run_batch(conn, [put, put])
        assert [type(each.error) for each in done.answers] == [OutcomeUnknown, OutcomeUnknown]
        assert (done.commits, done.doubts) == (0, 1)


class Poor(Journal):
    """Of which a step meets an error, some times."""

    def __init__(self, path: Path, step: str, error: BaseException, times: int) -> None:
        super().__init__(path, migrate)
        self._step, self._error, self._times = step, error, times

    def _meet_it(self, step: str) -> None:
        if step == self._step and self._times:
            self._times -= 1
            raise self._error

    def _take(self) -> Any:
        self._meet_it("take")
        return super()._take()

    def _run_batch(self, *given: Any) -> Any:
        done = super()._run_batch(*given)
        self._meet_it("run")
        return done

    def _doubt(self, *given: Any) -> Any:
        self._meet_it("doubt")
        return super()._doubt(*given)


async def test_the_thread_waits_until_there_is_some(tmp_path):
    journal = Poor(tmp_path / "risala.db", "take", MemoryError(), 2)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(journal.run)
            assert await journal.commit(put) == "put"
            assert await journal.commit(put) == "put"
            journal.stop()


async def test_what_was_run_when_it_ran_out_is_in_doubt(tmp_path):
    journal = Poor(tmp_path / "risala.db", "run", MemoryError(), 1)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(journal.run)
            with pytest.raises(OutcomeUnknown):
                await journal.commit(put)
            assert journal.doubts == 1
            assert journal.statistics().ailment.startswith("Memory has run out. Find out what")
            assert await journal.commit(put) == "put"
            assert journal.statistics().ailment is None
            journal.stop()


async def test_a_bug_of_the_thread_ends_the_journal(tmp_path):
    """Where it did not, nobody would be answered, and nobody would see why."""
    journal = Poor(tmp_path / "risala.db", "run", LookupError("a bug"), 1)
    with trio.fail_after(HANG_S), pytest.RaisesGroup(LookupError):
        async with trio.open_nursery() as nursery:
            await nursery.start(journal.run)
            await journal.commit(put)
