"""Patterns of a bank's texts: a part of regular expressions that takes no longer than the text is.

A pattern describes the whole text. Written in it are

- ``{amount}``, ``{reference}``, ``{payer}``, ``{balance}`` and ``{fee}`` for what is to be read,
  each once;
- characters for themselves; a blank for any blanks; ``.`` ``[…]`` ``[^…]`` ``\\d`` ``\\w`` ``\\s``
  (and ``\\D`` ``\\W`` ``\\S``) for one of several, and ``\\`` before a sign that would mean more;
- ``?``, ``*``, ``+`` and ``{m,n}`` after one of these, or after a group without anything to read in
  it: it takes all that fits and gives nothing back, so ``[^,]+,`` and not ``.+,``;
- groups ``(?:…)``, which ``?`` may follow, and ``|`` between what may stand in them.

Nothing else: no reference back, no look ahead, no lazy repetition. What was taken is never given
back, so a text costs time by its length alone; only choices (``|``, an optional group) are tried
one after the other, and all of a pattern's together are at most :data:`CHOICES_MAX`. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from risala.dataclass import dataclass
from risala.sms.currencies import DECIMALS_MAX, USUAL, decimals, has_too_many
from risala.sms.typed import western
from risala.sms.unseen import without_unseen

TEXT_CHARACTERS_MAX: Final = 700
"""A longer text is no confirmation: four parts of an SMS in the GSM alphabet have 612."""
PATTERN_CHARACTERS_MAX: Final = 500
CHOICES_MAX: Final = 64
"""Ways through a pattern that are tried for one text, at most."""
REPEATED_MAX: Final = 700
"""The largest number in ``{m,n}``: no text is longer."""

_NUMBER: Final = r"[0-9]++(?:[ .,'][0-9]++)*+"
_HOLES: Final = {
    "amount": _NUMBER,
    "balance": rf"-?{_NUMBER}",
    "fee": _NUMBER,
    "reference": r"[0-9A-Za-z]++(?:[-./_][0-9A-Za-z]++)*+",
    "payer": r"\+?[0-9]++(?:[ .-][0-9]++)*+",
}
"""The values that may be read, and their form in a text."""
_CLASSES: Final = frozenset("dDwWsS")
_SIGNS: Final = frozenset("\\.^$*+?{}[]|()-/#&~:,;!'\"<>=@% ")
_repetition: Final = re.compile(r"[*+?]|\{(\d{1,4})(?:(,)(\d{1,4})?)?\}", re.ASCII).match
_hole: Final = re.compile(r"\{([a-z_]+)\}").match
_DECIMALS: Final = {
    places: re.compile(rf"(?P<whole>.*[0-9])(?:[.,](?P<minor>[0-9]{{1,{places}}}))", re.ASCII)
    for places in range(USUAL, DECIMALS_MAX + 1)
}
"""The end of an amount after its whole digits, by the decimals of the currency. Banks write two
where a currency has none as well: ``5000.00 FCFA``."""
_THOUSANDS: Final = re.compile(r"[0-9]{1,3}(?:[ .,'][0-9]{3})+|[0-9]+", re.ASCII)
_ARABIC_POINTS: Final = str.maketrans({"\u066b": ",", "\u066c": "."})
"""The decimal and the thousands separator of Arabic numbers."""


class PatternError(ValueError):
    """A pattern that is not allowed; ``str()`` is the reason."""


@dataclass(frozen=True, slots=True)
class TextPattern:
    """A pattern that was looked through, and can be used."""

    written: str
    compiled: re.Pattern[str]

    @property
    def holes(self) -> frozenset[str]:
        """The values that it reads."""
        return frozenset(self.compiled.groupindex)

    def read(self, text: str) -> dict[str, str] | None:
        """The values in a text, in the form of :func:`plain`; None: it does not fit."""
        if len(text) > TEXT_CHARACTERS_MAX:
            return None
        match = self.compiled.fullmatch(text)
        if match is None:
            return None
        return {name: each for name, each in match.groupdict().items() if each is not None}


def plain(text: str) -> str:
    """A text as patterns see it: Western digits, one blank between words, no marks of direction."""
    seen = unicodedata.normalize("NFKC", without_unseen(text.translate(_ARABIC_POINTS)))
    return " ".join(western(seen).split())


def amount_of(text: str) -> int:
    """Minor units of an amount as banks write it: ``1 250,00``, ``1,250.00``, ``1250``.

    Raises:
        ValueError: it is no amount.
    """
    places = decimals()
    negative, digits = text.startswith("-"), text.removeprefix("-")
    minor, match = "", _DECIMALS[max(places, USUAL)].fullmatch(digits)
    if match is not None:
        digits, minor = match["whole"], match["minor"]
    if has_too_many(minor, places):
        raise ValueError("this is no amount")
    if not _THOUSANDS.fullmatch(digits):
        raise ValueError("this is no amount")
    whole = "".join(each for each in digits if each.isdigit())
    return (-1 if negative else 1) * int(whole + minor[:places].ljust(places, "0"))


def parse_pattern(written: str) -> TextPattern:
    """A pattern, looked through.

    Raises:
        PatternError: it is not allowed.
    """
    if not 1 <= len(written) <= PATTERN_CHARACTERS_MAX:
        raise PatternError(f"has 1 to {PATTERN_CHARACTERS_MAX} characters")
    parser = _Parser(_with_plain_blanks(written))
    expression = parser.whole()
    try:
        return TextPattern(written, re.compile(expression))
    except re.error as error:
        raise PatternError(f"cannot be understood: {error.msg}") from None


def _with_plain_blanks(written: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", written).split())


class _Parser:
    """Reads a pattern once, and writes the expression that replaces it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._choices = 1
        self._read: set[str] = set()

    def whole(self) -> str:
        made, _ = self._choice(depth=0)
        if self._at < len(self._text):
            raise PatternError("has a ) too many")
        return made

    def _choice(self, depth: int) -> tuple[str, bool]:
        """The alternatives of ``|``, and whether any of them reads a value."""
        sides, reads = [], False
        while True:
            made, reads_here = self._sequence(depth)
            sides.append(made)
            reads = reads or reads_here
            if self._peek() != "|":
                break
            self._at += 1
        self._choose(len(sides))
        return "|".join(sides), reads

    def _choose(self, ways: int) -> None:
        self._choices *= ways
        if self._choices > CHOICES_MAX:
            raise PatternError(f"has more than {CHOICES_MAX} ways through it")

    def _sequence(self, depth: int) -> tuple[str, bool]:
        made, reads = [], False
        while self._peek() not in ("", "|", ")"):
            one, reads_here = self._one(depth)
            made.append(one)
            reads = reads or reads_here
        return "".join(made), reads

    def _one(self, depth: int) -> tuple[str, bool]:
        """One thing with its repetition."""
        hole = _hole(self._text, self._at)
        if hole is not None:
            self._at = hole.end()
            return self._hole(hole[1]), True
        if self._peek() == "(":
            return self._group(depth)
        return self._repeated(self._single()), False

    def _hole(self, name: str) -> str:
        if name not in _HOLES:
            known = ", ".join(f"{{{each}}}" for each in _HOLES)
            raise PatternError(f"has {{{name}}}; there are {known}")
        if name in self._read:
            raise PatternError(f"has {{{name}}} twice")
        self._read.add(name)
        if _repetition(self._text, self._at):
            raise PatternError(f"repeats {{{name}}}")
        return f"(?P<{name}>{_HOLES[name]})"

    def _group(self, depth: int) -> tuple[str, bool]:
        if not self._text.startswith("(?:", self._at):
            raise PatternError("has a group other than (?:…)")
        if depth >= _DEPTH_MAX:
            raise PatternError("has groups within groups within groups")
        self._at += 3
        made, reads = self._choice(depth + 1)
        if self._peek() != ")":
            raise PatternError("has a ( without its )")
        self._at += 1
        group, match = f"(?:{made})", _repetition(self._text, self._at)
        if match is None:
            return group, reads
        if match[0] == "?":
            # Not possessive, unlike other repetitions: the values read in it could not be kept.
            self._at = match.end()
            self._choose(2)
            self._refuse_more()
            return f"{group}?", reads
        if reads:
            raise PatternError("repeats a group that is read")
        return self._repeated(group), False

    def _single(self) -> str:
        one = self._text[self._at]
        if one == "[":
            return self._class()
        if one == "\\":
            escaped = self._text[self._at + 1 : self._at + 2]
            if not escaped or escaped not in _CLASSES | _SIGNS:
                raise PatternError(f"has \\{escaped}, which is not allowed")
            self._at += 2
            return f"\\{escaped}"
        if one in "^$*+?{}]":
            raise PatternError(f"has {one} where it means nothing; write \\{one} for the sign")
        self._at += 1
        return one if one == "." else re.escape(one)

    def _class(self) -> str:
        end = self._at + 1
        while end < len(self._text) and (self._text[end] != "]" or end == self._at + 1):
            end += 2 if self._text[end] == "\\" else 1
        if end >= len(self._text):
            raise PatternError("has a [ without its ]")
        made = self._text[self._at : end + 1]
        if "[" in made[1:] or any(pair in made for pair in ("--", "&&", "~~", "||")):
            raise PatternError("has a class of signs that is not allowed")
        self._at = end + 1
        return made

    def _repeated(self, thing: str) -> str:
        match = _repetition(self._text, self._at)
        if match is None:
            return thing
        if any(each and int(each) > REPEATED_MAX for each in (match[1], match[3])):
            raise PatternError(f"repeats something more than {REPEATED_MAX} times")
        self._at = match.end()
        self._refuse_more()
        return f"{thing}{match[0]}+"

    def _refuse_more(self) -> None:
        if self._peek() == "+":
            self._at += 1  # as it is meant in any case
        elif _repetition(self._text, self._at):
            raise PatternError("repeats a repetition")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]


_DEPTH_MAX: Final = 3
