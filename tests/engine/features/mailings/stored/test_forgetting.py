"""Rows of mailings and people of lists go: of what was deleted or is old, and of erased numbers."""

from __future__ import annotations

from functools import partial

import pytest

from mailing_book import MailingBook, assert_counted, new_row, number
from risala.config.model import RetentionSection
from risala.engine.features.lists.stored import clear_lists, take_number_from_lists
from risala.engine.features.mailings.records import MailingState, RowState
from risala.engine.features.mailings.stored import checking, figures, forgetting, mailings, rows
from risala.engine.features.own_data.retention import DAY_MS, rules
from risala.engine.features.own_data.stored import erasures
from risala.engine.features.own_data.stored.retention import walk_on
from risala.engine.journal import storage
from risala.engine.model.errors import Conflict


@pytest.fixture
def books(book):
    return MailingBook(book)


def clear(books, limit=2):
    """All that is marked, piece by piece; how many rows went."""
    gone = []
    for work in (forgetting.clear_mailings, clear_lists):
        while not (done := books.book.unit(partial(work, limit=limit))).done:
            gone.append(done.rows)
    return gone


def take(books, row, limit=10):
    """Out of how many rows, and from how many lists, the number of a row was taken."""
    whose = {"organization_id": books.organization_id, "number": number(row), "limit": limit}
    rows = books.book.unit(partial(forgetting.take_number_from_rows, **whose))
    lists = books.book.unit(partial(take_number_from_lists, **whose))
    return rows["mailing rows"], lists["on lists"]


def count(books, table):
    return books.book.one(f"SELECT count(*) FROM {table}")


def walk(books, days=30):
    """All walks of retention's rule for mailings."""
    (rule,) = [
        each for each in rules(RetentionSection(mailings_days=days)) if each.name == "mailings"
    ]
    for each in rule.walks:
        while not books.book.unit(
            partial(walk_on, walk=each, now_ms=books.book.now_ms, after="")
        ).done:
            pass


def end(books, mailing_id, state=MailingState.STOPPED):
    now_ms = books.book.now_ms
    books.book.unit(partial(mailings.end, mailing_id=mailing_id, state=state, now_ms=now_ms))


def test_rows_of_a_deleted_mailing_go_in_pieces_then_it_does(books):
    new, kept = books.draft(5), books.draft(1)
    books.book.unit(partial(mailings.delete, mailing_id=new.id, now_ms=books.book.now_ms))
    assert clear(books) == [2, 2, 1]
    assert count(books, "mailings") == 1
    assert count(books, "mailing_rows") == 1
    assert mailings.mailing(books.conn, kept.id) == kept


def test_people_of_a_deleted_list_go_in_pieces_then_it_does(books):
    gone = books.list(*(number(row) for row in range(4)))
    books.list(number(9), name="Teachers")
    books.conn.execute("UPDATE recipient_lists SET deleted_at = 1 WHERE id = ?", (gone,))
    assert clear(books) == [2, 2, 0]
    assert (count(books, "recipient_lists"), count(books, "list_people")) == (1, 1)


def test_old_mailings_lose_their_rows_and_keep_their_counts(books):
    sent, going, draft = books.sending(3), books.sending(2, upload="upl_2"), books.draft(1)
    messages = [books.send(sent.id, row) for row in (1, 2)]
    for status, message_id in zip((3, 5), messages, strict=True):
        books.conn.execute("UPDATE message SET status = ? WHERE id = ?", (status, message_id))
    books.book.now_ms += 20 * DAY_MS
    end(books, sent.id)
    young = books.draft(1, upload="upl_3")
    books.book.now_ms += 29 * DAY_MS
    walk(books)
    assert mailings.mailing(books.conn, sent.id).keeps_rows
    assert not mailings.mailing(books.conn, draft.id).keeps_rows
    books.book.now_ms += 2 * DAY_MS
    walk(books)
    kept = mailings.mailing(books.conn, sent.id)
    assert (kept.rows, kept.accepted, kept.ready, kept.keeps_rows) == (3, 2, 1, False)
    became = figures.outcomes(books.conn, books.key(sent.id))
    assert (became.delivered, became.failed, became.pending) == (1, 1, 0)
    assert not mailings.mailing(books.conn, young.id).keeps_rows
    assert mailings.mailing(books.conn, going.id).keeps_rows
    assert count(books, "mailing_rows") == 2
    assert storage.uploads(books.conn) == {"upl_2"}


def test_nothing_old_goes_where_it_is_kept_for_ever(books):
    draft = books.draft()
    books.book.now_ms += 1000 * DAY_MS
    assert forgetting.oldest(books.conn) == draft.created_at
    walk(books, days=36_500)
    assert mailings.mailing(books.conn, draft.id).keeps_rows


def test_without_its_rows_a_mailing_neither_starts_nor_is_checked_again(books):
    draft = books.draft()
    books.book.now_ms += 31 * DAY_MS
    walk(books)
    assert forgetting.oldest(books.conn) is None
    with pytest.raises(Conflict, match="no longer kept"):
        books.change(draft.id, state=MailingState.SENDING)
    with pytest.raises(Conflict, match="no longer kept"):
        books.book.unit(partial(checking.begin_check, mailing_id=draft.id, values={}, clears=True))


def test_an_erased_number_is_found_in_each_block_of_rows(books):
    """The index by number is one for each 4,096 rows; a file's blank lines leave blocks out."""
    places = (1, 4095, 4096, 8191, 50_000)
    new = books.add()
    books.store(new.id, *(new_row(row, number=number(7)) for row in places), new_row(50_001))
    shown = erasures.of_number(books.conn, books.organization_id, number(7))
    assert shown.mailing_rows == len(places)
    assert [take(books, 7, limit=3) for _ in range(3)] == [(3, 0), (2, 0), (0, 0)]
    left = rows.after(books.conn, books.key(new.id), 0, 10)
    assert [each.number for each in left] == [*[None] * len(places), number(50_001)]


def test_a_row_of_an_erased_number_keeps_a_message_that_was_not_noted(books):
    """The service ended between the message and its note, and the erasure goes on first."""
    sent = books.sending(3)
    books.accept(sent.id, 1)
    assert take(books, 1) == (1, 0)
    noted = rows.row(books.conn, books.key(sent.id), 1)
    assert (noted.state, noted.number, noted.cells) == (RowState.ACCEPTED, None, ())
    assert_counted(books.conn, sent)


def test_an_erased_number_is_in_no_row_and_on_no_list(books):
    sent, draft, theirs = books.sending(3), books.draft(2), MailingBook(books.book)
    others = theirs.draft(1)
    books.send(sent.id, 1)
    lists = [books.list(number(1), number(2)), books.list(number(1), name="Teachers")]
    theirs.list(number(1))
    shown = erasures.of_number(books.conn, books.organization_id, number(1))
    assert (shown.mailing_rows, shown.lists) == (2, 2)
    assert take(books, 1) == (2, 2)
    assert take(books, 1) == (0, 0)
    first = rows.row(books.conn, books.key(sent.id), 1)
    assert (first.state, first.number, first.cells) == (RowState.ACCEPTED, None, ())
    second = rows.row(books.conn, books.key(draft.id), 1)
    assert (second.state, second.number, second.cells) == (RowState.LEFT_OUT, None, ())
    for each in (sent, draft):
        assert_counted(books.conn, each)
        assert mailings.stored(books.conn, each.id).upload is None
    assert mailings.stored(books.conn, others.id).upload == "upl_1"
    assert rows.row(books.conn, books.key(others.id), 1).number == number(1)
    people = [
        books.book.one("SELECT people FROM recipient_lists WHERE id = ?", each) for each in lists
    ]
    assert people == [1, 0]
    assert books.book.one("SELECT count(*) FROM list_people WHERE number = ?", number(1)) == 1


def test_after_a_restore_no_mailing_sends(books):
    going, draft = books.sending(), books.draft()
    assert books.book.unit(mailings.pause_all) == 1
    assert mailings.mailing(books.conn, going.id).state is MailingState.PAUSED
    assert mailings.mailing(books.conn, draft.id).state is MailingState.DRAFT
