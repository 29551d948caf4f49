"""Words of callers in the text of a code, and which payment a check names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from risala.engine.rules.template import (
    minor_of,
    same_payment,
    shown_amount,
    word_fault,
    word_of,
)
from risala.sms.currencies import decimals_of

CURRENCIES = ("MRU", "XOF", "TND", "EUR", "CLF")


@pytest.mark.parametrize(
    "word",
    [
        *("Boutique Nour", "St. Louis & Co.", "متجر النور", "Société Générale S.A.", "L’Épi d’or"),
        *("فروشگاه می‌خوانم", "3.50", "№ 7", "Ibrahim (Nouakchott)", "v2.0", "@nour"),
    ],
)
def test_words_that_may_stand_in_a_text(word):
    assert word_fault(word) is None


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("a\nb", "one line"),
        ("a\u2028b", "one line"),
        ("a\tb", "one line"),
        ("a\u202eb", "direction"),
        ("a\u2066b", "direction"),
        ("a\u200bb", "control"),
        ("https://evil", "link"),
        ("tel://1", "link"),
        ("www evil", "link"),
        ("evil.example", "link"),
        ("Pay.at/x", "link"),
        ("evil。example", "link"),
        ("evil．example", "link"),
        ("203.0.113.9", "link"),
        ("me@evil.example", "link"),
        ("موقع.شبكة", "link"),
        ("{{code}}", "placeholders"),
    ],
)
def test_words_that_may_not(word, part):
    assert part in word_fault(word)


@pytest.mark.parametrize(
    ("amount", "currency", "minor", "shown"),
    [
        ("1500", "MRU", 150_000, "1500.00"),
        ("0.5", "MRU", 50, "0.50"),
        ("1500.00", "XOF", 1500, "1500"),
        ("1.500", "TND", 1500, "1.500"),
        ("0", "EUR", 0, "0.00"),
        ("1.505", "MRU", None, None),
        ("1.5", "XOF", None, None),
    ],
)
def test_amounts_are_minor_units_of_their_currency(amount, currency, minor, shown):
    assert minor_of(amount, currency) == minor
    if minor is not None:
        assert shown_amount(minor, currency) == shown


AMOUNTS = tuple(
    f"{whole}.{part}" if part else whole
    for whole in ("0", "3", "30")
    for part in ("", "0", "00", "5", "50", "05", "500", "0500", "001")
)
PAYEES = ("Café", "Cafe\u0301", " Café ", "Cafe", "CAFÉ", "Nour", "Nour\u00a0")
PAYMENTS = tuple(product(AMOUNTS, CURRENCIES, PAYEES))


def key(amount: str, currency: str, payee: str) -> tuple[Decimal, str, str]:
    """A payment as bookkeeping would compare it, in another way than the code."""
    return Decimal(amount).normalize(), currency, unicodedata.normalize("NFC", payee).strip()


def beside(amount: str, currency: str, payee: str) -> Iterator[tuple[str, str, str]]:
    """Whatever differs from it in the payee; of one payee also in amount and currency: an amount
    without its currency is another one."""
    for other in PAYEES:
        yield amount, currency, other
    if payee == PAYEES[1]:
        yield from product(AMOUNTS, CURRENCIES, [payee])


def test_a_check_fits_its_own_payment_and_no_other():
    for sent in PAYMENTS:
        amount, currency, payee = sent
        minor = minor_of(amount, currency)
        if minor is None:
            continue
        assert minor == Decimal(amount).scaleb(decimals_of(currency))
        stored = named(minor, currency, word_of(payee))
        assert same_payment(stored, named(*sent))
        for checked in beside(*sent):
            assert same_payment(stored, named(*checked)) is (key(*sent) == key(*checked)), checked


def named(*values: object) -> dict[str, Any]:
    return dict(zip(("amount", "currency", "payee"), values, strict=True))
