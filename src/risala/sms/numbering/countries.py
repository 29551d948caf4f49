"""The countries that this process knows, of which Mauritania is built in, and the
network of any number of theirs.

To whom a number was allotted is a fact, whichever countries a service serves; but the tables of
countries that are not built in are loaded only for those that are asked for by their codes.
"""

from __future__ import annotations

import re
from typing import Final

from risala.sms.numbering.country import Block, Country

CHINGUITEL: Final = "chinguitel"
MATTEL: Final = "mattel"
MAURITEL: Final = "mauritel"
NETWORKS: Final = {"2": CHINGUITEL, "3": MATTEL, "4": MAURITEL}
_DIGITS: Final = "0123456789"
_FIXED: Final = "5"
"""The second digit of fixed lines, which the specification serves all the same."""

_BLOCKS: Final = tuple(
    Block(f"+222{first}{second}", None if second == _FIXED else network)
    for first, network in NETWORKS.items()
    for second in _DIGITS
)

_is_number: Final = re.compile(r"\+222[2-4][0-9]{7}", re.ASCII).fullmatch
_is_mobile: Final = re.compile(r"\+222([2-4])[0-46-9][0-9]{6}", re.ASCII).fullmatch


class Mauritania:
    """``+222`` and 8 digits, the first of them 2, 3 or 4 (specification §2)."""

    code = "MR"
    name = "Mauritania"
    calling_code = "222"
    example = "+22236123456"
    time_zone = "Africa/Nouakchott"
    digit_places = (("".join(NETWORKS), *[_DIGITS] * 7),)
    blocks = _BLOCKS

    def serves(self, number: str) -> bool:
        return _is_number(number) is not None

    def read(self, text: str) -> str | None:
        number = text if text.startswith("+") else f"+{self.calling_code}{text}"
        return number if self.serves(number) else None

    def local(self, number: str) -> str:
        digits = number.removeprefix(f"+{self.calling_code}")
        return " ".join(digits[at : at + 2] for at in range(0, len(digits), 2))

    def international(self, number: str) -> str:
        return f"+{self.calling_code} {self.local(number)}"

    def network_of(self, number: str) -> str | None:
        mobile = _is_mobile(number)
        return None if mobile is None else NETWORKS[mobile[1]]


MAURITANIA: Final = Mauritania()


_KNOWN: Final[dict[str, Country]] = {MAURITANIA.code: MAURITANIA}


def country(code: str) -> Country:
    """A country by its ISO 3166-1 code.

    Raises:
        ValueError: no mobile numbers of it are known.
    """
    known = _KNOWN.get(code)
    if known is None:
        from risala.sms.numbering.library import LibraryCountry

        known = _KNOWN[code] = LibraryCountry(code)
    return known


def network_of(number: str) -> str | None:
    """The network to which a mobile number was allotted, such as ``mattel`` or ``SN/Orange``; None
    if it is not known, or the text is no mobile number. The number may have been ported since."""
    for each in _KNOWN.values():
        if each.serves(number):
            return each.network_of(number)
    return None


def prefixes_of(network: str) -> list[str]:
    """The beginnings of the numbers that were allotted to a network; empty if it is not known."""
    blocks = (block for each in _KNOWN.values() for block in each.blocks)
    return [block.prefix for block in blocks if block.network == network]


_LONG: Final = frozenset({"21", "22", "23", "24", "25", "26", "29", "35", "37", "38"}) | frozenset(
    {"42", "50", "59", "67", "68", "69", "80", "85", "87", "88", "96", "97", "99"}
)
"""First digits of the country codes of three digits (ITU-T E.164); 1 and 7 are codes of one digit,
and all others have two."""
UNKNOWN: Final = "?"


def network(recipient: str) -> str:
    """The network's name if the plan has it, else the country code: ``mattel``, ``+33``."""
    known = network_of(recipient)
    if known is not None:
        return known
    digits = recipient.removeprefix("+")
    if digits == recipient or not digits.isascii() or not digits.isdigit():
        return UNKNOWN
    if digits[0] in "17":
        return f"+{digits[0]}"
    return f"+{digits[:3]}" if digits[:2] in _LONG else f"+{digits[:2]}"
