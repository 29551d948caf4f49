"""The network of a number, by the numbering plan: for counts, never for routing. Pure."""

from __future__ import annotations

from typing import Final

from risala.sms.numbering.countries import network_of

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
