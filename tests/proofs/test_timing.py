"""``make timing`` sees a difference where there is one, and none where there is none."""

from __future__ import annotations

import random

import pytest
from proofs.timing.pairs import near_and_far
from proofs.timing.planted import SECRET
from proofs.timing.statistics import TELLS_FROM, compare, mann_whitney, welch


def times(chance: random.Random, count: int, more: float = 0.0) -> list[float]:
    """As of answers: a sharp lower edge, some spread, and now and then an interruption."""
    return [
        200 + more + chance.expovariate(0.1) + (chance.random() < 0.02) * chance.random() * 5000
        for _ in range(count)
    ]


def test_what_is_slower_by_a_hundredth_is_seen_and_chance_is_not():
    chance = random.Random(7)
    assert compare(times(chance, 4000), times(chance, 4000, 2)).tells
    assert compare(times(chance, 4000, 2), times(chance, 4000)).tells
    for _ in range(20):
        verdict = compare(times(chance, 2000), times(chance, 2000))
        assert not verdict.tells, verdict


def test_both_tests_say_on_which_side_the_slower_heap_is():
    slower, quicker = [float(each) for each in range(20, 40)], [float(each) for each in range(20)]
    assert welch(quicker, slower) > TELLS_FROM
    assert welch(slower, quicker) < -TELLS_FROM
    assert mann_whitney(quicker, slower) == -mann_whitney(slower, quicker) > TELLS_FROM


def test_the_ranks_are_those_of_the_books():
    """Mann and Whitney's own case of small heaps, with and without ties, by hand."""
    # U of the second heap is 8 of 9, its mean 4.5, its variance 9 * 7 / 12.
    assert mann_whitney([1, 2, 4], [3, 5, 6]) == pytest.approx(3.5 / (63 / 12) ** 0.5)
    assert mann_whitney([1, 1], [1, 1]) == 0.0
    tied = mann_whitney([1, 2], [2, 3])  # U is 3.5, one tie of two: 4/12 * (5 - 6/12)
    assert tied == pytest.approx(1.5 / (4 / 12 * (5 - 6 / 12)) ** 0.5)


def test_heaps_without_any_spread():
    assert welch([1.0] * 10, [1.0] * 10) == 0.0
    assert compare([1.0] * 10, [2.0] * 10).t == float("inf")
    with pytest.raises(ValueError, match="too few"):
        compare([1.0] * 9, [1.0] * 10)


def test_guesses_are_as_near_and_as_far_as_they_say():
    near, far = near_and_far(SECRET, "AB")
    assert len(near) == len(far) == len(SECRET)
    assert sum(a == b for a, b in zip(near, SECRET, strict=True)) == len(SECRET) - 1
    assert not any(a == b for a, b in zip(far, SECRET, strict=True))
