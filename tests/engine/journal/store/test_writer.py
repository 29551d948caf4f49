"""The one writer: a real file, a real thread; fails for real where SQLite can be made to."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlite_utils import Database
from sqlite_utils.utils import sqlite3
from trio.testing import assert_checkpoints

from cases import examples
from patience import HANG_S
from risala.engine.journal.store.transaction import Group, Piece
from risala.engine.journal.store.writer import Journal, Unit
from risala.engine.model.errors import Conflict, Draining, Failed, Overloaded, StorageFailed


def migrate(db: Database) -> None:
    with db.atomic():
        db.execute(
            "create table if not exists item (id integer primary key, text text unique,"
            " parent integer references item(id) deferrable initially deferred)"
        )


@asynccontextmanager
async def opened(path: Path, **options: Any) -> AsyncIterator[Journal]:
    journal = Journal(path, migrate, **options)
    async with trio.open_nursery() as nursery:
        await nursery.start(journal.run)
        yield journal
        journal.stop()


def insert(number: int, text: str | None = None) -> Unit[int]:
    def unit(conn: sqlite3.Connection) -> int:
        conn.execute("insert into item (id, text) values (?, ?)", (number, text))
        return number

    return unit


def refuse(_: sqlite3.Connection) -> None:
    raise Conflict("no")


def insert_then_refuse(number: int) -> Unit[None]:
    def unit(conn: sqlite3.Connection) -> None:
        insert(number)(conn)
        raise Conflict("no, after all")

    return unit


def insert_then_fail(number: int) -> Unit[None]:
    def unit(conn: sqlite3.Connection) -> None:
        insert(number)(conn)
        raise ValueError("a bug")

    return unit


def stored(path: Path) -> list[int]:
    """What a second, independent connection sees."""
    with closing(sqlite3.connect(path)) as conn:
        return [number for (number,) in conn.execute("select id from item order by id")]


@contextlib.contextmanager
def blocked() -> Iterator[tuple[Unit[None], threading.Event, threading.Event]]:
    """A unit that holds the writer; whether it does; and the event that frees it."""
    holds, release = threading.Event(), threading.Event()

    def unit(_: sqlite3.Connection) -> None:
        holds.set()
        assert release.wait(HANG_S)

    try:
        yield unit, holds, release
    finally:
        release.set()


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(HANG_S):
        while not condition():
            await trio.lowlevel.checkpoint()


async def together(journal: Journal, units: Sequence[Unit[Any]]) -> list[Any]:
    """Hand units in while the writer is held, so that they share a batch; what each came to."""
    answers: dict[int, object] = {}

    async def ask(number: int, unit: Unit[Any]) -> None:
        try:
            answers[number] = await journal.commit(unit)
        except Exception as error:  # noqa: BLE001 -- for the test to judge
            answers[number] = error

    with blocked() as (hold, holds, release):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(journal.commit, hold)
            await until(holds.is_set)
            for number, unit in enumerate(units):
                nursery.start_soon(ask, number, unit)
            await until(lambda: journal.statistics().queue_used == 1 + len(units))
            release.set()
    return [answers[number] for number in range(len(units))]


@pytest.fixture(params=[False, True], ids=["thread", "inline"])
def inline(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "risala.db"


async def test_answer_comes_after_the_commit(path, inline):
    async with opened(path, inline=inline) as journal:
        assert await journal.commit(insert(1)) == 1
        assert stored(path) == [1]
    assert stored(path) == [1]


async def test_refusal_without_a_write_keeps_its_neighbours(path):
    async with opened(path) as journal:
        first, refusal, second = await together(journal, [insert(1), refuse, insert(2)])
        assert (first, type(refusal), second) == (1, Conflict, 2)
        assert journal.statistics().commits == 2
        assert journal.statistics().largest_batch == 3
    assert stored(path) == [1, 2]


@pytest.mark.parametrize("bad", [insert_then_refuse(9), insert_then_fail(9), insert(1)])
async def test_a_bad_unit_fails_alone(path, inline, bad):
    async with opened(path, inline=inline) as journal:
        results: list[object] = []

        async def ask(unit: Unit[Any]) -> None:
            try:
                results.append(await journal.commit(unit))
            except (Conflict, ValueError, sqlite3.IntegrityError) as error:
                results.append(type(error))

        await journal.commit(insert(1))
        async with trio.open_nursery() as nursery:
            for unit in (insert(2), bad, insert(3)):
                nursery.start_soon(ask, unit)
        assert sorted(r for r in results if isinstance(r, int)) == [2, 3]
        assert journal.statistics().units == 3
    assert stored(path) == [1, 2, 3]


async def test_a_fault_that_shows_only_at_the_commit_fails_alone(path):
    def orphan(conn: sqlite3.Connection) -> None:
        conn.execute("insert into item (id, parent) values (50, 4711)")

    async with opened(path) as journal:
        first, failure, second = await together(journal, [insert(1), orphan, insert(2)])
    assert (first, type(failure), second) == (1, sqlite3.IntegrityError, 2)
    assert stored(path) == [1, 2]


def insert_all(conn: sqlite3.Connection, numbers: Sequence[int]) -> list[int]:
    """A group's work: the number 13 is a bug, found only after it was written."""
    for number in numbers:
        insert(number)(conn)
        if number == 13:
            raise ValueError("a bug")
    return list(numbers)


async def test_a_bad_item_of_a_group_takes_neither_its_neighbours_nor_other_units(path, inline):
    async with opened(path, inline=inline) as journal:
        units = [Group(insert_all, [1, 2]), Group(insert_all, [12, 13, 14]), insert(20)]
        first, second, third = await journal.commit_all(units)
        assert first == [1, 2]
        assert (second[0], type(second[1].error), second[2]) == (12, ValueError, 14)
        assert third == 20
    assert stored(path) == [1, 2, 12, 14, 20]


async def test_a_group_that_holds_is_one_transaction(path):
    async with opened(path) as journal:
        assert await journal.commit(Group(insert_all, range(12))) == list(range(12))
        assert journal.statistics().commits == 1


def insert_each(conn: sqlite3.Connection, numbers: Sequence[int]) -> list[tuple[int, int] | Failed]:
    """A work for pieces, which tells how many were written together. 7 is refused, 13 a bug."""
    good = [number for number in numbers if number != 7]
    insert_all(conn, good)
    return [Failed(Conflict("no")) if number == 7 else (number, len(numbers)) for number in numbers]


async def test_pieces_side_by_side_are_one_call(path):
    async with opened(path) as journal:
        units = [*(Piece(insert_each, n) for n in (1, 2, 7)), insert(3), Piece(insert_each, 4)]
        first, second, refused, third, last = await journal.commit_all(units)
        assert (first, second, third, last) == ((1, 3), (2, 3), 3, (4, 1))
        assert isinstance(refused.error, Conflict)
        assert journal.statistics().commits == 1
    assert stored(path) == [1, 2, 3, 4]


async def test_a_bad_piece_leaves_its_neighbours(path):
    async with opened(path) as journal:
        units = [Piece(insert_each, n) for n in (1, 13, 7, 2)]
        first, bad, refused, last = await journal.commit_all(units)
        assert (first, last) == ((1, 1), (2, 1))
        assert isinstance(bad.error, ValueError)
        assert isinstance(refused.error, Conflict)
    assert stored(path) == [1, 2]


async def test_pieces_gather_while_a_commit_is_under_way(path):
    async with opened(path, commit_units_max=8) as journal:
        answers = await together(journal, [Piece(insert_each, n) for n in range(20, 40)])
        assert [number for number, _ in answers] == list(range(20, 40))
        assert sorted(size for _, size in answers) == [4] * 4 + [8] * 16


async def test_a_refused_piece_raises_for_who_waits(path, inline):
    async with opened(path, inline=inline) as journal:
        with pytest.raises(Conflict):
            await journal.commit(Piece(insert_each, 7))
        assert await journal.commit(Piece(insert_each, 8)) == (8, 1)


async def test_units_that_gather_share_one_transaction(path):
    async with opened(path) as journal:
        assert await together(journal, [insert(n) for n in range(100)]) == list(range(100))
        seen = journal.statistics()
    assert (seen.commits, seen.units, seen.largest_batch) == (2, 101, 100)
    assert (seen.queue_used, seen.queue_peak) == (0, 101)


async def test_a_batch_is_bounded(path):
    async with opened(path, commit_units_max=8) as journal:
        await together(journal, [insert(n) for n in range(20)])
        assert journal.statistics().largest_batch == 8
        assert journal.statistics().commits == 4


async def test_a_full_queue_refuses_at_once(path):
    with blocked() as (hold, _, release):
        async with opened(path, queue_units_max=2) as journal, trio.open_nursery() as nursery:
            nursery.start_soon(journal.commit, hold)
            nursery.start_soon(journal.commit, insert(1))
            await until(lambda: journal.statistics().queue_used == 2)
            with pytest.raises(Overloaded):
                await journal.commit(insert(2))
            release.set()
    assert stored(path) == [1]


async def test_who_commits_shielded_hears_of_it_though_cancelled(path, inline):
    heard = []
    async with opened(path, inline=inline) as journal:
        with trio.CancelScope() as scope:
            scope.cancel()
            heard.append(await journal.commit_shielded(insert(1)))
            await trio.lowlevel.checkpoint()
        assert scope.cancelled_caught
    assert (heard, stored(path)) == ([1], [1])


async def test_a_cancellation_waits_for_a_shielded_commit(path):
    heard = []

    async def commit() -> None:
        heard.append(await journal.commit_shielded(insert(1)))

    with blocked() as (hold, holds, release):
        async with opened(path) as journal, trio.open_nursery() as nursery:
            nursery.start_soon(journal.commit, hold)
            await until(holds.is_set)
            async with trio.open_nursery() as inner:
                inner.start_soon(commit)
                await until(lambda: journal.statistics().queue_used == 2)
                inner.cancel_scope.cancel()
                release.set()
    assert heard == [1]


async def test_cancelled_while_waiting_commits(path):
    with blocked() as (hold, holds, release):
        async with opened(path) as journal:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(journal.commit, hold)
                await until(holds.is_set)
                nursery.start_soon(journal.commit, insert(2))
                await until(lambda: journal.statistics().queue_used == 2)
                nursery.cancel_scope.cancel()
            assert stored(path) == []
            release.set()
    assert stored(path) == [2]


async def test_cancelled_before_leaves_nothing(path, inline):
    async with opened(path, inline=inline) as journal:
        with trio.CancelScope() as scope:
            scope.cancel()
            await journal.commit(insert(1))
    assert scope.cancelled_caught
    assert stored(path) == []


async def test_commit_is_a_checkpoint(path, inline):
    async with opened(path, inline=inline) as journal:
        with assert_checkpoints():
            await journal.commit(insert(1))


async def test_inline_is_exact_under_a_mock_clock(path, autojump_clock):
    async with opened(path, inline=True) as journal:
        with trio.fail_after(60):
            for number in range(50):
                await journal.commit(insert(number))
        assert trio.current_time() == 0


async def test_stop_empties_the_queue_then_refuses(path):
    with blocked() as (hold, holds, release):
        async with opened(path) as journal, trio.open_nursery() as nursery:
            nursery.start_soon(journal.commit, hold)
            await until(holds.is_set)
            for number in range(10):
                nursery.start_soon(journal.commit, insert(number))
            await until(lambda: journal.statistics().queue_used == 11)
            journal.stop()
            with pytest.raises(Draining):
                await journal.commit(insert(99))
            release.set()
    assert stored(path) == list(range(10))


async def test_cancelled_run_keeps_what_was_handed_in(path, inline):
    async with trio.open_nursery() as nursery:
        journal = Journal(path, migrate, inline=inline)
        await nursery.start(journal.run)
        nursery.start_soon(journal.commit, insert(1))
        await until(lambda: journal.statistics().queue_peak == 1)
        nursery.cancel_scope.cancel()
    assert stored(path) == [1]
    with pytest.raises(Draining):
        await journal.commit(insert(2))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_thread_and_descriptors_end_with_the_journal(path):
    before = descriptors()
    for _ in range(3):
        async with opened(path) as journal:
            await journal.commit(lambda conn: conn.execute("select 1").fetchone())
            journal.reader().execute("select * from item").fetchall()
            assert any(t.name == "risala-journal" for t in threading.enumerate())
    assert not any(t.name == "risala-journal" for t in threading.enumerate())
    assert descriptors() == before
    assert sorted(p.name for p in path.parent.iterdir()) == sorted([path.name, f"made-{path.stem}"])


async def test_disk_full_fails_the_whole_batch_and_heals(path):
    """``max_page_count`` gives SQLITE_FULL as a full disk does."""
    runs: list[int] = []

    def counted(number: int) -> Unit[int]:
        def unit(conn: sqlite3.Connection) -> int:
            runs.append(number)
            return insert(number, "x" * 1000 + str(number))(conn)

        return unit

    async with opened(path) as journal:
        (pages,) = await journal.commit(lambda c: c.execute("pragma page_count").fetchone())
        await journal.commit(lambda c: c.execute(f"pragma max_page_count = {pages + 4}").fetchone())
        failures = await together(journal, [counted(number) for number in range(40)])
        assert {type(failure) for failure in failures} == {StorageFailed}
        assert len(set(map(id, failures))) == 40
        assert len(runs) == len(set(runs)), "no second run"
        assert stored(path) == []
        assert "full" in (journal.statistics().last_error or "")
        await journal.commit(lambda c: c.execute("pragma max_page_count = 100000").fetchone())
        assert await journal.commit(counted(1)) == 1
    assert stored(path) == [1]


@pytest.mark.slow
async def test_a_stray_writer_fails_the_batch_in_bounded_time(path):
    async with opened(path) as journal:
        with closing(sqlite3.connect(path, isolation_level=None)) as stray:
            stray.execute("begin immediate")
            with pytest.raises(StorageFailed):
                await journal.commit(insert(1))
            stray.execute("rollback")
        assert await journal.commit(insert(1)) == 1


async def test_a_unit_that_ends_the_transaction_is_not_run_again(path, inline):
    runs = 0

    def rogue(conn: sqlite3.Connection) -> None:
        nonlocal runs
        runs += 1
        conn.execute("commit")

    async with opened(path, inline=inline) as journal:
        with pytest.raises(StorageFailed):
            await journal.commit(rogue)
        assert runs == 1
        assert await journal.commit(insert(1)) == 1


async def test_reader_sees_commits_and_cannot_write(path, inline):
    async with opened(path, inline=inline) as journal:
        reader = journal.reader()
        await journal.commit(insert(7))
        assert reader.execute("select id from item").fetchall() == [(7,)]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("insert into item (id) values (8)")
    with pytest.raises(sqlite3.ProgrammingError):
        reader.execute("select 1")


actions = st.lists(
    st.sampled_from(["good", "good", "refuse", "write+refuse", "fail", "cancel"]), max_size=40
)


@pytest.mark.slow
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(plan=actions, commit_units_max=st.sampled_from([1, 3, 64]), inline=st.booleans())
def test_what_is_stored_is_what_was_answered(
    tmp_path_factory, plan: list[str], commit_units_max: int, inline: bool
):
    """Any mix of units against the model: stored = answered yes, or cancelled once handed in."""
    path = tmp_path_factory.mktemp("model") / "risala.db"
    yes: set[int] = set()
    cancelled: set[int] = set()

    async def hand_in(journal: Journal, number: int) -> None:
        await trio.lowlevel.checkpoint_if_cancelled()
        cancelled.add(number)
        await journal.commit(insert(number))

    async def ask(journal: Journal, number: int, action: str) -> None:
        unit: Unit[Any] = {
            "refuse": refuse,
            "write+refuse": insert_then_refuse(number),
            "fail": insert_then_fail(number),
        }.get(action, insert(number))
        if action == "cancel":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hand_in, journal, number)
                await trio.lowlevel.checkpoint()  # by chance before or after
                nursery.cancel_scope.cancel()
            return
        try:
            assert await journal.commit(unit) == number
        except Conflict:
            assert action in ("refuse", "write+refuse")
        except ValueError:
            assert action == "fail"
        else:
            assert action == "good"
            assert number in stored(path)
            yes.add(number)

    async def main() -> None:
        async with opened(path, commit_units_max=commit_units_max, inline=inline) as journal:
            async with trio.open_nursery() as nursery:
                for number, action in enumerate(plan):
                    nursery.start_soon(ask, journal, number, action)
            await journal.commit(lambda _: None)
            assert journal.statistics().queue_used == 0

    trio.run(main)
    assert yes == {n for n, action in enumerate(plan) if action == "good"}
    assert set(stored(path)) == yes | cancelled
