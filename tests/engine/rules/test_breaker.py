"""Closed, open, one probe: on a clock that the test holds."""

from __future__ import annotations

from risala.engine.rules.breaker import Breaker


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
