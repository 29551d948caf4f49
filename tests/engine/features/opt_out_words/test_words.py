"""The sets of words, and the usual answers."""

import pytest

from risala.engine.features.opt_out_words import rules
from risala.engine.features.opt_out_words.records import Back, OptOutSettings
from risala.engine.features.opt_out_words.words import (
    ALWAYS,
    LANGUAGES,
    SETS,
    WordRole,
    words_of,
)
from risala.engine.rules.keywords import START_WORDS, STOP_WORDS, said
from risala.sms.message import Alphabet
from risala.sms.segment import count


def test_the_words_that_always_count_are_those_of_before():
    stops = {word for word, (role, _) in ALWAYS.items() if role is WordRole.STOP}
    assert (stops, set(ALWAYS) - stops) == (STOP_WORDS, START_WORDS)


def test_no_word_has_two_roles_in_any_sets():
    roles = {}
    for language in LANGUAGES:
        for word, role in words_of(language).items():
            assert roles.setdefault(word, role) is role, word
    for word, (role, _) in ALWAYS.items():
        assert roles.setdefault(word, role) is role, word


def test_the_words_that_the_field_asks_for_are_there():
    english, french = words_of("en"), words_of("fr")
    for word in ("stop", "stopall", "unsubscribe", "cancel", "end", "quit"):
        assert english[word] is WordRole.STOP
    assert {english[word] for word in ("start", "yes", "unstop")} == {WordRole.START}
    assert {english[word] for word in ("help", "info")} == {WordRole.HELP}
    assert (french["arret"], french["contact"]) == (WordRole.STOP, WordRole.HELP)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_word_is_heard_as_people_read_it(language):
    settings = OptOutSettings("org_1", sets=(language,))
    for role, words in SETS[language].items():
        for word in words:
            meaning = rules.meaning_of(said(f"{word} !"), settings, None)
            assert meaning is not None, word
            assert meaning.role is role


@pytest.mark.parametrize("role", WordRole)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_usual_answer_is_one_part_of_a_phones_letters(language, role):
    settings = OptOutSettings("org_1")
    written, is_own = rules.written(settings, role, language)
    text = rules.filled(written, language, "Boutique", "News", "")
    alphabet = Alphabet.UCS2 if language == "ar" else Alphabet.GSM7
    counted = count(text)
    assert (counted.segments, counted.alphabet, is_own) == (1, alphabet, False)
    by_hand, _ = rules.written(OptOutSettings("org_1", back=Back.HAND), role, language)
    if role in (WordRole.STOP, WordRole.LIST):
        assert "START" in text
        assert "{{start}}" not in by_hand


def test_a_long_name_makes_no_answer_that_cannot_be_sent():
    text = rules.filled("{{organization}}" * 20, "en", "x" * 100, "", "")
    assert len(text) == 1600
