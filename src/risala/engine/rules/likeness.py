"""Whether a sender's name is generic, or could be mistaken for another's. Pure.

Nothing is refused here: an operator looks at every name anyway, and these marks show what is easily
missed. So rather too many names are marked than too few.

Names are compared by their *skeleton*: what is left of them at a quick look. Case, accents, spaces
and signs are removed, digits become the letters that they stand for, and letters that look alike
are one (``M4TTEL``, ``MATTE1`` and ``Маttel`` with a Cyrillic beginning are Mattel).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from risala.config.kinds import SendersSection
from risala.dataclass import dataclass
from risala.engine.model.records.senders import Mark, Sender

_DIGITS: Final = ("0123456789", "olzeasgtbg")
"""Digits, and the letters that they stand for."""
_CYRILLIC: Final = (
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445"
    "\u0456\u0458\u0455\u0501\u0261\u04cf",
    "abekmhopctyxijsdgl",
)
_GREEK: Final = (
    "\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abehikmvoptux",
)
"""Letters that look like Latin ones, in at least one case."""
_ALIKE: Final = str.maketrans(
    *("".join(column) for column in zip(_DIGITS, _CYRILLIC, _GREEK, strict=True))
)
_PAIRS: Final = (("rn", "m"), ("vv", "w"))
ANYWHERE_MIN: Final = 5
"""A protected name with at least this many letters is searched anywhere in another name; a shorter
one is part of too many words (``visa`` of ``avis alerte``)."""
AT_AN_END_MIN: Final = 4
"""A protected name with at least this many letters is searched at the beginning and at the end of
another name; a shorter one only as a separate word."""
NEAR_MIN: Final = 5
"""Names with at least this many letters are alike if one letter is added, missing, changed or
swapped; in shorter ones that makes another name."""
NAMES_CACHED_MAX: Final = 4096
"""Skeletons in the cache, because every name is compared with every other."""
SAYS_NOTHING_MAX: Final = 2
"""A name of this many letters or fewer belongs to nobody."""


@lru_cache(maxsize=NAMES_CACHED_MAX)
def skeleton(name: str) -> str:
    """A name as seen at a quick look."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    # I, l and 1 count as one letter: in most typefaces they look the same.
    plain = decomposed.translate(_ALIKE).replace("i", "l")
    letters = "".join(each for each in plain if each.isalnum())
    for pair, one in _PAIRS:
        letters = letters.replace(pair, one)
    return letters


def is_generic(name: str, generic: Iterable[str]) -> bool:
    """True if a name has only generic words and digits, or is too short to identify anybody."""
    words = {skeleton(word) for word in generic}
    bare = " ".join(word for word in name.split() if not word.isdigit())
    letters = skeleton(bare)
    return len(letters) <= SAYS_NOTHING_MAX or _is_made_of(letters, words)


def _is_made_of(letters: str, words: set[str]) -> bool:
    """Whether ``letters`` can be cut into these words."""
    reached = {0}
    for end in range(1, len(letters) + 1):
        if any(letters[start:end] in words for start in reached):
            reached.add(end)
    return len(letters) in reached


def resembles(name: str, other: str) -> bool:
    """True if ``name`` could be mistaken for ``other``, or for something of theirs."""
    mine, theirs = skeleton(name), skeleton(other)
    if not mine or not theirs:
        return False
    if mine == theirs or theirs in {skeleton(word) for word in name.split()}:
        return True
    if len(theirs) >= ANYWHERE_MIN and theirs in mine:
        return True
    if len(theirs) >= AT_AN_END_MIN and (mine.startswith(theirs) or mine.endswith(theirs)):
        return True
    # A sender has 11 characters at most, so a longer name may be cut off there.
    if len(mine) >= ANYWHERE_MIN and theirs.startswith(mine):
        return True
    return min(len(mine), len(theirs)) >= NEAR_MIN and _is_one_slip(mine, theirs)


def _is_one_slip(a: str, b: str) -> bool:
    """Whether two names, neither of which begins with the other, differ only by one letter added,
    missing or changed, or by two neighbours swapped."""
    start = next(i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    rest_a, rest_b = a[start:], b[start:]
    return (
        rest_a[1:] == rest_b
        or rest_a == rest_b[1:]
        or rest_a[1:] == rest_b[1:]
        or (rest_a[:2] == rest_b[1::-1] and rest_a[2:] == rest_b[2:])
    )


# What an operator should check before clearing a sender.


@dataclass(frozen=True, slots=True)
class Owned:
    """A name that an organization uses: its own, or a sender's that was not denied."""

    organization_id: str
    organization: str
    name: str


class Marker:
    """Finds the reasons to check a sender, by the words in the settings."""

    def __init__(self, settings: SendersSection, default_sender: str) -> None:
        self._settings = settings
        self._default = default_sender

    def marks(self, sender: Sender, owned: Iterable[Owned]) -> list[Mark]:
        """The reasons to check a sender.

        Args:
            owned: the names of all organizations; those of the sender's own one are skipped.
        """
        reasons = []
        name = sender.name
        if is_generic(name, self._settings.generic):
            reasons.append(Mark("generic", "It is a generic name that anybody could use."))
        if resembles(name, self._default):
            text = f"It resembles {self._default!r}, the service's own sender."
            reasons.append(Mark("default", text, self._default))
        reasons += [
            Mark("protected", f"It resembles {other!r} (senders.protected in the settings).", other)
            for other in self._settings.protected
            if resembles(name, other)
        ]
        marked = set()
        for other in owned:
            key = (other.organization_id, other.name)
            is_own = other.organization_id == sender.organization_id
            if is_own or key in marked or not resembles(name, other.name):
                continue
            marked.add(key)
            whose = f"{other.organization} ({other.organization_id})"
            text = f"It resembles {other.name!r} of {whose}."
            reasons.append(
                Mark("organization", text, other.name, other.organization_id, other.organization)
            )
        return reasons
