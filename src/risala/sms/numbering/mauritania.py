"""Mauritania's mobile numbers: 8 digits, of which the first tells the network."""

from __future__ import annotations

import re
from typing import Final

from risala.sms.numbering.country import Block

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
