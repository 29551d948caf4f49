"""Keywords of inbound messages: the first word may route a message; a message in which nothing but
one word says anything may be an opt-out (STOP) or an opt-in (START)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from risala.sms.typed import Purpose, typed

STOP_WORDS: Final = frozenset({"stop", "arret", "توقف"})
START_WORDS: Final = frozenset({"start"})
COURTESIES: Final = (
    *("thank you very much", "thank you", "thanks a lot", "many thanks", "thanks", "thx"),
    *("please", "pls", "plz", "hello", "hi", "ok"),
    *("merci beaucoup", "merci bien", "merci d'avance", "merci"),
    *("s'il vous plait", "s'il te plait", "svp", "s.v.p", "stp", "s.t.p"),
    *("bonjour", "bonsoir", "salam"),
    *("شكرا جزيلا", "شكرا لكم", "شكرا لك", "شكرا", "من فضلكم", "من فضلك", "لو سمحتم", "لو سمحت"),
    *("رجاء", "الرجاء", "السلام عليكم", "سلام"),
)
"""Words that people add to a word out of politeness, as keywords are compared. A longer phrase
stands before the one that it begins with."""
LOOKED_AT_MAX: Final = 200
"""Characters of a message that are searched for its first word; a longer message is no single
word."""
_ARABIC: Final = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
_PERSIAN: Final = str.maketrans("0123456789", "۰۱۲۳۴۵۶۷۸۹")
_SAYS_SOMETHING: Final = ("L", "N")
_MARK: Final = "M"


def folded(text: str) -> str:
    """A text without case, accents, vowel signs and the signs around it: ``« ARRÊT ! »`` is
    ``arret``."""
    return _bare(typed(text, Purpose.KEYWORD))


def keyword_of(text: str) -> str:
    """The first word of a message, folded; empty if no word begins it."""
    words = map(_bare, typed(text.lstrip()[:LOOKED_AT_MAX], Purpose.KEYWORD).split())
    return next(filter(None, words), "")


def keyword_ways(text: str) -> tuple[str, str, str]:
    """The first word of a message, and the same with Arabic and with Persian digits: routes may be
    older than the form in which words have Western ones."""
    word = keyword_of(text)
    return word, word.translate(_ARABIC), word.translate(_PERSIAN)


def only_word(text: str) -> str:
    """The one word of a message, folded, beside signs, emoji and words of courtesy; empty if it
    says more than that, or nothing.

    So ``« Stop 🛑, merci »`` is ``stop``, but ``STOP 12345`` and a sentence are nothing.
    """
    words = said(text)
    return words[0] if len(words) == 1 else ""


def said(text: str) -> list[str]:
    """The words of a message, folded and each once, beside signs, emoji and words of courtesy; none
    of a long one."""
    text = text.strip()
    if len(text) > LOOKED_AT_MAX:
        return []
    return [*dict.fromkeys(_without_courtesies(_words(typed(text, Purpose.KEYWORD))))]


def words_of(text: str) -> list[str]:
    """The words of a message's beginning, folded, without signs."""
    return _words(typed(text.strip()[:LOOKED_AT_MAX], Purpose.KEYWORD))


def _bare(word: str) -> str:
    """A word without the signs before and behind it."""
    begin, end = 0, len(word)
    while begin < end and not _says_something(word[begin]):
        begin += 1
    while end > begin and not _says_something(word[end - 1]):
        end -= 1
    return word[begin:end]


def _words(text: str) -> list[str]:
    """The words of a folded text; every sign parts two of them."""
    return "".join(each if _says_something(each) else " " for each in text).split()


def _says_something(character: str) -> bool:
    """Whether it is part of a word: a letter, a digit, a vowel that is written as a mark."""
    kind = unicodedata.category(character)
    return kind[0] in _SAYS_SOMETHING or (kind[0] == _MARK and kind != "Me")


_COURTESIES: Final = tuple(_words(each) for each in COURTESIES)


def _without_courtesies(words: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(words):
        phrases = (each for each in _COURTESIES if words[at : at + len(each)] == each)
        phrase = next(phrases, None)
        if phrase is None:
            yield words[at]
        at += len(phrase or ("",))
