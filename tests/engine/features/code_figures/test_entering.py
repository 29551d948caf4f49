"""A carrier's codes are no longer entered: it is told, and told again when they are."""

from __future__ import annotations

import pytest
from tests.engine.features.code_figures.conftest import DAY_MS

from risala.engine.features.alerts.records import Alert, AlertKind
from risala.engine.features.alerts.rules import Verdict
from risala.engine.features.alerts.words import alert_words
from risala.engine.features.code_figures.entering import carriers, reading
from risala.engine.features.code_figures.rules import CODES, CarrierCodes
from risala.engine.features.code_figures.stored import counts
from risala.engine.model.people import Language

KIND = AlertKind.CODES_UNENTERED


def raised(facts=None, carrier="mattel") -> Alert:
    known = {"count": CODES, "share": 0.02, "usual_share": 0.7} if facts is None else facts
    return Alert(1, KIND, carrier, known, 0, None, {}, 0, None, None, None)


class Counting:
    def __init__(self, *known: CarrierCodes) -> None:
        self.carriers = known or None


def lately(codes, name):
    found = {
        each.carrier: each for each in counts.carriers_lately(codes.book.conn, codes.book.now_ms)
    }
    return found[name]


def lives(codes, count, *, enters: bool, carrier: str = "mattel") -> None:
    for _ in range(count):
        session = codes.ask()
        codes.take(session, carrier)
        codes.deliver(session, carrier)
        codes.book.now_ms += 1000
        (codes.enter if enters else codes.expire)(session)


@pytest.fixture
def usual(codes):
    """A carrier of whose 250 codes of yesterday 200 were entered."""
    lives(codes, 200, enters=True)
    lives(codes, 50, enters=False)
    codes.count_all()
    codes.book.now_ms += DAY_MS
    return codes


@pytest.mark.slow
def test_it_is_told_by_hand_checked_numbers_and_is_over_with_entered_codes(usual):
    lives(usual, CODES, enters=True)
    of = lately(usual, "mattel")
    assert (of.codes, of.entered, of.usual_share) == (CODES, CODES, 0.8)
    assert (of.usual_asked, of.usual_in_minute) == (250, 200)
    assert reading(of, None).verdict is Verdict.GOOD
    # Usual are 80 %: a quarter of it are 20 %, which are 10 of 50.
    lives(usual, 40, enters=False)
    assert reading(lately(usual, "mattel"), None).verdict is Verdict.GOOD
    lives(usual, 1, enters=False)
    told = reading(lately(usual, "mattel"), None)
    assert told.verdict is Verdict.BAD
    assert told.facts == {"count": 50, "share": 0.18, "usual_share": 0.8}
    alert = raised(told.facts)
    # Half of what is usual: 20 of the last 50.
    lives(usual, 19, enters=True)
    assert reading(lately(usual, "mattel"), alert).verdict is Verdict.BAD
    lives(usual, 1, enters=True)
    assert reading(lately(usual, "mattel"), alert).verdict is Verdict.GOOD


@pytest.mark.slow
def test_what_is_pending_not_taken_of_tests_or_of_yesterday_is_not_judged(usual):
    assert lately(usual, "mattel").codes == 0, "yesterday"
    for _ in range(3):
        usual.take(usual.ask())
        usual.fail(usual.ask())
    usual.live(mode="test")
    assert lately(usual, "mattel").codes == 0
    assert reading(lately(usual, "mattel"), None).verdict is Verdict.UNKNOWN
    assert reading(lately(usual, "mattel"), raised()).verdict is Verdict.UNKNOWN


def test_after_a_start_what_is_raised_stays_until_more_is_known():
    known = {(KIND, "mattel"): raised(), (AlertKind.DISK_LOW, ""): raised()}
    (only,) = carriers(Counting(), known)
    assert (only.subject, only.verdict) == ("mattel", Verdict.UNKNOWN)
    assert [*carriers(Counting(), {})] == []


def test_each_carrier_is_compared_with_its_own_alert():
    known = {(KIND, "mattel"): raised()}
    two = (
        CarrierCodes("mattel", CODES, 10, 1000, 700),
        CarrierCodes("mauritel", CODES, 10, 1000, 700),
    )
    verdicts = [(each.subject, each.verdict) for each in carriers(Counting(*two), known)]
    assert verdicts == [("mattel", Verdict.BAD), ("mauritel", Verdict.GOOD)]


@pytest.mark.parametrize("language", Language)
def test_it_is_told_with_its_figures(language):
    words = alert_words(raised(), language)
    assert "mattel" in words.title
    for figure in ("50", "70"):
        assert figure in words.text
