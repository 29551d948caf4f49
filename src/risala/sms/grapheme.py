"""The boundaries of visible characters: a compact rule after UAX #29.

Enough for Arabic, Latin, Greek, Cyrillic and emoji: combining marks, variation selectors, joined
emoji, skin tones, flags and CR LF stay whole. Hangul jamo and Indic conjuncts are ignored.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_ZWJ: Final = "\u200d"
_MARKS: Final = frozenset(("Mn", "Me", "Mc"))  # variation selectors and Arabic harakat are Mn
_REGIONAL: Final = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_PREPENDED: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u08e2")
"""Arabic number and verse signs, drawn around the next character (Prepended_Concatenation_Mark)."""


def is_boundary(text: str, at: int) -> bool:
    """True if ``text`` may be cut before the character ``at`` (UAX #29 GB1 to GB13)."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":  # no mark is below: only CR LF stays together
        return not (before == "\r" and after == "\n")
    if _extends(after) or before == _ZWJ or before in _PREPENDED:
        return False
    if _is_regional(after) and _is_regional(before):
        return _regional_run(text, at) % 2 == 0
    return True


def _extends(character: str) -> bool:
    """True for characters drawn on the previous one (Grapheme_Extend, SpacingMark, ZWJ)."""
    return (
        unicodedata.category(character) in _MARKS
        or character in ("\u200c", _ZWJ)
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags of the flags of regions
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regional_run(text: str, end: int) -> int:
    """Number of regional indicators just before ``end``; two of them make a flag."""
    # No loop: a text may be nothing else, and every cut in it is looked for from the end.
    return end - len(text[:end].rstrip(_REGIONAL))
