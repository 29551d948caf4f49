"""Which numbers get codes, and how soon after one another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.rules.code_guards import HOUR_MS, CodeGuards
from risala.sms.numbering.countries import MATTEL

S = 1000
NOW = 1_800_000_000_000
GROWING = CodeGuards(cooldown_ms=30 * S, cooldown_max_ms=100 * S)


def test_everything_passes_unless_the_operator_says_otherwise():
    assert CodeGuards().serve("+22225123456")
    assert CodeGuards().wait_ms([NOW, NOW, NOW], NOW) == 0


@pytest.mark.parametrize(
    ("guards", "number", "serves"),
    [
        (CodeGuards(frozenset({MATTEL})), "+22236123456", True),
        (CodeGuards(frozenset({MATTEL})), "+22246123456", False),
        (CodeGuards(frozenset({MATTEL})), "+22235123456", False),  # a fixed line
        (CodeGuards(prefixes=("+22235",)), "+22235123456", True),
        (CodeGuards(prefixes=("+22235",)), "+22236123456", False),
        (CodeGuards(frozenset({MATTEL}), ("+2224",)), "+22246123456", True),
        (CodeGuards(frozenset({MATTEL})), "amina@baraka.example", True),
        (CodeGuards(frozenset({MATTEL})), "?not known yet", True),
    ],
)
def test_codes_go_to_the_networks_and_prefixes_that_are_named(guards, number, serves):
    assert guards.serve(number) is serves


@pytest.mark.parametrize(
    ("ages_s", "wait_s"),
    [
        ([], 0),
        ([0], 30),
        ([29], 1),
        ([30], 0),
        ([100, 0], 60),
        ([100, 59], 1),
        ([100, 60], 0),
        ([300, 200, 0], 100),  # 120, but for the maximum
        ([900, 800, 700, 0], 100),
        ([3599, 0], 30),  # in a second the first is no longer of this hour
        ([3590, 3589, 0], 30),
        ([3550, 0], 50),  # as soon as the first is no longer of this hour, though 60 are doubled
    ],
)
def test_the_wait_doubles_with_each_code_of_the_hour(ages_s, wait_s):
    assert GROWING.wait_ms([NOW - age * S for age in ages_s], NOW) == wait_s * S


def test_a_cooldown_of_an_hour_is_one():
    guards = CodeGuards(cooldown_ms=HOUR_MS)
    assert guards.wait_ms([NOW - 1000], NOW) == HOUR_MS - 1000
    assert guards.wait_ms([NOW - 2000, NOW - 1000], NOW) == HOUR_MS - 1000


@given(
    st.lists(st.integers(0, HOUR_MS - 1), max_size=8),
    st.integers(1, HOUR_MS),
    st.integers(1, HOUR_MS),
)
def test_the_wait_is_exact(ages, cooldown_ms, cooldown_max_ms):
    guards = CodeGuards(cooldown_ms=cooldown_ms, cooldown_max_ms=cooldown_max_ms)
    times = sorted(NOW - age for age in ages)

    def waits(at):
        return guards.wait_ms([each for each in times if each > at - HOUR_MS], at)

    wait = waits(NOW)
    assert wait <= HOUR_MS
    assert waits(NOW + wait) == 0
    if wait:
        assert waits(NOW + wait - 1) == 1
        assert waits(NOW + wait // 2) == wait - wait // 2
