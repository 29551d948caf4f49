"""What is remembered of messages between their steps saves reading, and decides nothing."""

from __future__ import annotations

import pytest

from risala.engine.journal.messages import delivery, endings, reads, receipts
from risala.engine.journal.messages.under_way import UnderWay
from risala.engine.journal.store.sql import rows_of_values
from risala.engine.model.lines import SENT
from risala.engine.model.records.attempts import (
    Arrival,
    Attempt,
    Decision,
    Lease,
    Step,
    SubmitAnswer,
)
from risala.engine.model.states import SegmentState
from risala.engine.rules.receiptgroups import alone
from risala.sms.receipt import Receipt, ReceiptState

CARRIER = "mattel"


class Desk:
    """Ordinary messages, step by step, each unit once."""

    def __init__(self, book, way=None):
        self.book, self.way = book, way or UnderWay()
        self.organization = book.organization(10_000)
        self.asked: list[str] = []

    def accept(self, count=1, **fields):
        return [self.book.accept(self.organization, **fields) for _ in range(count)]

    def unit(self, work):
        conn = self.book.conn
        conn.execute("BEGIN")
        conn.set_trace_callback(self.asked.append)
        try:
            return work(conn)
        finally:
            conn.set_trace_callback(None)
            conn.execute("COMMIT")

    def start(self, ids, rows=None):
        rows = rows or [reads.row(self.book.conn, one) for one in ids]
        leases = [
            Lease(one, 1, CARRIER, True, None, row) for one, row in zip(ids, rows, strict=True)
        ]
        return self.unit(lambda c: delivery.start(c, leases, self.book.now_ms, self.way))

    def answer(self, names):
        stamp = self.book.stamp()
        answers = [
            SubmitAnswer(
                Attempt(one, 1, 1, CARRIER),
                Decision(Step.ADVANCE, SegmentState.ACCEPTED, SENT, carrier_id=name),
                stamp,
            )
            for one, name in names.items()
        ]
        return self.unit(lambda c: delivery.finish(c, answers, alone, self.way))

    def receipt(self, *names, **told):
        stamp = self.book.stamp()
        arrivals = [
            Arrival(CARRIER, Receipt(name, ReceiptState.DELIVERED, "ok", **told), stamp)
            for name in names
        ]
        return self.unit(lambda c: receipts.record(c, arrivals, alone, self.way))

    def read_rows(self):
        """Statements since the last time that read a message's whole row."""
        found = [
            text for text in self.asked if "FROM message WHERE key =" in text and "tried" in text
        ]
        self.asked.clear()
        return len(found)


@pytest.fixture
def desk(book):
    return Desk(book)


def test_an_ordinary_message_is_never_read_again(desk):
    ids = desk.accept(40)
    names = {one: f"c{n}" for n, one in enumerate(ids)}
    desk.start(ids)
    desk.answer(names)
    desk.receipt(*names.values())
    assert desk.read_rows() == 0
    assert {desk.book.status(one) for one in ids} == {"delivered"}


def test_what_nobody_remembers_is_read(desk):
    (one,) = desk.accept()
    desk.start([one])
    desk.way = UnderWay()
    desk.answer({one: "c1"})
    desk.way = UnderWay()
    desk.receipt("c1")
    assert desk.book.status(one) == "delivered"
    assert desk.read_rows() >= 2


def test_who_was_withdrawn_while_it_waited_does_not_leave(desk):
    kept, gone = desk.accept(2)
    rows = [reads.row(desk.book.conn, one) for one in (kept, gone)]
    desk.book.unit(lambda conn: endings.cancel(conn, gone, desk.book.stamp()))
    started = desk.start([kept, gone], rows)
    assert [one is not None for one in started] == [True, False]
    assert desk.book.status(gone) == "canceled"


@pytest.mark.parametrize("is_read_anew", [False, True])
def test_who_is_past_its_validity_does_not_leave(desk, is_read_anew):
    (one,) = desk.accept()
    row = None if is_read_anew else reads.row(desk.book.conn, one)
    until = "SELECT valid_until FROM message WHERE id = ?"
    (desk.book.now_ms,) = desk.book.conn.execute(until, (one,)).fetchone()
    assert desk.start([one], [row]) == [None]
    assert desk.book.status(one) == "pending"  # until whoever keeps the deadlines ends it


def test_an_id_that_another_message_has_too_is_looked_into(desk):
    first, second = desk.accept(2)
    desk.start([first, second])
    desk.answer({first: "7"})
    desk.answer({second: "7"})
    assert desk.receipt("7") == [()]
    assert {desk.book.status(one) for one in (first, second)} == {"sent"}


def test_two_receipts_of_one_group_for_one_message_end_it_once(desk):
    (one,) = desk.accept()
    desk.start([one])
    desk.answer({one: "c1"})
    stamp = desk.book.stamp()
    by_another_form = Receipt("zz", ReceiptState.DELIVERED, "ok", also_known_as=("c1",))
    plain = Receipt("c1", ReceiptState.DELIVERED, "ok")
    arrivals = [Arrival(CARRIER, receipt, stamp) for receipt in (by_another_form, plain)]
    desk.unit(lambda conn: receipts.record(conn, arrivals, alone, desk.way))
    told = "SELECT count(*) FROM events WHERE type = 'sms.delivered'"
    assert desk.book.one(told) == 1
    assert desk.book.status(one) == "delivered"


def test_a_receipt_for_another_number_ends_nothing(desk):
    (one,) = desk.accept(recipient="+22236123456")
    desk.start([one])
    desk.answer({one: "c1"})
    desk.receipt("c1", recipient="+22236999999")
    assert desk.book.status(one) == "sent"


def test_no_more_are_remembered_than_its_bound(book):
    desk = Desk(book, UnderWay(3))
    ids = desk.accept(8)
    names = {one: f"c{n}" for n, one in enumerate(ids)}
    desk.start(ids)
    assert desk.way.remembered == 3
    desk.answer(names)
    assert desk.way.remembered == 3
    desk.receipt(*names.values())
    assert desk.way.remembered == 0
    assert {book.status(one) for one in ids} == {"delivered"}


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 33, 128, 129, 300])
def test_a_question_about_many_rows_is_asked_of_each(book, count):
    found = rows_of_values(
        book.conn,
        "SELECT column1 FROM ({values}) WHERE column2 = 'odd'",
        2,
        [(n, "odd" if n % 2 else "even") for n in range(count)],
    )
    assert {n for (n,) in found} == set(range(1, count, 2))
