"""The settings of a bank's texts, and what one text is by them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from risala.drivers.payments.mobile_money import (
    READ_CHARACTERS_MAX,
    MobileMoney,
    MobileMoneySettings,
    build_wallet,
)
from risala.plugins.payment import PaymentSettled
from risala.plugins.payment_texts import CreditCaps, HearsTexts, TextKind
from risala.sms.currencies import counting_in
from risala.sms.message import Inbound

CENTRE = "+22236000001"
FEE = "(?: Frais {fee}.)?"
SMS: dict[str, Any] = {
    "carrier": "bank",
    "senders": ["Bankily", "1234"],
    "service_centres": ["+222 36 00 00 01"],
    "by_itself": True,
    "payment_max": "500",
    "organization_day_max": "1000",
    "day_max": "5000.50",
    "patterns": [
        {"text": f"Recu {{amount}} MRU de {{payer}}. Ref {{reference}}.{FEE} Solde {{balance}}."},
        {"kind": "debit", "text": f"Retrait {{amount}}.{FEE} Solde {{balance}}."},
        {"kind": "notice", "text": "Bienvenue.*"},
    ],
}


def wallet(**sms: Any) -> Any:
    given = {"merchant": "038 221", "sms": {**SMS, **sms}}
    return build_wallet("bankily", "Bankily", MobileMoneySettings.model_validate(given))


def heard(text: str, sender: str = "BANKILY ", centre: str | None = CENTRE, **sms: Any) -> Any:
    return wallet(**sms).heard(Inbound(sender, None, text, 0, (), centre))


def test_what_a_text_tells():
    found = heard("Recu 500 MRU de 36 12 34 56. Ref BK-1. Frais 2,50. Solde 1 497,50.")
    assert found.kind is TextKind.CREDIT
    assert found.settled == PaymentSettled("bankily", "BK-1", 50_000, "MRU", "36 12 34 56")
    assert (found.moved, found.balance) == (49_750, 149_750)
    debit = heard("Retrait 100. Frais 1. Solde 5.")
    assert (debit.kind, debit.moved, debit.balance) == (TextKind.DEBIT, -10_100, 500)
    assert heard("Bienvenue chez nous").kind is TextKind.NOTICE
    assert heard("Recu 0 MRU de 36123456. Ref BK-1. Solde 5.").kind is TextKind.NO_PATTERN
    assert heard("Recu 1.2.3 MRU de 36123456. Ref BK-1. Solde 5.").kind is TextKind.NO_PATTERN
    assert heard("Votre code").kind is TextKind.NO_PATTERN


def test_a_text_that_is_longer_than_any_of_a_bank_is_not_read():
    text = "Recu 500 MRU de 36 12 34 56. Ref BK-1. Solde 1 497,50."
    assert heard(text + " " * (READ_CHARACTERS_MAX - len(text))).kind is TextKind.CREDIT
    assert heard(text + " " * READ_CHARACTERS_MAX).kind is TextKind.NO_PATTERN


def test_amounts_are_in_the_currency_of_the_service_unless_another_is_set():
    text = "Recu 5 000 MRU de 36 12 34 56. Ref BK-1. Solde 7 500."

    def credit(**sms: Any) -> tuple[int, str]:
        settled = heard(text, **{"day_max": "5000", **sms}).settled
        return settled.amount, settled.currency

    with counting_in("XOF"):
        assert credit() == (5000, "XOF")
        assert credit(currency="XAF") == (5000, "XAF")
    with counting_in("TND"):
        assert credit() == (5_000_000, "TND")


@pytest.mark.parametrize(
    ("sender", "centre", "kind"),
    [
        ("1234", CENTRE, TextKind.NOTICE),
        ("bankily", "22236000001", TextKind.NOTICE),
        ("Bankily.", CENTRE, TextKind.FOREIGN_SENDER),
        ("BankiIy", CENTRE, TextKind.FOREIGN_SENDER),
        ("Bankily", "+22236000002", TextKind.FOREIGN_CENTRE),
        ("Bankily", None, TextKind.FOREIGN_CENTRE),
    ],
)
def test_whose_text_it_is(sender, centre, kind):
    assert heard("Bienvenue", sender, centre).kind is kind


def test_caps_are_there_only_where_it_credits():
    assert wallet().caps == CreditCaps(50_000, 100_000, 500_050)
    assert wallet(by_itself=False).caps is None
    assert isinstance(wallet(), HearsTexts)
    manual = build_wallet("bankily", "Bankily", MobileMoneySettings(merchant="1"))
    assert type(manual) is MobileMoney
    assert not isinstance(manual, HearsTexts)


@pytest.mark.parametrize(
    ("sms", "why"),
    [
        ({"service_centres": []}, "by_itself needs service_centres"),
        ({"payment_max": None}, "by_itself needs payment_max"),
        ({"organization_day_max": None}, "by_itself needs organization_day_max"),
        ({"day_max": None}, "by_itself needs day_max"),
        ({"patterns": [{"text": "{amount} {reference}"}]}, r"needs \{balance\}, \{payer\}"),
        ({"patterns": [{"text": "{amount}"}]}, r"lacks \{reference\}"),
        ({"patterns": [{"kind": "debit", "text": "{amount}"}]}, r"lacks \{balance\}"),
        ({"patterns": [{"text": "(a+)+"}]}, "other than"),
        ({"senders": []}, "at least 1"),
        ({"extra": 1}, "not permitted"),
    ],
)
def test_settings_that_do_not_hold(sms, why):
    with pytest.raises(ValidationError, match=why):
        wallet(**sms)


@pytest.mark.parametrize(
    ("instructions", "why"),
    [({"fr": "{amount}"}, "alone"), ({"fr": "{"}, "brace"), ({"de": "x"}, "'en', 'fr' or 'ar'")],
)
def test_instructions_know_two_holes(instructions, why):
    with pytest.raises(ValidationError, match=why):
        MobileMoneySettings(merchant="1", instructions=instructions)
