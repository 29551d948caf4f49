"""Ids in Twilio's form: two letters and 32 hexadecimal digits, from ours and back. Pure.

Ours have 160 bits, of which an id in that form holds the first 128: the time, and enough random
bits that ids neither collide nor can be guessed. The start of our id can be computed from it, and
the service finds the rest.
"""

from __future__ import annotations

import re
from typing import Final

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES: Final = {digit: value for value, digit in enumerate(_CROCKFORD)}
_DIGITS: Final = 32
_KEPT_BITS: Final = 128
_REST_BITS: Final = 5 * _DIGITS - _KEPT_BITS
_START_DIGITS: Final = 25
"""The number of our id's digits that lie completely within the kept bits."""
_is_sid: Final = re.compile(r"[A-Z]{2}[0-9a-f]{32}").fullmatch


def sid_of(kind: str, identity: str) -> str:
    """An id of ours, such as ``sms_…``, in Twilio's form for a kind: ``SM…``."""
    number = 0
    for digit in identity.partition("_")[2]:
        number = number << 5 | _VALUES[digit]
    return f"{kind}{number >> _REST_BITS:032x}"


def start_of(kind: str, prefix: str, sid: str) -> str | None:
    """The beginning of our id for an id in Twilio's form; None: it is not of that kind."""
    if not _is_sid(sid) or not sid.startswith(kind):
        return None
    number = int(sid[2:], 16) << _REST_BITS
    digits = (
        _CROCKFORD[number >> 5 * (_DIGITS - 1 - place) & 31] for place in range(_START_DIGITS)
    )
    return f"{prefix}_{''.join(digits)}"
