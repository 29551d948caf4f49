"""Units of work that come when what they speak of is gone, or has moved on: they change nothing."""

from __future__ import annotations

import pytest

from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.stored import alerts
from risala.engine.features.compat import stored as credentials
from risala.engine.features.own_data.records import ExportFault
from risala.engine.features.own_data.stored import exports
from risala.engine.features.payments.stored import payments
from risala.engine.journal.accounts import accounts, balances, ledger, references
from risala.engine.journal.messages import delivery, endings, held, live, reads, timeline, waiting
from risala.engine.journal.state import load
from risala.engine.journal.webhooks import deliveries
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.records.attempts import Attempt, Decision, Declining, Step
from risala.engine.model.states import SegmentState
from risala.sms.cause import Cause

NOBODY = "sms_00000000000000000000000000"


@pytest.fixture
def gone(book):
    """A message that was sent: nothing that is about its sending is about it any more."""
    message = book.accept(book.organization())
    book.begin(message)
    book.finish(Attempt(message, 1, 1, "mattel"), accepted())
    assert book.status(message) == "sent"
    return message


def accepted() -> Decision:
    return Decision(Step.ADVANCE, SegmentState.ACCEPTED, None, carrier_id="c-1")


def everything(book) -> list[object]:
    """All rows of all tables."""
    names = book.conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [book.conn.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names]


class TestAMessageThatWasSent:
    def test_is_not_declined(self, book, gone):
        before = everything(book)
        declining = Declining(gone, "mattel", "quota", book.now_ms + 1000, None)
        assert book.unit(lambda conn: endings.decline(conn, declining, book.stamp())) == ()
        assert everything(book) == before

    def test_is_not_given_back(self, book, gone):
        before = everything(book)
        attempt = Attempt(gone, 1, 1, "mattel")
        assert book.unit(lambda conn: delivery.give_back(conn, attempt, None, book.now_ms)) == ()
        assert everything(book) == before

    def test_does_not_fail_and_nothing_is_refunded(self, book, gone):
        before = everything(book)
        message = load(book.conn, gone)
        failed = book.unit(lambda conn: endings.fail(conn, message, Cause.REJECTED, book.stamp()))
        assert failed == ()
        assert everything(book) == before

    def test_begins_no_further_segment(self, book, gone):
        before = everything(book)
        assert book.begin(gone, number=2, opens=False) is None
        assert everything(book) == before

    def test_waits_for_nobody(self, book, gone):
        assert not waiting.is_unserved(book.conn, gone)


class TestNoSuchMessage:
    def test_nothing_is_begun(self, book):
        assert book.begin(NOBODY) is None

    def test_an_answer_changes_nothing(self, book):
        assert book.finish(Attempt(NOBODY, 1, 1, "mattel"), accepted()) == ()

    def test_it_is_not_declined_or_given_back(self, book):
        declining = Declining(NOBODY, "mattel", "quota", book.now_ms, None)
        assert book.unit(lambda conn: endings.decline(conn, declining, book.stamp())) == ()
        attempt = Attempt(NOBODY, 1, 1, "mattel")
        assert book.unit(lambda conn: delivery.give_back(conn, attempt, None, book.now_ms)) == ()

    def test_it_has_no_timeline_and_no_standing(self, book):
        there = book.accept(book.organization())
        assert timeline.read(book.conn, NOBODY) == ()
        assert [each.message_id for each in live.standings(book.conn, [NOBODY, there])] == [there]
        assert not waiting.is_unserved(book.conn, NOBODY)
        with pytest.raises(NotFound, match=f"There is no message {NOBODY}"):
            reads.shown(book.conn, NOBODY)


def test_who_looks_for_changes_is_told_when_they_are_too_many(book):
    organization = book.organization()
    since = book.now_ms
    ids = [book.accept(organization) for _ in range(3)]
    assert sorted(live.changed_since(book.conn, since, 10)) == ids
    assert live.changed_since(book.conn, since, 2) is None
    # What is older than the question is not counted, and what is on its way always is.
    for each in ids:
        book.begin(each)
    assert sorted(live.changed_since(book.conn, since + 1, 3)) == ids
    assert live.changed_since(book.conn, since + 1, 2) is None


def test_no_id_takes_no_receipt(book, gone):
    assert held.take(book.conn, ["mattel"], load(book.conn, gone), "") == []


class TestWhatHasNoRow:
    @pytest.mark.parametrize(
        ("ask", "words"),
        [
            (lambda conn: alerts.alert(conn, 9), "There is no alert 9."),
            (lambda conn: ledger.entry(conn, 9), "There is no such entry."),
            (lambda conn: credentials.proof(conn, "crd_9"), "There is no credential crd_9."),
            (
                lambda conn: balances.balance_state(conn, "org_9", 0),
                "There is no organization org_9.",
            ),
            (lambda conn: payments.payment(conn, "pay_9"), "no such payment"),
        ],
    )
    def test_is_not_found(self, book, ask, words):
        with pytest.raises(NotFound, match=words):
            ask(book.conn)

    def test_no_attempt_at_a_webhook_is_made(self, book):
        assert deliveries.begin(book.conn, 9, book.now_ms) is None
        assert deliveries.end_pending(book.conn, "whe_9", book.now_ms) == 0


def test_a_deleted_organization_is_neither_suspended_nor_resumed(book):
    organization = book.organization()
    book.conn.execute("UPDATE organizations SET deleted_at = 1 WHERE id = ?", (organization,))
    for status in ("suspended", "active"):
        with pytest.raises(Conflict, match="The organization is deleted"):
            book.unit(
                lambda conn, s=status: accounts.set_organization_status(conn, organization, s)
            )


class TestAnExportThatNobodyWants:
    @pytest.fixture
    def dropped(self, book):
        export = "exp_1"
        organization = book.organization()
        book.unit(lambda conn: exports.begin(conn, export, organization, "usr_1", book.now_ms))
        book.unit(lambda conn: exports.drop(conn, export, book.now_ms))
        return export

    def test_is_neither_noted_nor_finished_nor_failed(self, book, dropped):
        before = everything(book)
        assert not book.unit(lambda conn: exports.note(conn, dropped, 5))
        assert not book.unit(lambda conn: exports.finish(conn, dropped, 5, 100, book.now_ms))
        book.unit(lambda conn: exports.fail(conn, dropped, ExportFault.NO_ROOM, book.now_ms))
        assert everything(book) == before

    def test_is_not_dropped_again(self, book, dropped):
        book.now_ms += 1
        assert (
            book.unit(lambda conn: exports.drop(conn, dropped, book.now_ms)).ended_at < book.now_ms
        )


def test_an_alert_that_is_over_is_not_over_again(book):
    kind = AlertKind.DISK_LOW
    raised = book.unit(lambda conn: alerts.raise_one(conn, kind, "", {}, book.now_ms))
    assert book.unit(lambda conn: alerts.raise_one(conn, kind, "", {}, book.now_ms)) is None
    assert book.unit(lambda conn: alerts.end(conn, raised.seq, {}, book.now_ms)) is not None
    assert book.unit(lambda conn: alerts.end(conn, raised.seq, {}, book.now_ms)) is None


def test_a_reference_of_nothing_that_can_be_compared_is_known_to_nobody(book):
    references.refuse_credited(book.conn, "bankily", "--")
    book.unit(lambda conn: references.enter(conn, "bankily", "--", 1))
    references.refuse_credited(book.conn, "bankily", "--")
