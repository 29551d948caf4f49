"""The first word of a message, as people write it."""

import pytest

from risala.engine.rules.keywords import START_WORDS, STOP_WORDS, folded, keyword_of


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("STOP", "stop"),
        ("  stop  ", "stop"),
        ("Stop.", "stop"),
        ("STOP!!!", "stop"),
        ("«ARRÊT»", "arret"),
        ("arrêt svp", "arret"),
        ("توقف", "توقف"),
        ("تَوَقَّف", "توقف"),
        ("توقـــف؟", "توقف"),
        ("\u200fتوقف\u200e", "توقف"),
        ("START now please", "start"),
        ("ＳＴＯＰ", "stop"),
        ("𝐒𝐓𝐎𝐏", "stop"),
        ("don't stop", "don't"),
        ("VOTE\n7", "vote"),
        ("(oui)", "oui"),
        ("'oui';", "oui"),
        ('"oui":', "oui"),
        ("", ""),
        (" \n", ""),
        ("...", ""),
    ],
)
def test_the_first_word_without_what_is_around_it(text, word):
    assert keyword_of(text) == word


def test_the_words_are_in_the_form_that_they_are_compared_in():
    assert {folded(word) for word in STOP_WORDS | START_WORDS} == STOP_WORDS | START_WORDS


def test_a_whole_text_is_folded_alike():
    assert folded("« ARRÊT ! »") == "arret"
    assert folded("\tArrêt tout,\r\n") == "arret tout"
