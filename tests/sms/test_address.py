"""Senders, and addresses on the wire."""

from __future__ import annotations

import pytest

from risala.sms.address import (
    Address,
    NumberingPlanIndicator,
    TypeOfNumber,
    destination_address,
    fold_sender,
    sender_fault,
    source_address,
)

NUMBER = "+22236123456"


def test_addresses_on_the_wire():
    international = Address(TypeOfNumber.INTERNATIONAL, NumberingPlanIndicator.ISDN, "22236123456")
    assert destination_address(NUMBER) == international
    assert source_address(NUMBER) == international
    short = Address(TypeOfNumber.UNKNOWN, NumberingPlanIndicator.UNKNOWN, "1234")
    assert source_address("1234") == short
    alphanumeric = (TypeOfNumber.ALPHANUMERIC, NumberingPlanIndicator.UNKNOWN)
    assert source_address("RISALA") == Address(*alphanumeric, "RISALA")
    assert source_address("Bank 24") == Address(*alphanumeric, "Bank 24")
    assert source_address("+") == Address(*alphanumeric, "+")
    assert source_address("+A1") == Address(*alphanumeric, "+A1")


@pytest.mark.parametrize(
    "sender", ["RISALA", "a", "Bank 24", "4U", "ABCDEFGHIJK", "A B C", " Bank "]
)
def test_senders_that_may_be(sender):
    assert sender_fault(sender) is None


@pytest.mark.parametrize(
    ("sender", "word"),
    [
        ("", "1 to 11"),
        ("ABCDEFGHIJKL", "1 to 11"),
        ("Café", "letters A-Z"),
        ("a_b", "letters A-Z"),
        ("a\n", "letters A-Z"),
        ("رسالة", "letters A-Z"),
        ("٣bank", "letters A-Z"),
        ("   ", "spaces only"),
        (" BigCompany ", "1 to 11"),
        ("1234", "at least one letter"),
        ("12 34", "at least one letter"),
    ],
)
def test_senders_that_may_not(sender, word):
    assert word in sender_fault(sender)


def test_senders_are_compared_without_case_and_with_spaces_folded():
    assert fold_sender("  My   Bank ") == fold_sender("MY BANK") == "my bank"
    assert fold_sender("MyBank") != fold_sender("My Bank")
