"""The audit finds each kind of fault: books that are right, then one hand that forges a line."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from risala.engine.journal.audit.books import audit, audit_file
from risala.engine.journal.messages import acceptance, endings
from risala.engine.journal.state import load
from risala.engine.model.ids import key_of
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.states import SegmentState
from risala.sms.cause import Cause
from risala.sms.receipt import Receipt, ReceiptState


def keys(ids):
    return {f"{name}_key": key_of(identity) for name, identity in ids.items()}


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
    book.unit(lambda conn: endings.fail(conn, load(conn, ids["failed"]), Cause.REJECTED, stamp))
    ids["canceled"] = book.accept(organization_id)
    stamp2 = book.stamp()
    book.unit(lambda conn: endings.cancel(conn, ids["canceled"], stamp2))
    ids["test"] = book.accept(organization_id, mode="test", price=0)
    ids["single"] = book.accept(organization_id)
    submit(book, ids["single"], 1)
    batch = [book.new_message(organization_id) for _ in range(2)]
    book.unit(lambda conn: acceptance.accept(conn, batch).results)
    ids["first"], ids["second"] = (new.id for new in batch)
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
    assert (report.organizations, report.messages) == (1, 9)
    # A top-up, six charges and one of a batch (the test message has none), two refunds.
    assert report.entries == 10


@pytest.mark.parametrize(
    ("forgery", "sentence"),
    [
        (
            "UPDATE organizations SET balance = balance + 1",
            "organization {organization}: its balance is 9601 minor units,"
            " its ledger adds up to 9600",
        ),
        (
            "DELETE FROM entry WHERE kind = 2",
            "organization {organization}: its balance is 9600 minor units,"
            " its ledger adds up to -400",
        ),
        (
            "UPDATE entry SET balance_after = 7 WHERE seq = 2",
            "ledger entry 2: the balance after it is 7, the entries up to it add up to 9950",
        ),
        (
            "DELETE FROM entry WHERE message = {pending_key}",
            "message {pending}: accepted and not charged its price of 50",
        ),
        (
            "UPDATE entry SET amount = -49 WHERE message = {sent_key}",
            "message {sent}: accepted and not charged its price of 100",
        ),
        (
            "UPDATE message SET price = 51 WHERE id = '{pending}'",
            "message {pending}: accepted and not charged its price of 51",
        ),
        (
            "DELETE FROM entry WHERE message = {failed_key} AND kind = 1",
            "message {failed}: failed and not refunded",
        ),
        (
            "DELETE FROM entry WHERE message = {canceled_key} AND kind = 1",
            "message {canceled}: canceled and not refunded",
        ),
        (
            "UPDATE entry SET amount = 49 WHERE message = {failed_key} AND kind = 1",
            "message {failed}: failed and not refunded",
        ),
        (
            "INSERT INTO entry (organization, kind, amount, balance_after, message, at)"
            " VALUES (1, 1, 100, 9850, {delivered_key}, 0)",
            "message {delivered}: delivered and refunded all the same",
        ),
        (
            "UPDATE message SET status = 5 WHERE id = '{pending}'",
            "message {pending}: failed and not refunded",
        ),
        (
            "UPDATE entry SET message = 7 WHERE message = {pending_key}",
            ": a charge for 7, which is no message",
        ),
        (
            "DELETE FROM segment WHERE message = {sent_key} AND number = 2",
            "message {sent}: sent, but only 1 of its 2 segments were accepted",
        ),
        (
            "UPDATE segment SET state = 2 WHERE message = {delivered_key}",
            "message {delivered}: delivered, but only 0 of its 2 segments were accepted",
        ),
        (
            "UPDATE message SET part_state = 1 WHERE id = '{single}'",
            "message {single}: sent, but only 0 of its 1 segments were accepted",
        ),
        (
            "UPDATE message SET price = 40 WHERE id = '{second}'",
            ": a charge of 100 for 2 messages; 2 name it, which cost 90",
        ),
        (
            "UPDATE message SET charge = 1 + charge WHERE id = '{second}'",
            ": a charge of 100 for 2 messages; 1 name it, which cost 50",
        ),
        (
            "UPDATE message SET key = key - 1000000 WHERE id = '{test}'",
            "message {test}: it is kept by the key of another id",
        ),
        (
            "UPDATE message SET route = 999 WHERE id = '{test}'",
            "message {test}: its organization, its sender or its route is unknown",
        ),
        (
            "INSERT INTO line (message, n, at, kind) VALUES (7, 2, 0, 3)",
            "a segment or a line of the timeline belongs to no message: key 7",
        ),
    ],
)
def test_a_forged_line_is_found(books, forgery, sentence):
    path, ids = books
    with closing(sqlite3.connect(path)) as conn, conn:
        assert conn.execute(forgery.format(**ids, **keys(ids))).rowcount > 0
    report = audit_file(path)
    assert not report.clean
    assert any(sentence.format(**ids) in fault for fault in report.faults), report.faults


def test_the_charge_of_another_organization_is_no_payment(books, open_book):
    path, ids = books
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(
            "INSERT INTO organizations (id, no, name, currency, created_at)"
            " VALUES ('org_x', 2, 'X', 'MRU', 0)"
        )
        conn.execute(
            "UPDATE entry SET organization = 2 WHERE message = ?", (key_of(ids["pending"]),)
        )
    sentence = f"message {ids['pending']}: accepted and not charged its price of 50"
    assert sentence in audit_file(path).faults


def test_a_broken_book_does_not_print_itself(open_book, tmp_path):
    book = open_book(tmp_path / "risala.db")
    organization_id = book.organization()
    for _ in range(80):
        book.accept(organization_id)
    book.conn.execute("UPDATE message SET route = 999")
    assert len(audit(book.conn).faults) == 50


def test_the_audit_writes_nothing(books):
    path, _ = books
    before = path.read_bytes()
    audit_file(path)
    assert path.read_bytes() == before
