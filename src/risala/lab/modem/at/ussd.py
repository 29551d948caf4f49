"""USSD as modems write it: plain, in the character set, or packed in hexadecimal. Pure."""

from __future__ import annotations

from typing import Final

from risala.drivers.modem.tpdu.tpfields import pack_ussd, unpack_ussd
from risala.lab.modem.at import textmode
from risala.lab.modem.at.replies import Cme, CmeError
from risala.sms.alphabet import decode_gsm7, encode_gsm7, encode_ucs2, fits_gsm7

_UNKNOWN: Final = "+CUSD: 4"
"""The answer to an unknown code: not supported (27.007 §7.15)."""
_DCS_GSM7: Final = 15
_DCS_UCS2: Final = 72


def code_of(text: str, *, packed: bool, charset: str) -> str:
    """The code that +CUSD dials.

    Raises:
        CmeError: the code is not written in the way that this modem wants.
    """
    if packed:
        try:
            return decode_gsm7(unpack_ussd(bytes.fromhex(text)))
        except ValueError:
            raise CmeError(Cme.UNKNOWN) from None
    return textmode.read_number(text, charset)


def answer(text: str | None, *, packed: bool, charset: str) -> str:
    """The ``+CUSD:`` line; None: an unknown code."""
    if text is None:
        return _UNKNOWN
    if not fits_gsm7(text):
        return f'+CUSD: 0,"{encode_ucs2(text).hex().upper()}",{_DCS_UCS2}'
    if packed:
        return f'+CUSD: 0,"{pack_ussd(encode_gsm7(text)).hex().upper()}",{_DCS_GSM7}'
    return f'+CUSD: 0,"{textmode.written(text, charset)}",{_DCS_GSM7}'
