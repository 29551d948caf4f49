"""Sliding windows: exact, bounded, and the same as counting."""

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risala.engine.rules.windows import Bucket, History, SlidingWindows, Window

ROOMY = 50_000


class TestWindows:
    def test_exactly_so_many_in_any_span(self):
        windows = SlidingWindows([Window(3, 1000)], ROOMY)
        assert [windows.take("a", at) for at in (0, 10, 500, 600)] == [0, 0, 0, 400]
        assert windows.take("a", 999) == 1
        assert windows.take("a", 1000) == 0
        assert windows.take("a", 1001) == 9

    def test_the_wait_is_known_beforehand_and_asking_takes_nothing(self):
        windows = SlidingWindows([Window(1, 1000)], ROOMY)
        assert windows.wait_ms("a", 0) == 0
        assert len(windows) == 0
        windows.take("a", 0)
        assert [windows.wait_ms("a", at) for at in (0, 400, 999, 1000)] == [1000, 600, 1, 0]
        assert windows.wait_ms("b", 400) == 0

    def test_a_refused_event_takes_nothing(self):
        windows = SlidingWindows([Window(1, 1000)], ROOMY)
        windows.take("a", 0)
        for at in range(1, 1000, 100):
            assert windows.take("a", at) == 1000 - at
        assert windows.take("a", 1000) == 0

    def test_the_longest_wait_of_all_windows(self):
        windows = SlidingWindows([Window(1, 10), Window(2, 1000)], ROOMY)
        assert [windows.take("a", at) for at in (0, 5, 10, 15, 20)] == [0, 5, 0, 985, 980]

    def test_keys_are_apart_and_bounded(self):
        windows = SlidingWindows([Window(1, 1000)], keys_max=3)
        for n in range(3):
            assert windows.take(n, n) == 0
        assert windows.take(0, 5) == 995  # refused: it is still the longest unheard of
        assert windows.take(3, 6) == 0
        assert len(windows) == 3
        assert windows.take(0, 7) == 0
        assert windows.take(2, 8) == 994

    def test_keys_that_are_idle_are_forgotten(self):
        windows = SlidingWindows([Window(2, 1000)], ROOMY)
        for n in range(1000):
            windows.take(n, n)
        windows.take("new", 1500)
        assert len(windows) == 500

    @settings(deadline=None)  # a busy machine is no fault
    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 700)), max_size=150))
    def test_it_agrees_with_counting(self, steps):
        """A model that counts what was taken in the span before."""
        limits = [Window(2, 300), Window(4, 1000)]
        windows = SlidingWindows(limits, ROOMY)
        taken: dict[int, deque[int]] = {}
        now = 0
        for key, pause in steps:
            now += pause

            def fits(at: int, times: deque[int]) -> bool:
                return all(sum(t > at - w.span_ms for t in times) < w.events_max for w in limits)

            times = taken.setdefault(key, deque())
            wait = windows.take(key, now)
            assert (wait == 0) is fits(now, times)
            if wait == 0:
                times.append(now)
            else:
                assert fits(now + wait, times)
                assert not fits(now + wait - 1, times)


class TestHistory:
    def test_the_wait_is_that_of_the_event_in_the_way(self):
        history = History([300, 100, 200], 1000)
        assert [history.wait_ms(most, 900) for most in (4, 3, 2, 1)] == [0, 200, 300, 400]
        assert history.wait_ms(0, 900) == 1000

    def test_what_is_as_old_as_the_span_is_forgotten(self):
        history = History([100, 200, 300], 1000)
        assert list(history.times(1099)) == [100, 200, 300]
        assert list(history.times(1100)) == [200, 300]
        assert history.wait_ms(2, 1199) == 1
        assert history.wait_ms(2, 1200) == 0
        assert len(history) == 1

    def test_events_come_and_are_taken_back(self):
        history = History([], 1000)
        for at in (300, 100, 200, 200):
            history.add(at)
        history.take_back(200)
        history.take_back(150)
        history.take_back(50)
        assert list(history.times(300)) == [100, 200, 300]
        history.take_back(100)
        history.take_back(300)
        assert list(history.times(300)) == [200]


# A bucket of tokens, on a clock that the test holds.


def test_a_full_bucket_gives_its_burst_at_once_and_then_by_its_rate():
    bucket = Bucket(10, 5, 100.0)
    assert bucket.is_full(100.0)
    for _ in range(5):
        assert bucket.wait_s(100.0) == 0.0
        bucket.take(100.0)
    assert bucket.wait_s(100.0) == pytest.approx(0.1)
    assert bucket.wait_s(100.04) == pytest.approx(0.06)
    assert bucket.wait_s(100.1) == 0.0
    assert not bucket.is_full(100.499)
    assert bucket.is_full(100.5)


def test_several_tokens_are_waited_for_together():
    bucket = Bucket(10, 5, 0.0)
    assert bucket.wait_s(0.0, 5) == 0.0
    bucket.take(0.0, 3)
    assert bucket.wait_s(0.0, 2) == 0.0
    assert bucket.wait_s(0.0, 3) == pytest.approx(0.1)
    assert bucket.wait_s(0.0, 5) == pytest.approx(0.3)
    bucket.give_back(2)
    assert bucket.wait_s(0.0, 4) == 0.0
    assert bucket.wait_s(0.0, 5) == pytest.approx(0.1)
    bucket.give_back()
    assert bucket.wait_s(0.0, 5) == 0.0
    bucket.take(0.0, 3)
    bucket.give_back()  # one, where nobody says how many
    assert bucket.wait_s(0.0, 5) == pytest.approx(0.2)


def test_what_was_not_taken_is_not_saved_up():
    bucket = Bucket(10, 2, 0.0)
    bucket.take(0.0)
    bucket.take(60.0, 2)
    assert bucket.wait_s(60.0) == pytest.approx(0.1)


@given(
    st.floats(0.1, 1000),
    st.integers(1, 50),
    st.lists(st.floats(0, 3), min_size=1, max_size=80),
)
def test_no_span_gets_more_than_the_burst_and_its_rate(rate_per_s, burst, waits):
    bucket, now_s, times = Bucket(rate_per_s, burst, 0.0), 0.0, []
    for wait in waits:
        now_s += wait
        if bucket.wait_s(now_s) == 0.0:
            bucket.take(now_s)
            times.append(now_s)
    for n, first in enumerate(times):
        for m, last in enumerate(times[n:], 1):
            assert m <= burst + rate_per_s * (last - first) + 1e-6 * m
