"""Marks that nobody sees, and when a text needs them."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.sms.alphabet import fits_gsm7
from risala.sms.unseen import (
    FILLERS,
    UNSEEN,
    as_sent,
    as_value,
    cheapest,
    has_unseen,
    with_needed,
    without_unseen,
)

DRAWN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Of category Cf too, but drawn around the characters behind them."""
MARKS = re.findall(f"[{UNSEEN}]", "".join(map(chr, range(sys.maxunicode + 1))))


def test_all_format_characters_that_are_not_drawn():
    formats = {chr(n) for n in range(sys.maxunicode + 1) if unicodedata.category(chr(n)) == "Cf"}
    assert formats - set(MARKS) - set(DRAWN) == set()
    assert set(DRAWN) <= formats


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("Mit besten Grüßen\u200c", "Mit besten Grüßen"),
        ("\ufeffBonjour", "Bonjour"),
        ("Bon\u00adjour, la\u200b \u2060vie", "Bonjour, la vie"),
        ("\u200e+222 36 12 34 01\u202c", "+222 36 12 34 01"),
        ("Sidi\u200e, Oumar\u200b.", "Sidi, Oumar."),
        ("x\ufe0f\u200d\u2063y", "xy"),
        ("Привет\u200f мир\u200b", "Привет мир"),
        ("\u200fسلام\u200f", "سلام"),
        ("\u2067سلام\u2069", "سلام"),
        ("\ufeff\u202bسلام\u202c\u200b", "سلام"),
        ("سلام \u200b", "سلام "),
        ("می\u200c", "می"),
    ],
)
def test_a_mark_that_changes_nothing_is_not_sent(written, sent):
    assert cheapest(written) == sent
    assert as_sent(written, smart=False) == (sent or written)


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",
        "سنة ١٤٤٥ ه\u200d",
        "क्\u200dष",
        "👨\u200d👩\u200d👧",
        "❤️",
        "1\ufe0f\u20e3 Nour",
        "رقم \u200e+222 36\u200e غدا",
        "\u200fSMS من سيدي",
        "\u200eسلام",
        "\u202eolleh\u202c",
        "\u2067سلام\u2069 SMS",
        "سلام\u200bسلام",
        "مرحبا!\u200f",
        "🏴\U000e0067\U000e0062\U000e007f",
        "",
        "Bonjour",
        "é\u0301",
    ],
)
def test_a_mark_that_its_reader_would_miss_is_sent(text):
    assert cheapest(text) == text


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        (" Salma\t", "Salma"),
        ("Salma\u00a0B", "Salma B"),
        ("Salma\u200e\u202f B", "Salma  B"),
        ("\u3000Salma\u00a0", "Salma"),
        ("Salma\u00a0\u200e", "Salma"),
        ("\u2007\u200bSalma\u3164B\u2800", "Salma B"),
        ("Rue\u20093\nKsar", "Rue 3\nKsar"),
        ("سلمى\u00a0ب ", "سلمى\u00a0ب"),
        ("Été à\u00a0l’", "Été à l’"),
        ("\u00a0\u200e\u3164", ""),
    ],
)
def test_blanks_of_a_value_are_plain_spaces(written, filled):
    assert cheapest(as_value(written)) == filled


@given(st.text(st.one_of(st.characters(), st.sampled_from([*MARKS, *"\u00a0\u3000\u3164 "]))))
def test_a_value_keeps_all_that_is_seen(text):
    blanks = rf"[\s{FILLERS}]+"
    assert re.sub(blanks, "", as_value(text)) == re.sub(blanks, "", text)


@given(st.text(st.one_of(st.characters(), st.sampled_from(MARKS))))
def test_only_such_marks_are_ever_removed(text):
    for done in (cheapest(text), with_needed(text)):
        assert without_unseen(done) == without_unseen(text)
    assert not has_unseen(without_unseen(text))


plain = st.text(st.sampled_from("Bonjour à 10 h €é{}"))


@given(st.lists(st.one_of(plain, st.sampled_from([m for m in MARKS if m not in "\u202d\u202e"]))))
def test_a_text_of_gsm_7_bit_stays_one(pieces):
    assert fits_gsm7(cheapest("".join(pieces)))


def test_many_marks_take_no_longer_than_as_many_letters():
    text = "\u200b" * 100_000
    assert cheapest(f"a{text}b") == with_needed(f"a{text}b") == "ab"
