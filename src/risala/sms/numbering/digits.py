"""The digits of a number as people type it."""

from __future__ import annotations

import unicodedata
from typing import Final

_ARABIC_DIGITS: Final = {
    zero + value: str(value) for zero in (0x0660, 0x06F0) for value in range(10)
}
_SEPARATORS: Final = frozenset(".-()/\u2010\u2011\u2012\u2013\u2212")


def compact(text: str) -> str:
    """A number without the separators that people write, in ASCII digits."""
    return "".join(
        character
        for character in text.translate(_ARABIC_DIGITS)
        if character not in _SEPARATORS
        and not character.isspace()
        and unicodedata.category(character) != "Cf"
    )


def is_digits(text: str) -> bool:
    """Whether a text consists of ASCII digits, at least one."""
    return text.isascii() and text.isdigit()
