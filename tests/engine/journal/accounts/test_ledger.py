"""Money as entries: each with the balance after it, nothing twice, nothing negative."""

from __future__ import annotations

import sqlite3

import pytest

from risala.engine.journal.accounts import balances, ledger
from risala.engine.journal.audit.books import audit
from risala.engine.journal.messages.acceptance import accept, accept_one
from risala.engine.model.errors import Conflict, Forbidden, InsufficientBalance, NotFound
from risala.engine.model.ids import key_of
from risala.engine.model.records.accounts import StatementFilter


def entries(book, organization_id):
    query = "SELECT kind, amount, balance_after FROM ledger WHERE organization_id = ? ORDER BY seq"
    return book.conn.execute(query, (organization_id,)).fetchall()


def balance(book, organization_id):
    return book.one("SELECT balance FROM organizations WHERE id = ?", organization_id)


def test_each_entry_tells_the_balance_after_it(book):
    organization_id = book.organization(100)
    message_id = book.accept(organization_id)
    key = key_of(message_id)
    book.unit(lambda conn: ledger.refund(conn, organization_id, 50, key, book.now_ms))
    entry = book.unit(lambda conn: ledger.adjust(conn, organization_id, -30, "slip", book.now_ms))
    assert (entry.kind, entry.amount, entry.balance_after) == ("adjustment", -30, 70)
    assert entries(book, organization_id) == [
        ("topup", 100, 100),
        ("charge", -50, 50),
        ("refund", 50, 100),
        ("adjustment", -30, 70),
    ]
    assert balance(book, organization_id) == 70


def test_a_refund_is_given_once(book):
    organization_id = book.organization(100)
    key = key_of(book.accept(organization_id))
    for _ in range(3):
        book.unit(lambda conn: ledger.refund(conn, organization_id, 50, key, book.now_ms))
    assert balance(book, organization_id) == 100
    assert [kind for kind, _, _ in entries(book, organization_id)].count("refund") == 1


def test_the_file_itself_keeps_a_second_refund_out(book):
    insert = (
        "INSERT INTO entry (organization, kind, amount, balance_after, message, at)"
        " VALUES (1, 1, 1, 1, 7, 0)"
    )
    book.conn.execute(insert)
    with pytest.raises(sqlite3.IntegrityError):
        book.conn.execute(insert)


def test_the_file_itself_keeps_a_second_message_of_a_client_s_key_out(book):
    organization_id = book.organization(100)
    news = [book.new_message(organization_id, idempotency_key="k") for _ in range(2)]
    book.unit(lambda conn: accept_one(conn, news[0], None))
    with pytest.raises(sqlite3.IntegrityError):
        book.conn.execute(
            "INSERT INTO message (key, id, organization, mode, kind, encoding, priority, status,"
            " recipient, sender, segments, price, currency, route, valid_until, client_key, body)"
            " VALUES (7, 'x', 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 'x', 1, 1, 'k', '')"
        )


def test_the_file_itself_keeps_a_balance_from_going_below_nothing(book):
    organization_id = book.organization(100)
    with pytest.raises(sqlite3.IntegrityError):
        book.conn.execute("UPDATE organizations SET balance = -1 WHERE id = ?", (organization_id,))


def test_an_adjustment_never_makes_it_negative(book):
    organization_id = book.organization(100)
    with pytest.raises(Conflict):
        ledger.adjust(book.conn, organization_id, -101, "slip", book.now_ms)
    book.unit(lambda conn: ledger.adjust(conn, organization_id, -100, "all", book.now_ms))
    assert balance(book, organization_id) == 0


def test_a_reference_is_credited_once_whoever_brings_it(book):
    first, other = book.organization(0), book.organization(0)
    book.unit(lambda conn: ledger.top_up(conn, first, 100, "BK-778 x", book.now_ms, note="desk"))
    for organization_id, amount, reference in ((first, 100, "BK-778 x"), (other, 7, "bk-778 X")):
        before = book.conn.total_changes
        with pytest.raises(Conflict, match=f"BK-778 x was already credited: 1.00 to {first}, at"):
            ledger.top_up(book.conn, organization_id, amount, reference, book.now_ms)
        # A refusal after a write would cost its whole batch a second run.
        assert book.conn.total_changes == before
    assert entries(book, first) == [("topup", 100, 100)]
    assert balance(book, other) == 0
    # A message's charge and a payment may be called the same: only payments are compared.
    message_id = book.accept(first)
    book.unit(lambda conn: ledger.top_up(conn, other, 5, message_id, book.now_ms))
    assert audit(book.conn).clean


def test_the_file_itself_keeps_a_reference_from_being_credited_twice(book):
    insert = (
        "INSERT INTO entry (organization, kind, amount, balance_after, reference, at)"
        " VALUES (1, 2, 1, 1, ?, 0)"
    )
    book.conn.execute(insert, ("BK-1",))
    with pytest.raises(sqlite3.IntegrityError):
        book.conn.execute(insert, ("bk-1",))


@pytest.mark.parametrize("write", [ledger.top_up, ledger.adjust])
def test_nobody_has_no_money(book, write):
    with pytest.raises(NotFound):
        write(book.conn, "org_unknown", 100, "cash", book.now_ms)
    assert book.one("SELECT count(*) FROM ledger") == 0


@pytest.mark.parametrize(
    ("money", "price", "accepted"),
    [(50, 50, True), (49, 50, False), (0, 50, False), (0, 0, False), (1, 0, True)],
)
def test_a_message_is_taken_when_the_balance_covers_it_and_is_not_nothing(
    book, money, price, accepted
):
    organization_id = book.organization(money)
    new = book.new_message(organization_id, price=price)
    if accepted:
        assert book.unit(lambda conn: accept_one(conn, new, None)).results == [new.response]
        assert balance(book, organization_id) == money - price
    else:
        before = book.conn.total_changes
        with pytest.raises(InsufficientBalance):
            accept_one(book.conn, new, None)
        # A refusal after a write would cost its whole batch a second run.
        assert book.conn.total_changes == before
        assert balance(book, organization_id) == money
    assert audit(book.conn).clean


def test_a_suspended_organization_pays_nothing_and_sends_nothing(book):
    organization_id = book.organization(100)
    new = book.new_message(organization_id)
    book.conn.execute("UPDATE organizations SET status = 'suspended'")
    with pytest.raises(Forbidden):
        accept_one(book.conn, new, None)
    assert book.one("SELECT count(*) FROM messages") == 0


def test_in_a_batch_each_stands_alone_and_the_money_is_spent_in_order(book):
    organization_id = book.organization(120)
    prices = [50, 100, 50, 50, 20]
    news = [book.new_message(organization_id, price=price) for price in prices]
    results = book.unit(lambda conn: [_word(each) for each in accept(conn, news).results])
    assert results == ["taken", "poor", "taken", "poor", "taken"]
    assert balance(book, organization_id) == 0
    assert entries(book, organization_id) == [
        ("topup", 120, 120),
        ("charge", -120, 0),
    ]
    wanted = StatementFilter(organization_id=organization_id, kinds=frozenset())
    charge, _ = balances.page(book.conn, wanted, limit=2).entries
    assert (charge.reference, charge.messages) == (news[0].id, 3)
    assert audit(book.conn).clean


def _word(result):
    if isinstance(result, InsufficientBalance):
        return "poor"
    assert isinstance(result, bytes)
    return "taken"


def test_test_messages_touch_no_money(book):
    organization_id = book.organization(0)
    message_id = book.accept(organization_id, mode="test", price=0)
    assert book.status(message_id) == "pending"
    assert entries(book, organization_id) == []
    assert audit(book.conn).clean
