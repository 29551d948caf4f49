"""A bucket of tokens, on a clock that the test holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.rules.bucket import Bucket


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
