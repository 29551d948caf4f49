"""The audit finds each kind of fault: books that are right, then one hand that forges a line."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from risala.engine.journal.attempts import Attempt
from risala.engine.journal.messages import endings
from risala.engine.journal.upkeep.audit import audit, audit_file
from risala.engine.model.lines import Kind, Line
from risala.engine.model.states import SegmentState
from risala.engine.rules.retry import Decision, Step
from risala.sms.cause import Cause
from risala.sms.receipt import Receipt, ReceiptState


@pytest.fixture
def books(open_book, tmp_path):
    """A file with one message of each fate, and their ids by status."""
    path = tmp_path / "risala.db"
    book = open_book(path)
    organization_id = book.organization(10_000)
    ids = {"organization": organization_id, "pending": book.accept(organization_id)}
    for status in ("sent", "delivered"):
        ids[status] = message_id = book.accept(organization_id, segments=2)
        for number in (1, 2):
            submit(book, message_id, number)
    for number in (1, 2):
        receipt = Receipt(f"{ids['delivered']}-{number}", ReceiptState.DELIVERED, "stat:DELIVRD")
        book.record(receipt)
    ids["failed"] = book.accept(organization_id)
    stamp = book.stamp()
    book.unit(lambda conn: endings.fail(conn, ids["failed"], Cause.REJECTED, stamp))
    ids["canceled"] = book.accept(organization_id)
    stamp2 = book.stamp()
    book.unit(lambda conn: endings.cancel(conn, ids["canceled"], stamp2))
    ids["test"] = book.accept(organization_id, mode="test", price=0)
    for status in ("pending", "sent", "delivered", "failed", "canceled"):
        assert book.status(ids[status]) == status
    assert audit(book.conn).clean
    return path, ids


def submit(book, message_id, number):
    book.begin(message_id, number, opens=number == 1)
    name, line = f"{message_id}-{number}", Line(Kind.PART_ACCEPTED)
    accepted = Decision(Step.ADVANCE, SegmentState.ACCEPTED, line, "OK", carrier_id=name)
    book.finish(Attempt(message_id, number, 1, "mattel"), accepted)


def test_books_that_are_right_are_clean_and_counted(books):
    path, _ = books
    report = audit_file(path)
    assert report.clean
    assert (report.organizations, report.messages) == (1, 6)
    # A top-up, five charges (the test message has none), two refunds.
    assert report.entries == 8


@pytest.mark.parametrize(
    ("forgery", "sentence"),
    [
        (
            "UPDATE organizations SET balance = balance + 1",
            "organization {organization}: its balance is 9751 minor units,"
            " its ledger adds up to 9750",
        ),
        (
            "DELETE FROM ledger WHERE kind = 'topup'",
            "organization {organization}: its balance is 9750 minor units,"
            " its ledger adds up to -250",
        ),
        (
            "UPDATE ledger SET balance_after = 7 WHERE seq = 2",
            "ledger entry 2: the balance after it is 7, the entries up to it add up to 9950",
        ),
        (
            "DELETE FROM ledger WHERE reference = '{pending}'",
            "message {pending}: accepted and not charged its price of 50",
        ),
        (
            "UPDATE ledger SET amount = -49 WHERE reference = '{sent}'",
            "message {sent}: accepted and not charged its price of 100",
        ),
        (
            "UPDATE messages SET price = 51 WHERE id = '{pending}'",
            "message {pending}: accepted and not charged its price of 51",
        ),
        (
            "DELETE FROM ledger WHERE reference = '{failed}' AND kind = 'refund'",
            "message {failed}: failed and not refunded",
        ),
        (
            "DELETE FROM ledger WHERE reference = '{canceled}' AND kind = 'refund'",
            "message {canceled}: canceled and not refunded",
        ),
        (
            "UPDATE ledger SET amount = 49 WHERE reference = '{failed}' AND kind = 'refund'",
            "message {failed}: failed and not refunded",
        ),
        (
            "INSERT INTO ledger (organization_id, kind, amount, balance_after, reference, at)"
            " VALUES ('{organization}', 'refund', 100, 9850, '{delivered}', 0)",
            "message {delivered}: delivered and refunded all the same",
        ),
        (
            "UPDATE messages SET status = 'failed' WHERE id = '{pending}'",
            "message {pending}: failed and not refunded",
        ),
        (
            "UPDATE ledger SET reference = 'sms_nobody' WHERE reference = '{pending}'",
            ": a charge for sms_nobody, which is no message",
        ),
        (
            "DELETE FROM idempotency WHERE message_id = '{sent}'",
            "message {sent}: no idempotency key remembers it",
        ),
        (
            "DELETE FROM segments WHERE message_id = '{sent}' AND number = 2",
            "message {sent}: sent, but only 1 of its 2 segments were accepted",
        ),
        (
            "UPDATE segments SET state = 'uncertain' WHERE message_id = '{delivered}'",
            "message {delivered}: delivered, but only 0 of its 2 segments were accepted",
        ),
    ],
)
def test_a_forged_line_is_found(books, forgery, sentence):
    path, ids = books
    with closing(sqlite3.connect(path)) as conn, conn:
        assert conn.execute(forgery.format(**ids)).rowcount > 0
    report = audit_file(path)
    assert not report.clean
    assert any(sentence.format(**ids) in fault for fault in report.faults), report.faults


def test_the_charge_of_another_organization_is_no_payment(books, open_book):
    path, ids = books
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(
            "INSERT INTO organizations (id, name, currency, created_at)"
            " VALUES ('org_x', 'X', 'MRU', 0)"
        )
        conn.execute(
            "UPDATE ledger SET organization_id = 'org_x' WHERE reference = ?", (ids["pending"],)
        )
    sentence = f"message {ids['pending']}: accepted and not charged its price of 50"
    assert sentence in audit_file(path).faults


def test_a_broken_book_does_not_print_itself(open_book, tmp_path):
    book = open_book(tmp_path / "risala.db")
    organization_id = book.organization()
    for _ in range(80):
        book.accept(organization_id)
    book.conn.execute("DELETE FROM idempotency")
    assert len(audit(book.conn).faults) == 50


def test_the_audit_writes_nothing(books):
    path, _ = books
    before = path.read_bytes()
    audit_file(path)
    assert path.read_bytes() == before
