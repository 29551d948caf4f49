"""When a provider is asked how a payment stands."""

import pytest

from risala.engine.features.payments.rules import (
    EVERY_MAX_MS,
    EVERY_MIN_MS,
    LATE_MS,
    POLLED_MS,
    PolledSoFar,
    next_poll,
)

NOW = 1_800_000_000_000


def polled(polls=0, every=10_000, begun_at=NOW, expires_at=None):
    return PolledSoFar(begun_at, expires_at, every, polls)


@pytest.mark.parametrize(
    ("polls", "every", "wait_ms"),
    [
        (0, 10_000, 10_000),
        (1, 10_000, 15_000),
        (2, 10_000, 22_500),
        (3, 10_000, 33_750),
        (0, 1, EVERY_MIN_MS),
        (1, 5_001, 7_502),  # rounded
        (20, 10_000, EVERY_MAX_MS),
        (10_000, 10_000, EVERY_MAX_MS),
        (0, EVERY_MAX_MS + 1, EVERY_MAX_MS),
    ],
)
def test_it_is_asked_ever_less_often(polls, every, wait_ms):
    assert next_poll(polled(polls, every), NOW) == NOW + wait_ms


def test_one_without_an_end_is_asked_about_for_a_week():
    last = NOW + POLLED_MS
    assert next_poll(polled(20), last - 5) == last
    assert next_poll(polled(20), last - EVERY_MAX_MS - 1) == last - 1
    assert next_poll(polled(20), last) is None


def test_one_with_an_end_is_asked_about_for_a_day_longer():
    last = NOW + 1000 + LATE_MS
    assert next_poll(polled(20, expires_at=NOW + 1000), last - 1) == last
    assert next_poll(polled(20, expires_at=NOW + 1000), last) is None
