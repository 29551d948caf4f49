"""Times as they are counted, and when a carrier's codes are no longer entered."""

from __future__ import annotations

from collections import Counter
from math import ceil
from random import Random

import pytest

from risala.engine.features.code_figures.rules import (
    CODES,
    MEDIAN,
    MOST,
    STEPS_S,
    TIMES_MAX,
    CarrierCodes,
    are_unentered,
    last_of_each,
    rounded_s,
    time_within,
)


@pytest.mark.parametrize(
    ("took_ms", "seconds"),
    [
        *((-5, 0), (0, 0), (499, 0), (500, 1), (8_499, 8), (59_499, 59), (59_999, 60)),
        *((60_000, 60), (62_499, 60), (62_500, 65), (597_000, 595), (599_999, 600)),
        *((629_999, 600), (630_000, 660), (3_600_000, 3600), (7_200_000, 7200), (10**9, 7200)),
    ],
)
def test_a_time_is_rounded_the_less_the_shorter_it_is(took_ms, seconds):
    assert rounded_s(took_ms) == seconds


def test_there_are_few_different_times():
    different = len({rounded_s(took_ms) for took_ms in range(0, 7_300_000, 250)})
    assert different == 279 <= TIMES_MAX


def exact(times_ms, share):
    return sorted(times_ms)[ceil(len(times_ms) * share) - 1] / 1000


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("share", [MEDIAN, MOST])
def test_a_median_is_as_near_as_it_is_said_to_be(seed, share):
    random = Random(seed)
    longest_ms = random.choice((50_000, 500_000, 3_600_000))
    times_ms = [random.randrange(longest_ms) for _ in range(random.randrange(1, 200))]
    counted = time_within(Counter(map(rounded_s, times_ms)), share)
    true = exact(times_ms, share)
    step = next(step for end, step in STEPS_S if true < end)
    assert abs(counted - true) <= step / 2


def test_without_an_entered_code_there_is_no_time():
    assert time_within({}, MEDIAN) is None


def of(entered, *, codes=CODES, usual=(1000, 700)):
    return CarrierCodes("mattel", codes, entered, *usual)


@pytest.mark.parametrize(
    ("entered", "raised_share", "is_bad"),
    [
        # Usual are 70 %: a quarter of it is 17.5 %, which is 8.75 of 50 codes.
        *((8, None, True), (9, None, False), (35, None, False)),
        # Once raised, half of it is needed: 17.5 of 50.
        *((17, 0.7, True), (18, 0.7, False)),
    ],
)
def test_codes_are_no_longer_entered_below_a_quarter_of_the_usual_share(
    entered, raised_share, is_bad
):
    assert are_unentered(of(entered), raised_share) is is_bad


@pytest.mark.parametrize(
    "carrier",
    [
        of(0, codes=CODES - 1),
        of(0, usual=(199, 199)),
        of(0, usual=(1000, 299)),
        of(0, usual=(0, 0)),
    ],
    ids=["few codes", "few usual", "low share", "nothing"],
)
def test_of_too_little_nothing_is_said(carrier):
    assert are_unentered(carrier, None) is None


def test_while_it_is_so_it_does_not_become_usual():
    """A week later no code is usually entered."""
    assert are_unentered(of(0, usual=(1000, 0)), 0.7) is True
    assert are_unentered(of(40, usual=(1000, 0)), 0.7) is False


def test_the_last_codes_of_each_carrier_are_judged():
    newest_first = [("a", True)] * 10 + [("b", False)] + [("a", False)] * 60
    assert last_of_each(newest_first) == {"a": (CODES, 10), "b": (1, 0)}
