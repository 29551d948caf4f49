"""What each command_status makes of a submit."""

import pytest

from risala.drivers.smpp.status import BIND_ADVICE, STATUSES, Verdict, refusal, status_of
from risala.sms.outcome import Refused, Scope, Throttled


@pytest.mark.parametrize(("value", "name"), [(0x58, "ESME_RTHROTTLED"), (0x14, "ESME_RMSGQFUL")])
def test_slow_down_is_no_refusal(value, name):
    outcome = refusal(value)
    assert isinstance(outcome, Throttled)
    assert outcome.raw == name


@pytest.mark.parametrize(
    ("scope", "values"),
    [
        (Scope.NOW, [0x08, 0x64, 0x45, 0x04, 0xFE, 0xFF, 0x99, 0x500]),
        (Scope.FINAL, [0x0B, 0x65, 0x66]),
        (Scope.CARRIER, [0x0A, 0x01, 0x43, 0x48, 0x61, 0xC4, 0x104, 0x400, 0x4FF]),
    ],
)
def test_how_far_a_refusal_reaches(scope, values):
    for value in values:
        outcome = refusal(value)
        assert isinstance(outcome, Refused)
        assert outcome.scope is scope, hex(value)


def test_a_carrier_may_mean_something_else():
    verdicts = {0x45: Verdict.FINAL, 0x401: Verdict.THROTTLED}
    assert refusal(0x45, verdicts) == Refused(Scope.FINAL, "ESME_RSUBMITFAIL", status_of(0x45).text)
    assert isinstance(refusal(0x401, verdicts), Throttled)


def test_every_row_is_a_sentence_of_its_own():
    texts = [row.text for row in STATUSES.values()]
    assert all(text.startswith("The ") and text.endswith(".") for text in texts)
    assert len(set(texts)) == len(texts)
    assert all(row.name.startswith("ESME_R") for row in STATUSES.values())
    assert set(BIND_ADVICE) <= set(STATUSES)


def test_what_nobody_knows_keeps_its_number():
    assert status_of(0x455).name == "VENDOR_0x455"
    assert status_of(0xDEAD).name == "UNKNOWN_0x0000DEAD"
