"""What is usual for a network: the median of its rates, so that a bad day changes nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Final

from risala.dataclass import dataclass

BLOCKS_MIN: Final = 12
"""Periods with enough messages before something counts as usual: a day of two hours each."""


@dataclass(frozen=True, slots=True)
class HourOf:
    """One network in one hour."""

    hour: int
    """Since 1970-01-01."""
    whole: int
    """Messages, or codes."""
    good: int
    """The part of them that was delivered, or entered."""


@dataclass(frozen=True, slots=True)
class Rate:
    whole: int
    good: int

    @property
    def share(self) -> float:
        return self.good / self.whole if self.whole else 0.0


def latest(hours: Iterable[HourOf], end: int, length: int) -> Rate:
    """The rate of the ``length`` hours before the hour ``end``."""
    found = [each for each in hours if end - length <= each.hour < end]
    return Rate(sum(each.whole for each in found), sum(each.good for each in found))


def usual(hours: Iterable[HourOf], end: int, length: int, count_min: int) -> float | None:
    """The median rate of all periods of ``length`` hours before the latest one; None: too few have
    at least ``count_min``."""
    blocks: dict[int, list[int]] = {}
    for each in hours:
        if each.hour < end - length:
            block = blocks.setdefault((end - 1 - each.hour) // length, [0, 0])
            block[0] += each.whole
            block[1] += each.good
    shares = [good / whole for whole, good in blocks.values() if whole >= count_min]
    return median(shares) if len(shares) >= BLOCKS_MIN else None


def by_network(
    rows: Iterable[tuple[str, int, int, int]],
) -> Mapping[str, list[HourOf]]:
    """Rows of network, hour, whole and good, by network."""
    found: dict[str, list[HourOf]] = {}
    for network, hour, whole, good in rows:
        found.setdefault(network, []).append(HourOf(hour, whole, good))
    return found
