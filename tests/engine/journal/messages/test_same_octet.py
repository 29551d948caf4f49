"""Two messages to one number whose references have the same octet: a receipt that names both, names
neither, whatever each of them waits for. One lie would be worse than two unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import pytest

from risala.engine.journal.messages import deadlines
from risala.engine.journal.messages.acceptance import accept_one
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.states import SegmentState
from risala.sms.cause import Cause
from risala.sms.message import octet_reference, submit_reference
from risala.sms.receipt import Receipt, ReceiptState

PHONE, OTHER = "+22236123456", "+22246999999"
STATES = ("accepted", "uncertain", "in flight")
ENDED = ("sent", "processing")


def octet_of(message_id: str) -> int:
    return octet_reference(submit_reference(message_id, 1, 1))


def accepted(carrier_id: str) -> Decision:
    line = Line(Kind.PART_ACCEPTED)
    return Decision(Step.ADVANCE, SegmentState.ACCEPTED, line, "ESME_ROK", carrier_id=carrier_id)


@dataclass
class Octets:
    """A carrier that gives every message the same id, and receipts with one octet of references."""

    book: object
    carrier_id: str = "0"
    organization_id: str = field(init=False)

    def __post_init__(self) -> None:
        self.organization_id = self.book.organization()
        # That an id is shared shows with the second message.
        for _ in range(2):
            self.reach(self.accept(to=OTHER), "accepted")

    def accept(self, octet: int | None = None, to: str = PHONE) -> str:
        """A message whose first submit has this octet of a reference; None: any."""
        self.book.now_ms += 1
        new = self.book.new_message(self.organization_id, recipient=to)
        while octet is not None and octet_of(new.id) != octet:
            new = self.book.new_message(self.organization_id, recipient=to)
        self.book.unit(lambda conn: accept_one(conn, new, None))
        return new.id

    def reach(self, message_id: str, state: str) -> str:
        self.book.begin(message_id)
        attempt = Attempt(message_id, 1, 1, "mattel")
        if state == "accepted":
            self.book.finish(attempt, accepted(self.carrier_id))
        elif state == "uncertain":
            self.lose(message_id)
        return message_id

    def lose(self, message_id: str) -> None:
        """No answer comes."""
        decision = Decision(
            *(Step.AWAIT, SegmentState.UNCERTAIN, Line(Kind.UNCERTAIN, Cause.NO_ANSWER)),
            "no answer",
            resolve_at=self.book.now_ms + 60_000,
            resolve_action="fail",
        )
        self.book.finish(Attempt(message_id, 1, 1, "mattel"), decision)

    def receipt(self, octet: int, carrier_id: str = "77") -> None:
        self.book.now_ms += 1
        delivered = ReceiptState.DELIVERED
        told = Receipt(carrier_id, delivered, "DELIVRD", recipient=PHONE, reference=octet)
        self.book.record(told)
        self.book.now_ms += 1

    def held(self) -> list[tuple[str, int | None]]:
        return self.book.conn.execute("SELECT why, reference FROM held_receipts").fetchall()


@pytest.mark.parametrize(("one", "other"), [*product(STATES, STATES)])
def test_a_receipt_that_names_two_that_wait_is_held_and_nobody_is_told(book, one, other):
    it = Octets(book)
    first = it.reach(it.accept(), one)
    octet = octet_of(first)
    second = it.reach(it.accept(octet), other)
    assert octet_of(second) == octet
    it.receipt(octet)
    assert {book.status(first), book.status(second)} <= {*ENDED}
    assert len(it.held()) == 1
    if "in flight" not in (one, other):
        assert it.held() == [("several", None)]
    # Nor is one of them told once no answer comes to those that were in flight.
    for message, state in ((first, one), (second, other)):
        if state == "in flight":
            it.lose(message)
    assert {book.status(first), book.status(second)} <= {*ENDED}
    book.now_ms += 120_000
    stamps = [book.stamp()] * 4
    book.unit(lambda conn: deadlines.resolve_due(conn, stamps))
    assert "delivered" not in (book.status(first), book.status(second))


@pytest.mark.parametrize("state", ["accepted", "uncertain"])
@pytest.mark.parametrize("other", ["ended", "another number", "an id of its own", "another octet"])
def test_the_only_one_that_waits_is_told(book, state, other):
    it = Octets(book)
    first = it.reach(it.accept(), state)
    octet = octet_of(first)
    match other:
        case "ended":
            it.receipt(octet, "76")
            first = it.reach(it.accept(octet), state)
        case "another number":
            it.reach(it.accept(octet, to=OTHER), "accepted")
        case "an id of its own":
            it.carrier_id = "its own"
            it.reach(it.accept(octet), "accepted")
        case _:
            it.reach(it.accept(octet % 255 + 1), "accepted")
    it.receipt(octet)
    assert book.status(first) == "delivered"
    assert it.held() == []


def test_one_in_flight_is_told_once_no_answer_comes(book):
    it = Octets(book)
    message = it.reach(it.accept(), "in flight")
    it.receipt(octet_of(message))
    assert [why for why, _ in it.held()] == ["unknown"]
    it.lose(message)
    assert book.status(message) == "delivered"


def test_a_receipt_that_was_there_before_the_submit_tells_of_another(book):
    it = Octets(book)
    message = it.accept()
    it.receipt(octet_of(message))
    it.reach(message, "uncertain")
    assert book.status(message) == "processing"
