"""Counts by the minute: in memory and on disk they are one, and nothing is counted twice."""

import pytest

from risala.engine.journal import minutes
from risala.engine.journal.minutes import Minutes
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.messages import Change
from risala.engine.model.records.upkeep.service import (
    KEPT_FAILURE_HOURS,
    FailureShare,
    Flow,
    FlowAt,
)
from risala.engine.model.states import Status
from risala.engine.rules.router import TEST_CARRIER, TEST_ROUTE
from risala.sms.cause import Cause

NOW = 30_000_000
"""A minute, and the first of an hour."""
MS = 60_000


def change(kind, minute=NOW, cause=None, carrier="mattel", raw=None, route="+2223"):
    return Change(
        *("sms_1", "org_1", "+22236123456", Status.FAILED, Line(kind, cause), minute * MS),
        *(carrier, 1, raw, None, 1, route),
    )


@pytest.fixture
def counted(book):
    found = Minutes(book.conn)
    found.accepted(3, NOW * MS)
    found.accepted(2, NOW * MS + 59_999)
    found.accepted(1, (NOW + 1) * MS)
    for kind in (Kind.DELIVERED, Kind.UNDELIVERED, Kind.FAILED, Kind.CANCELED):
        found.ended(change(kind, NOW + 1))
    return found


def write(book, counts, now=NOW):
    taken = counts.take()
    book.unit(lambda conn: minutes.add(conn, *taken, now * MS))


@pytest.mark.parametrize("written", [False, True, "half"])
def test_what_is_written_and_what_is_not_are_one(book, counted, written):
    if written == "half":
        counted.accepted(4, NOW * MS)
    if written:
        write(book, counted)
    if written == "half":
        counted.accepted(1, NOW * MS)
    more = 5 if written == "half" else 0
    first = Flow(5 + more)
    assert counted.flow(NOW, NOW + 1) == first
    assert counted.flow(NOW, NOW + 2) == Flow(6 + more, 1, 1, 1, 1)
    assert counted.flow(NOW + 2, NOW + 9) == Flow()
    series = counted.series(NOW - 1, NOW + 2, 1)
    assert series == [
        FlowAt((NOW - 1) * MS, 0, 0, 0, 0, 0),
        FlowAt(NOW * MS, first.accepted, 0, 0, 0, 0),
        FlowAt((NOW + 1) * MS, *[1] * 5),
    ]
    assert counted.series(NOW, NOW + 60, 60) == [FlowAt(NOW * MS, 6 + more, 1, 1, 1, 1)]


def test_only_the_end_of_a_live_message_counts(book):
    counts = Minutes(book.conn)
    for kind in Kind:
        if kind not in (Kind.DELIVERED, Kind.UNDELIVERED, Kind.FAILED, Kind.CANCELED):
            counts.ended(change(kind))
    counts.ended(change(Kind.DELIVERED, route=TEST_ROUTE))
    counts.ended(change(Kind.FAILED, carrier=TEST_CARRIER))
    assert counts.take() == ({}, {})


def test_why_messages_failed_is_told_by_cause_carrier_and_word(book):
    counts = Minutes(book.conn)
    for raw in ("err:027", "err:027", "err:011"):
        counts.ended(change(Kind.UNDELIVERED, cause=Cause.ABSENT, raw=raw))
    write(book, counts)
    counts.ended(change(Kind.UNDELIVERED, cause=Cause.ABSENT, raw="err:027"))
    counts.ended(change(Kind.FAILED, cause=Cause.VALIDITY_OVER, carrier=None))
    counts.ended(change(Kind.CANCELED))
    hour = NOW // 60
    assert counts.failures(hour, 9) == [
        FailureShare("ABSENT", "mattel", "err:027", 3),
        FailureShare("ABSENT", "mattel", "err:011", 1),
        FailureShare("VALIDITY_OVER", None, None, 1),
    ]
    assert counts.failures(hour, 1) == [FailureShare("ABSENT", "mattel", "err:027", 3)]
    assert counts.failures(hour + 1, 9) == []


def test_a_carrier_that_gives_each_failure_a_word_of_its_own_fills_nothing(book):
    counts = Minutes(book.conn)
    for number in range(minutes.WORDS_MAX + 10):
        counts.ended(change(Kind.FAILED, cause=Cause.REJECTED, raw=f"ticket {number}"))
    found = counts.failures(0, 99)
    assert found[0] == FailureShare("REJECTED", "mattel", None, 10)
    assert len(found) == minutes.WORDS_MAX + 1


def test_how_many_failed_as_uncertain_at_a_carrier(book):
    counts = Minutes(book.conn)
    counts.ended(change(Kind.FAILED, cause=Cause.UNCERTAIN, raw="no answer"))
    write(book, counts)
    counts.ended(change(Kind.FAILED, cause=Cause.UNCERTAIN))
    counts.ended(change(Kind.FAILED, cause=Cause.REJECTED))
    counts.ended(change(Kind.FAILED, cause=Cause.UNCERTAIN, carrier="mauritel"))
    hour = NOW // 60
    assert counts.failed_by(Cause.UNCERTAIN, "mattel", hour) == 2
    assert counts.failed_by(Cause.UNCERTAIN, "mattel", hour + 1) == 0


def test_what_nobody_looks_at_any_more_is_forgotten(book, counted):
    write(book, counted)
    later = NOW + minutes.KEPT_MINUTES + 60
    counted.accepted(1, later * MS)
    write(book, counted, later)
    assert book.conn.execute("SELECT minute FROM minute_count").fetchall() == [(later,)]
    assert book.conn.execute("SELECT count(*) FROM failure_count").fetchone() != (0,)
    write(book, counted, NOW + (KEPT_FAILURE_HOURS + 1) * 60)
    assert book.conn.execute("SELECT count(*) FROM failure_count").fetchone() == (0,)


def test_what_could_not_be_written_is_not_lost(book, counted):
    taken = counted.take()
    counted.accepted(1, NOW * MS)
    counted.put_back(*taken)
    assert counted.flow(NOW, NOW + 2) == Flow(7, 1, 1, 1, 1)


def test_every_look_is_a_range_of_the_key(book, counted):
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    counted.flow(NOW, NOW + 2)
    counted.series(NOW, NOW + 2, 1)
    counted.failures(1, 9)
    counted.failed_by(Cause.UNCERTAIN, "mattel", 1)
    book.conn.set_trace_callback(None)
    steps = [step for sql in run for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    looks = [step for step in steps if "count" in step]
    assert len(looks) == 4
    assert all(step.startswith("SEARCH") for step in looks)
