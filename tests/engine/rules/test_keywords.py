"""The first word of a message, as people write it."""

from pathlib import Path

import pytest

from risala.engine.rules.keywords import (
    COURTESIES,
    LOOKED_AT_MAX,
    START_WORDS,
    STOP_WORDS,
    folded,
    keyword_of,
    keyword_ways,
    only_word,
)


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
        ("\u200b STOP", "stop"),
        ("« ARRÊT » 5", "arret"),
        ("#vote", "vote"),
        ("🛑 stop", "stop"),
        ("\u2067توقف\u2069 الآن", "توقف"),
        ("VOTE\u00a07", "vote"),
        ("ＶＯＴＥ　７", "vote"),
        ("٥ نعم", "5"),
        ("“Oui”", "oui"),
        ("l’oui", "l'oui"),
        ("-1-", "1"),
    ],
)
def test_the_first_word_without_what_is_around_it(text, word):
    assert keyword_of(text) == word


def test_the_words_are_in_the_form_that_they_are_compared_in():
    assert {folded(word) for word in STOP_WORDS | START_WORDS} == STOP_WORDS | START_WORDS


def test_a_whole_text_is_folded_alike():
    assert folded("« ARRÊT ! »") == "arret"
    assert folded("\tArrêt tout,\r\n") == "arret tout"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *((mark + "STOP" + mark, "stop") for mark in "\u200b\u200c\u200d\u200e\u061c\u2060\ufeff"),
        *(("\u2068STOP\u2069", "stop"), ("S\u00adTOP", "stop"), ("\u202bتوقف\u202c", "توقف")),
        *(
            ("STOP 🛑", "stop"),
            ("🛑stop🛑", "stop"),
            ("stop 👨\u200d👩\u200d👧", "stop"),
            ("STOP ❤️", "stop"),
        ),
        *(("-STOP-", "stop"), ("*stop*", "stop"), ("_STOP_", "stop"), ("“STOP”", "stop")),
        *(("‘stop’", "stop"), ("STOP…", "stop"), ("STOP\u00a0", "stop"), ("【STOP】", "stop")),
        *(("Stop. Thank you", "stop"), ("Stop, thanks!", "stop"), ("please STOP", "stop")),
        *(("ARRÊT svp, merci d’avance", "arret"), ("Stop s'il vous plaît", "stop")),
        *(("توقف من فضلك", "توقف"), ("شُكراً، توقّف", "توقف"), ("STOP STOP STOP!!!", "stop")),
        *(("Bonjour, STOP. Merci beaucoup !", "stop"), ("START, please", "start")),
        *(("Stop s.v.p.", "stop"), ("S.T.P. ARRÊT", "arret"), ("Bonsoir stop", "stop")),
        *(("stop ;-)", "stop"), ("ⓈⓉⓄⓅ", "stop"), ("ﺗﻮﻗﻒ", "توقف"), ("STOP\ufffc", "stop")),
    ],
)
def test_the_one_word_that_says_something(text, word):
    assert only_word(text) == word


@pytest.mark.parametrize(
    "text",
    [
        *("STOP 12345", "STOP 1", "please stop sending text reminders", "don't stop", "stop it"),
        *("Count me in! We have got to STOP this terrible bill", "Merci, pas stop", "non-stop"),
        *("توقف عن الكلام", "لا توقف", "", "!!!", "🛑", "merci", "stop or start"),
        *("Re: STOP", "STOP STOPPER", "OUI STOP", "S. STOP V. P.", "🇸🇹🇴🇵"),
        *("STOP\n\nEnvoyé de mon iPhone", f"stop{'!' * LOOKED_AT_MAX}", "st op", "stops"),
    ],
)
def test_what_says_more_than_one_word_is_no_opt_out(text):
    assert only_word(text) not in STOP_WORDS | START_WORDS


def test_a_courtesy_hides_no_word_and_no_longer_courtesy():
    assert {folded(each) for each in COURTESIES} == set(COURTESIES)
    for each in COURTESIES:
        assert only_word(f"{each} stop, {each}") == "stop"
        assert only_word(each) == ""


def test_an_older_route_has_its_digits_as_they_were_typed():
    assert keyword_ways("v٥ x") == ("v5", "v٥", "v۵")


@pytest.mark.parametrize("word", sorted(STOP_WORDS))
def test_the_pages_say_which_words_people_may_text(word):
    root = Path(__file__).parents[3]
    pages = [
        *(root / "docs").glob("**/how-to/receive-messages.md"),
        root / "docs/reference/cli.md",
        root / "src/risala/cli/commands/messaging/inbound.py",
        root / "src/risala/http/dashboard/templates/inbound/opt_outs.html",
    ]
    assert len(pages) == 6
    silent = [str(page.relative_to(root)) for page in pages if word.upper() not in page.read_text()]
    assert silent == [], f"these tell people of the others, and not of {word.upper()}"
