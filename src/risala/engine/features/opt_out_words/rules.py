"""What a text says about opt-outs, and the answer to it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.opt_out_words.records import (
    WORDS_MAX,
    Back,
    ConfirmationRule,
    Demand,
    OptOutSettings,
    OwnWord,
    WordSource,
)
from risala.engine.features.opt_out_words.words import (
    AGAIN,
    ALWAYS,
    ANSWERS,
    LANGUAGES,
    STARTS,
    STOPS,
    VARIABLES,
    WordRole,
    words_of,
)
from risala.engine.features.tables.rules.rendering import render, unknown_placeholders
from risala.engine.model.errors import Conflict, Invalid
from risala.sms.limits import TEXT_CHARACTERS_MAX

NOTE_MISSING: Final = (
    "In this organization people get messages again by hand alone, with a note: say in `note` how"
    " they asked for it."
)
WORDS_OF_A_TEXT: Final = 2
"""A text of more words is no opt-out."""
_OF_LISTS: Final = (WordRole.STOP, WordRole.START)


@dataclass(frozen=True, slots=True)
class TextMeaning:
    """What a text asks for."""

    role: WordRole
    language: str
    """The language of the answer."""
    word: str
    list_id: str | None = None
    """The list that is meant alone; None: the whole organization."""
    list_word: str = ""


def demanded(demands: Iterable[Demand], number: str) -> Demand | None:
    """What a number's network asks for, or else its country: the longest prefix says it."""
    hits = [each for each in demands if number.startswith(each.prefix)]
    return max(hits, key=lambda each: len(each.prefix), default=None)


def meaning_of(
    words: Sequence[str], settings: OptOutSettings, demand: Demand | None
) -> TextMeaning | None:
    """What the words of a text ask for; None: nothing of this kind.

    Args:
        words: as :func:`~risala.engine.rules.keywords.said` gives them.
    """
    if not 1 <= len(words) <= WORDS_OF_A_TEXT:
        return None
    known = [_known(word, settings, demand) for word in words]
    if len(words) == 1:
        (one,) = known
        if one is None or one.role is WordRole.LIST:
            return None
        return TextMeaning(one.role, one.language, one.word)
    first, second = known
    if first is None or second is None or second.role is not WordRole.LIST:
        return None
    if first.role not in _OF_LISTS or second.list_id is None:
        return None
    return TextMeaning(first.role, second.language, first.word, second.list_id, second.word)


def _known(word: str, settings: OptOutSettings, demand: Demand | None) -> OwnWord | None:
    """A word that counts, in the order in which they do: always, for the network, own, usual."""
    demanded_sets = () if demand is None else demand.sets
    if word in ALWAYS:
        role, language = ALWAYS[word]
        return OwnWord(word, role, language or _language(word, (*settings.sets, *demanded_sets)))
    return next(
        (
            each
            for each, _ in (
                *_of_sets(demanded_sets, WordSource.DEMANDED),
                *((own, WordSource.OWN) for own in settings.words),
                *_of_sets(settings.sets, WordSource.SET),
            )
            if each.word == word
        ),
        None,
    )


def _language(word: str, sets: Sequence[str]) -> str:
    """The language of the answer to a word of several: of the first set that has it."""
    having = (each for each in sets if word in words_of(each))
    return next(having, sets[0] if sets else LANGUAGES[0])


def _of_sets(sets: Iterable[str], source: WordSource) -> Iterator[tuple[OwnWord, WordSource]]:
    for language in sets:
        for word, role in words_of(language).items():
            yield OwnWord(word, role, language), source


def counted(
    settings: OptOutSettings, demands: Iterable[Demand]
) -> list[tuple[OwnWord, WordSource]]:
    """All words that count for some number, each once, with why."""
    demanded_sets = dict.fromkeys(language for each in demands for language in each.sets)
    always = [
        (OwnWord(word, role, language or _language(word, settings.sets)), WordSource.ALWAYS)
        for word, (role, language) in ALWAYS.items()
    ]
    words: dict[str, tuple[OwnWord, WordSource]] = {}
    for one, source in (
        *always,
        *_of_sets(demanded_sets, WordSource.DEMANDED),
        *((each, WordSource.OWN) for each in settings.words),
        *_of_sets(settings.sets, WordSource.SET),
    ):
        words.setdefault(one.word, (one, source))
    return [*words.values()]


def with_word(settings: OptOutSettings, new: OwnWord) -> tuple[OwnWord, ...]:
    """An organization's own words with one more; the same ones if it has just that word.

    Raises:
        Invalid: the word has a role already.
        Conflict: there are too many.
    """
    for one in settings.words:
        if one == new:
            return settings.words
        if one.word == new.word:
            raise _refused(new, one.role)
    _refuse_role(new, settings.sets)
    if len(settings.words) >= WORDS_MAX:
        raise Conflict(f"There can be at most {WORDS_MAX} words of your own. Remove one first.")
    return (*settings.words, new)


def refuse_doubles(settings: OptOutSettings) -> None:
    """Raise ``Invalid`` if a set gives one of the own words another role."""
    for each in settings.words:
        _refuse_role(each, settings.sets)


def _refuse_role(word: OwnWord, sets: Iterable[str]) -> None:
    if word.word in ALWAYS:
        raise _refused(word, ALWAYS[word.word][0])
    for language in sets:
        role = words_of(language).get(word.word)
        if role is not None and role is not word.role:
            raise _refused(word, role)


def _refused(word: OwnWord, role: WordRole) -> Invalid:
    return Invalid(
        "word",
        "word_taken",
        f"The word {word.word!r} counts as a word of {_NAMES[role]} already: no word does two"
        " things. Take another word.",
    )


_NAMES: Final = {
    WordRole.STOP: "STOP",
    WordRole.START: "START",
    WordRole.HELP: "HELP",
    WordRole.LIST: "a list",
}


def is_answered(
    meaning: TextMeaning, settings: OptOutSettings, demand: Demand | None, *, has_changed: bool
) -> bool:
    """Whether a text gets an answer.

    Args:
        has_changed: whether it opted its sender out or in: who repeats STOP is not told again.
    """
    if meaning.role is not WordRole.HELP and not has_changed:
        return False
    if meaning.role is WordRole.STOP and demand is not None:
        if demand.confirmation is ConfirmationRule.REQUIRED:
            return True
        if demand.confirmation is ConfirmationRule.FORBIDDEN:
            return False
    return meaning.role.value in settings.answered


def answer_role(meaning: TextMeaning) -> WordRole:
    """Which answer fits: one list has its own."""
    is_list = meaning.list_id is not None and meaning.role is WordRole.STOP
    return WordRole.LIST if is_list else meaning.role


def written(settings: OptOutSettings, role: WordRole, language: str) -> tuple[str, bool]:
    """An answer with its variables, and whether it is the organization's own."""
    for each in settings.texts:
        if (each.role, each.language) == (role, language):
            return each.text, True
    usual = ANSWERS[role][language]
    if role in (WordRole.STOP, WordRole.LIST) and settings.back is not Back.HAND:
        usual += AGAIN[language]
    return usual, False


def filled(text: str, language: str, organization: str, list_name: str, list_word: str) -> str:
    """An answer as it is sent.

    Args:
        list_word: the word that names the list; empty: the whole organization is meant.
    """
    named = f" {list_word.upper()}" if list_word else ""
    values = (organization, list_name, STOPS[language] + named, STARTS + named)
    return render(text, VARIABLES, values)[:TEXT_CHARACTERS_MAX]


def refuse_variables(text: str) -> None:
    """Raise ``Invalid`` if an answer names what there is not."""
    if unknown := unknown_placeholders(text, VARIABLES):
        there = ", ".join(f"{{{{{each}}}}}" for each in VARIABLES)
        sentence = f"An answer has no {{{{{unknown[0]}}}}}. It can have: {there}."
        raise Invalid("text", "unknown_placeholder", sentence)
