"""TP-DCS: which alphabet the user data has (3GPP TS 23.038 §4)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.sms.message import Alphabet


class CharacterSet(StrEnum):
    """The kind of a message's user data."""

    GSM7 = "gsm7"
    EIGHT_BIT = "8bit"
    UCS2 = "ucs2"


@dataclass(frozen=True, slots=True)
class Coding:
    """The content of a TP-DCS octet."""

    characters: CharacterSet
    message_class: int | None = None
    """0 is shown at once, 1 is for the phone, 2 for the SIM, 3 for the attached equipment."""
    compressed: bool = False
    """Compressed by TS 23.042, which nobody implements: the text cannot be read."""
    message_waiting: bool = False
    """The message announces a voice mail or the like (groups 1100 to 1110)."""


_SETS: Final = (
    CharacterSet.GSM7,
    CharacterSet.EIGHT_BIT,
    CharacterSet.UCS2,
    CharacterSet.GSM7,  # reserved
)
_GENERAL: Final = 0x80
"""Octets below this are of the groups 00xx and 01xx: general data coding and automatic deletion."""


def coding_of(dcs: int) -> Coding:
    """Read a TP-DCS octet. Reserved values are the default alphabet, as §4 asks of a receiver."""
    message_class = dcs & 0x03
    if dcs < _GENERAL:
        return Coding(
            _SETS[dcs >> 2 & 0x03],
            message_class if dcs & 0x10 else None,
            compressed=bool(dcs & 0x20),
        )
    match dcs >> 4:
        case 0b1100 | 0b1101:
            return Coding(CharacterSet.GSM7, message_waiting=True)
        case 0b1110:
            return Coding(CharacterSet.UCS2, message_waiting=True)
        case 0b1111:
            eight_bit = dcs & 0x04
            characters = CharacterSet.EIGHT_BIT if eight_bit else CharacterSet.GSM7
            return Coding(characters, message_class)
        case _:
            return Coding(CharacterSet.GSM7)


def dcs_of(characters: CharacterSet, message_class: int | None = None) -> int:
    """A TP-DCS octet of the general data coding group (00xx): 0x00, 0x04 or 0x08; with a message
    class, 0x10 and the class are added."""
    if message_class is not None and not 0 <= message_class <= 3:
        raise ValueError("a message class is 0 to 3")
    octet = _SETS.index(characters) << 2
    return octet if message_class is None else octet | 0x10 | message_class


CHARACTERS_OF: Final = {
    Alphabet.GSM7: CharacterSet.GSM7,
    Alphabet.UCS2: CharacterSet.UCS2,
}
