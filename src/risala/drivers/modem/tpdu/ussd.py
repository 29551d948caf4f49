"""The balance of a SIM by USSD (27.007 §7.15). Pure except for the query.

The code is sent as text, and if the modem refuses that, packed in hexadecimal for Huawei sticks.
The answer comes later, unsolicited, in text, packed, or in UCS-2.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from risala.drivers.modem.tpdu.coding import CharacterSet, coding_of
from risala.drivers.modem.tpdu.tpfields import pack_ussd, unpack_ussd
from risala.sms.alphabet import decode_gsm7, encode_gsm7
from risala.sms.evident import InboundCoding, JudgedText, TextForm, judge_octets
from risala.sms.likely import reads_as_text

TEXT_MAX: Final = 182
"""Characters of a USSD string (23.038 §5)."""
END_SESSION: Final = "AT+CUSD=2"
MORE_WANTED: Final = 1
"""``<m>`` of +CUSD: the network waits for a choice from a menu, and the session is open until one
is sent or the session ended."""

_HEX_MIN: Final = 12
"""Digits and letters A to F in a row that are octets: no balance has so many figures."""
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
    reading = read_reading(line)
    return None if reading is None else (reading[0], reading[1].text)


def read_reading(
    line: str, coding: InboundCoding = InboundCoding.AUTO
) -> tuple[int, JudgedText] | None:
    """As :func:`read_answer`, with what was declared and what was believed."""
    match = _answer.fullmatch(line)
    if not match:
        return None
    status, text = int(match[1]), match[2] or ""
    dcs = int(match[3]) if match[3] else _DCS_DEFAULT
    reading = _read(text, dcs, coding)
    return status, replace(reading, text=reading.text[:TEXT_MAX])


def _read(text: str, dcs: int, coding: InboundCoding) -> JudgedText:
    # The cell broadcast groups of 23.038 §5 from 0x40 on are those of messages.
    is_ucs2 = dcs == 0x11 or (dcs >= 0x40 and coding_of(dcs & 0x3F).characters is CharacterSet.UCS2)
    # Digits alone could be hexadecimal too, but more likely are a number.
    is_number = text.isdigit() and not is_ucs2
    if not _is_hex(text) or (is_number and not text.startswith("00")):
        return JudgedText(text, TextForm.PLAIN, TextForm.PLAIN)
    octets = bytes.fromhex(text)
    declared = TextForm.UCS2 if is_ucs2 else TextForm.PACKED
    more = {TextForm.PACKED: decode_gsm7(unpack_ussd(octets)), TextForm.PLAIN: text}
    return judge_octets(octets, TextForm.PLAIN if is_number else declared, coding=coding, more=more)


def reads_as_answer(text: str) -> bool:
    """Whether an answer reads as text: a figure in octets that were read in a wrong form, or that
    are still in hexadecimal, is no balance."""
    packed = "".join(text.split())
    is_octets = len(packed) >= _HEX_MIN and _is_hex(packed) is not None
    return reads_as_text(text) and not is_octets


def amount_in(text: str, pattern: str) -> float | None:
    """The number in the pattern's first group; ``1 234,50`` is 1234.5."""
    match = re.search(pattern, text)
    digits = "".join((match[1] or "").split()) if match else ""
    try:
        return float(digits.replace(",", "."))
    except ValueError:
        return None
