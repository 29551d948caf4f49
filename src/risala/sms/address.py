"""The recipient and the sender of a message: numbers, networks, sender IDs, TON and NPI."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

COUNTRY_CODE: Final = "222"
"""Mauritania."""
SENDER_MAX: Final = 11
"""An alphanumeric address has at most 11 septet characters (3GPP TS 23.040 §9.1.2.5)."""

_is_number: Final = re.compile(r"\+222[2-4][0-9]{7}", re.ASCII).fullmatch
_is_sender: Final = re.compile(rf"[A-Za-z0-9 ]{{1,{SENDER_MAX}}}").fullmatch
_is_digits: Final = re.compile(r"[0-9]+").fullmatch


def is_number(text: str) -> bool:
    """True for ``+222`` and 8 ASCII digits, the first of them 2, 3 or 4. Nothing is normalised."""
    return _is_number(text) is not None


_ARABIC_DIGITS: Final = {
    zero + value: str(value) for zero in (0x0660, 0x06F0) for value in range(10)
}
_SEPARATORS: Final = frozenset(".-()/\u2010\u2011\u2012\u2013\u2212")
_NOT_A_NUMBER: Final = (
    "A Mauritanian number has 8 digits and begins with 2, 3 or 4, for example +22236123456."
)


def normalise_number(text: str) -> str:
    """The number in a person's writing, as ``+222XXXXXXXX``. For the dashboard and the CLI only.

    Accepts the country code as ``+222``, ``00222``, ``222`` or not at all; spaces, dots, dashes,
    brackets and invisible direction marks anywhere; Arabic-Indic digits. Raises :class:`ValueError`
    with one sentence for any text that is no Mauritanian mobile number.
    """
    compact = _compact(text)
    for prefix in ("+" + COUNTRY_CODE, "00" + COUNTRY_CODE, COUNTRY_CODE):
        number = f"+{COUNTRY_CODE}{compact.removeprefix(prefix)}"
        if is_number(number):
            return number
    raise ValueError(_NOT_A_NUMBER)


def digits_of(text: str) -> str | None:
    """The digits of a part of a number, as a person writes it; None if other characters are in it.

    The separators of :func:`normalise_number` are left out, and so is the part before the country
    code.
    """
    digits = _compact(text).removeprefix("+")
    if digits.startswith("00" + COUNTRY_CODE):
        digits = digits.removeprefix("00")
    return digits if _is_digits(digits) else None


def _compact(text: str) -> str:
    """A number without the separators that people write, in ASCII digits."""
    return "".join(
        character
        for character in text.translate(_ARABIC_DIGITS)
        if character not in _SEPARATORS
        and not character.isspace()
        and unicodedata.category(character) != "Cf"
    )


LOCAL_DIGITS_MIN: Final = 7
"""The fewest digits that a local number of any country but ours is taken to have; fewer digits are
a service's number (a short code), to which no country code belongs."""
E164_DIGITS_MAX: Final = 15
_INTERNATIONAL_ACCESS: Final = "00"


def with_country(text: str, national_prefix: str) -> str:
    """A number that a carrier wrote for its own country's use (TON 0, 2 or 4), as ``+…``.

    ``222…``, ``00222…`` and a whole local number become ``+222…``. A text that cannot be one of
    that country's numbers (a service's number, a name, another country's number without ``+``) is
    returned unchanged, and so is everything if ``national_prefix`` is empty.

    Args:
        national_prefix: ``+`` and a country code.
    """
    digits = text.removeprefix("+")
    if not national_prefix or not _is_digits(digits):
        return text
    # No country code begins with 0: a "+" before the access code is one too many.
    abroad = digits.startswith(_INTERNATIONAL_ACCESS)
    if text.startswith("+") and not abroad:
        return text
    digits = digits.removeprefix(_INTERNATIONAL_ACCESS)
    country = national_prefix.removeprefix("+")
    if digits.startswith(country) and _is_local(digits.removeprefix(country), country):
        return f"+{digits}"
    if not abroad and _is_local(digits, country):
        return f"+{country}{digits}"
    return text


def _is_local(digits: str, country: str) -> bool:
    """Whether ``digits`` are a whole number of that country, written without its country code."""
    if country == COUNTRY_CODE:
        return is_number(f"+{country}{digits}")
    return digits[:1] != "0" and LOCAL_DIGITS_MIN <= len(digits) <= E164_DIGITS_MAX - len(country)


class Network(StrEnum):
    """Mobile networks of Mauritania, by the national numbering plan."""

    CHINGUITEL = "chinguitel"
    MATTEL = "mattel"
    MAURITEL = "mauritel"


_is_mobile: Final = re.compile(r"\+222([2-4])[0-46-9][0-9]{6}", re.ASCII).fullmatch
_NETWORKS: Final = {"2": Network.CHINGUITEL, "3": Network.MATTEL, "4": Network.MAURITEL}


def network_of(number: str) -> Network | None:
    """The network to which a number was allotted; None if it is not mobile.

    A second local digit 5 (25, 35, 45) is fixed line or unassigned. None also for a text that is no
    number.
    """
    mobile = _is_mobile(number)
    return None if mobile is None else _NETWORKS[mobile[1]]


class TypeOfNumber(IntEnum):
    """TON, SMPP 3.4 §5.2.5."""

    UNKNOWN = 0
    INTERNATIONAL = 1
    NATIONAL = 2
    NETWORK_SPECIFIC = 3
    SUBSCRIBER_NUMBER = 4
    ALPHANUMERIC = 5
    ABBREVIATED = 6


class NumberingPlan(IntEnum):
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
    npi: NumberingPlan
    text: str
    """Digits without ``+``, or the alphanumeric sender as it is."""


def source_address(sender: str) -> Address:
    """The wire format of a sender.

    ``+`` and digits: international, E.164. Digits alone are a short code, whose meaning only the
    carrier knows: unknown, unknown. Anything else is alphanumeric.
    """
    if sender.startswith("+") and _is_digits(sender[1:]):
        return Address(TypeOfNumber.INTERNATIONAL, NumberingPlan.ISDN, sender[1:])
    if _is_digits(sender):
        return Address(TypeOfNumber.UNKNOWN, NumberingPlan.UNKNOWN, sender)
    return Address(TypeOfNumber.ALPHANUMERIC, NumberingPlan.UNKNOWN, sender)


def destination_address(number: str) -> Address:
    """The wire format of a recipient (``+222XXXXXXXX``): international, E.164, without ``+``."""
    return Address(TypeOfNumber.INTERNATIONAL, NumberingPlan.ISDN, destination_digits(number))


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
