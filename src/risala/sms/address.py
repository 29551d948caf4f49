"""The recipient and the sender of a message: sender IDs, TON and NPI.

Which numbers are served says the numbering plan (:mod:`risala.sms.numbering.plan`).
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

from risala.dataclass import dataclass

SENDER_MAX: Final = 11
"""An alphanumeric address has at most 11 septet characters (3GPP TS 23.040 §9.1.2.5)."""

_is_sender: Final = re.compile(rf"[A-Za-z0-9 ]{{1,{SENDER_MAX}}}").fullmatch
_is_digits: Final = re.compile(r"[0-9]+").fullmatch


class TypeOfNumber(IntEnum):
    """TON, SMPP 3.4 §5.2.5."""

    UNKNOWN = 0
    INTERNATIONAL = 1
    NATIONAL = 2
    NETWORK_SPECIFIC = 3
    SUBSCRIBER_NUMBER = 4
    ALPHANUMERIC = 5
    ABBREVIATED = 6


class NumberingPlanIndicator(IntEnum):
    """NPI, SMPP 3.4 §5.2.6."""

    UNKNOWN = 0
    ISDN = 1
    """E.163/E.164."""
    DATA = 3
    TELEX = 4
    LAND_MOBILE = 6
    NATIONAL = 8
    PRIVATE = 9
    ERMES = 10
    INTERNET = 14
    WAP_CLIENT_ID = 18


@dataclass(frozen=True, slots=True)
class Address:
    """An address as carriers write it."""

    ton: TypeOfNumber
    npi: NumberingPlanIndicator
    text: str
    """Digits without ``+``, or the alphanumeric sender as it is."""


def source_address(sender: str) -> Address:
    """The wire format of a sender.

    ``+`` and digits: international, E.164. Digits alone are a short code, whose meaning only the
    carrier knows: unknown, unknown. Anything else is alphanumeric.
    """
    if sender.startswith("+") and _is_digits(sender[1:]):
        return Address(TypeOfNumber.INTERNATIONAL, NumberingPlanIndicator.ISDN, sender[1:])
    if _is_digits(sender):
        return Address(TypeOfNumber.UNKNOWN, NumberingPlanIndicator.UNKNOWN, sender)
    return Address(TypeOfNumber.ALPHANUMERIC, NumberingPlanIndicator.UNKNOWN, sender)


def destination_address(number: str) -> Address:
    """The wire format of a recipient (``+`` and digits): international, E.164, without ``+``."""
    return Address(
        TypeOfNumber.INTERNATIONAL, NumberingPlanIndicator.ISDN, destination_digits(number)
    )


def destination_digits(number: str) -> str:
    """The text of :func:`destination_address`."""
    return number.removeprefix("+")


def sender_fault(text: str) -> str | None:
    """Why ``text`` cannot be a sender ID, in one sentence; None when it can.

    Spaces around it are allowed (:func:`spelled`), and count in its length.
    """
    if not 1 <= len(text) <= SENDER_MAX:
        return f"A sender ID has 1 to {SENDER_MAX} characters."
    if not _is_sender(text):
        return "A sender ID has only the letters A-Z and a-z, the digits 0-9 and spaces."
    if not text.strip():
        return "A sender ID is not made of spaces only."
    if text.replace(" ", "").isdigit():
        return "A sender ID has at least one letter; digits alone would be a numeric sender."
    return None


def spelled(text: str) -> str:
    """A sender ID as it is registered and sent: without outer spaces, single ones within."""
    return " ".join(text.split())


def fold_sender(text: str) -> str:
    """The form in which sender IDs are compared: no case, spaces collapsed and stripped."""
    return spelled(text).casefold()
