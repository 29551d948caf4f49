"""Pace, burst, giving way, recovery, pause — on a clock that the test holds."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.rules.throttle import (
    BEST_LOAD_PERCENT,
    BURST_S,
    CONGESTED_SHARE,
    EASE_EVERY_S,
    EASED_SHARE,
    HIGH_LOAD_PERCENT,
    JITTER,
    PAUSE_MAX_S,
    PAUSE_S,
    RECOVERY_S,
    SLOWEST_SHARE,
    Breaker,
    Throttle,
)

START_S = 1000.0


def taken(throttle, from_s, for_s, tick_s=0.001):
    """Tokens that somebody greedy gets who looks every millisecond."""
    count = 0
    for tick in range(round(for_s / tick_s)):
        while throttle.take(from_s + tick * tick_s):
            count += 1
    return count


@pytest.mark.parametrize("rate_per_s", [0.2, 1, 7, 50, 100, 1000, 100_000])
def test_the_pace_is_kept(rate_per_s):
    throttle = Throttle(rate_per_s, START_S)
    for_s = max(2.0, 5 / rate_per_s)
    burst = max(1, rate_per_s * BURST_S)
    fair = rate_per_s * for_s
    assert fair - 1 <= taken(throttle, START_S, for_s) <= fair + burst + 1


def test_a_burst_is_a_few_milliseconds_worth_however_long_it_was_idle():
    throttle = Throttle(1000, START_S)
    at_once = 0
    while throttle.take(START_S + 3600):
        at_once += 1
    assert at_once == pytest.approx(1000 * BURST_S, abs=1)


def test_a_slow_lane_has_no_burst():
    throttle = Throttle(2, START_S)
    assert throttle.take(START_S + 60)
    assert not throttle.take(START_S + 60)
    assert throttle.ready_at_s() == pytest.approx(START_S + 60.5)
    assert not throttle.take(START_S + 60.499)
    assert throttle.take(START_S + 60.501)


def test_a_token_given_back_can_be_taken_again():
    throttle = Throttle(1, START_S)
    assert throttle.take(START_S)
    throttle.give_back()
    assert throttle.take(START_S)
    assert not throttle.take(START_S)


def test_a_throttled_answer_silences_then_halves():
    throttle = Throttle(100, START_S)
    throttle.slow_down(START_S)
    assert throttle.rate_per_s(START_S) == 50
    assert throttle.ready_at_s() == START_S + PAUSE_S
    assert not throttle.take(START_S + PAUSE_S - 0.001)
    assert throttle.take(START_S + PAUSE_S)


def test_the_answers_of_one_window_halve_only_once():
    throttle = Throttle(100, START_S)
    for n in range(10):
        throttle.slow_down(START_S + n * 0.01)
    assert throttle.rate_per_s(START_S) == 50
    assert throttle.ready_at_s() == pytest.approx(START_S + 0.09 + PAUSE_S)


def test_it_never_falls_below_its_slowest():
    throttle = Throttle(100, START_S)
    now_s = START_S
    for _ in range(50):
        throttle.slow_down(now_s)
        now_s = throttle.ready_at_s()
        throttle.succeeded()
        assert throttle.rate_per_s(now_s) >= 100 * SLOWEST_SHARE
    assert throttle.take(now_s)


def test_it_recovers_with_time_and_no_further():
    throttle = Throttle(100, START_S)
    throttle.slow_down(START_S)
    rates = [throttle.rate_per_s(START_S + share * RECOVERY_S) for share in (0, 0.25, 0.5, 1, 9)]
    assert rates == [50, 75, 100, 100, 100]


def test_pauses_grow_until_something_is_accepted():
    throttle = Throttle(100, START_S)
    now_s, pauses = START_S, []
    for _ in range(7):
        throttle.slow_down(now_s)
        throttle.slow_down(now_s)  # another answer of the same window
        pauses.append(throttle.ready_at_s() - now_s)
        now_s = throttle.ready_at_s()
    assert pauses == [1, 2, 4, 8, 16, 16, 16]
    assert pauses[-1] == PAUSE_MAX_S
    throttle.succeeded()
    throttle.slow_down(now_s)
    assert throttle.ready_at_s() - now_s == PAUSE_S


def test_a_fleet_that_was_throttled_together_comes_back_apart():
    chance = random.Random(1).random
    fleet = [Throttle(100, START_S, chance) for _ in range(50)]
    for throttle in fleet:
        throttle.slow_down(START_S)
    back = sorted(throttle.ready_at_s() - START_S for throttle in fleet)
    assert back[0] >= PAUSE_S * (1 - JITTER)
    assert back[-1] <= PAUSE_S * (1 + JITTER)
    for tenth in range(10):
        since_s = PAUSE_S * (0.5 + tenth / 10)
        assert sum(since_s <= at < since_s + 0.1 for at in back) <= 15


def test_the_carriers_own_time_is_the_least():
    ready = []
    for drawn in (0.0, 0.5, 0.999):
        throttle = Throttle(100, START_S, lambda drawn=drawn: drawn)
        throttle.slow_down(START_S, 8)
        ready.append(throttle.ready_at_s() - START_S)
    assert ready == [8, 10, pytest.approx(12, abs=0.01)]


def test_the_carriers_own_time_is_kept():
    throttle = Throttle(100, START_S, lambda: 0.0)
    throttle.slow_down(START_S, 7.5)
    assert throttle.ready_at_s() == START_S + 7.5
    # A shorter one does not cut it.
    throttle.slow_down(START_S + 1, 0.1)
    assert throttle.ready_at_s() == START_S + 7.5


def test_a_pause_is_silence_without_slowing_down():
    throttle = Throttle(100, START_S)
    throttle.pause(START_S, 2)
    throttle.pause(START_S, 1)
    assert not throttle.take(START_S + 1.99)
    assert throttle.take(START_S + 2)
    assert throttle.rate_per_s(START_S) == 100


@given(
    rate_per_s=st.floats(0.01, 1000),
    steps=st.lists(
        st.tuples(st.floats(0, 2), st.sampled_from(["take", "slow", "pause"])), max_size=60
    ),
)
def test_whatever_happens_no_second_has_more_than_its_share(rate_per_s, steps):
    throttle = Throttle(rate_per_s, START_S)
    now_s, times = START_S, []
    for wait_s, what in steps:
        now_s += wait_s
        if what == "slow":
            throttle.slow_down(now_s)
        elif what == "pause":
            throttle.pause(now_s, 0.5)
        else:
            while throttle.take(now_s) and len(times) < 5000:
                times.append(now_s)
    share = rate_per_s + max(1, rate_per_s * BURST_S) + 1
    assert all(sum(t <= other < t + 1 for other in times) <= share for t in set(times))


@pytest.mark.parametrize(
    ("load_percent", "share"),
    [(0, 1.0), (79, 1.0), (HIGH_LOAD_PERCENT, EASED_SHARE), (100, CONGESTED_SHARE)],
)
def test_a_carrier_that_says_it_is_busy_gets_less_once_a_second(load_percent, share):
    throttle = Throttle(100, START_S)
    for tick in range(100):
        throttle.ease(load_percent, START_S + tick * EASE_EVERY_S / 100)
    assert throttle.rate_per_s(START_S) == pytest.approx(100 * share)
    throttle.ease(load_percent, START_S + EASE_EVERY_S)
    assert throttle.rate_per_s(START_S + EASE_EVERY_S) <= 100 * share * (share + 0.05)
    assert throttle.ready_at_s() <= START_S, "it is no reason to be silent"


@pytest.mark.parametrize("load_percent", [BEST_LOAD_PERCENT, HIGH_LOAD_PERCENT - 1])
def test_a_carrier_at_its_best_keeps_its_pace_and_one_with_room_gets_more(load_percent):
    throttle = Throttle(100, START_S)
    throttle.ease(100, START_S)
    for tick in range(1, 201):
        throttle.ease(load_percent, START_S + tick / 10)
    now_s = START_S + 20
    assert throttle.rate_per_s(now_s) == pytest.approx(50)
    throttle.ease(BEST_LOAD_PERCENT - 1, now_s)
    assert throttle.rate_per_s(now_s + RECOVERY_S / 4) == pytest.approx(75)
    # What it grew meanwhile is kept when the carrier comes to its best again.
    throttle.ease(load_percent, now_s + RECOVERY_S / 4)
    throttle.ease(load_percent, now_s + RECOVERY_S / 4 + 1)
    assert throttle.rate_per_s(now_s + RECOVERY_S / 4 + 1) == pytest.approx(75)


def test_a_lane_that_was_throttled_is_retuned_to_the_same_share():
    throttle = Throttle(100, START_S)
    throttle.slow_down(START_S)
    throttle.retune(40, START_S)
    assert throttle.rate_per_s(START_S) == pytest.approx(20)
    throttle.retune(200, START_S)
    assert throttle.rate_per_s(START_S) == pytest.approx(100)


def test_a_token_that_is_given_back_is_one_token():
    throttle = Throttle(4, START_S)
    assert throttle.take(START_S + 9)
    ready_s = throttle.ready_at_s()
    throttle.give_back()
    assert throttle.ready_at_s() == pytest.approx(ready_s - 0.25)


@pytest.mark.parametrize(("drawn", "pause_s"), [(0.0, 0.5), (0.5, 1.0), (1.0, 1.5)])
def test_a_pause_is_shorter_or_longer_by_chance(drawn, pause_s):
    throttle = Throttle(100, START_S, lambda: drawn)
    throttle.slow_down(START_S)
    assert throttle.ready_at_s() == pytest.approx(START_S + pause_s)


def test_a_busy_carrier_is_never_left_without_anything():
    throttle = Throttle(100, START_S)
    for second in range(60):
        throttle.ease(100, START_S + second)
    assert throttle.rate_per_s(START_S + 59) >= 100 * SLOWEST_SHARE


@given(
    st.lists(
        st.tuples(st.floats(0.01, 5.0), st.floats(0.05, 500.0)),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, 3000),
)
def test_no_span_gets_more_than_its_paces_give_whenever_the_pace_is_changed(changes, seed):
    chance = random.Random(seed)
    rate = 20.0
    throttle = Throttle(rate, START_S)
    now_s, taken_at, paces = START_S, [], []
    for for_s, next_rate in changes:
        until_s = now_s + for_s
        paces.append((now_s, until_s, rate))
        while now_s < until_s and len(taken_at) < 400:
            if throttle.take(now_s):
                taken_at.append(now_s)
            now_s += chance.uniform(0.0005, 0.05)
        now_s = max(now_s, until_s)
        paces.append((until_s, now_s, rate))
        rate = next_rate
        throttle.retune(rate, now_s)
    burst = 1 + max(pace for _, _, pace in paces) * BURST_S
    ahead = 0.0
    """The most by which a span's first token was ahead of what all paces gave until then."""
    for number, at_s in enumerate(taken_at):
        owed = sum(pace * max(0.0, min(end, at_s) - start) for start, end, pace in paces)
        ahead = max(ahead, owed - number)
        assert number + 1 - owed + ahead <= burst + 1e-6


def test_a_slow_lane_that_is_made_quick_need_not_wait_for_its_slow_token():
    throttle = Throttle(0.01, START_S)
    assert throttle.take(START_S)
    throttle.retune(10, START_S + 1)
    assert throttle.ready_at_s() <= START_S + 1 + 0.1


def test_a_quick_lane_that_is_made_slow_owes_what_it_owed():
    throttle = Throttle(10, START_S)
    assert throttle.take(START_S)
    throttle.retune(0.1, START_S + 0.05)
    assert throttle.ready_at_s() == pytest.approx(START_S + 0.05 + 5)


def test_what_it_grew_before_the_first_word_on_its_load_is_kept():
    throttle = Throttle(100, START_S)
    throttle.slow_down(START_S)
    now_s = START_S + RECOVERY_S / 4
    throttle.ease(BEST_LOAD_PERCENT, now_s)
    assert throttle.rate_per_s(now_s) == pytest.approx(75)


# Closed, open, one probe: on a clock that the test holds.


def submit(breaker, now_s):
    assert breaker.allows(now_s)
    breaker.submitted()


def opened(failures=3, open_s=30.0):
    """A breaker that opened at 0."""
    breaker = Breaker(failures, open_s)
    for _ in range(failures):
        submit(breaker, 0.0)
        told = breaker.failed(0.0)
    assert told
    return breaker


def test_it_opens_after_so_many_failures_in_a_row_and_says_so_once():
    breaker = Breaker(3, 30.0)
    assert [breaker.failed(0.0) for _ in range(3)] == [False, False, True]
    assert breaker.open_until_s == 30.0
    assert not breaker.allows(29.999)
    # Answers of submits that were on their way keep it open, and are no news.
    assert not breaker.failed(5.0)
    assert breaker.open_until_s == 35.0


def test_a_success_between_starts_the_count_anew():
    breaker = Breaker(3, 30.0)
    for _ in range(5):
        assert not breaker.failed(0.0)
        assert not breaker.failed(0.0)
        breaker.succeeded()
    assert breaker.open_until_s is None
    assert breaker.allows(0.0)


def test_what_says_nothing_of_the_carrier_does_not_count():
    breaker = Breaker(2, 30.0)
    breaker.failed(0.0)
    for _ in range(10):
        submit(breaker, 0.0)
        breaker.withdrew()
    assert breaker.open_until_s is None
    assert breaker.failed(0.0)


def test_after_the_wait_one_probe_goes_out_and_no_second():
    breaker = opened()
    submit(breaker, 30.0)
    assert not breaker.allows(30.0)
    assert not breaker.allows(1000.0)


def test_a_probe_that_succeeds_closes_it():
    breaker = opened()
    submit(breaker, 30.0)
    breaker.succeeded()
    assert breaker.open_until_s is None
    assert breaker.allows(30.0)
    # And the count starts at nothing.
    assert not breaker.failed(30.0)


def test_a_probe_that_fails_opens_it_for_another_wait():
    breaker = opened()
    submit(breaker, 31.0)
    assert not breaker.failed(40.0)
    assert not breaker.allows(69.9)
    submit(breaker, 70.0)


def test_a_probe_that_said_nothing_lets_another_go():
    breaker = opened()
    submit(breaker, 30.0)
    breaker.withdrew()
    submit(breaker, 30.0)
