"""Many messages in one unit come to the same as one after the other, and to what is expected.

A model of a few lines knows what becomes of a message; the views of the database must agree.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import examples
from risala.engine.features.own_data.stored import retention
from risala.engine.journal.audit.books import audit
from risala.engine.journal.messages import acceptance, delivery, reads, receipts, timeline
from risala.engine.journal.messages.acceptance import SendRequest
from risala.engine.journal.messages.under_way import UnderWay
from risala.engine.journal.webhooks import outbox
from risala.engine.model.ids import key_of
from risala.engine.model.lines import Kind, Line
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
from risala.sms.cause import Cause
from risala.sms.receipt import Receipt, ReceiptState

CARRIER = "mattel"
VIEWS = ("messages", "segments", "timeline", "ledger", "idempotency", "hour_counts")


def yes(name):
    part = Line(Kind.PART_ACCEPTED)
    return Decision(Step.ADVANCE, SegmentState.ACCEPTED, part, "ESME_ROK", carrier_id=name)


NO = Decision(Step.FAIL, SegmentState.REFUSED, Line(Kind.FAILED, Cause.REJECTED), "ESME_RINVDSTADR")
LATER = Decision(
    *(Step.REQUEUE, SegmentState.WAITING, Line(Kind.HELD_BACK, Cause.THROTTLED)),
    "ESME_RTHROTTLED",
    due_at=0,
)
RECEIPTS = {"delivered": ReceiptState.DELIVERED, "undelivered": ReceiptState.UNDELIVERABLE}


@dataclass
class Expected:
    """What a message with a single part comes to."""

    status: str = "pending"
    attempts: int = 0
    lines: list[str] = field(default_factory=lambda: ["ACCEPTED"])
    events: list[str] = field(default_factory=list)

    def start(self):
        if self.status == "pending":
            self.status, self.attempts = "processing", self.attempts + 1
            self.lines.append("ATTEMPT")

    def answer(self, attempt, what):
        if self.attempts == 0:
            return
        if self.status != "processing" or attempt != self.attempts:
            self.lines.append("ANSWER_LATE")
        elif what == "yes":
            self.status = "sent"
            self.lines.append("SENT")
            self.events.append("sms.sent")
        elif what == "no":
            self.status = "failed"
            self.lines.append("FAILED")
            self.events.append("sms.failed")
        else:
            self.status = "pending"
            self.lines.append("HELD_BACK")

    def receipt(self, what):
        if self.status == "sent":
            self.status = what
            self.lines.append(what.upper())
            self.events.append("sms.delivered" if what == "delivered" else "sms.failed")
        elif self.status in ("delivered", "undelivered"):
            same = what == self.status
            self.lines.append("RECEIPT_AGAIN" if same else "RECEIPT_CONTRADICTS")


COUNT = 4
MESSAGE = st.integers(min_value=0, max_value=COUNT - 1)
STEP = st.one_of(
    st.tuples(st.just("start"), st.lists(MESSAGE, min_size=1, max_size=5)),
    st.tuples(
        st.just("answer"),
        st.lists(st.tuples(MESSAGE, st.sampled_from(["yes", "no", "later"])), min_size=1),
    ),
    st.tuples(
        st.just("receipt"),
        st.lists(st.tuples(MESSAGE, st.sampled_from(sorted(RECEIPTS))), min_size=1),
    ),
    st.tuples(st.just("unfold"), st.lists(MESSAGE, min_size=1)),
)


class Lives:
    """A few messages in a book, and the steps of their lives in groups or one by one."""

    def __init__(self, book, *, alone, remembered_max=0):
        self.book, self.alone = book, alone
        self.way = UnderWay(remembered_max) if remembered_max else None
        self.organization = book.organization(10_000)
        news = [book.new_message(self.organization) for _ in range(COUNT)]
        groups = [[new] for new in news] if alone else [news]
        for group in groups:
            requests = [SendRequest((new,)) for new in group]
            book.unit(lambda conn: [a.results for a in acceptance.accept_group(conn, requests)])  # noqa: B023
        self.ids = [new.id for new in news]
        # As the queue had them at first, however much has happened since.
        self.rows = [reads.row(book.conn, new.id) if remembered_max else None for new in news]
        self.attempts = [0] * COUNT

    def do(self, name, items):
        self.book.now_ms += 1000
        for group in [[item] for item in items] if self.alone else [items]:
            getattr(self, name)(group)

    def start(self, group):
        leases = [Lease(self.ids[n], 1, CARRIER, True, None, self.rows[n]) for n in group]
        now_ms, way = self.book.now_ms, self.way
        started = self.book.unit(lambda conn: delivery.start(conn, leases, now_ms, way))
        for n, one in zip(group, started, strict=True):
            if one is not None:
                self.attempts[n] = one.attempt

    def answer(self, group):
        stamp = self.book.stamp()
        answers = [
            SubmitAnswer(Attempt(self.ids[n], 1, self.attempts[n], CARRIER), decision(n, w), stamp)
            for n, w in group
        ]
        self.book.unit(lambda conn: delivery.finish(conn, answers, alone, self.way))

    def receipt(self, group):
        stamp = self.book.stamp()
        arrivals = [
            Arrival(CARRIER, Receipt(f"C-{n}", RECEIPTS[what], f"stat:{what}"), stamp)
            for n, what in group
            if self.known(n)
        ]
        self.book.unit(lambda conn: receipts.record(conn, arrivals, alone, self.way))

    def unfold(self, group):
        """Somebody else changes the rows."""
        for n in group:
            timeline.unfold(self.book.conn, key_of(self.ids[n]))

    def known(self, n):
        found = "SELECT count(*) FROM segments WHERE message_id = ? AND carrier_id IS NOT NULL"
        return self.book.one(found, self.ids[n])

    def dump(self):
        conn = self.book.conn
        rows = {
            name: conn.execute(f"SELECT * FROM {name} ORDER BY 1, 2, 3").fetchall()
            for name in VIEWS
        }
        return rows, [(e.organization_id, told(e)) for e in outbox.after(conn, 0, 1000)]


def told(event):
    """The body without the id, which follows from its place among the others."""
    body = json.loads(event.body)
    del body["id"]
    return sorted(body.items(), key=str)


def decision(n, what):
    return {"yes": yes(f"C-{n}"), "no": NO, "later": LATER}[what]


EACH_OPENS_ITS_OWN = [HealthCheck.function_scoped_fixture]
"""Books: the fixture only closes them."""


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None, suppress_health_check=EACH_OPENS_ITS_OWN)
@given(steps=st.lists(STEP, max_size=12))
def test_a_group_comes_to_the_same_as_its_messages_one_by_one(open_book, steps):
    together, one_by_one = (Lives(open_book(), alone=alone) for alone in (False, True))
    remembering = [Lives(open_book(), alone=False, remembered_max=most) for most in (2, COUNT)]
    model = [Expected() for _ in range(COUNT)]
    for name, items in steps:
        known = [together.known(n) for n in range(COUNT)]
        for lives in (together, one_by_one, *remembering):
            lives.do(name, items)
        for item in items:
            if name == "unfold":
                break
            if name == "start":
                model[item].start()
            elif name == "answer":
                expected = model[item[0]]
                expected.answer(expected.attempts, item[1])
            elif known[item[0]]:
                model[item[0]].receipt(item[1])
    rows, events = together.dump()
    others, other_events = one_by_one.dump()
    assert rows == others
    assert Counter(map(str, events)) == Counter(map(str, other_events))
    for lives in remembering:
        assert lives.dump() == (rows, events)
    agree(together, model)


def agree(lives, model):
    """The views say what the model says, whether lines are told by the row or have their own."""
    book = lives.book
    assert audit(book.conn).clean
    for message_id, expected in zip(lives.ids, model, strict=True):
        for unfolded in (False, True):
            if unfolded:
                timeline.unfold(book.conn, key_of(message_id))
            assert book.status(message_id) == expected.status
            read = timeline.read(book.conn, message_id)
            assert [entry.line.kind.name for entry in read] == expected.lines
            view = book.conn.execute(
                "SELECT at, status, kind, carrier, attempt, segment, raw FROM timeline"
                " WHERE message_id = ? ORDER BY n",
                (message_id,),
            ).fetchall()
            assert view == [
                (e.at, e.status, e.line.kind.value, e.carrier, e.attempt, e.segment, e.raw)
                for e in read
            ]
        types = "SELECT type FROM events WHERE subject = ? ORDER BY seq"
        assert [row[0] for row in book.conn.execute(types, (message_id,))] == expected.events
    counted = dict(
        book.conn.execute("SELECT outcome, sum(messages) FROM hour_counts GROUP BY outcome")
    )
    ends = Counter(each.status for each in model if each.status not in ("pending", "processing"))
    sent = sum("SENT" in each.lines for each in model)
    expected_counts = {"accepted": COUNT, **ends, **({"sent": sent} if sent else {})}
    assert counted == expected_counts


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None, suppress_health_check=EACH_OPENS_ITS_OWN)
@given(steps=st.lists(STEP, max_size=8), more=st.lists(STEP, max_size=6))
def test_an_event_is_the_same_bytes_whatever_happens_afterwards(open_book, steps, more):
    lives = Lives(open_book(), alone=False)
    for name, items in steps:
        lives.do(name, items)
    before = outbox.after(lives.book.conn, 0, 1000)
    for name, items in more:
        lives.do(name, items)
    book = lives.book
    for forget in (retention.texts, retention.timelines):
        book.unit(lambda conn: forget(conn, forget.__name__, book.now_ms + 1, 100))  # noqa: B023
    after = outbox.after(book.conn, 0, 1000)
    assert after[: len(before)] == before


def test_a_second_part_or_a_late_answer_in_one_list_sees_what_was_written_before_it(book):
    organization = book.organization()
    message_id = book.accept(organization, segments=2)
    leases = [Lease(message_id, 1, CARRIER, True), Lease(message_id, 2, CARRIER, False)]
    first, second = book.unit(lambda conn: delivery.start(conn, leases, book.now_ms))
    assert (first.attempt, second.attempt) == (1, 1)
    stamp = book.stamp()
    answers = [
        SubmitAnswer(Attempt(message_id, n, 1, CARRIER), yes(f"C-{n}"), stamp) for n in (1, 2)
    ]
    changes = book.unit(lambda conn: delivery.finish(conn, [*answers, answers[1]]))
    assert [len(each) for each in changes] == [0, 1, 0]
    arrivals = [
        Arrival(CARRIER, Receipt(f"C-{n}", ReceiptState.DELIVERED, "ok"), stamp) for n in (1, 2, 2)
    ]
    changes = book.unit(lambda conn: receipts.record(conn, arrivals))
    assert [len(each) for each in changes] == [0, 1, 0]
    assert book.status(message_id) == "delivered"


def test_requests_of_many_organizations_in_one_unit_stand_alone(book):
    rich, poor, closed = book.organization(200), book.organization(60), book.organization(200)
    book.conn.execute("UPDATE organizations SET status = 'suspended' WHERE id = ?", (closed,))
    batch = [book.new_message(rich) for _ in range(3)]
    requests = [
        SendRequest((book.new_message(poor),)),
        SendRequest(batch),
        SendRequest((book.new_message(closed),)),
        SendRequest((book.new_message(poor),)),
        SendRequest((book.new_message(rich, idempotency_key=batch[0].idempotency_key),)),
        SendRequest((book.new_message(rich),)),
    ]
    found = book.unit(
        lambda conn: [
            ([type(r).__name__ for r in a.results], a.entered and a.entered.balance_after)
            for a in acceptance.accept_group(conn, requests)
        ]
    )
    assert found == [
        (["bytes"], 10),
        (["bytes"] * 3, 50),
        (["Forbidden"], None),
        (["InsufficientBalance"], None),
        (["bytes"], None),
        (["bytes"], 0),
    ]
    assert audit(book.conn).clean
    entries = book.conn.execute("SELECT amount, messages FROM ledger WHERE kind = 'charge'")
    assert entries.fetchall() == [(-50, 1), (-150, 3), (-50, 1)]


STATEMENTS = {"accept": 10, "start": 6, "finish": 7, "receipt": 9}
"""Of a unit with one message, at most."""
FURTHER = {"accept": 0.1, "start": 2, "finish": 3, "receipt": 6}
"""Of each further message in it."""


def test_statements_a_message(book):
    """Time cannot be asserted; that no step grows by a statement unseen can."""
    organization = book.organization(10**9)

    def count(work):
        run: list[str] = []
        book.conn.execute("BEGIN")
        book.conn.set_trace_callback(run.append)
        try:
            work(book.conn)
        finally:
            book.conn.set_trace_callback(None)
            book.conn.execute("COMMIT")
        return len(run)

    taken: dict[str, dict[int, int]] = {}
    for size in (1, 65):
        news = [book.new_message(organization, key_is_ours=True, price=1) for _ in range(size)]
        stamp = book.stamp()
        leases = [Lease(new.id, 1, CARRIER, True) for new in news]
        answers = [
            SubmitAnswer(Attempt(new.id, 1, 1, CARRIER), yes(f"{new.id}-c"), stamp) for new in news
        ]
        arrivals = [
            Arrival(CARRIER, Receipt(f"{new.id}-c", ReceiptState.DELIVERED, "ok"), stamp)
            for new in news
        ]
        requests = [SendRequest((new,)) for new in news]
        for name, work in (
            ("accept", lambda conn: acceptance.accept_group(conn, requests)),  # noqa: B023
            ("start", lambda conn: delivery.start(conn, leases, book.now_ms)),  # noqa: B023
            ("finish", lambda conn: delivery.finish(conn, answers)),  # noqa: B023
            ("receipt", lambda conn: receipts.record(conn, arrivals)),  # noqa: B023
        ):
            taken.setdefault(name, {})[size] = count(work)
    assert {name: sizes[1] for name, sizes in taken.items()} == STATEMENTS
    for name, most in FURTHER.items():
        assert (taken[name][65] - taken[name][1]) / 64 <= most, name
