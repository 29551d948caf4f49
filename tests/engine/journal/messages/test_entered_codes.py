"""A code that was entered proves that its SMS arrived."""

from __future__ import annotations

import pytest

from risala.engine.journal.messages import deadlines, verifications
from risala.engine.journal.messages.sessions import find
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.records.messages import NewVerification
from risala.engine.model.states import SegmentState
from risala.engine.rules.verification import Trigger
from risala.sms.cause import Cause
from risala.sms.receipt import Receipt, ReceiptState

PROOF = "Its code was entered, so the message has arrived."
ACCEPTED = Decision(
    Step.ADVANCE, SegmentState.ACCEPTED, Line(Kind.PART_ACCEPTED), "ESME_ROK", carrier_id="1a"
)


class CodeBook:
    def __init__(self, book, segments: int = 1) -> None:
        self.book = book
        self.session = book.id("ver")
        message = book.new_message(
            book.organization(), kind="code", verification_id=self.session, segments=segments
        )
        self.message_id = message.id
        new = NewVerification(
            message=message,
            per_phone_per_hour=9,
            per_organization_per_hour=9,
            id=self.session,
            attempts_max=5,
            code_length=6,
            expires_at=message.created_at + 600_000,
        )
        book.unit(lambda conn: verifications.begin(conn, new))
        for number in range(1, segments + 1):
            book.begin(self.message_id, number, opens=number == 1)

    def answer(self, decision: Decision, number: int = 1):
        return self.book.finish(Attempt(self.message_id, number, 1, "mattel"), decision)

    def uncertain(self):
        self.answer(
            Decision(
                Step.AWAIT,
                SegmentState.UNCERTAIN,
                Line(Kind.UNCERTAIN, Cause.NO_ANSWER),
                "no answer",
                resolve_at=self.book.now_ms + 1000,
                resolve_action="resend",
            )
        )

    def check(self, trigger: Trigger = Trigger.CODE_MATCHED):
        row = find(self.book.conn, self.session)
        stamp = self.book.stamp()
        return self.book.unit(lambda conn: verifications.settle(conn, row, trigger, stamp))

    @property
    def status(self) -> str:
        return self.book.status(self.message_id)

    @property
    def told(self) -> list[str]:
        return self.book.texts(self.message_id)


@pytest.fixture
def code(book) -> CodeBook:
    return CodeBook(book)


def test_a_code_that_was_entered_is_delivered(code):
    code.answer(ACCEPTED)
    assert code.status == "sent"
    (change,) = code.check()
    assert (change.status, code.status) == ("delivered", "delivered")
    assert code.told[-2:] == [PROOF, "Delivered to the phone."]


@pytest.mark.parametrize("state", [ReceiptState.DELIVERED, ReceiptState.EXPIRED])
def test_a_receipt_that_comes_later_moves_nothing(code, state):
    code.answer(ACCEPTED)
    code.check()
    code.book.record(Receipt("1a", state, f"stat:{state}"))
    assert code.status == "delivered"


def test_one_of_which_nobody_knew_is_delivered_and_not_resent(code):
    code.uncertain()
    code.check()
    assert code.status == "delivered"
    code.book.now_ms += 2000
    stamps = [code.book.stamp()]
    assert not code.book.unit(lambda conn: deadlines.resolve_due(conn, stamps))
    assert PROOF in code.told


def test_one_in_parts_is_delivered_when_all_have_left(book):
    code = CodeBook(book, segments=2)
    code.answer(ACCEPTED)
    code.check()
    assert code.status == "processing", "the second part is being submitted"
    other = CodeBook(book, segments=2)
    for number in (1, 2):
        other.answer(ACCEPTED, number)
    other.check()
    assert other.status == "delivered"


@pytest.mark.parametrize("segments", [1, 2])
def test_one_entered_while_its_submit_was_open_is_delivered_by_the_answer(book, segments):
    code = CodeBook(book, segments=segments)
    code.check()
    assert code.status == "processing"
    for number in range(1, segments + 1):
        assert code.status == "processing"
        changes = code.answer(ACCEPTED, number)
    assert [change.status for change in changes] == ["sent", "delivered"]
    assert code.status == "delivered"
    assert code.told[-2:] == ["Accepted by mattel.", "Delivered to the phone."]


def test_one_entered_while_its_submit_was_open_is_delivered_where_no_answer_comes(code):
    code.check()
    code.uncertain()
    assert code.status == "delivered"
    code.book.now_ms += 2000
    stamps = [code.book.stamp()]
    assert not code.book.unit(lambda conn: deadlines.resolve_due(conn, stamps))


def test_a_receipt_that_came_before_the_answer_outdoes_a_code_entered_meanwhile(code):
    code.book.record(Receipt("1a", ReceiptState.EXPIRED, "stat:EXPIRED"))
    code.check()
    code.answer(ACCEPTED)
    assert code.status == "undelivered"


def test_what_has_ended_stays_as_it_is(code):
    code.answer(ACCEPTED)
    code.book.record(Receipt("1a", ReceiptState.EXPIRED, "stat:EXPIRED"))
    code.check()
    assert code.status == "undelivered"
    assert code.told[-1] == PROOF


def test_a_wrong_code_proves_nothing(code):
    code.answer(ACCEPTED)
    code.check(Trigger.CODE_WRONG)
    assert code.status == "sent"
    assert PROOF not in code.told
