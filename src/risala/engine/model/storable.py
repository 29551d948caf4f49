"""What a database and JSON can keep: texts that can be encoded, and numbers of 64 bits.

Whatever comes from outside is asked this once, at its door: arguments of operations, what faces
and pages hand in, what an identity provider says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

INTEGER_MAX: Final = 2**63 - 1
"""SQLite's integers have 64 bits, signed."""


class Unstorable(StrEnum):
    """Why a value cannot be kept."""

    CHARACTERS = "invalid_characters"
    """A text has a NUL, or half of a pair of surrogates."""
    NUMBER = "invalid_number"
    """A whole number has more than 64 bits, or another one is none."""


def is_text(value: str) -> bool:
    """Whether carriers and databases can keep a text: it has no NUL and no lone surrogate."""
    if "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def unstorable(value: object) -> Unstorable | None:
    """Why a value cannot be kept, or a value in it; None: it can.

    Only of what JSON has: texts, numbers, lists and objects.
    """
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            if not is_text(each):
                return Unstorable.CHARACTERS
        elif isinstance(each, int):
            if not -INTEGER_MAX - 1 <= each <= INTEGER_MAX:
                return Unstorable.NUMBER
        elif isinstance(each, float):
            if not math.isfinite(each):
                return Unstorable.NUMBER
        elif isinstance(each, Mapping):
            left += [*each, *each.values()]
        elif isinstance(each, list | tuple):
            left += each
    return None
