"""National language shift tables of GSM 7-bit: Turkish, Spanish, Portuguese (23.038 annex A).

A header in the message names the tables: a *locking* table replaces the default alphabet, a
*single* shift table the extension table behind ESC. We never send with either
(:mod:`risala.sms.alphabet` takes UCS-2); phones in those languages do. A table is defined here by
its differences from the one that it replaces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from risala.sms.alphabet import ESCAPE, decode_gsm7, encode_gsm7

TURKISH: Final = 1
SPANISH: Final = 2
PORTUGUESE: Final = 3
"""National language identifiers (23.038 §6.2.1.2.4); 0 is none."""


def _differences(text: str) -> dict[int, str]:
    """Characters by septet: ``04€`` puts € at septet 0x04."""
    return {int(each[:2], 16): each[2:] for each in text.split()}


_LOCKING: Final = {
    TURKISH: _differences("04€ 07ı 0BĞ 0Cğ 1CŞ 1Dş 40İ 60ç"),  # A.3.1
    PORTUGUESE: _differences(  # A.3.3
        "04ê 06ú 07í 08ó 09ç 0BÔ 0Cô 0EÁ 0Fá 12ª 13Ç 14À 15∞ 16^ 17\\ 18€ 19Ó 1A| 1CÂ 1Dâ 1EÊ"
        " 24º 40Í 5BÃ 5CÕ 5DÚ 60~ 7Bã 7Cõ 7D`"
    ),
}
"""Spanish has no locking table: nearly all its letters are in the default alphabet."""
_SINGLE: Final = {
    TURKISH: _differences("47Ğ 49İ 53Ş 63ç 67ğ 69ı 73ş"),  # A.2.1
    SPANISH: _differences("09ç 41Á 49Í 4FÓ 55Ú 61á 69í 6Fó 75ú"),  # A.2.2
    PORTUGUESE: _differences(  # A.2.3
        "05ê 09ç 0BÔ 0Cô 0EÁ 0Fá 12Φ 13Γ 15Ω 16Π 17Ψ 18Σ 19Θ 1FÊ 41À 49Í 4FÓ 55Ú 5BÃ 5CÕ"
        " 61Â 69í 6Fó 75ú 7Bã 7Cõ 7Fâ"
    ),
}

_units: Final = re.compile(rb"\x1b?[\x00-\xff]").findall


@cache
def _readings(locking: int, single: int) -> Mapping[bytes, str]:
    """The character that each unit reads as; a unit is one septet, or ESC with the one behind."""
    base = {n: decode_gsm7(bytes((n,))) for n in range(0x80) if n != ESCAPE}
    # A septet that is undefined behind ESC is read as a single one, in the locking table in use
    # (§6.2.1.1).
    extension = {
        n: text if (text := decode_gsm7(bytes((ESCAPE, n)))) != base[n] else None for n in base
    }
    base |= _LOCKING.get(locking, {})
    shifted = {n: text or base[n] for n, text in extension.items()} | _SINGLE.get(single, {})
    return (
        {bytes((n,)): text for n, text in base.items()}
        | {bytes((ESCAPE, n)): text for n, text in shifted.items()}
        | {bytes((ESCAPE, ESCAPE)): " ", bytes((ESCAPE,)): ""}
    )


@cache
def _writings(locking: int, single: int) -> Mapping[str, bytes]:
    """The shortest unit (a septet, or ESC and a septet) that writes each character."""
    readings = _readings(locking, single)
    longest_first = sorted(readings, key=len, reverse=True)
    return {readings[unit]: unit for unit in longest_first if unit[-1] != ESCAPE}


def decode_national(octets: bytes, locking: int, single: int) -> str:
    """Text of unpacked septets in the tables of two languages (23.038 §6.2.1.2.4).

    A language without a table here is read in the default one. Never raises; undefined septets are
    treated as by :func:`risala.sms.alphabet.decode_gsm7`.

    Args:
        locking: the language of the locking table, 0 for the default alphabet.
        single: the language of the single shift table, 0 for the default extension table.
    """
    if locking not in _LOCKING and single not in _SINGLE:
        return decode_gsm7(octets)
    readings = _readings(locking, single)
    return "".join([readings.get(unit, "\ufffd") for unit in _units(octets)])


def encode_national(text: str, locking: int, single: int) -> bytes:
    """The reverse of :func:`decode_national`.

    Raises :class:`UnicodeEncodeError` if a character is in neither table.
    """
    if locking not in _LOCKING and single not in _SINGLE:
        return encode_gsm7(text)
    writings = _writings(locking, single)
    try:
        return b"".join([writings[character] for character in text])
    except KeyError:
        at = next(i for i, character in enumerate(text) if character not in writings)
        raise UnicodeEncodeError("gsm7", text, at, at + 1, "not in these tables") from None
