"""Mailings as rows: made, checked, mended, sent, ended and deleted; their counts are those of their
rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from mailing_book import PRICE, MailingBook, assert_counted, new_row, number
from risala.engine.features.mailings.records import MailingState, MailingWait, RowState
from risala.engine.features.mailings.row_records import SettledRow
from risala.engine.features.mailings.stored import checking, figures, mailings, rows, settling
from risala.engine.features.tables.records import RowFault
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.messages import waiting
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.ids import key_of
from risala.engine.model.states import Mode


@pytest.fixture
def books(book):
    return MailingBook(book)


def states(books, mailing_id):
    return [each.state.value for each in rows.after(books.conn, books.key(mailing_id), 0, 100)]


def test_a_mailing_is_read_as_it_was_added(books):
    new = books.add(name="مدرسة", sheets=("Élèves", "التلاميذ"), sender="School", pace=60)
    assert mailings.mailing(books.conn, new.id) == new
    kept = mailings.stored(books.conn, new.id)
    assert (kept.upload, kept.checked, kept.clearing) == ("upl_1", 0, False)


def test_an_unknown_id_is_not_found(books):
    with pytest.raises(NotFound):
        mailings.mailing(books.conn, "mlg_1")


def test_an_organization_has_so_many_open_mailings_at_most(books, monkeypatch):
    monkeypatch.setattr(mailings, "OPEN_MAX", 2)
    first = books.add()
    books.draft()
    with pytest.raises(Conflict, match="at most 2 mailings"):
        books.add()
    books.change(first.id, state=MailingState.DONE, ended_at=books.book.now_ms)
    books.add()
    MailingBook(books.book).add()  # another organization's are not counted


def test_pages_have_an_organizations_mailings_the_newest_first(books):
    made = [books.add(name=str(each)) for each in range(5)]
    MailingBook(books.book).add()
    first = mailings.page(books.conn, books.organization_id, None, 2)
    assert [each.name for each in first.mailings] == ["4", "3"]
    second = mailings.page(books.conn, books.organization_id, first.older, 2)
    last = mailings.page(books.conn, books.organization_id, second.older, 2)
    assert [each.name for each in (*second.mailings, *last.mailings)] == ["2", "1", "0"]
    assert last.older is None
    whole = mailings.page(books.conn, books.organization_id, None, 9)
    assert whole.mailings == tuple(reversed(made))


# -- checking


def test_rows_are_stored_as_they_were_checked(books):
    new = books.add()
    bad = new_row(3, RowFault.VALUE_MISSING, column="name", segments=0, price=0)
    books.store(new.id, new_row(1, segments=2, price=100), replace(new_row(2), number=None), bad)
    kept = mailings.stored(books.conn, new.id)
    assert (kept.mailing.rows, kept.mailing.ready, kept.mailing.bad, kept.checked) == (3, 2, 1, 3)
    found = rows.row(books.conn, kept.key, 3)
    assert (found.state, found.fault, found.column) == (
        RowState.BAD,
        RowFault.VALUE_MISSING,
        "name",
    )
    assert found.cells == (number(3), "Name 3")
    assert_counted(books.conn, new)
    assert books.book.unit(partial(checking.finish_check, mailing_id=new.id)).state is (
        MailingState.DRAFT
    )


def test_a_number_that_opted_out_makes_its_row_bad(books):
    new = books.add()
    organization = books.organization_id
    books.book.unit(
        lambda conn: opt_outs.set_policy(conn, organization, books.book.now_ms, heeds=True)
    )
    books.book.unit(
        lambda conn: opt_outs.note(conn, organization, number(2), "somebody", books.book.now_ms)
    )
    books.store(new.id, new_row(1), new_row(2), new_row(3, RowFault.TOO_LONG))
    assert states(books, new.id) == ["ready", "bad", "bad"]
    assert rows.row(books.conn, books.key(new.id), 2).fault is RowFault.OPTED_OUT
    test = books.add(mode=Mode.TEST)
    books.store(test.id, new_row(2))
    assert states(books, test.id) == ["ready"]


def test_a_second_check_overwrites_rows_but_for_those_that_were_left_out(books):
    new = books.draft(3)
    books.book.unit(partial(checking.leave_out, mailing_id=new.id, number=2))
    begun = books.book.unit(
        partial(checking.begin_check, mailing_id=new.id, values={"text": "Hi"}, clears=False)
    )
    assert (begun.state, begun.text, begun.rows) == (MailingState.CHECKING, "Hi", 3)
    assert mailings.stored(books.conn, new.id).checked == 0
    books.store(new.id, *(new_row(row, segments=2, price=2 * PRICE) for row in (1, 2, 3)))
    assert states(books, new.id) == ["ready", "left_out", "ready"]
    assert mailings.mailing(books.conn, new.id).price == 4 * PRICE
    assert_counted(books.conn, new)


def test_rows_of_another_reading_go_in_pieces_before_new_ones_come(books):
    new = books.draft(5)
    begun = books.book.unit(
        partial(checking.begin_check, mailing_id=new.id, values={"separator": ","}, clears=True)
    )
    assert (begun.rows, begun.ready, begun.price) == (0, 0, 0)
    with pytest.raises(Conflict, match="still being deleted"):
        books.store(new.id, new_row(1))
    clear = partial(checking.clear_rows, mailing_id=new.id, limit=2)
    assert [books.book.unit(clear) for _ in range(4)] == [False, False, True, True]
    books.store(new.id, new_row(1))
    assert states(books, new.id) == ["ready"]
    assert_counted(books.conn, new)


def test_rows_come_only_while_a_mailing_is_checked(books):
    new = books.draft()
    with pytest.raises(Conflict):
        books.store(new.id, new_row(4))
    started = books.sending()
    with pytest.raises(Conflict):
        books.book.unit(
            partial(checking.begin_check, mailing_id=started.id, values={}, clears=True)
        )


def test_a_bad_row_is_mended_in_place(books):
    new = books.add()
    books.store(new.id, new_row(1), new_row(2, RowFault.NUMBER, number=None, segments=0, price=0))
    books.book.unit(partial(checking.finish_check, mailing_id=new.id))
    mended = books.book.unit(partial(checking.mend, mailing_id=new.id, new=new_row(2)))
    assert (mended.state, mended.fault, mended.number) == (RowState.READY, None, number(2))
    worse = new_row(1, RowFault.DOUBLE, number=number(2), segments=0, price=0)
    books.book.unit(partial(checking.mend, mailing_id=new.id, new=worse))
    assert states(books, new.id) == ["bad", "ready"]
    assert_counted(books.conn, new)
    with pytest.raises(NotFound):
        books.book.unit(partial(checking.mend, mailing_id=new.id, new=new_row(7)))


@pytest.mark.parametrize("row", [2, 4096, 90_000])
def test_a_mended_row_is_bad_where_another_that_is_sent_has_its_number(books, row):
    new = books.add()
    twice = new_row(row, RowFault.DOUBLE, number=number(1))
    books.store(new.id, new_row(1), twice)
    books.book.unit(partial(checking.finish_check, mailing_id=new.id))
    mend = partial(checking.mend, mailing_id=new.id, new=new_row(row, number=number(1)))
    assert books.book.unit(mend).fault is RowFault.DOUBLE
    books.book.unit(partial(checking.leave_out, mailing_id=new.id, number=1))
    assert books.book.unit(mend).state is RowState.READY
    assert_counted(books.conn, new)


def test_a_row_that_may_be_on_its_way_is_not_mended(books):
    started = books.sending()
    with pytest.raises(Conflict, match="already being sent"):
        books.book.unit(partial(checking.mend, mailing_id=started.id, new=new_row(1)))


def test_bad_rows_are_left_out_in_pieces_and_one_row_alone(books, monkeypatch):
    monkeypatch.setattr(checking, "ROWS_AT_ONCE", 2)
    new = books.add()
    books.store(new.id, new_row(1), *(new_row(row, RowFault.NUMBER) for row in (2, 3, 4)))
    books.book.unit(partial(checking.finish_check, mailing_id=new.id))
    leave = partial(checking.leave_out, mailing_id=new.id)
    assert books.book.unit(partial(leave, number=None)).bad == 1
    assert books.book.unit(partial(leave, number=None)).bad == 0
    left = books.book.unit(partial(leave, number=1))
    assert (left.ready, left.left_out, left.price) == (0, 4, 0)
    assert books.book.unit(partial(leave, number=1)) == left
    assert_counted(books.conn, new)


def test_a_row_whose_message_is_accepted_but_not_noted_is_not_left_out(books):
    started = books.sending()
    books.accept(started.id, 1)
    with pytest.raises(Conflict, match="already being sent"):
        books.book.unit(partial(checking.leave_out, mailing_id=started.id, number=1))


# -- sending


def test_a_settled_row_has_its_message_and_what_was_paid(books):
    started = books.sending(3)
    key = books.key(started.id)
    message_id = books.send(started.id, 1, segments=2)
    books.settle(started.id, 2, None, RowFault.OPTED_OUT)
    found = rows.row(books.conn, key, 1)
    assert (found.message_id, found.status, found.price) == (message_id, "pending", 100)
    assert rows.row(books.conn, key, 2).fault is RowFault.OPTED_OUT
    assert [each.row for each in rows.ready(books.conn, key, 10)] == [3]
    assert_counted(books.conn, started)
    kept = mailings.mailing(books.conn, started.id)
    assert books.settle(started.id, 1, message_id) == kept
    assert books.settle(started.id, 1, None, RowFault.OTHER) == kept


def test_the_statements_of_a_note_do_not_grow_with_its_rows(books):
    def statements(count):
        started = books.sending(count)
        known = [books.accept(started.id, row) for row in range(1, count + 1)]
        results = [SettledRow(row, key_of(each), None) for row, each in enumerate(known, 1)]
        seen = []
        books.conn.set_trace_callback(seen.append)
        settling.settle(books.conn, started.id, results)
        books.conn.set_trace_callback(None)
        assert_counted(books.conn, started)
        return len(seen)

    assert statements(64) == statements(8)


def test_a_row_that_was_left_out_on_its_way_has_its_message(books):
    started = books.sending()
    books.book.unit(partial(checking.leave_out, mailing_id=started.id, number=2))
    books.settle(started.id, 2, None, RowFault.OTHER)
    assert states(books, started.id) == ["ready", "left_out", "ready"]
    books.send(started.id, 2)
    assert states(books, started.id) == ["ready", "accepted", "ready"]
    assert_counted(books.conn, started)


def test_messages_that_were_not_noted_are_found_by_their_keys(books):
    started = books.sending(4)
    for row in (1, 3, 4):
        books.accept(started.id, row)
    note = partial(settling.note_accepted, mailing_id=started.id, limit=3)
    assert books.book.unit(note).accepted == 2
    assert states(books, started.id) == ["accepted", "ready", "accepted", "ready"]
    assert_counted(books.conn, started)


def test_a_wait_is_noted_while_it_sends(books):
    started = books.sending()
    waits = partial(mailings.wait, wait=MailingWait.BALANCE, again_at=7)
    found = books.book.unit(partial(waits, mailing_id=started.id))
    assert (found.wait, found.again_at) == (MailingWait.BALANCE, 7)
    draft = books.draft()
    assert books.book.unit(partial(waits, mailing_id=draft.id)).wait is None


def test_a_wait_keeps_its_length_when_the_clock_is_set_back(books):
    now_ms = books.book.now_ms
    waits = {MailingWait.BALANCE: now_ms + 500, MailingWait.HOURS: now_ms + 9000}
    going = {each: books.sending(1).id for each in waits}
    for each, again_at in waits.items():
        books.change(going[each], wait=each, again_at=again_at)
    books.book.unit(lambda conn: waiting.follow(conn, 9000, now_ms - 9000))
    found = {each: mailings.mailing(books.conn, name).again_at for each, name in going.items()}
    assert found == {MailingWait.BALANCE: now_ms - 8500, MailingWait.HOURS: now_ms + 9000}


def test_an_ended_mailing_stays_as_it_ended(books):
    started = books.sending()
    end = partial(mailings.end, mailing_id=started.id)
    ended = books.book.unit(partial(end, state=MailingState.STOPPED, now_ms=5))
    assert (ended.state, ended.ended_at) == (MailingState.STOPPED, 5)
    assert books.book.unit(partial(end, state=MailingState.DONE, now_ms=6)) == ended
    going = books.sending(1)
    done = partial(mailings.end, mailing_id=going.id, state=MailingState.DONE, now_ms=7)
    with pytest.raises(Conflict, match="still ready"):
        books.book.unit(done)
    books.send(going.id, 1)
    assert books.book.unit(done).ended_at == 7
    draft = books.draft()
    with pytest.raises(Conflict, match="has not been started"):
        books.book.unit(
            partial(mailings.end, mailing_id=draft.id, state=MailingState.DONE, now_ms=6)
        )


def test_a_change_may_need_a_state(books):
    new = books.draft()
    with pytest.raises(Conflict):
        books.book.unit(
            partial(
                mailings.change,
                mailing_id=new.id,
                values={"state": MailingState.SENDING},
                states=(MailingState.PAUSED,),
            )
        )
    assert books.change(new.id, pace=60, columns=("a",)).columns == ("a",)


def test_a_deleted_mailing_is_seen_no_more(books):
    going, new = books.sending(), books.draft()
    delete = partial(mailings.delete, now_ms=books.book.now_ms)
    with pytest.raises(Conflict, match="Pause it first"):
        books.book.unit(partial(delete, mailing_id=going.id))
    books.book.unit(partial(delete, mailing_id=new.id))
    with pytest.raises(NotFound):
        mailings.mailing(books.conn, new.id)
    assert mailings.page(books.conn, books.organization_id, None, 9).mailings == (going,)


def test_messages_of_a_priority_are_counted_up_to_a_limit(books):
    started = books.sending(5)
    for row in (1, 2, 3):
        books.accept(started.id, row, route=f"+222{row % 2}")
    books.accept(started.id, 4, priority=1)
    MailingBook(books.book).accept(started.id, 5)
    count = partial(settling.queued, books.conn, books.organization_id, 2)
    assert (count(100), count(2)) == (3, 2)


# -- figures


def test_outcomes_are_those_of_its_messages(books):
    started = books.sending(5)
    for row in (1, 2, 3):
        books.send(started.id, row)
    books.conn.execute("UPDATE message SET status = 3 WHERE recipient = ?", (22230000001,))
    books.conn.execute("UPDATE message SET status = 5 WHERE recipient = ?", (22230000002,))
    found = figures.outcomes(books.conn, books.key(started.id))
    assert (found.pending, found.sent, found.delivered, found.failed) == (1, 0, 1, 1)


def test_a_run_counts_up_from_the_first_message_to_the_last_receipt(books):
    started = books.sending(5)
    key = books.key(started.id)
    assert figures.run(books.conn, key) == ()
    for row in (1, 2, 3):
        books.send(started.id, row)
    begin = books.conn.execute("SELECT min(key) >> 15 FROM message").fetchone()[0]
    for recipient, sent, delivered in ((1, 1000, 2000), (2, 1500, None), (3, None, 24_000)):
        books.conn.execute(
            "UPDATE message SET sent_at = ?, delivered_at = ? WHERE recipient = ?",
            (
                None if sent is None else begin + sent,
                None if delivered is None else begin + delivered,
                22_230_000_000 + recipient,
            ),
        )
    points = figures.run(books.conn, key)
    assert len(points) == figures.RUN_POINTS
    assert (points[-1].made, points[-1].sent, points[-1].delivered) == (3, 3, 2)
    assert points[-1].at == begin + 24_000
    assert (points[0].sent, points[1].sent, points[1].delivered) == (1, 2, 1)
    for name in ("at", "made", "sent", "delivered"):
        values = [getattr(each, name) for each in points]
        assert values == sorted(values)
    plans: list[str] = []
    books.conn.set_trace_callback(plans.append)
    figures.run(books.conn, key)
    books.conn.set_trace_callback(None)
    for sql in plans:
        steps = [step for *_, step in books.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert any(step.startswith("SEARCH r USING") for step in steps), steps
        assert any("SEARCH m USING INTEGER PRIMARY KEY" in step for step in steps), steps


def test_failed_rows_come_in_pieces(books, monkeypatch):
    monkeypatch.setattr(rows, "LOOKED_AT", 3)
    started = books.sending(7)
    key = books.key(started.id)
    for row in (1, 2, 5):
        books.send(started.id, row)
    books.conn.execute("UPDATE message SET status = 4 WHERE recipient <> ?", (22230000002,))
    books.settle(started.id, 6, None, RowFault.POLICY)
    pieces, place = [], 0
    while place is not None:
        piece = rows.failed_after(books.conn, key, place, 1)
        pieces += [each.row for each in piece.rows]
        place = piece.after
    assert pieces == [1, 5, 6]


def test_shares_are_by_how_numbers_begin(books):
    new = books.add()
    abroad = replace(new_row(3), number="+221700000001", segments=3)
    books.store(new.id, new_row(1), new_row(2), abroad, new_row(4, RowFault.DOUBLE))
    found = figures.shares(books.conn, books.key(new.id), 5)
    assert [(each.number, each.rows, each.segments) for each in found] == [
        (number(1), 2, 2),
        ("+221700000001", 1, 3),
    ]


def test_places_are_among_those_who_get_a_text(books):
    started = books.sending(5)
    key = books.key(started.id)
    books.send(started.id, 1)
    books.book.unit(partial(checking.leave_out, mailing_id=started.id, number=2))
    assert [figures.by_place(books.conn, key, place) for place in range(6)] == [
        *(None, 1, 3, 4, 5),
        None,
    ]
    assert [figures.place_of(books.conn, key, row) for row in (1, 2, 3, 9)] == [1, 0, 2, 0]
    step = partial(figures.neighbour, books.conn, key)
    assert (step(1, forward=True), step(3, forward=False)) == (3, 1)
    assert (step(5, forward=True), step(1, forward=False)) == (None, None)
