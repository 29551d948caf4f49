"""Random lives of messages on the journal's own units, against the table of contract §3.

The machine plays lanes, carriers, the keeper of deadlines, the operator and the crash; after every
step the books must agree and no message may be in nobody's hands.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from cases import examples, first
from risala.config.model import OnUncertain, RetrySection
from risala.engine.journal.accounts.accounts import set_organization_status
from risala.engine.journal.audit.books import audit
from risala.engine.journal.messages import deadlines, delivery, endings
from risala.engine.journal.messages import reads as messages
from risala.engine.model.errors import Conflict
from risala.engine.model.records.attempts import Attempt
from risala.engine.rules.retry import Circumstances, decide
from risala.sms.cause import Cause
from risala.sms.outcome import Accepted, Refused, Scope, Throttled, Uncertain, Unsent
from risala.sms.receipt import Receipt, ReceiptState

ALLOWED = {
    "pending": {"processing", "failed", "canceled"},
    "processing": {"sent", "pending", "failed"},
    "sent": {"delivered", "undelivered"},
    "delivered": set(),
    "undelivered": set(),
    "failed": set(),
    "canceled": set(),
}
"""Contract §3, word for word."""
EVENTS = {
    "pending": [],
    "processing": [],
    "sent": ["sms.sent"],
    "delivered": ["sms.sent", "sms.delivered"],
    "undelivered": ["sms.sent", "sms.failed"],
    "failed": ["sms.failed"],
    "canceled": ["sms.canceled"],
}
UNFINISHED = ("pending", "processing", "sent")
UNFINISHED_MAX = 4
"""So that a life goes on by several steps before the end of the run, not each by one."""
CARRIERS = ("mattel", "mauritel")
RETRY = RetrySection(first_wait_s=1, factor=2, wait_max_s=10, attempts_max=3)
VALIDITY_MS = 600_000

policies = st.builds(
    OnUncertain, action=st.sampled_from(["resend", "fail"]), after_s=st.sampled_from([0, 15, 120])
)
outcomes = st.sampled_from(
    [
        *["accepted"] * 6,
        Throttled("ESME_RTHROTTLED"),
        Unsent("LINK_DOWN"),
        Uncertain("TIMEOUT"),
        Refused(Scope.NOW, "ESME_RSYSERR", "Sick."),
        Refused(Scope.CARRIER, "ESME_RINVSRCADR", "Not this sender."),
        Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number."),
    ]
)


def pop(draw, things):
    """One of them, taken out."""
    return things.pop(draw(st.integers(0, len(things) - 1)))


@dataclass(frozen=True)
class Part:
    """One segment in an attempt: in a lane's hands, or given up by it."""

    message_id: str
    number: int
    attempt: int
    carrier: str

    @property
    def carrier_id(self) -> str:
        return f"{self.message_id}-{self.number}-{self.attempt}".upper()


class Lives(RuleBasedStateMachine):
    def __init__(self, open_book) -> None:
        super().__init__()
        self.book = open_book()
        self.organization_id = self.book.organization()
        self.policy = OnUncertain(action="fail", after_s=15)
        self.suspended = False
        self.in_flight: list[Part] = []
        self.between: list[Part] = []
        """Messages of which a lane has sent this part, and will send the next."""
        self.given_up: list[Part] = []
        """Uncertain submits whose driver may still tell an answer."""
        self.seen: list[Part] = []
        """Everything that ever left: what receipts may tell of."""

    # -- helpers

    def row(self, message_id):
        return messages.row(self.book.conn, message_id)

    def ids(self, *statuses):
        marks = ", ".join("?" * len(statuses))
        query = f"SELECT id FROM messages WHERE status IN ({marks}) ORDER BY seq"
        return [row[0] for row in self.book.conn.execute(query, statuses)]

    def due(self):
        return [each for each in self.ids("pending") if self.row(each).due_at <= self.book.now_ms]

    def left(self, message_id):
        """Numbers of the parts that no carrier has accepted."""
        done = messages.acknowledged_parts(self.book.conn, message_id)
        return [n for n in range(1, self.row(message_id).segments + 1) if n not in done]

    def circumstances(self, part):
        row = self.row(part.message_id)
        other = next((c for c in CARRIERS if c not in (*row.tried_carriers, part.carrier)), None)
        return Circumstances(
            now_ms=self.book.now_ms,
            valid_until=row.valid_until,
            refusals=row.refusals,
            pinned_route=f"@{part.carrier}",
            partly_accepted=bool(messages.acknowledged_parts(self.book.conn, part.message_id)),
            next_route=other and f"@{other}",
            on_uncertain=self.policy,
            retry=RETRY,
        )

    def finish(self, part, outcome, *, live):
        if outcome == "accepted":
            outcome = Accepted(part.carrier_id, "ESME_ROK")
        decision = decide(outcome, self.circumstances(part))
        attempt = Attempt(part.message_id, part.number, part.attempt, part.carrier)
        self.book.finish(attempt, decision, live=live)
        return outcome

    def settle_deadlines(self):
        stamps = [self.book.stamp() for _ in range(40)]
        self.book.unit(
            lambda conn: (
                *deadlines.expire_due(conn, stamps[:20]),
                *deadlines.resolve_due(conn, stamps[20:]),
            )
        )

    # -- customers and the operator

    def accept(self, draw):
        live = draw(st.sampled_from([True] * 4 + [False]))
        fields = {} if live else {"mode": "test", "price": 0}
        self.book.accept(
            self.organization_id,
            segments=draw(st.sampled_from([1, 2, 3])),
            priority=draw(st.sampled_from([0, 1])),
            valid_until=self.book.now_ms + VALIDITY_MS,
            **fields,
        )

    def cancel(self, draw):
        # Also one that has ended, now and then.
        some = self.ids(*UNFINISHED) + self.ids(*ALLOWED)[:2]
        message_id = draw(st.sampled_from(some))
        partly = len(self.left(message_id)) < self.row(message_id).segments
        may = self.book.status(message_id) == "pending" and not partly
        stamp, before = self.book.stamp(), self.book.conn.total_changes
        if may:
            self.book.unit(lambda conn: endings.cancel(conn, message_id, stamp))
            assert self.book.status(message_id) == "canceled"
            return
        with pytest.raises(Conflict):
            endings.cancel(self.book.conn, message_id, stamp)
        assert self.book.conn.total_changes == before

    def suspend_or_resume(self, draw):
        self.suspended = draw(st.sampled_from([True, False, False]))
        status = "suspended" if self.suspended else "active"
        self.book.unit(lambda conn: set_organization_status(conn, self.organization_id, status))

    # -- lanes

    def start(self, draw):
        message_id = draw(st.sampled_from(self.due()))
        row = self.row(message_id)
        pinned = row.route.startswith("@")
        carrier = row.route[1:] if pinned else draw(st.sampled_from(CARRIERS))
        started = self.begin(message_id, self.left(message_id)[0], carrier, opens=True)
        held = self.suspended or row.valid_until <= self.book.now_ms
        assert (started is None) == held

    def next_part(self, draw):
        last = pop(draw, self.between)
        number = self.left(last.message_id)[0]
        assert self.begin(last.message_id, number, last.carrier, opens=False) is not None

    def begin(self, message_id, number, carrier, *, opens):
        started = self.book.begin(message_id, number, carrier, opens=opens)
        if started is not None:
            part = Part(message_id, number, started.attempt, carrier)
            self.in_flight.append(part)
            self.seen.append(part)
        return started

    def answer(self, draw):
        part = pop(draw, self.in_flight)
        self.policy = draw(policies)
        outcome = self.finish(part, draw(outcomes), live=True)
        if isinstance(outcome, Uncertain):
            self.given_up.append(part)
        elif isinstance(outcome, Accepted) and self.left(part.message_id):
            self.between.append(part)

    def link_lost_between_parts(self, draw):
        part = pop(draw, self.between)
        last = Attempt(part.message_id, part.number, part.attempt, part.carrier)
        now_ms = self.book.now_ms
        self.book.unit(lambda conn: delivery.give_back(conn, last, Cause.LINK_DOWN, now_ms))

    # -- carriers

    def late_answer(self, draw):
        """To any submit that was given up, also of an attempt that was made again meanwhile."""
        part = pop(draw, self.given_up)
        outcome = draw(outcomes)
        if not isinstance(outcome, Uncertain):
            self.finish(part, outcome, live=False)

    def receipt(self, draw):
        """Of anything that ever left: too early, in time, twice, too late."""
        part = draw(st.sampled_from(self.seen[-8:]))
        name = draw(st.sampled_from([part.carrier_id, part.carrier_id.lower()]))
        state = draw(st.sampled_from([ReceiptState.DELIVERED] * 6 + list(ReceiptState)))
        self.book.record(Receipt(name, state, f"stat:{state}"), part.carrier)

    # -- time and death

    def an_uncertain_one_is_resolved(self, draw):
        at_ms = self.book.one("SELECT min(resolve_at) FROM messages")
        self.book.now_ms = max(self.book.now_ms, at_ms)
        self.settle_deadlines()

    def time_passes(self, draw):
        self.book.now_ms += draw(st.sampled_from([500, 2000, 2000, 11_000, VALIDITY_MS]))
        self.settle_deadlines()

    def crash(self, draw):
        self.die(draw(policies))

    def die(self, policy):
        self.in_flight.clear()
        self.between.clear()
        self.given_up.clear()
        while self.book.recover(policy, 2):
            pass

    # One rule that chooses among what can happen now: else half of the steps are no steps, and
    # Hypothesis leaves whole kinds of them out of each run.
    @rule(data=st.data())
    def step(self, data):
        data.draw(st.sampled_from(self.possible()))(data.draw)

    def possible(self):
        """What can happen now; twice what makes a life."""
        steps = [self.time_passes, self.crash, self.suspend_or_resume]
        if not self.suspended and len(self.ids(*UNFINISHED)) < UNFINISHED_MAX:
            steps += [self.accept] * 2
        if self.due():
            steps += [self.start] * 3
        if self.in_flight:
            steps += [self.answer] * 4
        if self.between:
            steps += [self.next_part, self.next_part, self.link_lost_between_parts]
        if self.given_up:
            steps += [self.late_answer] * 2
        if self.seen:
            steps += [self.receipt] * 3
        if self.ids(*UNFINISHED):
            steps.append(self.cancel)
        if self.book.one("SELECT count(*) FROM messages WHERE resolve_at IS NOT NULL"):
            steps += [self.an_uncertain_one_is_resolved] * 2
        return steps

    # -- what is always true

    @invariant()
    def the_books_agree(self):
        assert audit(self.book.conn).faults == ()

    @invariant()
    def no_forbidden_move_was_made(self):
        for message_id in self.ids(*ALLOWED):
            query = "SELECT status FROM timeline WHERE message_id = ? ORDER BY n"
            told = [row[0] for row in self.book.conn.execute(query, (message_id,))]
            assert told[0] == "pending"
            assert told[-1] == self.book.status(message_id)
            for before, after in pairwise(told):
                assert after == before or after in ALLOWED[before], told

    @invariant()
    def it_is_refunded_if_and_only_if_it_failed_or_was_withdrawn(self):
        refunded = {
            row[0]
            for row in self.book.conn.execute("SELECT reference FROM ledger WHERE kind = 'refund'")
        }
        query = "SELECT id FROM messages WHERE mode = 'live' AND status IN ('failed', 'canceled')"
        assert refunded == {row[0] for row in self.book.conn.execute(query)}

    @invariant()
    def each_thing_is_told_once(self):
        told: dict[str, list[str]] = {}
        for subject, kind in self.book.conn.execute("SELECT subject, type FROM events"):
            told.setdefault(subject, []).append(kind)
        for message_id in self.ids(*ALLOWED):
            expected = EVENTS[self.book.status(message_id)]
            assert Counter(told.get(message_id, [])) == Counter(expected)

    @invariant()
    def no_message_is_in_nobodys_hands(self):
        hands = Counter(part.message_id for part in (*self.in_flight, *self.between))
        query = "SELECT id FROM messages WHERE resolve_at IS NOT NULL"
        hands.update(row[0] for row in self.book.conn.execute(query))
        assert hands == dict.fromkeys(self.ids("processing"), 1)
        assert all(self.left(message_id) for message_id in self.ids("pending"))

    @invariant()
    def the_parts_of_a_message_are_with_one_carrier(self):
        query = (
            "SELECT message_id FROM segments WHERE state IN ('accepted', 'delivered',"
            " 'undelivered') GROUP BY message_id HAVING count(DISTINCT carrier) > 1"
        )
        assert self.book.conn.execute(query).fetchall() == []

    def teardown(self):
        """Whatever happened, in the end time brings every message to its end."""
        self.die(OnUncertain(action="resend", after_s=1))
        while self.ids("pending", "processing"):
            self.book.now_ms += VALIDITY_MS
            self.settle_deadlines()
        self.the_books_agree()
        self.no_forbidden_move_was_made()
        self.it_is_refunded_if_and_only_if_it_failed_or_was_withdrawn()
        self.each_thing_is_told_once()
        self.book.close()


@pytest.mark.slow
@pytest.mark.parametrize("count", first(1, [30, 50]))
def test_no_life_of_a_message_breaks_the_rules(open_book, count):
    run_state_machine_as_test(
        lambda: Lives(open_book),
        settings=settings(
            max_examples=examples(count),
            stateful_step_count=60,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
