"""Whose payment a bank's text tells of, and what it may credit by itself."""

from dataclasses import dataclass

import pytest

from risala.engine.features.payments.rules import ReportedPayment, continues, over_caps, owner_of
from risala.plugins.payment_texts import CreditCaps

TOLD = ReportedPayment("REF7", 500, "+22236123456")


@dataclass(frozen=True)
class Claim:
    id: str = "pay_1"
    amount: int = 500
    reference_key: str | None = "REF7"
    payer_number: str | None = "+22236123456"
    payer_checked_at: int | None = 1


@pytest.mark.parametrize(
    ("before", "moved", "after", "goes_on"),
    [
        (100, 50, 150, True),
        (100, -50, 50, True),
        (100, 50, 151, False),
        (None, 50, 50, False),
        (0, None, 0, False),
        (100, 50, None, False),
    ],
)
def test_a_balance_goes_on_from_the_one_before(before, moved, after, goes_on):
    assert continues(before, moved, after) is goes_on


@pytest.mark.parametrize(
    ("claims", "owner"),
    [
        ([], "unclaimed"),
        ([Claim()], "pay_1"),
        ([Claim(reference_key=None)], "pay_1"),
        ([Claim(reference_key=None, amount=501)], "unclaimed"),
        ([Claim(amount=501)], "amount"),
        ([Claim(), Claim("pay_2")], "several"),
        ([Claim(reference_key=None), Claim("pay_2", reference_key=None)], "several"),
        ([Claim("pay_2", reference_key=None), Claim()], "pay_1"),
        ([Claim(payer_checked_at=None)], "payer_unchecked"),
        ([Claim(payer_checked_at=None, reference_key=None)], "unclaimed"),
        ([Claim(payer_number="+22246123456")], "payer"),
        ([Claim(payer_number=None)], "payer"),
        ([Claim(payer_number=None), Claim("pay_2", payer_checked_at=None)], "payer_unchecked"),
        ([Claim(reference_key="REF8")], "unclaimed"),
    ],
)
def test_whose_it_is(claims, owner):
    assert owner_of(TOLD, claims) == owner


def test_a_text_without_its_payer_proves_nobody():
    told = ReportedPayment("REF7", 500, None)
    assert owner_of(told, [Claim(payer_number=None)]) == "payer"
    assert owner_of(ReportedPayment("REF7", 500, ""), [Claim(payer_number="")]) == "payer"


@pytest.mark.parametrize(
    ("amount", "organization", "everybody", "cap"),
    [
        (100, 200, 700, None),
        (101, 0, 0, "cap_payment"),
        (100, 201, 0, "cap_organization"),
        (100, 200, 701, "cap_day"),
    ],
)
def test_the_caps(amount, organization, everybody, cap):
    caps = CreditCaps(payment=100, organization_day=300, day=800)
    assert over_caps(caps, amount, organization, everybody) == cap
