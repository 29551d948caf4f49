"""Finding numbers by a part of them: the ranges in which all matches lie.

So an index of numbers can be searched for a part at any place in the number.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from risala.sms.address import COUNTRY_CODE

PART_MIN: Final = 4
"""Digits of a part at least. The last four of a number leave three thousand ranges, each of one
number; the last three would leave ten times as many, in which next to everybody is found."""
_ANY: Final = "0123456789"
_PLACES: Final = (*COUNTRY_CODE, "234", *[_ANY] * 7)
"""The possible values of each digit of a Mauritanian number."""


def ranges_of(digits: str) -> list[tuple[int, int]]:
    """The first and the last number of each range whose numbers have these digits in a row.

    Ranges for one place of the digits in the number do not overlap; those for two places may.
    """
    found = []
    for begin in range(len(_PLACES) - len(digits) + 1):
        end = begin + len(digits)
        if not all(each in may_be for each, may_be in zip(digits, _PLACES[begin:end], strict=True)):
            continue
        later = _PLACES[end:]
        lowest, highest = "".join(map(min, later)), "".join(map(max, later))
        for earlier in product(*_PLACES[:begin]):
            known = "".join(earlier) + digits
            found.append((int(known + lowest), int(known + highest)))
    return found
