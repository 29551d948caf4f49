"""The cursor over the queue, on a real journal file: fair, bounded, and never twice the same."""

from __future__ import annotations

import sqlite3
from collections import Counter

import pytest
from tests.support.repositories import queue_of

from risala.engine.delivery.fairqueue import ROWS_MAX, SPARE, FairQueue
from risala.engine.journal.store import names

ROUTE = "+222"


class Line:
    """A queue, its journal, and a reader of its own as in the engine."""

    def __init__(self, book, path, rows_max):
        self.book = book
        self._reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
        self.queue = FairQueue(queue_of(self._reader), rows_max)
        self.names: dict[str, str] = {}

    def organization(self, name, messages=0, **fields):
        self.names[name] = self.book.organization()
        for _ in range(messages):
            self.add(name, **fields)
        return self.names[name]

    def add(self, name, **fields):
        """Accept a message and leave the hint that the gateway leaves."""
        organization_id = self.names[name]
        message_id = self.book.accept(organization_id, **fields)
        self.queue.hint(
            fields.get("route", ROUTE),
            fields.get("priority", 1),
            organization_id,
            fields.get("due_at", 0),
        )
        return message_id

    def take(self, *routes, priority=1):
        return self.queue.take(routes or (ROUTE,), priority, self.book.now_ms)

    def take_name(self):
        row = self.take()
        if row is None:
            return None
        return next(name for name, known in self.names.items() if known == row.organization_id)

    def start(self, row):
        """A lane takes it: no longer pending."""
        self.book.conn.execute("UPDATE message SET status = 1 WHERE id = ?", (row.id,))
        self.queue.release(row.id)

    def close(self):
        self._reader.close()


@pytest.fixture
def make_line(open_book, tmp_path):
    lines = []

    def make(rows_max=64):
        path = tmp_path / f"queue{len(lines)}.db"
        book = open_book(path)
        book.conn.execute("pragma journal_mode = wal")
        lines.append(Line(book, path, rows_max))
        return lines[-1]

    yield make
    for line in lines:
        line.close()


def test_organizations_take_turns_whatever_each_has_waiting(make_line):
    line = make_line()
    line.organization("bulk", 50)
    line.organization("small", 3)
    line.organization("single", 1)
    turns = [line.take_name() for _ in range(9)]
    assert Counter(turns[:3]) == {"bulk": 1, "small": 1, "single": 1}
    assert turns.count("small") == 3
    assert turns[-2:] == ["bulk", "bulk"]


def test_a_newcomer_waits_for_one_turn_of_each_and_no_longer(make_line):
    line = make_line()
    for name in ("a", "b"):
        line.organization(name, 30)
    for _ in range(10):
        line.take()
    line.organization("late", 1)
    assert "late" in [line.take_name() for _ in range(3)]


def test_each_organizations_own_are_taken_in_order(make_line):
    line = make_line()
    line.organization("a")
    later = line.add("a", due_at=line.book.now_ms - 1)
    now = [line.add("a", due_at=line.book.now_ms) for _ in range(20)]
    line.queue.wake(line.book.now_ms)
    taken = []
    while row := line.take():
        taken.append(row.id)
        line.start(row)
    assert taken == [later, *now]


def test_what_is_held_is_not_given_twice_and_what_is_released_comes_back(make_line):
    line = make_line()
    line.organization("a", 5)
    held = [line.take() for _ in range(5)]
    assert line.take() is None
    assert line.queue.statistics().rows_held == 5
    line.queue.release(held[2].id)
    line.queue.hint(ROUTE, 1, line.names["a"])
    assert line.take().id == held[2].id
    assert line.take() is None
    line.queue.release("unknown")


def test_what_left_the_queue_meanwhile_is_not_read_again(make_line):
    line = make_line()
    line.organization("a", 3 * ROWS_MAX)
    taken = set()
    while row := line.take():
        assert row.id not in taken
        taken.add(row.id)
        line.start(row)
    assert len(taken) == 3 * ROWS_MAX
    statistics = line.queue.statistics()
    assert (statistics.rows_held, statistics.rows_buffered) == (0, 0)
    assert not line.queue.has_work()


def test_memory_is_bounded_however_much_waits(make_line):
    line = make_line(rows_max=16)
    for n in range(30):
        line.organization(f"o{n}", 12)
    for taken in range(1, 200):
        row = line.take()
        statistics = line.queue.statistics()
        assert statistics.rows_buffered <= 16
        # Those that lanes hold are not the queue's; here they are given back at once.
        line.start(row)
        assert statistics.organizations_waiting <= 30, taken
    assert line.queue.statistics().rows_buffered_peak <= 16


def test_codes_and_messages_and_routes_are_apart(make_line):
    line = make_line()
    line.organization("a")
    message, code = line.add("a"), line.add("a", priority=0)
    other = line.add("a", route="+2223")
    assert line.take(priority=0).id == code
    assert line.take(priority=0) is None
    assert line.take("+2223").id == other
    assert line.take("+2223") is None
    assert line.take("@nobody", "+2223", ROUTE).id == message


def test_the_first_route_with_something_is_used(make_line):
    line = make_line()
    line.organization("a", 1, route="+2223")
    line.organization("b", 1, route="+2224")
    assert line.take("+2224", "+2223").organization_id == line.names["b"]
    assert line.take("+2224", "+2223").organization_id == line.names["a"]


def test_a_suspended_organization_is_passed_over_until_it_is_resumed(make_line):
    line = make_line()
    line.organization("a", 20)
    line.organization("b", 2)
    line.take()
    line.queue.suspend(line.names["a"])
    assert line.queue.statistics().rows_buffered <= ROWS_MAX
    line.add("a")
    rest = [line.take_name() for _ in range(4)]
    assert set(rest) <= {"b", None}
    line.queue.resume(line.names["a"])
    seen = [line.take_name() for _ in range(25)]
    # All but the one that a lane holds.
    assert seen.count("a") + rest.count("a") >= 20


def test_what_a_suspension_finds_at_the_start_is_held(make_line):
    line = make_line()
    line.organization("a", 2)
    line.organization("b", 2)
    fresh = FairQueue(queue_of(line._reader), 64)
    fresh.load([line.names["a"]])
    taken = [fresh.take((ROUTE,), 1, line.book.now_ms) for _ in range(3)]
    assert [row and row.organization_id for row in taken] == [line.names["b"]] * 2 + [None]


def test_future_rows_wake_on_time(make_line):
    line = make_line()
    now_ms = line.book.now_ms
    line.organization("a")
    later, soon = line.add("a", due_at=now_ms + 60_000), line.add("a", due_at=now_ms + 1000)
    line.queue.wake(now_ms)
    assert line.take() is None
    assert line.queue.next_due() == now_ms + 1000
    line.book.now_ms = now_ms + 999
    line.queue.wake(line.book.now_ms)
    assert line.take() is None
    line.book.now_ms = now_ms + 1000
    line.queue.wake(line.book.now_ms)
    assert line.take().id == soon
    assert line.take() is None
    # The next one was found by looking, without another hint.
    line.book.now_ms = now_ms + 60_000
    line.queue.wake(line.book.now_ms)
    assert line.take().id == later


def test_a_restart_finds_present_and_future_rows(make_line):
    line = make_line()
    now_ms = line.book.now_ms
    line.organization("a")
    ids = [line.add("a"), line.add("a", due_at=now_ms + 5000)]
    fresh = FairQueue(queue_of(line._reader), 64)
    fresh.load(())
    assert fresh.take((ROUTE,), 1, now_ms).id == ids[0]
    assert fresh.take((ROUTE,), 1, now_ms) is None
    assert fresh.next_due() == now_ms + 5000


def test_what_is_no_longer_valid_is_not_given_out(make_line):
    line = make_line()
    line.organization("a")
    line.add("a", valid_until=line.book.now_ms)
    valid = line.add("a")
    assert line.take().id == valid
    assert line.take() is None


def test_a_row_that_was_sorted_anew_while_it_was_held_is_given_out_once(make_line):
    line = make_line()
    line.organization("one", 1)
    row = line.take()
    line.book.unit(lambda conn: _reroute(conn, row.id, "+2223"))
    line.queue.hint("+2223", 1, row.organization_id)
    assert line.take("+2223") is None
    line.queue.release(row.id)  # it goes back: as pending as it was
    line.queue.wake(line.book.now_ms)
    assert line.take("+2223").id == row.id
    assert line.queue.statistics().rows_held == 1


def test_rows_of_a_route_that_is_none_any_more_are_let_go(make_line):
    line = make_line()
    line.organization("one", 3)
    first = line.take()
    line.queue.keep_only(lambda route: route != ROUTE)
    assert line.queue.statistics().rows_buffered == 0
    assert line.queue.statistics().rows_held == 1
    line.queue.release(first.id)
    assert line.queue.statistics().rows_held == 0


def _reroute(conn, message_id, route):
    number = names.number(conn, route)
    conn.execute("UPDATE message SET route = ? WHERE id = ?", (number, message_id))


def test_ever_earlier_messages_leave_nothing_behind(make_line):
    line = make_line()
    line.organization("one")
    last = line.book.now_ms + 86_400_000
    for earlier_ms in range(500):
        line.queue.hint(ROUTE, 1, line.names["one"], last - earlier_ms)
    assert len(line.queue._future) <= 2 + SPARE
    assert line.queue.next_due() == last - 499
