"""Marks that nobody sees, and when a text needs them all the same. Pure.

They come along when a text is copied: from a chat, a PDF file, a page in two languages. One of them
turns a text of GSM 7-bit into UCS-2, and a number, a word or a name into another one. But some
scripts write with them: Persian words with U+200C, families of emoji with U+200D, and a line of two
directions with marks that say how it is read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

from risala.sms.alphabet import GSM7_CHARACTERS, fits_gsm7, with_plain_signs

_FORMAT: Final = (
    "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u061c\U0001bca0-\U0001bca3"
    "\U00013430-\U0001343f\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""Category Cf, but for signs that are drawn around what follows them (U+0600 to U+0605 …)."""
_SELECTORS: Final = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_OTHERS: Final = "\u034f\u17b4\u17b5" + _SELECTORS
"""Category Mn without a shape: the grapheme joiner, two vowels of Khmer, variation selectors."""
FILLERS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs that show as a blank, and that no language counts as a space."""

_SPACES: Final = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000" + FILLERS
"""What shows as a blank, besides the space of ASCII."""

UNSEEN: Final = _FORMAT + _OTHERS
"""All marks that show nothing, as the inside of a regular expression's brackets."""
_find: Final[Callable[[str], re.Match[str] | None]] = re.compile(f"[{UNSEEN}]").search
_runs: Final = re.compile(f"[{UNSEEN}]+")

_space: Final = re.compile(f"[{_SPACES}]")
_blank: Final = re.compile(rf"[\s{_SPACES}]+")
_blanks: Final = re.compile(f"[{_SPACES}{UNSEEN}]+")
_outer_blanks: Final = re.compile(rf"\A[\s{_SPACES}{UNSEEN}]+|[\s{_SPACES}{UNSEEN}]+\Z")

_JOINERS: Final = "\u200c\u200d"
_ZWJ: Final = "\u200d"
_TURNS: Final = "\u061c\u200e\u200f\u202a-\u202c\u2066-\u2069"
"""Marks that say in which direction a part is read; they say nothing where all goes one way."""
_turns: Final = re.compile(f"[{_TURNS}]")
_overrides: Final = re.compile("[\u202d\u202e]").search
"""What makes letters read backwards: a text with one is not the text without it."""
_RIGHT_MARKS: Final = "\u200f\u061c"
_BEGINS: Final = "\u202b\u2067\u2068"
_ENDS: Final = "\u202c\u2069"

_joins: Final = re.compile(
    "[\u0590-\u109f\u1700-\u1cff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00011fff\U0001e900-\U0001e95f]"
).fullmatch
"""Letters and signs of scripts whose letters take their shape from the next one: Arabic, Syriac,
N’Ko, those of India and South-East Asia, Mongolian, Adlam."""
_KEYCAP: Final = "\u20e3"
_FLAG: Final = "\U0001f3f4"
_LATIN_END: Final = "\u0250"
_is_tag: Final = re.compile("[\U000e0020-\U000e007f]").fullmatch
_is_selector: Final = re.compile(
    "[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
).fullmatch


def has_unseen(text: str) -> bool:
    """Whether a text has any mark that nobody sees."""
    return not text.isascii() and _find(text) is not None


def without_unseen(text: str) -> str:
    """A text without any of these marks, also those that its script needs: for comparing."""
    return text if text.isascii() else _runs.sub("", text)


def with_needed(text: str) -> str:
    """A text with only those of these marks that its letters and emoji need to look right.

    Marks of direction are removed: whoever shows the text isolates it.
    """
    return "".join(_needed(text)) if has_unseen(text) else text


def cheapest(text: str) -> str:
    """A message's text without the marks whose absence its reader cannot notice.

    Such a mark would make a text of GSM 7-bit UCS-2, or begin another part. Removed are those at
    either end and those between characters of GSM 7-bit, and marks of direction where all letters
    go from left to right. What joins or parts letters of a script that needs it stays, and so do
    marks of direction in a text with Arabic or Hebrew letters, unless they say what is so anyway.
    """
    if not has_unseen(text):
        return text
    overrides = _overrides(text) is not None
    turns = overrides or any(map(_goes_left, text))

    def stayed(run: re.Match[str]) -> str:
        start, end = run.span()
        before, after = text[max(start - 1, 0) : start], text[end : end + 1]
        plain = all(not side or side in GSM7_CHARACTERS for side in (before, after))
        at_an_end = not before or not after
        return "".join(
            each
            for each in run[0]
            if _stays(before, each, after, turns=turns, free=plain, at_an_end=at_an_end)
        )

    shorter = _runs.sub(stayed, text)
    return shorter if overrides else _without_outer_turns(shorter)


def as_value(text: str) -> str:
    """What is filled into a message's text: without blanks at its ends, and between characters of
    GSM 7-bit with plain spaces for those of other kinds. A cell that was copied from a page has
    such ones, and one of them would make a text of GSM 7-bit UCS-2."""
    if text.isascii():
        return text.strip()
    inner = _outer_blanks.sub(lambda match: _blank.sub("", match[0]), text)

    def plain(run: re.Match[str]) -> str:
        start, end = run.span()
        sides = inner[max(start - 1, 0) : start], inner[end : end + 1]
        fits = all(side in GSM7_CHARACTERS for side in sides if side)
        return _space.sub(" ", run[0]) if fits else run[0]

    return _blanks.sub(plain, inner)


def as_sent(text: str, *, smart: bool) -> str:
    """A message's text as it is sent: :func:`cheapest`, and with ``smart`` with typographic
    characters replaced if that makes it fit GSM 7-bit. A text of nothing but such marks stays."""
    if text.isascii():
        return text
    plain = cheapest(text) or text
    if not smart or fits_gsm7(plain):
        return plain
    signs = cheapest(with_plain_signs(text))
    return signs if signs and fits_gsm7(signs) else plain


def name_of(character: str) -> str | None:
    """``U+200C ZERO WIDTH NON-JOINER`` for a mark or a blank that nobody sees; else None."""
    if not has_unseen(character) and character not in FILLERS:
        return None
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def _stays(before: str, mark: str, after: str, *, turns: bool, free: bool, at_an_end: bool) -> bool:
    if mark in "\u202d\u202e" or _turns.match(mark):
        return turns
    return not free and not (at_an_end and not _is_needed(before, mark, after))


def _without_outer_turns(text: str) -> str:
    """A text without the marks at its ends that say of Arabic or Hebrew that it goes from right to
    left."""
    while len(text) > 1:
        if text[0] in _RIGHT_MARKS and _goes_left(text[1]):
            text = text[1:]
        elif text[-1] in _RIGHT_MARKS and _goes_left(text[-2]):
            text = text[:-1]
        elif (
            text[0] in _BEGINS
            and text[-1] in _ENDS
            and _goes_left(text[1])
            and not _turns.search(text[1:-1])
        ):
            text = text[1:-1]
        else:
            break
    return text


def _goes_left(character: str) -> bool:
    """Whether it is a letter that is written from right to left; the marks that say so are none."""
    return unicodedata.bidirectional(character) in ("R", "AL") and character not in _RIGHT_MARKS


def _needed(text: str) -> Iterator[str]:
    after, behind = "", []
    for each in reversed(text):  # the next character that is seen, for each place
        behind.append(after)
        after = after if _find(each) else each
    before = ""
    for each, after in zip(text, reversed(behind), strict=True):
        if _find(each) is None or _is_needed(before, each, after):
            before = each
            yield each


def _is_needed(before: str, mark: str, after: str) -> bool:
    """Whether a mark changes how its neighbours look.

    Args:
        before: the character before it; empty at the beginning.
        after: the character behind it; empty at the end.
    """
    if mark == _ZWJ:
        letters = _is_joining(before) or _is_joining(after)
        return letters or (_is_picture(before) and _is_picture(after))
    if mark in _JOINERS:
        return _is_joining(before) and _is_joining(after)
    if _is_selector(mark):
        is_picture = before >= _LATIN_END or before in ("©", "®")
        return after == _KEYCAP or is_picture
    if _is_tag(mark):
        return before == _FLAG or bool(_is_tag(before))
    return False


def _is_joining(character: str) -> bool:
    return _joins(character) is not None and not unicodedata.category(character).startswith("N")


def _is_picture(character: str) -> bool:
    """Emoji, and what belongs to one: its selector and its colour of skin."""
    return character != "" and (
        unicodedata.category(character) in ("So", "Sk") or bool(_is_selector(character))
    )
