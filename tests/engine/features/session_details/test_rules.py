"""Templates with variables of their own, amounts in them, and which payment a check names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from risala.engine.features.session_details.rules import (
    minor_of,
    named_template_fault,
    names_payment,
    same_payment,
    shown_amount,
)
from risala.engine.rules.template import TEMPLATE_MAX, VARIABLES_MAX, word_of
from risala.sms.currencies import decimals_of

CURRENCIES = ("MRU", "XOF", "TND", "EUR", "CLF")


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


VARIABLES = [f"{{{{v{n}}}}}" for n in range(VARIABLES_MAX + 1)]


@pytest.mark.parametrize(
    ("template", "part"),
    [
        ("{{code}} for {{shop}}", None),
        ("{{code}} for {{shop}} and {{shop}}, {{expiry_minutes}} min", None),
        ("{{code}}" + "".join(VARIABLES[:-1]), None),
        ("{{code}}" + "".join(VARIABLES), f"at most {VARIABLES_MAX} variables"),
        ("{{code}}".ljust(TEMPLATE_MAX, "x"), None),
        ("{{code}}".ljust(TEMPLATE_MAX + 1, "x"), f"at most {TEMPLATE_MAX} characters"),
        ("{{shop}}", "must contain {{code}}"),
        ("{{code}} {{Shop}}", "not {{Shop}}"),
        ("{{code}}\x07 {{shop}}", "control characters"),
    ],
)
def test_a_template_with_variables_of_its_own(template, part):
    fault = named_template_fault(template)
    assert fault is None if part is None else part in fault


def test_a_template_names_a_payment_by_all_of_its_members():
    assert names_payment("{{code}}: {{amount}} {{currency}} to {{payee}}")
    assert not names_payment("{{code}}: {{amount}} {{currency}}")
    assert not names_payment("{{code}}")
