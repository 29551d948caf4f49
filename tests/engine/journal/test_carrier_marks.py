"""By what carriers share receipts: remembered for a while after one is gone or another."""

from __future__ import annotations

from risala.engine.journal import carriers
from risala.engine.journal.carriers import KEPT_MS
from risala.engine.rules.receiptgroups import Member, ReceiptGroups

A = Member("a", "smpp", "smsc us")
B = Member("b", "smpp", "smsc us")
ALONE = Member("c", "modem", "")


def take_over(book, *members, at_ms=0):
    book.unit(lambda conn: carriers.take_over(conn, members, at_ms))


def test_one_that_is_gone_is_remembered_for_a_week(book):
    take_over(book, A, B)
    assert carriers.former(book.conn, 1) == []
    take_over(book, B, at_ms=1000)
    assert carriers.former(book.conn, 1000 + KEPT_MS) == [A]
    assert carriers.former(book.conn, 1001 + KEPT_MS) == []
    take_over(book, B, at_ms=1001 + KEPT_MS)
    assert book.one("SELECT count(*) FROM carrier_marks") == 1


def test_one_that_comes_back_is_there(book):
    take_over(book, A)
    take_over(book, at_ms=1000)
    take_over(book, A, at_ms=2000)
    assert carriers.former(book.conn, 3000) == []
    assert not carriers.differ(book.conn, [A])


def test_one_that_shares_with_nobody_is_not_written_down(book):
    assert not carriers.differ(book.conn, [ALONE])
    take_over(book, ALONE)
    assert book.one("SELECT count(*) FROM carrier_marks") == 0


def test_another_account_of_the_same_carrier_is_remembered_beside_the_new_one(book):
    take_over(book, A, B)
    other = Member("a", "smpp", "smsc others", receipt_group="g")
    assert carriers.differ(book.conn, [other, B])
    take_over(book, other, B, at_ms=1000)
    assert carriers.former(book.conn, 2000) == [A]
    groups = ReceiptGroups([other, B, *carriers.former(book.conn, 2000)])
    assert groups.of("b") == ("a", "b")
