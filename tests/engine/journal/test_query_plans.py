"""The time of each step in a message's life does not grow with the books.

Every statement that the units of work run is shown to SQLite's planner: a table that only ever
grows is reached by an index.
"""

from __future__ import annotations

import re
from functools import partial

import pytest

from mailing_book import MailingBook, new_row
from mailing_book import number as number_of
from risala.config.model import OnUncertain, RetentionSection
from risala.engine.features.alerts.stored import facts
from risala.engine.features.lists import stored as stored_lists
from risala.engine.features.mailings.records import MailingState, RowState
from risala.engine.features.mailings.stored import checking, forgetting, mailings, rows, settling
from risala.engine.features.mailings.stored import figures as figures_of_mailings
from risala.engine.features.own_data.records import ErasureStep, RetentionDays
from risala.engine.features.own_data.retention import all_rules
from risala.engine.features.own_data.stored import erasing, erasures
from risala.engine.features.own_data.stored import retention as retention_of
from risala.engine.features.own_data.stored.retention import RetentionRepository, walk_on
from risala.engine.features.payments.stored import payments
from risala.engine.features.payments.stored import texts as bank_texts
from risala.engine.journal import storage
from risala.engine.journal.accounts import accounts, balances, ledger, references, senders
from risala.engine.journal.accounts import keys as stored_keys
from risala.engine.journal.inbound import inbound
from risala.engine.journal.messages import (
    acceptance,
    answers,
    awaiting,
    deadlines,
    endings,
    held,
    sessions,
    timeline,
    waiting,
)
from risala.engine.journal.messages import (
    reads as messages,
)
from risala.engine.journal.pages import lists
from risala.engine.journal.store.repository import Store
from risala.engine.journal.webhooks import history
from risala.engine.model.errors import Conflict, InsufficientBalance
from risala.engine.model.features import features
from risala.engine.model.ids import key_of
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.accounts import StatementFilter
from risala.engine.model.records.asks import Steps
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.records.inbound import OptOutFilter, ReceivedFilter
from risala.engine.model.records.message_lists import MessageFilter, SessionFilter
from risala.engine.model.states import SegmentState
from risala.sms.receipt import Receipt, ReceiptState

SMALL = {
    "opt_out_policies": "a row for each organization that chose one",
    "kept_days": "a row for each organization that chose days",
    "inbound_routes": "a row for each route that an operator made",
    "unmatched_receipts": "a thousand at most",
    "credited": "looked at where an insert's foreign key is broken",
}
"""Tables that may be walked through, and why."""
ALIASES = ("v", "m", "s", "e", "o", "l", "r", "p")
BOUNDED = re.compile(
    r"SCAN (message USING INDEX message_processing|mailings USING INDEX mailings_clearing"
    r"|recipient_lists USING INDEX recipient_lists_deleted)$"
)
"""Partial indexes: of what is in flight, walked through by a restart; of what is being deleted."""

LINE = Line(Kind.HELD_BACK)
NUMBER = "+22236123456"


def a_life_of_everything(book):
    """Each unit of work at least once, and what the loop thread reads."""
    conn, organization_id = book.conn, book.organization()

    def submit(message_id, number, decision, carrier="mattel"):
        book.begin(message_id, number, carrier, opens=number == 1)
        book.finish(Attempt(message_id, number, 1, carrier), decision)

    def yes(carrier_id):
        return Decision(Step.ADVANCE, SegmentState.ACCEPTED, LINE, "OK", carrier_id=carrier_id)

    def receipt(carrier_id):
        book.record(Receipt(carrier_id, ReceiptState.DELIVERED, "DELIVRD"))

    delivered = book.accept(organization_id, segments=2)
    receipt("early")
    submit(delivered, 1, yes("early"))
    submit(delivered, 2, yes("p2"))
    receipt("p2")
    receipt("p2")
    failed = book.accept(organization_id)
    submit(failed, 1, Decision(Step.FAIL, SegmentState.REFUSED, LINE, "ESME_RINVDSTADR"))
    again = book.accept(organization_id)
    submit(again, 1, Decision(Step.REQUEUE, SegmentState.WAITING, LINE, "ESME_RTHROTTLED"))
    stamp = book.stamp()
    book.unit(lambda conn: endings.cancel(conn, again, stamp))
    with pytest.raises(Conflict):
        endings.cancel(conn, failed, stamp)
    for action in ("resend", "fail"):
        message_id = book.accept(organization_id)
        submit(
            message_id,
            1,
            Decision(
                Step.AWAIT,
                SegmentState.UNCERTAIN,
                LINE,
                "TIMEOUT",
                resolve_at=book.now_ms,
                resolve_action=action,
            ),
        )
    lost = book.accept(organization_id)
    book.begin(lost)
    policy = OnUncertain(action="fail", after_s=0)
    book.recover(policy)
    book.accept(organization_id, valid_until=book.now_ms)
    stamps = [book.stamp() for _ in range(10)]
    book.unit(lambda conn: deadlines.resolve_due(conn, stamps))
    book.unit(lambda conn: deadlines.expire_due(conn, stamps))
    book.unit(lambda conn: held.forget(conn, book.now_ms + 1, book.now_ms))
    poor = book.organization(0)
    with pytest.raises(InsufficientBalance):
        acceptance.accept_one(conn, book.new_message(poor), None)
    known = book.new_message(organization_id, idempotency_key=f"key-{delivered}")
    book.unit(lambda conn: acceptance.accept_one(conn, known, None))
    book.unit(lambda conn: awaiting.note_reachable(conn, "mattel", ["mattel"], NUMBER, book.now_ms))
    deadlines.next_deadline(conn)
    messages.queues(conn)
    messages.due(conn, "+222", 1, organization_id, book.now_ms, (0, 0), 8)
    messages.next_due(conn, "+222", 1, organization_id, book.now_ms)
    messages.view(conn, delivered)
    messages.acknowledged_parts(conn, delivered)
    answers.known_answer(conn, organization_id, "live", "key")
    answers.used_keys(conn, organization_id, "live", ["key"])
    timeline.read(conn, delivered)
    balances.page(
        conn, StatementFilter(organization_id=organization_id, kinds=frozenset()), limit=10
    )
    stored_keys.key_by_hash(conn, b"digest")
    accounts.organization(conn, organization_id)


def an_end_of_everything(book):
    """What is kept for fewer days, a number that is taken out, and a whole organization."""
    conn, organization_id = book.conn, book.organization()
    book.accept(organization_id)
    days = RetentionDays(1, 1, 1)
    book.unit(lambda conn: retention_of.choose(conn, organization_id, days))
    for rule in all_rules(RetentionSection(), RetentionRepository(Store(None, conn, None))):
        for walk in rule.walks:
            book.unit(partial(walk_on, walk=walk, now_ms=book.now_ms, after=""))
    erasures.of_number(conn, organization_id, NUMBER)
    accounts.of_deletion(conn, organization_id)
    for name, number in (("del_1", NUMBER), ("del_2", None)):
        asked = (name, organization_id, number, "owner@example.com", book.now_ms)
        erasure = book.unit(partial(_begun, asked))
        erasing.open_sessions(conn, erasure, 10)
        erasing.pending(conn, erasure, 10)
        for step in ErasureStep:
            if step not in (ErasureStep.CODES, ErasureStep.PENDING):
                book.unit(partial(_at, name, step))
                book.unit(partial(_take_out, name))


def what_alerts_look_at(book):
    """Over all organizations, every minute or five."""
    conn, organization_id = book.conn, book.organization()
    book.accept(organization_id)
    waiting.oldest_due(conn, book.now_ms + 1)
    facts.low_balances(conn, 0, 50, book.now_ms)
    facts.codes_by_prefix(conn, book.now_ms, 8)
    facts.has_inbound_routes(conn)
    facts.inbound_unserved(conn, book.now_ms)
    storage.newest_ms(conn)
    storage.first_ms(conn)
    facts.organizations_end(conn)
    facts.add_counts(conn, 1, 0, {})
    facts.add_sessions(conn, 1, {})
    waiting.unserved(conn, 10)


def mailings_from_their_file_to_their_end(book):
    """All reads and units, also those of what follows when they are forgotten."""
    books = MailingBook(book)
    conn, sent = book.conn, books.sending(5)
    key = books.key(sent.id)
    for row in (1, 2):
        books.send(sent.id, row)
    books.settle(sent.id, 3, None)
    book.unit(partial(settling.note_accepted, mailing_id=sent.id, limit=9))
    book.unit(partial(checking.leave_out, mailing_id=sent.id, number=4))
    book.unit(partial(checking.leave_out, mailing_id=sent.id, number=None))
    settling.queued(conn, books.organization_id, 2, 9)
    for state in (None, RowState.READY):
        rows.after(conn, key, 0, 9, state)
    rows.row(conn, key, 1)
    rows.ready(conn, key, 9)
    rows.failed_after(conn, key, 0, 9)
    figures_of_mailings.outcomes(conn, key)
    figures_of_mailings.shares(conn, key, 6)
    figures_of_mailings.by_place(conn, key, 1)
    figures_of_mailings.place_of(conn, key, 1)
    figures_of_mailings.neighbour(conn, key, 1, forward=True)
    mailings.of_state(conn, MailingState.SENDING)
    mailings.page(conn, books.organization_id, "5", 9)
    draft = books.draft(3)
    book.unit(partial(checking.mend, mailing_id=draft.id, new=new_row(1)))
    again = partial(checking.begin_check, mailing_id=draft.id, values={}, clears=True)
    book.unit(again)
    book.unit(partial(checking.clear_rows, mailing_id=draft.id))
    book.unit(partial(checking.finish_check, mailing_id=draft.id))
    books.list(number_of(1), number_of(2))
    whose = {"organization_id": books.organization_id}
    for take in (forgetting.take_number_from_rows, stored_lists.take_number_from_lists):
        book.unit(partial(take, **whose, number=number_of(1), limit=9))
    erasures.of_number(conn, books.organization_id, number_of(1))
    forgetting.oldest(conn)
    storage.uploads(conn)
    book.unit(partial(forgetting.mark_old, before_ms=book.now_ms + 1, limit=9))
    for mark in (forgetting.mark_mailings, stored_lists.mark_lists):
        book.unit(partial(mark, **whose, now_ms=book.now_ms))
    for whom in (None, books.organization_id):
        for _ in range(3):
            for clear in (forgetting.clear_mailings, stored_lists.clear_lists):
                book.unit(partial(clear, limit=9, organization_id=whom))
    for feature in features():
        for read in feature.exported.values():
            read()(conn, books.organization_id, "", 9)


def what_programs_list(book):
    """By each filter, from the newest on, and on from a cursor each way."""
    conn, organization_id = book.conn, book.organization()
    message_id = book.accept(organization_id)
    key = key_of(message_id)
    filters: tuple[dict[str, object], ...] = (
        *({}, {"status": "pending"}, {"status": "delivered"}, {"recipient": NUMBER}),
        *({"sender": "Shop"}, {"since": 1, "until": book.now_ms}),
    )
    for wanted in (MessageFilter(organization_id, "live", kind="sms", **each) for each in filters):
        for way in ({}, {"before": key}, {"after": key}):
            lists.page(conn, wanted, limit=20, **way)
    timed, numbered = (book.now_ms, "ver_1"), (7,)
    for before, after in ((None, None), (timed, None), (None, timed)):
        steps = Steps(20, before=before, after=after)
        for recipient in (None, NUMBER):
            wanted = SessionFilter(organization_id, "live", book.now_ms, "pending", recipient)
            sessions.page(conn, wanted, steps)
    for before, after in ((None, None), (numbered, None), (None, numbered)):
        history.page(conn, "whe_1", "failed", Steps(20, before=before, after=after))
    kinds = frozenset({0})
    for way in ({}, {"before": 5}, {"after": 5}):
        wanted = StatementFilter(organization_id=organization_id, kinds=kinds, since=1, until=9)
        balances.page(conn, wanted, limit=20, **way)


def _begun(asked, conn):
    return erasures.begin(conn, *asked)


def _at(name, step, conn):
    erasures.note(conn, erasures.find(conn, name), step, "", {})


def _take_out(name, conn):
    erasing.take_out(conn, erasures.find(conn, name), 0)


@pytest.mark.parametrize(
    ("live", "least"),
    [
        (a_life_of_everything, 50),
        (an_end_of_everything, 40),
        (what_alerts_look_at, 10),
        (what_programs_list, 30),
        (mailings_from_their_file_to_their_end, 60),
    ],
)
def test_no_step_of_a_life_walks_through_a_table_that_grows(book, live, least):
    run: dict[str, None] = {}
    tables = book.conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    growing = {name for (name,) in tables} - SMALL.keys() | {*ALIASES}
    book.conn.set_trace_callback(lambda sql: run.setdefault(sql))
    live(book)
    book.conn.set_trace_callback(None)
    walks = []
    for sql in run:
        if sql.split(None, 1)[0].upper() not in ("SELECT", "INSERT", "UPDATE", "DELETE"):
            continue
        for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}"):
            table = re.match(r"SCAN (\w+)", step)
            ends = sql.upper().endswith(" LIMIT 1") and " WHERE " not in sql.upper()
            if table and table[1] in growing and not ends and not BOUNDED.match(step):
                walks.append((step, sql))
    assert len(run) > least
    assert walks == []


def test_the_volume_of_a_sender_is_a_sum_of_few_hours(book):
    organization_id = book.organization()
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    senders.weekly_volume(book.conn, organization_id, book.now_ms)
    senders.sent_by_name(book.conn, organization_id, ["Shop"], book.now_ms)
    book.conn.set_trace_callback(None)
    hours, names = (
        [step for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")] for sql in run
    )
    assert hours[0] == (
        "SEARCH hour_count USING PRIMARY KEY (organization=? AND outcome=? AND hour>?)"
    )
    found = "SEARCH message USING INDEX message_by_sender (organization=? AND sender=? AND rowid>?)"
    assert found in names


def test_what_came_in_and_who_opted_out_is_found_by_an_index_in_its_order(book):
    organization_id = book.organization()
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    for steps in (Steps(9), Steps(9, before=("x",)), Steps(9, after=("x",))):
        for time in ((None, None), (1, None), (None, 9), (1, 9)):
            for whose in ((organization_id, None), (organization_id, "+22236000001"), (None, None)):
                inbound.received(book.conn, ReceivedFilter(*whose, "1234", *time), steps)
    for steps in (Steps(9), Steps(9, before=(5, "x")), Steps(9, after=(5, "x"))):
        inbound.opted_out(book.conn, organization_id, OptOutFilter(), steps)
        inbound.opted_out(book.conn, organization_id, OptOutFilter("+22236000001"), steps)
    book.conn.set_trace_callback(None)
    assert len(run) == 84
    for sql in run:
        plan = [step for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert not [step for step in plan if re.match("SCAN (inbound|opt_outs)", step)], sql
        assert not [step for step in plan if step.endswith("FOR ORDER BY")], sql


def test_what_came_by_hand_is_found_among_any_number_of_charges(book):
    run: list[str] = []
    organization_id = book.organization()
    book.conn.set_trace_callback(run.append)
    wanted = StatementFilter(organization_id=organization_id, kinds=frozenset({2, 3}))
    balances.page(book.conn, wanted, limit=10)
    book.unit(lambda conn: ledger.top_up(conn, organization_id, 1, "BK-1", book.now_ms))
    book.conn.set_trace_callback(None)
    looks = [sql for sql in run if re.search(r"\bfrom\W+entry\b", sql, re.IGNORECASE)]
    plans = {
        step
        for sql in looks
        for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")
        if " entry " in step
    }
    assert plans == {
        "SEARCH entry USING INDEX entry_by_hand (organization=? AND rowid>? AND rowid<?)",
        "SEARCH entry USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH entry USING INDEX entry_credited_once (reference=?)",
    }


def test_payments_and_banks_texts_are_found_among_any_number(book):
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    payments.to_poll(book.conn, book.now_ms, 10)
    payments.next_poll(book.conn)
    payments.matching(book.conn, "bankily", "BK1")
    references.is_credited(book.conn, "bankily", "BK1")
    bank_texts.unread(book.conn, 10)
    bank_texts.waiting(book.conn, ("unclaimed",), 10)
    bank_texts.page(book.conn, 10, is_open=True)
    bank_texts.page(book.conn, 10, key="BK1")
    bank_texts.is_repeated(book.conn, "bankily", "BK1", 7)
    bank_texts.credited_by_itself(book.conn, "bankily", book.now_ms)
    bank_texts.credited_by_itself(book.conn, "bankily", book.now_ms, "org_1")
    book.conn.set_trace_callback(None)
    looks = [sql for sql in run if re.search(r"payments|bank_texts|credited", sql)]
    looks = [sql for sql in looks if "sqlite_" not in sql and sql.upper().startswith("SELECT")]
    assert len(looks) >= 11
    for sql in looks:
        plan = [step for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert not [
            step for step in plan if re.match(r"SCAN (payments|bank_texts|credited)$", step)
        ]
