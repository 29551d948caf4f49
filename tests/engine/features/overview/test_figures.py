"""Figures come from what was counted, and cost the same however many messages there are."""

import re

import pytest

from risala.engine.features.overview import stored as figures
from risala.engine.features.overview.records import HourFigures
from risala.engine.journal.accounts import balances
from risala.engine.journal.messages import sessions

HOUR_MS = 3_600_000


def count(book, organization_id, hour, outcome, n, bucket=0, network="mattel", mode=0):
    book.conn.execute(
        "INSERT INTO hour_count (organization, outcome, hour, mode, kind, network, bucket, n)"
        " VALUES ((SELECT no FROM organizations WHERE id = ?), ?, ?, ?, 0, ?, ?, ?)",
        (organization_id, outcome, hour, mode, network, bucket, n),
    )


@pytest.fixture
def counted(book):
    organization_id, other = book.organization(), book.organization()
    count(book, organization_id, 10, 0, 100)
    count(book, organization_id, 10, 3, 60, bucket=12)
    count(book, organization_id, 10, 3, 30, bucket=14)
    count(book, organization_id, 10, 4, 4, bucket=20)
    count(book, organization_id, 11, 0, 7, network="mauritel")
    count(book, organization_id, 11, 5, 2, network="mauritel")
    count(book, organization_id, 12, 0, 5)
    count(book, organization_id, 11, 0, 1, mode=1)
    count(book, other, 11, 0, 1000)
    return organization_id


def test_hours_with_what_became_of_their_messages(book, counted):
    found = figures.hours(book.conn, counted, "live", 10, 12)
    assert found == (
        HourFigures(36_000_000, 100, 90, 4, 0, 0),
        HourFigures(39_600_000, 7, 0, 0, 2, 0),
    )
    assert [each.accepted for each in figures.hours(book.conn, counted, "test", 10, 12)] == [1]


def test_networks_with_their_median(book, counted):
    mattel, mauritel = figures.networks(book.conn, counted, "live", 10, 12)
    assert (mattel.network, mattel.accepted, mattel.delivered) == ("mattel", 100, 90)
    assert 2048 <= mattel.median_ms < 4096
    assert (mauritel.network, mauritel.failed, mauritel.median_ms) == ("mauritel", 2, None)
    assert figures.whole_median_ms(book.conn, counted, "live", 10, 12) == mattel.median_ms


@pytest.mark.parametrize(
    ("buckets", "median"),
    [([], None), ([(0, 1)], 0), ([(12, 2)], 3072), ([(3, 1), (12, 1), (20, 1)], 3072)],
)
def test_a_median_is_within_its_bucket(buckets, median):
    found = figures.within_ms(buckets, 0.5)
    assert found == median or (median == 0 and found in (0, 1))


@pytest.mark.parametrize(
    ("buckets", "most"),
    [([], None), ([(12, 95), (20, 5)], 4096), ([(12, 90), (14, 10)], 12_288), ([(0, 20)], 1)],
)
def test_within_what_time_most_are_delivered(buckets, most):
    assert figures.within_ms(buckets, figures.MOST) == most


def test_causes_of_failures_are_counted_up_to_a_bound(book, counted):
    begin = book.now_ms
    ended = [("dead", 5, "live")] * 3 + [("far", 4, "live"), (None, 5, "live"), ("dead", 4, "live")]
    for cause, status, mode in [*ended, ("dead", 5, "test"), ("fine", 3, "live")]:
        message_id = book.accept(counted, mode=mode)
        book.conn.execute(
            "UPDATE message SET status = ?, error_code = ? WHERE id = ?",
            (status, cause, message_id),
        )
    book.accept(book.organization())

    def told(since_ms, **bound):
        found = figures.failures(book.conn, counted, "live", since_ms, begin + HOUR_MS, **bound)
        return {each.cause: each.count for each in found}

    assert told(begin) == {"dead": 4, "far": 1, None: 1}
    assert next(iter(told(begin))) == "dead"
    assert sum(told(begin, looked_max=1).values()) <= 2
    assert told(begin + HOUR_MS) == {}


def test_what_wants_attention(book, counted):
    waits = book.accept(counted)
    due_at = book.one("SELECT due_at FROM message WHERE id = ?", waits)
    assert figures.waiting_since(book.conn, counted, due_at + 1) == due_at
    assert figures.waiting_since(book.conn, counted, due_at) is None
    odd = book.accept(counted)
    book.conn.execute("UPDATE message SET status = 1, part_state = 2 WHERE id = ?", (odd,))
    assert figures.uncertain(book.conn, counted, "live") == (odd,)
    assert figures.uncertain(book.conn, counted, "test") == ()


def test_no_figure_walks_through_a_table(book, counted):
    run = []
    book.conn.set_trace_callback(run.append)
    figures.hours(book.conn, counted, "live", 10, 12)
    figures.networks(book.conn, counted, "live", 10, 12)
    figures.whole_median_ms(book.conn, counted, "live", 10, 12)
    sessions.funnel(book.conn, counted, "live", 1, 2)
    balances.spent(book.conn, counted, 1, 2)
    figures.uncertain(book.conn, counted, "live")
    figures.waiting_since(book.conn, counted, 1)
    figures.failures(book.conn, counted, "live", 1, 2)
    book.conn.set_trace_callback(None)
    steps = [step for sql in run for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert [step for step in steps if re.match(r"SCAN (?!CONSTANT|\(subquery)", step)] == []
