"""Finding numbers by a part of them: the ranges in which all matches lie.

So an index of numbers can be searched for a part at any place in the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Final

PARTS_MAX: Final = 10_000
"""Beginnings of numbers that a search for their last digits tries at most."""


def part_min(places: Sequence[str]) -> int:
    """The fewest digits that are looked for, where these are the possible digits at each place
    behind the country's code."""
    return next(n for n in range(1, len(places)) if prod(map(len, places[:-n])) <= PARTS_MAX)


def ranges_of(digits: str, places: Sequence[str]) -> list[tuple[int, int]]:
    """The first and the last number of each range whose numbers have these digits in a row.

    Ranges for one place of the digits in the number do not overlap; those for two places may.

    Args:
        places: the possible digits at each place of a number.
    """
    found = []
    for begin in range(len(places) - len(digits) + 1):
        end = begin + len(digits)
        if not all(each in may_be for each, may_be in zip(digits, places[begin:end], strict=True)):
            continue
        later = places[end:]
        lowest, highest = "".join(map(min, later)), "".join(map(max, later))
        for earlier in product(*places[:begin]):
            known = "".join(earlier) + digits
            found.append((int(known + lowest), int(known + highest)))
    return found
