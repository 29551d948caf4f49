"""Patterns of a bank's texts: what they read, what they may say, and that none takes long."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.drivers.payments.patterns import (
    CHOICES_MAX,
    TEXT_CHARACTERS_MAX,
    PatternError,
    amount_of,
    parse_pattern,
    plain,
)

FRENCH = (
    r"Vous avez reçu {amount} MRU (?:du|de) {payer}(?: \([^)]+\))?\. Réf\. {reference}\."
    r"(?: Frais {fee} MRU\.)? Solde {balance} MRU\."
)


def read(pattern: str, text: str) -> dict[str, str] | None:
    return parse_pattern(pattern).read(plain(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Vous avez reçu 1 250,00 MRU du +222 36 12 34 56 (ALI). Réf. BK-77."
            " Solde 12.500,5 MRU.",
            {
                "amount": "1 250,00",
                "payer": "+222 36 12 34 56",
                "reference": "BK-77",
                "balance": "12.500,5",
            },
        ),
        (
            "Vous avez reçu\u00a0٥٠٠ MRU  de ٣٦١٢٣٤٥٦. Réf. BK77. Frais 5 MRU. Solde -3 MRU.",
            {
                "amount": "500",
                "payer": "36123456",
                "reference": "BK77",
                "fee": "5",
                "balance": "-3",
            },
        ),
        ("Vous avez reçu 500 MRU de 36123456. Réf. BK77. Solde 3 MRU. Cliquez ici", None),
        ("Re: Vous avez reçu 500 MRU de 36123456. Réf. BK77. Solde 3 MRU.", None),
    ],
)
def test_what_is_read(text, found):
    assert read(FRENCH, text) == found


def test_arabic_and_marks_of_direction():
    text = "استلمت \u200f٥٠٠٫٢٥ أوقية\u200f، المرجع \u202aBK-7\u202c."
    found = read("استلمت {amount} أوقية، المرجع {reference}.", text)
    assert found == {"amount": "500,25", "reference": "BK-7"}
    assert amount_of(found["amount"]) == 50_025


@pytest.mark.parametrize(
    ("text", "minor"),
    [
        *(("1250", 125_000), ("1 250,00", 125_000), ("1.250,00", 125_000), ("1,250.00", 125_000)),
        *(("1'250", 125_000), ("1.250", 125_000), ("0.5", 50), ("12,34", 1234), ("-7", -700)),
    ],
)
def test_amounts(text, minor):
    assert amount_of(text) == minor


@pytest.mark.parametrize("text", ["", "1.2.3", "12 50", "1,2345", "a", "1..2", "1 2345"])
def test_what_is_no_amount(text):
    with pytest.raises(ValueError, match="no amount"):
        amount_of(text)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a+)+", "other than"),
        ("(?=a)", "other than"),
        ("(?P<x>a)", "other than"),
        ("(?i:a)", "other than"),
        (r"(?:a)\1", "not allowed"),
        (r"\bword", "not allowed"),
        ("a+?", "repeats a repetition"),
        ("a**", "repeats a repetition"),
        ("^a", "where it means nothing"),
        ("*a", "where it means nothing"),
        ("{amount} {amount}", "twice"),
        ("{amount}+", "repeats {amount}"),
        ("(?:{fee} )*", "group that is read"),
        ("{name}", "there are"),
        ("a{701}", "more than 700"),
        ("[a", "without its ]"),
        ("[[:alpha:]]", "not allowed"),
        ("(?:a", "without its )"),
        ("a)", "too many"),
        ("(?:a)?" * 7, f"more than {CHOICES_MAX}"),
        ("", "1 to 500"),
        ("a" * 501, "1 to 500"),
        ("a{5,2}", "cannot be understood"),
    ],
)
def test_what_a_pattern_must_not_say(pattern, why):
    with pytest.raises(PatternError, match=why.replace("{", r"\{").replace(")", r"\)")):
        parse_pattern(pattern)


EVIL = (
    r"(?:(?:(?:a*)*)*)*b",
    r"(?:\w*\s*)*x",
    r"(?:a|a|aa)(?:a|a|aa)(?:a|aa)(?:a*)*\d",
    r".*.*.*.*.*.*x",
    r"(?:[a-z]+ ?)+\.",
)


@pytest.mark.parametrize("pattern", EVIL)
def test_no_text_keeps_a_pattern_busy(pattern):
    """Each would take longer than the universe is old, as a regular expression that gives back."""
    found = parse_pattern(pattern)
    for text in ("a" * TEXT_CHARACTERS_MAX, "a " * (TEXT_CHARACTERS_MAX // 2 - 1)):
        assert found.read(text) is None
    assert found.read("a" * (TEXT_CHARACTERS_MAX + 1)) is None


@given(st.text(alphabet="ab(?:)|*+{}[]1,.\\d {amount}", max_size=30), st.integers(0, 2**32))
def test_whatever_is_written_is_a_pattern_or_refused(written, seed):
    try:
        found = parse_pattern(written)
    except PatternError:
        return
    dice = random.Random(seed)
    text = "".join(dice.choice("ab1. ,") for _ in range(TEXT_CHARACTERS_MAX))
    found.read(text)
