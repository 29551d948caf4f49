"""Pages of a statement: by kind and time, forwards and back, within a bounded look."""

from __future__ import annotations

import re

import pytest

from risala.engine.journal.accounts import balances, ledger
from risala.engine.model.numbers import ENTRY_KINDS
from risala.engine.model.records.accounts import StatementFilter

MINUTE_MS = 60_000


@pytest.fixture
def shop(book):
    """An organization with an entry a minute: a top-up, 20 charges, an adjustment, 3 charges; and
    between them another's."""
    shop, other = book.organization(10_000), book.organization(10_000)
    for number in range(23):
        book.now_ms += MINUTE_MS
        book.accept(shop)
        book.accept(other)
        if number == 19:
            book.now_ms += MINUTE_MS
            book.unit(lambda conn: ledger.adjust(conn, shop, 5, "adj_1", book.now_ms, note="x"))
    return shop


def page(book, shop, *kinds, since=None, until=None, **more):
    numbers = frozenset(map(ENTRY_KINDS.number, kinds))
    wanted = StatementFilter(organization_id=shop, kinds=numbers, since=since, until=until)
    return balances.page(book.conn, wanted, **{"limit": 10, **more})


def test_a_page_back_is_the_page_that_one_came_from(book, shop):
    pages = [page(book, shop)]
    while pages[-1].older is not None:
        pages.append(page(book, shop, before=pages[-1].older))
    assert [len(each.entries) for each in pages] == [10, 10, 5]
    assert pages[0].newer is None
    assert page(book, shop, after=pages[2].newer).entries == pages[1].entries
    first = page(book, shop, after=pages[1].newer)
    assert first.entries == pages[0].entries
    assert first.older == pages[0].older
    every = [entry.seq for each in pages for entry in each.entries]
    assert every == sorted(every, reverse=True)
    assert {entry.organization_id for each in pages for entry in each.entries} == {shop}


def test_where_no_whole_page_is_newer_it_is_the_first(book, shop):
    first = page(book, shop)
    assert page(book, shop, after=first.entries[3].seq) == first
    assert page(book, shop, after=1 << 60) == first


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        (("topup",), 1),
        (("adjustment",), 1),
        (("topup", "adjustment"), 2),
        (("charge",), 23),
        (("refund",), 0),
        (("refund", "topup"), 1),
        ((), 25),
    ],
)
def test_only_the_kinds_that_are_wanted(book, shop, kinds, count):
    found = page(book, shop, *kinds, limit=100)
    assert len(found.entries) == count
    assert {entry.kind for entry in found.entries} <= {*kinds} or not kinds
    assert (found.older, found.looked_to) == (None, None)


def test_a_time_is_found_among_any_number_of_entries(book, shop):
    every = page(book, shop, limit=100).entries
    for first, last in ((0, 5), (7, 7), (3, 25)):
        since, until = every[last - 1].at if last else None, every[first].at
        found = page(book, shop, since=since, until=until, limit=100)
        assert found.entries == tuple(e for e in every if since <= e.at < until)
    assert page(book, shop, since=book.now_ms + 1).entries == ()
    assert page(book, shop, until=every[-1].at).entries == ()
    assert len(page(book, shop, since=0, until=1 << 60, limit=100).entries) == 25


def test_a_look_is_broken_off_and_goes_on(book, shop):
    found = page(book, shop, "refund", "topup", looked_max=10)
    assert found.entries == ()
    assert found.looked_to is not None
    looks = 0
    while found.older is not None:
        found, looks = (
            page(book, shop, "refund", "topup", looked_max=10, before=found.older),
            looks + 1,
        )
    assert [entry.kind for entry in found.entries] == ["topup"]
    assert looks == 2
    back = page(book, shop, "refund", looked_max=10, after=1)
    assert (back.entries, back.newer is None) == ((), False)


def test_no_look_walks_through_a_ledger(book, shop):
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    page(book, shop, "topup", since=0, until=book.now_ms)
    page(book, shop, "refund", before=9)
    page(book, shop, after=9)
    book.conn.set_trace_callback(None)
    steps = [
        (sql, step) for sql in run for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")
    ]
    walks = [(sql, step) for sql, step in steps if re.match(r"SCAN entry|USE TEMP", step)]
    assert walks == []
    for index in ("entry_by_hand", "entry_by_organization"):
        found = f"{index} (organization=? AND rowid>? AND rowid<?)"
        assert any(found in step for _, step in steps)
