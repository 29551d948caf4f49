"""Each row of the error table, and words in place of numbers."""

import pytest

from risala.drivers.modem.errors import CME, CMS, WRONG_PIN, outcome_of, trouble_of
from risala.drivers.modem.lines import final_of
from risala.sms.outcome import Refused, Scope, Throttled, Uncertain, Unsent


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
        assert outcome.text.endswith(".")


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
