"""The balance of a SIM by USSD (27.007 §7.15). Pure except for the query.

The code is sent as text, and if the modem refuses that, packed in hexadecimal for Huawei sticks.
The answer comes later, unsolicited, in text, packed, or in UCS-2.
"""

from __future__ import annotations

import re
from typing import Final

from risala.drivers.modem.tpdu.coding import CharacterSet, coding_of
from risala.drivers.modem.tpdu.septets import pack_ussd, unpack_ussd
from risala.sms.alphabet import decode_gsm7, decode_ucs2, encode_gsm7

TEXT_MAX: Final = 182
"""Characters of a USSD string (23.038 §5)."""
END_SESSION: Final = "AT+CUSD=2"
MORE_WANTED: Final = 1
"""``<m>`` of +CUSD: the network waits for a choice from a menu, and the session is open until one
is sent or the session ended."""

_DCS_DEFAULT: Final = 15  # GSM 7-bit, language unspecified (23.038 §5)
_answer: Final = re.compile(r'\+CUSD:\s*(\d)(?:\s*,\s*"(.*?)"?(?:\s*,\s*(\d{1,3}))?)?\s*', re.S)
_is_hex: Final = re.compile(r"(?:[0-9A-Fa-f]{2}){2,}").fullmatch


def requests(code: str) -> tuple[str, str]:
    """The +CUSD commands that send a code: as text, and packed in hexadecimal; to be tried in this
    order."""
    packed = pack_ussd(encode_gsm7(code)).hex().upper()
    return f'AT+CUSD=1,"{code}",{_DCS_DEFAULT}', f'AT+CUSD=1,"{packed}",{_DCS_DEFAULT}'


def read_answer(line: str) -> tuple[int, str] | None:
    """``<m>`` and the text of a ``+CUSD:`` line; None for another line."""
    found = _answer.fullmatch(line)
    if not found:
        return None
    status, text = int(found[1]), found[2] or ""
    dcs = int(found[3]) if found[3] else _DCS_DEFAULT
    return status, _plain(text, dcs)[:TEXT_MAX]


def _plain(text: str, dcs: int) -> str:
    if not _is_hex(text):
        return text
    octets = bytes.fromhex(text)
    # The cell broadcast groups of 23.038 §5 from 0x40 on are those of messages.
    if dcs == 0x11 or (dcs >= 0x40 and coding_of(dcs & 0x3F).characters is CharacterSet.UCS2):
        return decode_ucs2(octets)
    if text.isdigit():
        return text  # digits alone could be hexadecimal too, but more likely are a number
    return decode_gsm7(unpack_ussd(octets))


def amount_in(text: str, pattern: str) -> float | None:
    """The number in the pattern's first group; ``1 234,50`` is 1234.5."""
    found = re.search(pattern, text)
    digits = "".join((found[1] or "").split()) if found else ""
    try:
        return float(digits.replace(",", "."))
    except ValueError:
        return None
