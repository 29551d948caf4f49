"""How long a carrier takes to answer, counted in buckets as in Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

BUCKETS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper ends: SMPP answers in tens of milliseconds, a modem in seconds."""


class Latency:
    """The answer times of one worker since the start."""

    __slots__ = ("_counts", "sum_s")

    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS_S) + 1)
        self.sum_s = 0.0

    def add(self, took_s: float) -> None:
        """Count an answer that took this long."""
        self._counts[bisect_left(BUCKETS_S, took_s)] += 1
        self.sum_s += took_s

    def buckets(self) -> list[int]:
        """The number of answers within each of :data:`BUCKETS_S`; at the end the number of all."""
        found, whole = [], 0
        for count in self._counts:
            whole += count
            found.append(whole)
        return found
