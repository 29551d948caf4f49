"""Whether two heaps of times come from one source. Pure.

Two tests that fail in different ways: Welch's t of the means, on the times below a few cuts, since
a machine's interruptions are far larger than what is looked for and fall on both heaps alike; and
Mann-Whitney's U of the ranks, which a few far ones do not move at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, variance
from typing import Final

CUTS: Final = (0.5, 0.75, 0.9, 1.0)
"""The parts of the quickest times that Welch's t is asked about: a difference of a few
instructions stands out only where nothing interrupted."""
TELLS_FROM: Final = 4.5
"""Standard errors from which on a difference is no chance: among the some hundred tests of a run
(pairs, times cuts, times both tests) chance alone goes this far once in a thousand runs."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What two heaps of times tell."""

    samples: int
    """Of each heap."""
    first: float
    """Median of the first heap, in its unit."""
    second: float
    t: float
    """The largest of Welch's t, by amount, below all cuts."""
    u: float
    """Mann-Whitney's U as standard errors from what chance would have."""

    @property
    def difference(self) -> float:
        """Of the medians: second less first."""
        return self.second - self.first

    @property
    def tells(self) -> bool:
        """Whether the heaps are told apart: by both tests, as each has a weakness of its own."""
        return min(abs(self.t), abs(self.u)) >= TELLS_FROM


def compare(first: Sequence[float], second: Sequence[float]) -> Verdict:
    """Compare two heaps of times.

    Raises:
        ValueError: a heap has fewer than ten, of which nothing can be said.
    """
    if min(len(first), len(second)) < 10:
        raise ValueError("too few times")
    both = sorted((*first, *second))
    found = [0.0]
    for cut in CUTS:
        most = both[math.ceil(cut * len(both)) - 1]
        kept = [[each for each in heap if each <= most] for heap in (first, second)]
        if min(map(len, kept)) >= 10:
            found.append(welch(kept[0], kept[1]))
    t = max(found, key=abs)
    samples = min(len(first), len(second))
    return Verdict(samples, median(first), median(second), t, mann_whitney(first, second))


def welch(first: Sequence[float], second: Sequence[float]) -> float:
    """Welch's t: how many standard errors the mean of the second lies above that of the first."""
    spread = variance(first) / len(first) + variance(second) / len(second)
    apart = fmean(second) - fmean(first)
    if spread == 0:
        return math.copysign(math.inf, apart) if apart else 0.0
    return apart / math.sqrt(spread)


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    """Mann-Whitney's U in standard errors, ties corrected; above 0: the second heap is slower."""
    n, m = len(first), len(second)
    values = sorted([(each, 0) for each in first] + [(each, 1) for each in second])
    ranks, ties, at = 0.0, 0.0, 0
    while at < len(values):
        end = at
        while end < len(values) and values[end][0] == values[at][0]:
            end += 1
        alike = end - at
        ranks += (at + end + 1) / 2 * sum(which for _, which in values[at:end])
        ties += alike**3 - alike
        at = end
    u = ranks - m * (m + 1) / 2
    total = n + m
    spread = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    return 0.0 if spread <= 0 else (u - n * m / 2) / math.sqrt(spread)
