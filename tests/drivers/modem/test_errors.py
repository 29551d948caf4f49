"""Each row of the error table, and words in place of numbers."""

import pytest

from risala.drivers.modem.at.causes import cause_of_status, cause_of_trouble, outcome_of
from risala.drivers.modem.at.errors import CME, CMS, WRONG_PIN, trouble_of
from risala.drivers.modem.at.lines import final_of
from risala.drivers.modem.inbound.reports import state_of
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope, Throttled, Uncertain, Unsent
from risala.sms.receipt import Receipt


def result(line: str):
    found = final_of(line, numeric=False)
    assert found is not None
    return found


def kind(outcome) -> str:
    return outcome.scope.value if isinstance(outcome, Refused) else type(outcome).__name__


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((1, 30, 195, 196), "final"),
        # refused for good by this SIM's network; another carrier may take it
        ((8, 10, 21, 28, 29, 50), "carrier"),
        ((304, 305, 330), "carrier"),
        ((310, 311, 312, 313, 315, 316, 317, 318), "Unsent"),
        ((314, 515, 22, 42, 514, 192), "Throttled"),
        ((38, 41, 47, 331, 500, 512, 322), "now"),
        ((27,), "recipient"),
        ((332, 513), "Uncertain"),
        ((-7, 700, 9999), "now"),
        ((128, 255), "carrier"),
    ],
)
def test_cms(codes, expected):
    for code in codes:
        outcome = outcome_of(result(f"+CMS ERROR: {code}"))
        assert kind(outcome) == expected, code
        assert outcome.raw == f"+CMS ERROR: {code}"
        assert outcome.text.endswith(".") or outcome.cause is Cause.NOT_ACKNOWLEDGED


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("+CME ERROR: 10", Unsent),
        ("+CME ERROR: 14", Throttled),
        ("+CME ERROR: 30", Refused),
        ("+CME ERROR: 31", Uncertain),
        ("+CME ERROR:-1", Refused),
        ("+CME ERROR: SIM not inserted", Unsent),
        ("+CMS ERROR: SIM PUK required", Unsent),
        ("+CMS ERROR: ph-SIM PIN required", Unsent),
        ("+CMS ERROR: no network service", Refused),
        ("+CMS ERROR: whatever", Refused),
        ("+CMS ERROR", Refused),
        ("ERROR", Refused),
        ("COMMAND NOT SUPPORT", Refused),
    ],
)
def test_words_and_others(line, expected):
    assert isinstance(outcome_of(result(line)), expected)


def test_which_errors_make_the_lane_sick():
    sick = {code for code, row in CMS.items() if row.sick}
    assert sick == {310, 311, 312, 313, 315, 316, 317, 318, 330}
    assert {code for code, row in CME.items() if row.sick} == {5, 10, 11, 12, 13, 15, 16, 17, 18}


def test_words_find_the_most_exact_row():
    assert trouble_of(result("+CME ERROR: PH-SIM PIN required")).text == CME[5].text
    assert trouble_of(result("+CME ERROR: SIM PIN required")).text == CME[11].text
    assert trouble_of(result("+CME ERROR: incorrect password")) is WRONG_PIN
    assert trouble_of(result("+CME ERROR: 16")) is WRONG_PIN


def test_ok_is_no_trouble():
    with pytest.raises(ValueError, match="OK"):
        trouble_of(result("OK"))


def test_a_refusal_for_good_lets_another_carrier_try_only_where_that_may_help():
    assert outcome_of(result("+CMS ERROR: 1")).scope is Scope.FINAL
    assert outcome_of(result("+CMS ERROR: 8")).scope is Scope.CARRIER


@pytest.mark.parametrize(
    ("cause", "lines"),
    [
        (Cause.UNKNOWN_NUMBER, ("+CMS ERROR: 1", "+CMS ERROR: 30", "+CMS ERROR: 195")),
        (Cause.BARRED, ("+CMS ERROR: 196",)),
        (Cause.ABSENT, ("+CMS ERROR: 27",)),
        (Cause.NOT_ALLOWED, ("+CMS ERROR: 8", "+CMS ERROR: 10", "+CMS ERROR: 50")),
        (Cause.REJECTED, ("+CMS ERROR: 21", "+CMS ERROR: 200")),
        (Cause.UNSUPPORTED, ("+CMS ERROR: 304", "+CME ERROR: 50")),
        (Cause.DUPLICATE, ("+CMS ERROR: 197",)),
        (Cause.THROTTLED, ("+CMS ERROR: 42", "+CMS ERROR: 514")),
        (Cause.BUSY, ("+CMS ERROR: 314", "+CME ERROR: 14")),
        (Cause.NO_SERVICE, ("+CMS ERROR: 331", "+CME ERROR: no network service")),
        (Cause.DEVICE_FAULT, ("+CMS ERROR: 310", "+CMS ERROR: 330", "+CMS ERROR: memory full")),
        (Cause.CARRIER_FAULT, ("+CMS ERROR: 38", "ERROR", "+CMS ERROR: 9999")),
        (Cause.NOT_ACKNOWLEDGED, ("+CMS ERROR: 332", "+CMS ERROR: 513", "+CME ERROR: 31")),
    ],
)
def test_causes(cause, lines):
    assert [outcome_of(result(line)).cause for line in lines] == [cause] * len(lines)


def test_each_error_has_a_cause():
    for row in (*CMS.values(), *CME.values()):
        assert cause_of_trouble(row) in Cause


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (0x40, Cause.UNDELIVERABLE),
        (0x42, Cause.REJECTED),
        (0x43, Cause.ABSENT),
        (0x46, Cause.EXPIRED),
        (0x47, Cause.DELETED),
        (0x49, Cause.UNTRACED),
        (0x62, Cause.ABSENT),
        (0x63, Cause.REJECTED),
        (0x7F, Cause.UNDELIVERABLE),
    ],
)
def test_causes_of_status_reports(status, cause):
    assert Receipt("1", state_of(status), "", cause_of_status(status)).why is cause
