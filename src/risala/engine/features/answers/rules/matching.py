"""Which rule answers a text, with which words, and in which of three languages. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from risala.dataclass import dataclass
from risala.engine.features.answers.rule_records import DAYS, AnswerRule
from risala.engine.features.tables.rules.rendering import render, unknown_placeholders
from risala.engine.model.people import Language
from risala.engine.rules.keywords import LOOKED_AT_MAX, folded, keyword_of, words_of
from risala.engine.rules.template import word_fault

VARIABLES: Final = ("number", "name", "keyword", "date", "time")
"""What may stand between double braces in an answer."""
VARIABLES_MAX: Final = 10
"""Places for variables in a text: filled in, the longest text is one message still."""
VARIABLE_MAX: Final = 60
"""Characters of a person's name in an answer."""
KEYWORDS_KEPT: Final = 1000
"""Keywords that stay read: those of the organizations that are texted most, some 200 KiB."""
_TIME: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]").fullmatch


@dataclass(frozen=True, slots=True)
class Came:
    """A text that came in, as rules see it."""

    text: str
    number: str
    at: datetime
    """In the organization's time zone."""
    is_first: bool
    """The number has not written before."""
    name: str = ""
    """The person's, by the organization's lists."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The rule that a text meets, and its answer."""

    rule: AnswerRule
    texts: tuple[tuple[Language, str], ...]
    """By language, the default first; none: the rule answers nothing."""


def local(at_ms: int, time_zone: str) -> datetime:
    """A time in a time zone."""
    return datetime.fromtimestamp(at_ms / 1000, ZoneInfo(time_zone))


def is_time(text: str) -> bool:
    """Whether a text is a time of day, such as ``08:00``."""
    return _TIME(text) is not None


def matching(rules: Sequence[AnswerRule], came: Came) -> Matched | None:
    """The first rule that a text meets, in their order; None: it meets none."""
    first, words = keyword_of(came.text), words_of(came.text)
    for rule in rules:
        if not rule.enabled or (rule.first_contact and not came.is_first):
            continue
        if not is_within(rule, came.at):
            continue
        keyword = keyword_met(rule, first, words)
        if keyword is not None:
            return Matched(rule, _filled(rule, came, keyword))
    return None


def keyword_met(rule: AnswerRule, first: str, words: Sequence[str]) -> str | None:
    """The rule's keyword that a text has; empty: the rule takes any text; None: it has none.

    Case, accents, vowel signs and the signs around do not matter. Anywhere in a text, a sign within
    a keyword parts its words, as in the text: ``rendez-vous`` is met by *rendez vous*.

    Args:
        first: the text's first word, folded.
        words: all of its words, folded.
    """
    if not rule.keywords:
        return ""
    for keyword in rule.keywords:
        whole, parts = _read(keyword)
        is_met = _have(words, parts) if rule.anywhere else whole == first
        if is_met:
            return keyword
    return None


@lru_cache(KEYWORDS_KEPT)
def _read(keyword: str) -> tuple[str, list[str]]:
    """A keyword folded, and its words: read once, and not with each text that comes in."""
    return folded(keyword), words_of(keyword)


def _have(words: Sequence[str], parts: list[str]) -> bool:
    """Whether words stand one after the other among others."""
    if not parts or parts[0] not in words:
        return False
    places = (at for at, each in enumerate(words) if each == parts[0])
    return any(words[at : at + len(parts)] == parts for at in places)


def is_within(rule: AnswerRule, at: datetime) -> bool:
    """Whether a time is within a rule's hours. Hours that end before they begin end on the next
    day; the day is that on which they begin."""
    day, clock = at.weekday(), f"{at.hour:02d}:{at.minute:02d}"
    begin, end = rule.from_time or "00:00", rule.to_time or "24:00"
    if begin < end:
        return begin <= clock < end and _has_day(rule, day)
    if clock >= begin:
        return _has_day(rule, day)
    return clock < end and _has_day(rule, (day - 1) % len(DAYS))


def _has_day(rule: AnswerRule, day: int) -> bool:
    return not rule.days or DAYS[day] in rule.days


def _filled(rule: AnswerRule, came: Came, keyword: str) -> tuple[tuple[Language, str], ...]:
    """The rule's texts with their variables."""
    name = came.name[:VARIABLE_MAX].strip()
    values = (
        came.number,
        "" if word_fault(name) else name,
        keyword,
        f"{came.at:%Y-%m-%d}",
        f"{came.at:%H:%M}",
    )
    texts = ((each, render(text, VARIABLES, values).strip()) for each, text in texts_of(rule))
    return tuple((each, text) for each, text in texts if text)


def texts_of(rule: AnswerRule) -> list[tuple[Language, str]]:
    """A rule's texts by language, the default first; none: it answers nothing."""
    by = {
        Language.FRENCH: rule.text_fr,
        Language.ARABIC: rule.text_ar,
        Language.ENGLISH: rule.text_en,
    }
    first = Language(rule.language)
    order = (first, *(each for each in by if each is not first))
    return [(each, by[each]) for each in order if by[each].strip()]


def answer_of(matched: Matched, text: str) -> str | None:
    """What a text is answered; None: nothing."""
    return chosen(dict(matched.texts), text) if matched.texts else None


def template_fault(text: str) -> str | None:
    """What is wrong with the variables of an answer's text, as a fault's word; None: nothing."""
    if text.count("{{") > VARIABLES_MAX:
        return "too_many_variables"
    return "unknown_variable" if unknown_placeholders(text, VARIABLES) else None


_FRENCH: Final = frozenset(
    (
        *("bonjour", "bonsoir", "salut", "merci", "svp", "stp", "oui", "non", "arret", "aide"),
        *("je", "j", "vous", "tu", "il", "elle", "nous", "mon", "ma", "mes", "votre", "vos"),
        *("le", "la", "les", "des", "du", "une", "un", "et", "ou", "est", "sont", "pas"),
        *("que", "quoi", "quel", "quelle", "quand", "comment", "combien", "pourquoi"),
        *("horaire", "horaires", "heure", "heures", "prix", "solde", "ouvert", "fermer", "ferme"),
        *("commande", "rendez", "pour", "avec", "dans", "sur", "avez", "suis", "veux"),
    )
)
_ENGLISH: Final = frozenset(
    (
        *("hello", "hi", "thanks", "thank", "please", "yes", "no", "help", "end", "quit"),
        *("i", "you", "he", "she", "we", "they", "my", "your", "the", "a", "an", "and", "or"),
        *("is", "are", "not", "do", "does", "what", "which", "when", "how", "why", "where", "who"),
        *("hours", "hour", "price", "prices", "balance", "open", "close", "closed", "order"),
        *("appointment", "for", "with", "in", "on", "at", "to", "of", "have", "am", "want"),
    )
)
"""Words that only one of the two has, folded; ``stop`` and ``info`` are words of both."""


def language_of(text: str) -> Language | None:
    """The language that a text is in; None: its script and its words do not say it.

    Arabic is told by its script; French and English by which of them has more of the words.
    """
    text = text[:LOOKED_AT_MAX]
    letters = [each for each in text if each.isalpha()]
    arabic = sum("ARABIC" in unicodedata.name(each, "") for each in letters)
    if 2 * arabic > len(letters):
        return Language.ARABIC
    words = "".join(each if each.isalnum() else " " for each in folded(text)).split()
    french, english = sum(w in _FRENCH for w in words), sum(w in _ENGLISH for w in words)
    if french == english:
        return None
    return Language.FRENCH if french > english else Language.ENGLISH


def chosen(texts: Mapping[Language, str], text: str) -> str:
    """The answer's text in the language of the text; else the first, which is the default.

    Args:
        texts: at least one.
    """
    language = language_of(text)
    if language is not None and language in texts:
        return texts[language]
    return next(iter(texts.values()))
