"""Names, others' texts and numbers in a form that is safe and usual in our own sentences."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from risala.engine.model.people import Language

SayDriver = Callable[[Language, str], str]
"""Says a driver's text in a language, as far as it is one of our drivers'."""
_CONTROL: Final = "C"
"""The categories of control and format characters, and of non-characters."""
_LEFTWARD: Final = frozenset({"R", "AL"})
"""Unicode's directions of letters that are read from right to left."""
_RIGHTWARD: Final = frozenset({"L", "EN"})
"""Unicode's directions of Latin letters and of digits."""


def as_written(_: Language, text: str) -> str:
    """A driver's text as the driver wrote it."""
    return text


def one_line(text: str) -> str:
    """A text of others without anything that breaks a line or turns the reading direction."""
    return "".join(
        " " if each.isspace() else each
        for each in text
        if each.isspace() or unicodedata.category(each)[0] != _CONTROL
    ).strip()


def apart(language: Language, text: str) -> str:
    """A name or a number inside a sentence: in an isolate where it is read the other way, because
    else its parts, and those beside it, change places: a sign and its digits too."""
    turned = _RIGHTWARD if language is Language.ARABIC else _LEFTWARD
    if turned.isdisjoint(map(unicodedata.bidirectional, text)):
        return text
    return f"\u2068{text}\u2069"


def figure(language: Language, number: str) -> str:
    """A number as pages write it: ``12480.50`` is 12 480,50 in French."""
    exact = Decimal(number)
    text = f"{abs(exact):,f}"
    if language is not Language.ENGLISH:
        text = text.replace(",", "\u00a0").replace(".", ",")
    return ("\u2212" if exact < 0 else "") + text
