"""Every row of the table that says what follows from an outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from risala.config.model import OnUncertain, RetrySection
from risala.engine.model.lines import SENT, SENT_UNREPORTED, Kind, Line
from risala.engine.model.records.attempts import Decision, Step
from risala.engine.model.states import SegmentState
from risala.engine.rules.repeats import Manners
from risala.engine.rules.retry import Circumstances, decide, wait_ms
from risala.sms.cause import Cause
from risala.sms.outcome import Accepted, Refused, Scope, Throttled, Uncertain, Unsent

NOW = 1_000_000
RETRY = RetrySection(first_wait_s=5, factor=3, wait_max_s=60, attempts_max=4)
AT = Circumstances(
    now_ms=NOW,
    valid_until=NOW + 3_600_000,
    refusals=0,
    pinned_route="@mattel",
    partly_accepted=False,
    next_route="@mauritel",
    on_uncertain=OnUncertain(action="fail", after_s=120),
    retry=RETRY,
)
PARTLY = replace(AT, partly_accepted=True)


def now(text: str = "Sick.") -> Refused:
    return Refused(Scope.NOW, "ESME_RSYSERR", text, Cause.CARRIER_FAULT)


@pytest.mark.parametrize("at", [AT, PARTLY, replace(AT, valid_until=NOW - 1)])
def test_accepted_goes_on(at):
    decision = decide(Accepted("1a", "ESME_ROK"), at)
    assert decision == Decision(
        Step.ADVANCE,
        SegmentState.ACCEPTED,
        Line(Kind.PART_ACCEPTED),
        "ESME_ROK",
        carrier_id="1a",
    )


@pytest.mark.parametrize(
    "outcome", [Throttled("ESME_RTHROTTLED", "Slow down."), Unsent("LINK_DOWN", "No link.")]
)
@pytest.mark.parametrize(("at", "route"), [(AT, None), (PARTLY, "@mattel")])
def test_throttled_and_unsent_keep_their_place_and_cost_no_attempt(outcome, at, route):
    decision = decide(outcome, at)
    assert (decision.step, decision.segment_state) == (Step.REQUEUE, SegmentState.WAITING)
    assert decision.raw == outcome.raw
    assert decision.line == Line(Kind.HELD_BACK, outcome.cause, {"note": outcome.text})
    assert decision.due_at is None
    assert decision.route == route
    assert not decision.counts_as_refusal


@pytest.mark.parametrize(("action", "after_s"), [("fail", 120), ("resend", 15), ("fail", 0)])
def test_uncertain_waits_for_its_policy(action, after_s):
    at = replace(AT, on_uncertain=OnUncertain(action=action, after_s=after_s))
    decision = decide(Uncertain("TIMEOUT"), at)
    assert (decision.step, decision.segment_state) == (Step.AWAIT, SegmentState.UNCERTAIN)
    when = {"until": NOW + after_s * 1000, "then": action}
    assert decision.line == Line(Kind.UNCERTAIN, Cause.NO_ANSWER, when)
    assert (decision.resolve_at, decision.resolve_action) == (NOW + after_s * 1000, action)


def test_uncertain_for_good_is_never_submitted_again():
    at = replace(
        AT,
        on_uncertain=OnUncertain(action="resend", after_s=15),
        manners=Manners(same_id_is_safe=True),
    )
    decision = decide(Uncertain("", "The phone is gone.", is_final=True), at)
    assert (decision.resolve_at, decision.resolve_action) == (NOW + 15_000, "fail")
    assert decide(Uncertain(""), at).line.values["then"] == "repeat"


def test_a_recipient_that_cannot_be_reached_is_tried_again_like_any_refusal_for_now():
    refused = Refused(Scope.RECIPIENT, "ESME_RSYSERR", "Out of service.", Cause.CARRIER_FAULT)
    assert decide(refused, AT) == decide(now("Out of service."), AT)


@pytest.mark.parametrize(("refusals", "wait_s"), [(0, 5), (1, 15), (2, 45)])
def test_refused_for_now_waits_longer_each_time(refusals, wait_s):
    decision = decide(now(), replace(AT, refusals=refusals))
    assert (decision.step, decision.segment_state) == (Step.REQUEUE, SegmentState.WAITING)
    assert decision.due_at == NOW + wait_s * 1000
    assert decision.counts_as_refusal
    assert decision.route is None
    values = {"wait_ms": wait_s * 1000, "note": "Sick."}
    assert decision.line == Line(Kind.REFUSED_FOR_NOW, Cause.CARRIER_FAULT, values)


def test_refused_for_now_stays_with_the_carrier_that_has_other_parts():
    assert decide(now(), PARTLY).route == "@mattel"


@pytest.mark.parametrize("cause", [Cause.NO_ANSWER, Cause.LINK_LOST])
def test_uncertain_keeps_what_the_carrier_said_and_whether_the_link_was_lost(cause):
    decision = decide(Uncertain("TIMEOUT", "It was lost.", "1a", cause), AT)
    assert (decision.raw, decision.carrier_id) == ("TIMEOUT", "1a")
    assert (decision.line.cause, decision.line.values["note"]) == (cause, "It was lost.")
    assert decision.lost_link is (cause is Cause.LINK_LOST)


@pytest.mark.parametrize(("gives_receipts", "line"), [(True, SENT), (False, SENT_UNREPORTED)])
def test_a_line_that_gives_no_receipts_says_so(gives_receipts, line):
    at = replace(AT, gives_receipts=gives_receipts)
    assert decide(Accepted("1a", "OK"), at).sent == line


def test_a_refusal_says_what_the_carrier_said():
    said = {"note": "Bad sender."}
    refused = Refused(Scope.CARRIER, "ESME_RINVSRCADR", "Bad sender.", Cause.SENDER_REFUSED)
    rerouted = decide(refused, AT)
    assert rerouted.raw == "ESME_RINVSRCADR"
    assert rerouted.line == Line(Kind.REROUTED, Cause.SENDER_REFUSED, said)
    failed = decide(replace(refused, scope=Scope.FINAL), AT)
    assert failed.line == Line(Kind.FAILED, Cause.SENDER_REFUSED, said)
    assert decide(now(), AT).raw == "ESME_RSYSERR"


def test_a_message_whose_time_is_over_fails_with_the_last_refusal():
    decision = decide(now(), replace(AT, valid_until=NOW))
    values = {"last": "CARRIER_FAULT", "note": "Sick."}
    assert decision.line == Line(Kind.FAILED, Cause.VALIDITY_OVER, values)
    assert decision.raw == "ESME_RSYSERR"


@pytest.mark.parametrize("refusals", [3, 4, 100])
def test_refused_for_now_once_too_often_fails(refusals):
    decision = decide(now(), replace(AT, refusals=refusals))
    assert (decision.step, decision.segment_state) == (Step.FAIL, SegmentState.REFUSED)
    assert (decision.line.cause, decision.raw) == (Cause.RETRIES_EXHAUSTED, "ESME_RSYSERR")
    values = {"refusals": refusals + 1, "last": "CARRIER_FAULT", "note": "Sick."}
    assert decision.line == Line(Kind.FAILED, Cause.RETRIES_EXHAUSTED, values)


@pytest.mark.parametrize(("left_ms", "step"), [(5000, Step.FAIL), (5001, Step.REQUEUE)])
def test_no_wait_goes_beyond_the_validity(left_ms, step):
    decision = decide(now(), replace(AT, valid_until=NOW + left_ms))
    assert decision.step is step
    if step is Step.FAIL:
        assert decision.line.cause is Cause.VALIDITY_OVER


def test_refused_by_this_carrier_goes_to_another():
    decision = decide(Refused(Scope.CARRIER, "ESME_RINVSRCADR", "", Cause.SENDER_REFUSED), AT)
    assert (decision.step, decision.segment_state) == (Step.REQUEUE, SegmentState.REFUSED)
    assert (decision.route, decision.due_at) == ("@mauritel", NOW)
    assert not decision.counts_as_refusal
    assert decision.line == Line(Kind.REROUTED, Cause.SENDER_REFUSED, {})


@pytest.mark.parametrize(
    ("scope", "at"),
    [
        (Scope.CARRIER, replace(AT, next_route=None)),
        (Scope.CARRIER, PARTLY),
        (Scope.FINAL, AT),
        (Scope.FINAL, PARTLY),
    ],
)
def test_refused_for_good_fails_with_the_carriers_word(scope, at):
    decision = decide(Refused(scope, "ESME_RINVDSTADR", "", Cause.UNKNOWN_NUMBER), at)
    assert (decision.step, decision.segment_state) == (Step.FAIL, SegmentState.REFUSED)
    assert decision.line == Line(Kind.FAILED, Cause.UNKNOWN_NUMBER, {})
    assert decision.raw == "ESME_RINVDSTADR"


def test_waits_grow_up_to_their_limit_without_overflow():
    assert [wait_ms(RETRY, n) for n in (1, 2, 3, 4)] == [5000, 15000, 45000, 60000]
    steep = RetrySection(first_wait_s=3600, factor=10, wait_max_s=86400, attempts_max=100)
    assert wait_ms(steep, 100) == 86_400_000
    assert wait_ms(RetrySection(first_wait_s=0.5, factor=1), 50) == 500
