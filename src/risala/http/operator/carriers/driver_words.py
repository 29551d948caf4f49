"""The texts of our own drivers about their links, in the reader's language.

Drivers use English, and other people's drivers any text: a text that is not made of the sentences
in :mod:`.driver_sentences` is quoted unchanged, as English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from html import unescape
from itertools import islice
from typing import Any, Final

from markupsafe import Markup

from risala.engine.model.people import Language
from risala.http.operator.carriers.driver_phrases import (
    COMMANDS,
    FACTS,
    OURS,
    PHRASES,
    REGISTRATIONS,
)
from risala.http.operator.carriers.driver_sentences import SENTENCES
from risala.http.web.languages import Words, load_words

TEXT_MAX: Final = 600
"""Characters of the longest text that is looked for: ours are shorter, and each takes its time."""
ENDS_MAX: Final = 4
"""Full stops within one sentence that are looked over, at most."""
KNOWN_MAX: Final = 1000
"""Texts kept in memory with their parsed sentences: a link's life has a hundred lines."""
_Found = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
_PHRASED: Final = frozenset({"gate", "phone", "reason", "state", "step"})
"""Placeholders that a translated phrase may fill; names and numbers fill the others."""
_SAID: Final = "said"
"""The hole that a whole text of a driver fills."""
_TAG: Final = re.compile("<[^>]*>")
_HOLE: Final = re.compile(r"\{([a-z]+)\}")
_FREE: Final = frozenset(
    {
        *("amount", "believed", "command", "day", "declared", "facts", "fault", "kind", "missing"),
        *("modem", "network", "note", "phone", "place", "reason", "said", "smsc", "state"),
        *("status", "step", "text", "what", "words"),
    }
)
"""Holes that several words may fill; an address, a number or a name is one word."""
_ends: Final = re.compile(r"[.?](?= )").finditer
_ALL: Final = frozenset({*PHRASES, *COMMANDS})


def driver_said(words: Words, text: str) -> Markup:
    """A driver's text as a quotation, in the reader's language if it is one of ours."""
    sentence = _spoken(words, text)
    if sentence is None:
        return Markup('<q dir="auto" lang="en">{}</q>').format(text)
    return Markup("<q>{}</q>").format(sentence)


def driver_line(words: Words, text: str) -> Markup:
    """A line of a link's life, which is no quotation of anybody; else as :func:`driver_said`."""
    sentence = _spoken(words, text)
    return _english(text) if sentence is None else sentence


def driver_text(language: Language, text: str) -> str:
    """A driver's text for a mail, in the reader's language if it is one of ours. The first text of
    a language reads its catalogues, which is slow."""
    words = load_words(language)
    sentence = _spoken(words, text)
    return text if sentence is None else _TAG.sub("", unescape(_isolated(words, sentence)))


def _isolated(words: Words, text: Markup) -> str:
    if words.language is not Language.ARABIC:
        return str(text)
    return text.replace("<bdi>", "\u2068").replace("</bdi>", "\u2069")


def driver_phrase(words: Words, text: str) -> Markup:
    """The description of a command, translated if it is one of ours."""
    return words(text) if text in _ALL else _english(text)


def driver_facts(
    words: Words, driver: str, facts: Mapping[str, Any]
) -> list[tuple[Markup, Markup]]:
    """The names and values of a driver's facts; None values are left out."""
    return [
        (_name(words, driver, name), _value(words, driver, name, value))
        for name, value in facts.items()
        if value is not None
    ]


def _name(words: Words, driver: str, name: str) -> Markup:
    if driver in OURS and name in FACTS:
        return words(FACTS[name])
    return Markup('<bdi lang="en">{}</bdi>').format(name)


def _value(words: Words, driver: str, name: str, value: object) -> Markup:
    text = str(value)
    if driver in OURS and name == "registration" and text in REGISTRATIONS:
        return words(REGISTRATIONS[text])
    if driver in OURS and text in PHRASES:
        return words(text)
    sentence = _spoken(words, text)
    return _english(text, "bdi") if sentence is None else sentence


def _english(text: str, tag: str = "span") -> Markup:
    return Markup('<{tag} dir="auto" lang="en">{text}</{tag}>').format(tag=tag, text=text)


def _spoken(words: Words, text: str) -> Markup | None:
    """One or more sentences of ours, one after the other; None if any part is not ours."""
    sentences = _sentences_of(text)
    if sentences is None:
        return None
    return Markup(" ").join(
        words(sentence, **{name: _filling(words, name, what) for name, what in holes})
        for sentence, holes in sentences
    )


@lru_cache(maxsize=KNOWN_MAX)
def _sentences_of(text: str) -> _Found | None:
    """The sentences of a text, with the values of their placeholders."""
    if len(text) > TEXT_MAX:
        return None
    for end in _first_ends(text):
        first = _sentence(text[:end])
        if first is None:
            continue
        rest = text[end:].lstrip(" ")
        others = _sentences_of(rest) if rest else ()
        if others is not None:
            return (first, *others)
    return None


def _first_ends(text: str) -> Iterator[int]:
    """The places where the first sentence may end, shortest first: some contain a full stop."""
    for match in islice(_ends(text), ENDS_MAX):
        yield match.end()
    yield len(text)


def _sentence(text: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    for sentence, pattern in _patterns():
        match = pattern.fullmatch(text)
        if match is not None:
            return sentence, tuple(match.groupdict().items())
    return None


def _filling(words: Words, name: str, what: str) -> Markup:
    if name == _SAID:
        return driver_line(words, what)
    if name in _PHRASED and what in PHRASES:
        return words(what)
    return Markup("<bdi>{}</bdi>").format(what)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((sentence, _pattern(sentence)) for sentence in sorted(SENTENCES, key=_rank))


def _rank(sentence: str) -> tuple[bool, int]:
    """What quotes a whole text comes first, then what has most words of its own: a hole of a
    shorter sentence would swallow them."""
    return f"{{{_SAID}}}" not in sentence, -len(_HOLE.sub("", sentence))


def _pattern(sentence: str) -> re.Pattern[str]:
    pieces = _HOLE.split(sentence)
    for place, name in enumerate(pieces):
        free = r".+?" if name in _FREE else r"\S+"
        pieces[place] = f"(?P<{name}>{free})" if place % 2 else re.escape(name)
    return re.compile("".join(pieces))
