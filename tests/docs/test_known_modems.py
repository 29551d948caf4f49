"""The page of known modems is what the driver says, and each sentence of it has three languages."""

from __future__ import annotations

from functools import cache
from html import unescape

import pytest
from markupsafe import Markup
from proofs.modems import CARRIER, PAGE, SITUATIONS, render, rows

from risala.engine.model.people import Language
from risala.http.operator.carriers.driver_words import driver_line
from risala.http.web.languages import load_words
from risala.http.web.messages.driver_notes import note_sentence

words_of = cache(load_words)
FAILED = sorted({sentence for _, _, sentence in rows() if sentence})
SIM7600 = {
    Language.ENGLISH: (
        "The modem is on LTE, and the network does not take its text there. To keep it off LTE: "
        "risala carriers ask sim-1 network 3g (AT+CNMP=14). Ask the SIM's operator for SMS over "
        "SGs or IMS."
    ),
    Language.FRENCH: (
        "Le modem est en LTE, et le réseau n’y prend pas son SMS. Pour le tenir hors de la "
        "LTE : risala carriers ask sim-1 network 3g (AT+CNMP=14). Demandez à l’opérateur de la "
        "carte SIM les SMS par SGs ou par IMS."
    ),
    Language.ARABIC: (
        "المودم على LTE، والشبكة لا تقبل رسالته فيها. لإبعاده عن LTE: risala carriers ask sim-1 "
        "network 3g (AT+CNMP=14). اطلب من شركة الشريحة رسائل SMS عبر SGs أو IMS."
    ),
}


def test_the_page_is_what_the_source_says():
    assert render() == PAGE.read_text("utf-8"), "`make generated` writes it"


def test_each_family_is_seen_in_each_situation():
    every = list(rows())
    assert len(every) == len({chip.name for chip, _, _ in every}) * len(SITUATIONS)
    assert [situation for _, situation, sentence in every if not sentence] == [
        "`+CREG: 0,1`, on 3G"
    ] * len({chip.name for chip, _, _ in every})


def plain(markup: Markup) -> str:
    return unescape(markup.striptags())


@pytest.mark.parametrize("language", list(Language))
def test_each_sentence_is_said_in_each_language(language):
    """On a text's timeline and on the carrier's page."""
    words = words_of(language)
    for sentence in FAILED:
        shown = note_sentence(words, sentence)
        assert shown is not None
        assert (plain(shown) == sentence) == (language is Language.ENGLISH)
        assert sentence.partition("(AT")[2].partition(")")[0] in plain(shown)
        assert 'lang="en"' not in driver_line(words, sentence)


@pytest.mark.parametrize(("language", "sentence"), SIM7600.items())
def test_what_is_shown_of_one(language, sentence):
    assert SIM7600[Language.ENGLISH] in FAILED
    shown = note_sentence(words_of(language), SIM7600[Language.ENGLISH])
    assert shown is not None
    assert plain(shown) == sentence
    assert CARRIER in sentence


def test_what_is_none_of_ours_is_quoted():
    words = words_of(Language.ENGLISH)
    assert note_sentence(words, "To keep it off LTE: x. And something else.") is None
    assert note_sentence(words, "") is None
    assert note_sentence(words, "To keep it off LTE: " + "x" * 700 + ".") is None
