"""Due rows are read once: what is held costs no read, and the order is that of reading it all."""

from __future__ import annotations

import random
import sqlite3

import pytest
from tests.support.repositories import queue_of

from cases import seeds
from risala.engine.delivery.fairqueue import ROWS_MAX, FairQueue, _InHand
from risala.engine.model.records.messages import START

ROUTE = "+222"
PRIORITY = 1


class Fetched(list):
    def fetchall(self):
        return self


class CountingReader:
    """A reader of the journal that counts the rows of queues that are read through it."""

    def __init__(self, conn):
        self._conn = conn
        self.statements = self.rows = 0

    def execute(self, sql, values=()):
        found = self._conn.execute(sql, values)
        if not sql.startswith('SELECT key AS "seq"'):
            return found
        rows = found.fetchall()
        self.statements += 1
        self.rows += len(rows)
        return Fetched(rows)


class NaiveQueue(FairQueue):
    """Reads everything that is due, each time anew, and leaves out what is held."""

    def _next(self, queue, now_ms, count):
        rows = [
            row
            for row in self._rows.due(*queue, now_ms, START, 1_000_000)
            if row.id not in self._held
        ][:count]
        for row in rows:
            self._in_hand.setdefault(queue, _InHand()).ids.add(row.id)
            self._held[row.id] = queue
        return rows


@pytest.fixture
def journal(open_book, tmp_path):
    book = open_book(tmp_path / "due.db")
    book.conn.execute("pragma journal_mode = wal")
    path = (tmp_path / "due.db").as_uri()
    reader = sqlite3.connect(f"{path}?mode=ro", uri=True, isolation_level=None)
    yield book, reader
    reader.close()


def take_all(queue, book):
    taken = []
    while (row := queue.take((ROUTE,), PRIORITY, book.now_ms)) is not None:
        taken.append(row)
    return taken


def test_each_row_is_read_once_however_many_are_held(journal):
    book, conn = journal
    reader = CountingReader(conn)
    organization, count = book.organization(), 5 * ROWS_MAX
    for _ in range(count):
        book.accept(organization)
    queue = FairQueue(queue_of(reader), 4 * ROWS_MAX)
    queue.load(())
    taken = take_all(queue, book)  # and nothing is released: all stay held
    assert len({row.id for row in taken}) == len(taken) == count
    assert reader.rows == count
    assert reader.statements <= 2 * (count // ROWS_MAX + 1), "two looks at most for each read"


def test_a_new_message_behind_many_that_are_held_costs_one_row(journal):
    book, conn = journal
    reader = CountingReader(conn)
    organization = book.organization()
    for _ in range(2 * ROWS_MAX):
        book.accept(organization)
    queue = FairQueue(queue_of(reader), 4 * ROWS_MAX)
    queue.load(())
    assert len(take_all(queue, book)) == 2 * ROWS_MAX
    before = reader.rows
    for n in range(1, 20):
        book.now_ms += 1
        message_id = book.accept(organization)
        queue.hint(ROUTE, PRIORITY, organization, book.now_ms)
        queue.wake(book.now_ms)
        assert [row.id for row in take_all(queue, book)] == [message_id]
        assert reader.rows == before + n


def test_what_comes_back_earlier_than_the_cursor_is_found(journal):
    book, conn = journal
    organization = book.organization()
    ids = [book.accept(organization, due_at=book.now_ms - 10 + n) for n in range(5)]
    queue = FairQueue(queue_of(conn), 64)
    queue.load(())
    taken = take_all(queue, book)
    assert [row.id for row in taken] == ids
    queue.release(ids[1])
    queue.hint(ROUTE, PRIORITY, organization, taken[1].due_at)
    queue.wake(book.now_ms)
    assert [row.id for row in take_all(queue, book)] == [ids[1]]


def test_a_hint_that_comes_before_the_release_is_not_lost(journal):
    """The read between the two comes by the row while it is still held."""
    book, conn = journal
    organization = book.organization()
    first, second = book.accept(organization), book.accept(organization)
    queue = FairQueue(queue_of(conn), 64)
    queue.load(())
    take_all(queue, book)
    queue.hint(ROUTE, PRIORITY, organization, book.now_ms)
    queue.wake(book.now_ms)
    assert take_all(queue, book) == []
    queue.release(first)
    third = book.accept(organization, due_at=book.now_ms + 1)
    book.now_ms += 1
    queue.hint(ROUTE, PRIORITY, organization, book.now_ms)
    queue.wake(book.now_ms)
    assert [row.id for row in take_all(queue, book)] == [first, third]
    assert queue.statistics().rows_held == 3
    queue.release(second)


class Both:
    """The queue and the naive one over the same rows, told and asked the same."""

    def __init__(self, book, conn, chance):
        self.book, self.chance = book, chance
        rows_max = chance.choice((8, 20, 64))
        self.queues = (FairQueue(queue_of(conn), rows_max), NaiveQueue(queue_of(conn), rows_max))
        self.organizations = [book.organization() for _ in range(3)]
        self.held = []

    def tell(self, name, *arguments):
        for queue in self.queues:
            getattr(queue, name)(*arguments)

    def accept(self):
        organization = self.chance.choice(self.organizations)
        due_at = self.book.now_ms + self.chance.choice((-2, -1, 0, 0, 0, 1, 5))
        self.book.accept(organization, due_at=due_at)
        self.tell("hint", ROUTE, PRIORITY, organization, due_at)

    def take(self):
        self.tell("wake", self.book.now_ms)
        for _ in range(self.chance.randrange(12)):
            found = [queue.take((ROUTE,), PRIORITY, self.book.now_ms) for queue in self.queues]
            assert found[0] == found[1]
            if found[0] is not None:
                self.held.append(found[0])

    def end(self):
        """The message's fate is on disk."""
        if self.held:
            row = self.held.pop(self.chance.randrange(len(self.held)))
            self.book.conn.execute("UPDATE message SET status = 2 WHERE id = ?", (row.id,))
            self.tell("release", row.id)

    def put_back(self):
        if self.held:
            row = self.held.pop(self.chance.randrange(len(self.held)))
            self.tell("release", row.id)
            self.tell("hint", ROUTE, PRIORITY, row.organization_id, row.due_at)

    def requeue(self):
        """Due at another time; the hint comes before the release, as in a lane."""
        if self.held:
            row = self.held.pop(self.chance.randrange(len(self.held)))
            due_at = self.book.now_ms + self.chance.choice((-9, 0, 3))
            statement = "UPDATE message SET due_at = ? WHERE id = ?"
            self.book.conn.execute(statement, (due_at, row.id))
            self.tell("hint", ROUTE, PRIORITY, row.organization_id, due_at)
            if self.chance.random() < 0.3:
                self.take()
            self.tell("release", row.id)

    def suspend(self):
        organization = self.chance.choice(self.organizations)
        self.tell("suspend", organization)
        self.take()
        self.tell("resume", organization)

    def pass_time(self):
        self.book.now_ms += self.chance.randrange(4)


@pytest.mark.parametrize("seed", seeds(8, 30))
def test_it_gives_out_what_reading_everything_would_give_out(journal, seed):
    book, conn = journal
    chance = random.Random(seed)
    both = Both(book, conn, chance)
    steps = (both.accept, both.accept, both.take, both.end, both.put_back, both.requeue)
    for _ in range(150):
        chance.choice((*steps, *steps, both.suspend, both.pass_time))()
    while both.held:
        both.end()
    both.tell("load", ())
    book.now_ms += 100
    both.take()
    assert both.queues[0].statistics() == both.queues[1].statistics()
