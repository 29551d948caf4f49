"""Answers that wait for a second machine: whatever it does, nothing answered is missing."""

from __future__ import annotations

import errno
import os
import random
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest
import trio
import trio.testing
from sqlite_utils import Database
from tests.engine.features.standby.stored.memory_store import MemoryStore

from patience import HANG_S, until_true
from risala.engine.actors.answer_window import AnswerWindow
from risala.engine.features.standby.stored import wal
from risala.engine.features.standby.stored.awaited_log import AwaitedLog, OrderRefused
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.writer import Journal
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import EngineError, LogSilent, OutcomeUnknown, StorageFailed

pytestmark = pytest.mark.slow

WAIT_S = 5.0


def migrate(db: Database) -> None:
    with db.atomic():
        db.execute("create table if not exists item (id integer primary key, text text)")
        db.execute("create index if not exists item_text on item (text)")


def put(text: str):
    return lambda conn: conn.execute("insert into item (text) values (?)", (text,))


class Span:
    """Seconds, as the test says."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Machine:
    """A journal whose answers wait for a store."""

    def __init__(self, path: Path, **settings) -> None:
        self.path = path / "risala.db"
        self.store = MemoryStore(path)
        self.span = Span()
        self.journal = Journal(self.path, migrate)
        self.log = AwaitedLog(
            self.path,
            self.store,
            self.store,
            SystemClock(),
            answer_wait_s=WAIT_S,
            every_s=0.01,
            again_s=0.01,
            span_s=self.span,
            **settings,
        )
        self.fenced: list[str] = []
        self.window = AnswerWindow()
        self.folder = path

    @asynccontextmanager
    async def running(self) -> AsyncIterator[trio.Nursery]:
        async with trio.open_nursery() as nursery:
            await nursery.start(self.journal.run)
            await self.journal.commit(wal.manual)
            self.journal.await_log(self.log)
            self.log.start(self.fenced.append)
            await trio.to_thread.run_sync(self.log.wait_whole)
            self.window.wait_for(self.log)
            await nursery.start(self.window.run)
            try:
                yield nursery
            finally:
                self.journal.stop()
                self.store.open.set()
                nursery.cancel_scope.cancel()

    async def put(self, text: str) -> None:
        await self.journal.commit(put(text))

    def copied(self) -> set[str]:
        """What another machine has, if this one is no more."""
        copy = StandbyCopy(self.folder / "other", self.store)
        assert copy.follow(_unheard) is not None
        target = self.folder / "settled.db"
        copy.settled(target)
        with closing(open_reader(target)) as conn:
            assert conn.execute("pragma integrity_check").fetchone() == ("ok",)
            return {text for (text,) in conn.execute("select text from item")}

    def written(self) -> set[str]:
        with closing(open_reader(self.path)) as conn:
            return {text for (text,) in conn.execute("select text from item")}


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


async def hung(machine: Machine, nursery: trio.Nursery, text: str) -> trio.Event:
    """A unit that the store does not confirm; the event is set when it is answered."""
    machine.store.asked.clear()
    machine.store.open.clear()
    answered = trio.Event()

    async def work() -> None:
        with suppress(EngineError):
            await machine.put(text)
            answered.set()

    nursery.start_soon(work)
    await until_true(machine.store.asked.is_set)
    return answered


async def test_what_is_answered_is_there(machine):
    async with machine.running():
        assert machine.store.awaited
        for number in range(20):
            await machine.put(f"{number}")
            assert f"{number}" in machine.copied()
        status = machine.log.status()
        assert (status.mode, status.pieces_behind, status.failing) == (
            "before_answer",
            0,
            None,
        )
        assert sum(machine.log.wait_spans().counts) == 20


async def test_no_answer_before_the_store_has_it(machine):
    async with machine.running() as nursery:
        answered = await hung(machine, nursery, "held")
        assert "held" in machine.written()
        assert not answered.is_set()
        machine.store.open.set()
        await answered.wait()
        assert "held" in machine.copied()


class Disk:
    """What is synced, and when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.open = threading.Event(), threading.Event()
        self.fault: OSError | None = None
        self.count = 0
        self._really = os.fdatasync
        self.open.set()
        monkeypatch.setattr(os, "fdatasync", self._sync)

    def _sync(self, fd: int) -> None:
        assert os.readlink(f"/proc/self/fd/{fd}").endswith("-wal")
        self.asked.set()
        self.open.wait(HANG_S)
        if self.fault is not None:
            raise self.fault
        self._really(fd)
        self.count += 1


async def test_the_disk_gets_it_while_the_store_does(machine, monkeypatch):
    disk = Disk(monkeypatch)
    async with machine.running() as nursery:
        answered = await hung(machine, nursery, "held")
        await until_true(lambda: disk.count == 1)
        assert not answered.is_set()
        machine.store.open.set()
        await answered.wait()


async def test_no_answer_before_the_disk_has_it(machine, monkeypatch):
    disk = Disk(monkeypatch)
    async with machine.running() as nursery:
        await machine.put("one")
        disk.open.clear()
        answered = await hung(machine, nursery, "held")
        machine.store.open.set()
        await until_true(lambda: "held" in machine.copied())
        assert not answered.is_set()
        disk.open.set()
        await answered.wait()


async def test_without_waiting_for_the_store_the_disk_has_it_first(machine, monkeypatch):
    disk = Disk(monkeypatch)
    async with machine.running():
        await trio.to_thread.run_sync(machine.log.go_async)
        for number in range(3):
            await machine.put(f"{number}")
            assert disk.count == number + 1


async def test_after_a_sync_that_failed_nothing_more_is_taken(machine, monkeypatch):
    """The system may count as written what the disk did not take: another sync would prove
    nothing."""
    disk = Disk(monkeypatch)
    async with machine.running():
        await machine.put("one")
        former = machine.store.current().generation
        disk.fault = OSError(errno.EIO, os.strerror(errno.EIO))
        with pytest.raises(OutcomeUnknown):
            await machine.put("two")
        disk.fault = None
        assert machine.journal.doubts == 1
        ailment = machine.journal.condition.ailment
        assert ailment.lasting
        assert "has not taken a write (Input/output error)" in ailment.sentence
        with pytest.raises(StorageFailed):
            await machine.put("three")
        assert machine.written() >= {"one"}
        assert "three" not in machine.written()
        await until_true(lambda: machine.store.current().generation != former)


async def test_a_stop_does_not_wait_for_who_hangs_in_the_store(machine, monkeypatch):
    monkeypatch.setattr("risala.engine.features.standby.stored.awaited_log.LAST_S", 0.05)
    with machine.log._pages.writing, trio.fail_after(HANG_S):
        await trio.to_thread.run_sync(machine.log.stop, abandon_on_cancel=True)


async def test_groups_grow_while_one_is_away(machine):
    async with machine.running() as nursery:
        answered = await hung(machine, nursery, "first")
        for number in range(100):
            nursery.start_soon(machine.put, f"{number}")
        await until_true(lambda: machine.journal.statistics().queue_used == 101)
        before = machine.store.tries
        machine.store.open.set()
        with trio.fail_after(HANG_S):
            await answered.wait()
        await until_true(lambda: machine.journal.statistics().queue_used == 0)
        assert machine.store.tries - before <= 2
        assert len(machine.copied()) == 101


@pytest.mark.parametrize("refusal", ["before", "after"])
async def test_a_piece_with_an_unknown_outcome_is_there_once(machine, refusal):
    async with machine.running():
        await machine.put("one")
        generation = machine.store.current().generation
        machine.store.refusals.append(refusal)
        await machine.put("two")
        await machine.put("three")
        assert machine.copied() == {"one", "two", "three"}
        assert machine.store.current().generation == generation


async def test_a_store_that_lost_a_piece_gets_a_new_copy_before_any_answer(machine):
    async with machine.running():
        await machine.put("one")
        former = machine.store.current().generation
        last = max(key for key in machine.store.pieces if key[0] == former)
        del machine.store.pieces[last]
        await machine.put("two")
        assert machine.store.current().generation != former
        assert machine.copied() == {"one", "two"}


async def test_a_fenced_machine_answers_nothing_more(machine):
    async with machine.running():
        await machine.put("one")
        machine.store.refusals.append("fenced")
        with pytest.raises(OutcomeUnknown):
            await machine.put("two")
        assert machine.fenced == ["Another machine has taken the lease."]
        with pytest.raises(EngineError):
            await machine.put("three")
        assert machine.written() == {"one", "two"}
        assert machine.copied() == {"one"}


async def within(machine: Machine, work: Callable[[], Awaitable[object]]) -> object:
    return await machine.window.within(work, OutcomeUnknown)


async def test_three_spans_without_an_answer_and_new_work_is_refused(machine):
    async with machine.running() as nursery:
        answered = await hung(machine, nursery, "held")
        assert not machine.log.is_late
        machine.span.now_s += WAIT_S
        assert machine.log.is_late
        machine.window.admit()
        machine.span.now_s += 2 * WAIT_S
        with pytest.raises(LogSilent):
            machine.window.admit()
        with pytest.raises(LogSilent):
            await within(machine, lambda: machine.put("refused"))
        machine.store.open.set()
        await answered.wait()
        machine.window.admit()
        await machine.put("later")
        assert machine.copied() == {"held", "later"}


async def test_the_caller_is_told_and_the_work_goes_on(machine):
    machine.log.answer_wait_s = 0.01
    async with machine.running():
        machine.store.asked.clear()
        machine.store.open.clear()
        done = trio.Event()

        async def work() -> None:
            await machine.put("held")
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(_later, machine)
            with pytest.raises(OutcomeUnknown):
                await within(machine, work)
        assert not done.is_set()
        machine.store.open.set()
        with trio.fail_after(HANG_S):
            await done.wait()
        assert machine.copied() == {"held"}


async def _later(machine: Machine) -> None:
    await until_true(machine.store.asked.is_set)
    machine.span.now_s += WAIT_S


async def test_what_can_be_read_is_settled_before_it_is_told(machine):
    async with machine.running() as nursery:
        answered = await hung(machine, nursery, "held")
        settled = trio.Event()

        async def settle() -> None:
            await machine.journal.settled()
            settled.set()

        nursery.start_soon(settle)
        await until_true(lambda: machine.journal.statistics().queue_used == 2)
        assert not settled.is_set()
        machine.store.open.set()
        await settled.wait()
        assert answered.is_set()
        await machine.journal.settled()


async def test_an_order_lets_answers_go_once_the_store_knows(machine):
    async with machine.running() as nursery:
        await machine.put("one")
        answered = await hung(machine, nursery, "held")
        with pytest.raises(OrderRefused):
            await trio.to_thread.run_sync(machine.log.go_async)
        assert machine.log.waits
        assert machine.store.awaited
        machine.store.open.set()
        await answered.wait()
        await trio.to_thread.run_sync(machine.log.go_async)
        assert not machine.store.awaited
        machine.store.open.clear()
        await machine.put("not awaited")
        machine.store.open.set()
        machine.log.go_before_answer()
        await machine.put("awaited")
        await until_true(lambda: machine.store.awaited)
        assert machine.copied() == {"one", "held", "not awaited", "awaited"}


async def test_the_next_copy_is_made_beside_the_pieces(tmp_path):
    machine = Machine(tmp_path, pieces_bytes_max=20_000)
    async with machine.running():
        first = machine.store.current().generation
        number = 0
        while machine.store.current().generation == first:
            await machine.put(f"{number} {random.random()}")
            number += 1
        await machine.put("last")
        assert machine.copied() == machine.written()
        assert machine.store.awaited


async def test_a_stop_waits_a_little_for_a_silent_store(machine):
    async with machine.running() as nursery:
        answered = await hung(machine, nursery, "held")
        machine.journal.stop()
        await trio.testing.wait_all_tasks_blocked()
        machine.span.now_s += 10.0
        machine.log.end_soon()
        await until_true(lambda: machine.journal.statistics().queue_used == 0)
        assert not answered.is_set()


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_the_store_does_what_is_answered_is_there(tmp_path, seed):
    chance = random.Random(seed)
    machine = Machine(tmp_path, pieces_bytes_max=40_000)
    answered: set[str] = set()
    lacking: set[int] = set()

    async def client(name: int) -> None:
        for number in range(12):
            text = f"{name}-{number}-{chance.random()}"
            await machine.put(text)
            answered.add(text)
            lacking.discard(name)  # by now it has noticed
            if not lacking and chance.random() < 0.1:
                assert answered <= machine.copied()
            if chance.random() < 0.2:
                machine.store.refusals.append(chance.choice(["before", "after"]))
            if chance.random() < 0.03:
                machine.store.pieces.clear()
                lacking.add(name)

    async with machine.running():
        async with trio.open_nursery() as clients:
            for name in range(8):
                clients.start_soon(client, name)
        await machine.put("last")
        assert answered | {"last"} == machine.written() == machine.copied()


def _unheard(step: str, done: int, total: int) -> None:
    pass
