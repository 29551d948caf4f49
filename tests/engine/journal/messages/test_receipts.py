"""Receipts: in every order, under every form of the id, held within bounds, never backwards."""

from __future__ import annotations

import pytest

from risala.config.model import OnUncertain
from risala.engine.journal.messages import deadlines, held, timeline
from risala.engine.journal.messages.endings import fail
from risala.engine.journal.messages.matching import LATE_MS
from risala.engine.journal.state import load
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.states import SegmentState
from risala.sms.cause import Cause
from risala.sms.message import submit_reference
from risala.sms.receipt import Receipt, ReceiptState

YES = Line(Kind.PART_ACCEPTED)
FINAL_BAD = {
    ReceiptState.EXPIRED: "EXPIRED",
    ReceiptState.DELETED: "DELETED",
    ReceiptState.UNDELIVERABLE: "UNDELIVERABLE",
    ReceiptState.UNKNOWN: "UNTRACED",
    ReceiptState.REJECTED: "REJECTED",
}


class Desk:
    """One journal, and the two moves that receipts meet."""

    def __init__(self, book):
        self.book = book
        self.organization_id = book.organization()

    def start(self, segments=1):
        message_id = self.book.accept(self.organization_id, segments=segments)
        self.begin(message_id, 1, opens=True)
        return message_id

    def begin(self, message_id, number, carrier="mattel", *, opens=False):
        self.book.begin(message_id, number, carrier, opens=opens)

    def answer(self, message_id, carrier_id, number=1, attempt=1):
        accepted = Decision(
            Step.ADVANCE, SegmentState.ACCEPTED, YES, "ESME_ROK", carrier_id=carrier_id
        )
        return self.book.finish(Attempt(message_id, number, attempt, "mattel"), accepted)

    def receipt(
        self, carrier_id, state=ReceiptState.DELIVERED, also=(), carrier="mattel", cause=None
    ):
        told = Receipt(carrier_id, state, f"stat:{state}", cause, also)
        return self.book.record(told, carrier)

    def no_answer(self, message_id, number=1, attempt=1, action="fail"):
        uncertain = Decision(
            Step.AWAIT,
            SegmentState.UNCERTAIN,
            Line(Kind.UNCERTAIN, Cause.NO_ANSWER),
            "no answer",
            resolve_at=self.book.now_ms + 1000,
            resolve_action=action,
        )
        return self.book.finish(Attempt(message_id, number, attempt, "mattel"), uncertain)

    def receipt_with(self, reference, carrier_id="7", state=ReceiptState.DELIVERED, **changes):
        """A receipt that names the submit by its own reference."""
        fields = {"recipient": self.book.one("SELECT recipient FROM messages LIMIT 1"), **changes}
        told = Receipt(carrier_id, state, f"stat:{state}", reference=reference, **fields)
        return self.book.record(told)

    def resolve(self):
        self.book.now_ms += 2000
        stamps = [self.book.stamp()]
        return self.book.unit(lambda conn: deadlines.resolve_due(conn, stamps))

    def sent(self, carrier_id="1a"):
        message_id = self.start()
        self.answer(message_id, carrier_id)
        return message_id

    @property
    def held(self):
        return self.book.one("SELECT count(*) FROM held_receipts")


@pytest.fixture
def desk(book):
    return Desk(book)


def test_the_receipt_of_a_sent_message(desk):
    message_id = desk.sent()
    (change,) = desk.receipt("1a")
    assert change.status == "delivered"
    assert desk.book.status(message_id) == "delivered"
    assert desk.book.one("SELECT delivered_at FROM messages") == desk.book.now_ms


@pytest.mark.parametrize(("state", "word"), FINAL_BAD.items())
def test_a_carrier_that_gave_up_leaves_it_undelivered_with_its_code(desk, state, word):
    message_id = desk.sent()
    desk.receipt("1a", state)
    assert desk.book.status(message_id) == "undelivered"
    codes = ("error_code", "carrier_code")
    found = tuple(desk.book.one(f"SELECT {code} FROM messages") for code in codes)
    assert found == (word, f"stat:{state}")
    # Not refunded: the carrier had accepted it.
    assert desk.book.one("SELECT count(*) FROM ledger WHERE kind = 'refund'") == 0


@pytest.mark.parametrize("state", [ReceiptState.ENROUTE, ReceiptState.ACCEPTED])
def test_a_receipt_on_the_way_is_noted_and_moves_nothing(desk, state):
    message_id = desk.sent()
    assert desk.receipt("1a", state) == ()
    assert desk.book.status(message_id) == "sent"
    assert desk.book.texts(message_id)[-1] == (
        "A report came that is not final: the carrier may still deliver it."
    )
    assert desk.receipt("unknown", state) == ()
    assert desk.held == 0


@pytest.mark.parametrize("again", [ReceiptState.ENROUTE, ReceiptState.DELIVERED])
def test_a_carrier_that_repeats_a_receipt_for_ever_fills_no_timeline(desk, again):
    """Some do, once every minute for days; the end of the message is told all the same."""
    message_id = desk.sent()
    for _ in range(timeline.ENTRIES_MAX + 5):
        desk.receipt("1a", again)
    desk.receipt("1a")
    lines = desk.book.one("SELECT count(*) FROM line")
    assert timeline.ENTRIES_MAX - 2 <= lines <= timeline.ENTRIES_MAX + 1
    assert "Delivered to the phone." in desk.book.texts(message_id)


@pytest.mark.parametrize(
    ("given", "told", "also"),
    [
        ("1A", "1a", ()),
        ("00001a", "1A", ()),
        ("1a", "0000001a", ()),
        (" 1a", "1a ", ()),
        ("0", "000", ()),
        ("ff", "255", ("ff",)),
        ("255", "00ff", ("255",)),
        ("0FF", "255", ("0ff", "xx")),
    ],
)
@pytest.mark.parametrize("early", [False, True])
def test_every_form_of_the_id_finds_its_segment_before_and_after_the_answer(
    desk, given, told, also, early
):
    message_id = desk.start()
    if early:
        desk.receipt(told, also=also)
        assert desk.held == 1 + len(set(also))
    changes = desk.answer(message_id, given)
    if early:
        assert [change.status for change in changes] == ["sent", "delivered"]
    else:
        desk.receipt(told, also=also)
    assert desk.book.status(message_id) == "delivered"
    assert desk.held == 0


def test_the_same_id_at_another_carrier_is_another_message(desk):
    message_id = desk.sent("7")
    desk.receipt("7", carrier="mauritel")
    assert desk.book.status(message_id) == "sent"
    assert desk.held == 1


def test_the_exact_id_comes_before_its_look_alikes(desk):
    zeros, exact = desk.sent("007"), desk.sent("7")
    desk.receipt("7")
    assert (desk.book.status(zeros), desk.book.status(exact)) == ("sent", "delivered")
    desk.receipt("007")
    assert desk.book.status(zeros) == "delivered"


def test_an_id_that_the_carrier_gave_again_is_the_one_that_still_waits(desk):
    old = desk.sent("7")
    desk.receipt("7")
    new = desk.sent("7")
    desk.receipt("7", ReceiptState.UNDELIVERABLE)
    assert (desk.book.status(old), desk.book.status(new)) == ("delivered", "undelivered")


@pytest.mark.parametrize("later", [ReceiptState.DELIVERED, ReceiptState.EXPIRED])
@pytest.mark.parametrize("first", [ReceiptState.DELIVERED, ReceiptState.EXPIRED])
def test_a_second_receipt_changes_nothing(desk, first, later):
    message_id = desk.sent()
    desk.receipt("1a", first)
    before = desk.book.status(message_id)
    events = desk.book.one("SELECT count(*) FROM events")
    assert desk.receipt("1a", later) == ()
    assert desk.book.status(message_id) == before
    assert desk.book.one("SELECT count(*) FROM events") == events
    assert "othing changes" in desk.book.texts(message_id)[-1]


def test_parts_are_delivered_when_the_last_one_is(desk):
    message_id = desk.start(segments=3)
    for number in (1, 2, 3):
        if number > 1:
            desk.begin(message_id, number)
        desk.answer(message_id, f"p{number}", number)
    assert [desk.receipt(name) for name in ("p3", "p1")] == [(), ()]
    (change,) = desk.receipt("p2")
    assert change.status == "delivered"


def test_one_part_that_failed_leaves_the_message_undelivered_once(desk):
    message_id = desk.start(segments=2)
    desk.answer(message_id, "p1", 1)
    desk.begin(message_id, 2)
    desk.receipt("p1", ReceiptState.EXPIRED)
    assert desk.book.status(message_id) == "processing"
    changes = desk.answer(message_id, "p2", 2)
    assert [change.status for change in changes] == ["sent", "undelivered"]
    assert desk.receipt("p2") == ()
    assert desk.book.status(message_id) == "undelivered"
    types = [row[0] for row in desk.book.conn.execute("SELECT type FROM events ORDER BY seq")]
    assert types == ["sms.sent", "sms.failed"]


def test_the_held_ones_other_forms_do_not_meet_another_message(desk):
    first, second = desk.start(), desk.start()
    desk.receipt("255", also=("ff",))
    desk.answer(first, "ff")
    assert desk.book.status(first) == "delivered"
    desk.answer(second, "255")
    assert desk.book.status(second) == "sent"


def test_what_matches_nothing_is_held_up_to_a_limit_and_for_a_time(desk, monkeypatch):
    monkeypatch.setattr(held, "HELD_MAX", 20)
    for n in range(50):
        desk.book.now_ms += 1
        desk.receipt(f"rubbish-{n}")
    assert desk.held <= 21
    newest = desk.book.one("SELECT max(carrier_id) FROM held_receipts")
    assert newest == "rubbish-49"
    before_ms = desk.book.now_ms - 5
    given_up = desk.book.unit(lambda conn: held.forget(conn, before_ms, desk.book.now_ms))
    assert len(given_up) > 0
    assert desk.held == 6


def test_a_receipt_for_a_message_that_has_failed_is_only_noted(desk):

    message_id = desk.start(segments=2)
    desk.answer(message_id, "p1", 1)
    stamp = desk.book.stamp()
    desk.book.unit(lambda conn: fail(conn, load(conn, message_id), Cause.REJECTED, stamp))
    assert desk.receipt("p1") == ()
    assert desk.book.status(message_id) == "failed"
    late = "A receipt came too late to change anything: delivered."
    assert desk.book.texts(message_id)[-1] == late


def test_an_answer_without_an_id_meets_nobodys_receipt(desk):
    desk.receipt("0")
    message_id = desk.sent("")
    desk.receipt("000")
    assert desk.book.status(message_id) == "sent"
    assert desk.held == 2


# -- by the submit's own reference --------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (ReceiptState.DELIVERED, "delivered"),
        (ReceiptState.UNDELIVERABLE, "undelivered"),
        (ReceiptState.ENROUTE, "sent"),
    ],
)
def test_a_receipt_tells_of_a_submit_without_an_answer(desk, state, status):
    message_id = desk.start()
    desk.no_answer(message_id)
    desk.receipt_with(submit_reference(message_id, 1, 1), state=state)
    assert desk.book.status(message_id) == status
    assert desk.book.one("SELECT provider_message_id FROM messages") == "7"
    told = "No answer came, but a receipt did: the carrier accepted it."
    assert told in desk.book.texts(message_id)
    assert desk.resolve() == ()


def test_the_other_parts_follow_through_the_same_carrier(desk):
    message_id = desk.start(segments=2)
    desk.no_answer(message_id)
    desk.receipt_with(submit_reference(message_id, 1, 1))
    assert desk.book.status(message_id) == "pending"
    assert desk.book.one("SELECT route FROM messages") == "@mattel"
    assert desk.book.one("SELECT state FROM segments") == "delivered"
    desk.begin(message_id, 2, opens=True)
    desk.answer(message_id, "8", number=2, attempt=2)
    desk.receipt("8")
    assert desk.book.status(message_id) == "delivered"


@pytest.mark.parametrize("later", ["answer_times_out", "crash"])
def test_a_receipt_before_the_uncertainty_tells_too(desk, later):
    message_id = desk.start()
    assert desk.receipt_with(submit_reference(message_id, 1, 1)) == ()
    assert desk.held == 1
    if later == "crash":
        policy = OnUncertain(action="resend", after_s=1)
        desk.book.recover(policy)
        desk.resolve()
    else:
        desk.no_answer(message_id, action="resend")
    assert desk.book.status(message_id) == "delivered"
    assert desk.held == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"reference": "other attempt"},
        {"reference": "other part"},
        {"recipient": "+22299999999"},
        {"recipient": None},
        {"reference": None},
    ],
)
def test_a_reference_counts_only_with_its_recipient_and_its_attempt(desk, wrong):
    message_id = desk.start()
    desk.no_answer(message_id)
    references = {
        "other attempt": submit_reference(message_id, 1, 2),
        "other part": submit_reference(message_id, 2, 1),
        "right": submit_reference(message_id, 1, 1),
        None: None,
    }
    changes = {"reference": "right", **wrong}
    changes["reference"] = references[changes["reference"]]
    assert desk.receipt_with(**changes) == ()
    assert desk.book.status(message_id) == "processing"
    desk.resolve()
    assert desk.book.status(message_id) == "failed"


def test_what_the_policy_has_ended_stays_ended(desk):
    message_id = desk.start()
    desk.no_answer(message_id)
    desk.resolve()
    desk.receipt_with(submit_reference(message_id, 1, 1))
    assert desk.book.status(message_id) == "failed"


def test_a_known_id_wins_over_a_reference(desk):
    sent = desk.sent("7")
    uncertain = desk.start()
    desk.no_answer(uncertain)
    desk.receipt_with(submit_reference(uncertain, 1, 1), carrier_id="7")
    assert desk.book.status(sent) == "delivered"
    assert desk.book.status(uncertain) == "processing"


# -- by the recipient alone ---------------------------------------------------------------------


def told_by_recipient(desk, recipient="+22236123456", carrier="mattel"):
    told = Receipt(
        "17-36123456-26112014",
        ReceiptState.DELIVERED,
        "TP-ST 00",
        recipient=recipient,
        recipient_tells=True,
    )
    return desk.book.record(told, carrier)


@pytest.mark.parametrize("recipient", ["+22236123456", "36123456", "0022236123456"])
def test_the_one_submit_to_this_recipient_that_has_no_answer(desk, recipient):
    message_id = desk.start()
    desk.no_answer(message_id)
    told_by_recipient(desk, recipient)
    assert desk.book.status(message_id) == "delivered"


def test_of_two_such_submits_none_is_taken(desk):
    both = [desk.start(), desk.start()]
    for message_id in both:
        desk.no_answer(message_id)
    assert told_by_recipient(desk) == ()
    assert [desk.book.status(message_id) for message_id in both] == ["processing"] * 2


@pytest.mark.parametrize(
    "wrong", [{"recipient": "+22236123457"}, {"recipient": None}, {"carrier": "other"}]
)
def test_another_recipient_or_carrier_tells_nothing(desk, wrong):
    message_id = desk.start()
    desk.no_answer(message_id)
    assert told_by_recipient(desk, **wrong) == ()
    assert desk.book.status(message_id) == "processing"


@pytest.mark.parametrize("ended", [False, True])
def test_a_submit_in_flight_may_be_the_one_until_its_answer_is_there(desk, ended):
    """Its receipt came first: it is not that of an older submit without an answer."""
    older = desk.start()
    desk.no_answer(older)
    if ended:
        desk.resolve()
    before = desk.book.status(older)
    newer = desk.start()
    assert told_by_recipient(desk) == ()
    assert (desk.book.status(older), desk.held) == (before, 1)
    desk.answer(newer, "17-36123456-26112014")
    assert desk.book.status(newer) == "delivered"
    assert desk.book.status(older) == before


def test_a_submit_that_was_answered_is_none_of_them(desk):
    message_id = desk.sent("16-36123456-26112014")
    assert told_by_recipient(desk) == ()
    assert desk.book.status(message_id) == "sent"


# -- its own word -------------------------------------------------------------------------------


def lines(desk, message_id):
    """Kind, cause and the carrier's word of each line from the answer on."""
    entries = timeline.read(desk.book.conn, message_id)
    told = [(entry.line.kind.name, entry.line.cause, entry.raw) for entry in entries]
    return told[2:]


@pytest.mark.parametrize("early", [False, True])
def test_a_receipts_own_word_stands_beside_what_it_tells(desk, early):
    message_id = desk.start()
    if early:
        desk.receipt("1a")
    desk.answer(message_id, "1a")
    if not early:
        desk.receipt("1a")
    assert lines(desk, message_id) == [
        ("SENT", None, "ESME_ROK"),
        ("DELIVERED", None, "stat:DELIVERED"),
    ]


def test_a_wrong_label_stands_in_the_timeline_alone(desk):
    """Not in the carrier's code, which people search for."""
    label = "labelled ucs2, read as ascii"
    for state, kind in ((ReceiptState.DELIVERED, "DELIVERED"), (ReceiptState.EXPIRED, None)):
        message_id = desk.start()
        desk.answer(message_id, str(state))
        desk.book.record(Receipt(str(state), state, "WORD", label=label), "mattel")
        line = lines(desk, message_id)[-1]
        assert line[2] == f"WORD ({label})"
        assert kind is None or line[0] == kind
        code = desk.book.one("SELECT carrier_code FROM messages WHERE id = ?", message_id)
        assert code == (None if kind else "WORD")


@pytest.mark.parametrize("early", [False, True])
def test_so_does_that_of_one_that_was_not_delivered(desk, early):
    message_id = desk.start()
    if early:
        desk.receipt("1a", ReceiptState.UNDELIVERABLE, cause=Cause.ABSENT)
    desk.answer(message_id, "1a")
    if not early:
        desk.receipt("1a", ReceiptState.UNDELIVERABLE, cause=Cause.ABSENT)
    told = ("UNDELIVERED", Cause.ABSENT, "stat:UNDELIVERABLE")
    assert lines(desk, message_id) == [("SENT", None, "ESME_ROK"), told]


def test_receipts_of_parts_that_come_before_their_answers(desk):
    message_id = desk.start(segments=2)
    desk.receipt("p2")
    desk.receipt("p1", ReceiptState.EXPIRED)
    desk.answer(message_id, "p1", 1)
    desk.begin(message_id, 2)
    desk.answer(message_id, "p2", 2)
    assert lines(desk, message_id) == [
        ("PART_ACCEPTED", None, "ESME_ROK"),
        ("RECEIPT", Cause.EXPIRED, "stat:EXPIRED"),
        ("PART_ACCEPTED", None, "ESME_ROK"),
        ("RECEIPT", None, "stat:DELIVERED"),
        ("SENT", None, "ESME_ROK"),
        ("UNDELIVERED", Cause.EXPIRED, "stat:EXPIRED"),
    ]
    early = "Receipt for part 2 of 2: delivered. It came before the carrier's answer."
    assert early in desk.book.texts(message_id)


def test_two_that_contradict_each_other_before_the_answer(desk):
    message_id = desk.start()
    desk.receipt("1a")
    desk.receipt("1a", ReceiptState.REJECTED)
    desk.answer(message_id, "1a")
    assert desk.book.status(message_id) == "delivered"
    assert desk.book.one("SELECT error_code FROM messages") is None
    assert lines(desk, message_id) == [
        ("SENT", None, "ESME_ROK"),
        ("DELIVERED", None, "stat:DELIVERED"),
        ("RECEIPT_CONTRADICTS", Cause.REJECTED, "stat:REJECTED"),
    ]


@pytest.mark.parametrize(
    ("first", "later", "said"),
    [
        (ReceiptState.DELIVERED, ReceiptState.EXPIRED, "said delivered, this one says not"),
        (ReceiptState.EXPIRED, ReceiptState.DELIVERED, "said not delivered, this one says del"),
    ],
)
def test_one_that_contradicts_a_final_state_says_so(desk, first, later, said):
    message_id = desk.sent()
    desk.receipt("1a", first)
    desk.receipt("1a", later)
    assert f"that one {said}" in desk.book.texts(message_id)[-1]
    assert lines(desk, message_id)[-1][2] == f"stat:{later}"


@pytest.mark.parametrize("by", ["reference", "recipient", "id"])
def test_one_that_proves_a_failed_message_delivered_says_so(desk, by):
    message_id = desk.start()
    desk.no_answer(message_id)
    if by == "id":  # the driver chose it
        desk.book.conn.execute("UPDATE message SET carrier_key = '7'")
        desk.book.conn.commit()
    desk.resolve()
    assert desk.book.status(message_id) == "failed"
    refunds = desk.book.one("SELECT count(*) FROM ledger WHERE kind = 'refund'")
    if by == "recipient":
        told_by_recipient(desk)
    else:
        reference = submit_reference(message_id, 1, 1) if by == "reference" else None
        desk.receipt_with(reference)
    assert desk.book.status(message_id) == "failed"
    assert desk.book.one("SELECT count(*) FROM ledger WHERE kind = 'refund'") == refunds
    assert desk.held == 0
    text = "A later receipt says that the message was delivered after all."
    assert desk.book.texts(message_id)[-1].startswith(text)


def test_one_that_comes_much_later_is_nobodys(desk):
    message_id = desk.start()
    desk.no_answer(message_id)
    desk.resolve()
    desk.book.now_ms += LATE_MS
    desk.receipt_with(submit_reference(message_id, 1, 1))
    assert desk.held == 1
