"""The two alphabets of a short message, and what a text costs in each (3GPP TS 23.038).

GSM 7-bit is used when every character of a text is in the default alphabet (§6.2.1) or in its
extension table (§6.2.1.1), UCS-2 otherwise. Lengths are septets in the first and UTF-16 code
units in the second. The work is one pass in C.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final

from risala.sms.message import Alphabet

ESCAPE: Final = 0x1B
"""Leads into the extension table. Not a character: a text that contains U+001B is sent as UCS-2,
because on the phone ESC and ``e`` would become ``€``."""
ESCAPE_CHARACTER: Final = "\x1b"
"""Represents the ESC at the end of a part, if a customer's cut falls inside an escape pair."""


_TABLE: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ"
    " !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
"""§6.2.1: the character of each septet, and ESC in its place."""
_DEFAULT: Final = {text: bytes((septet,)) for septet, text in enumerate(_TABLE) if septet != ESCAPE}
_EXTENSION: Final = {
    text: bytes((ESCAPE, septet))
    for septet, text in zip(
        b"\x0a\x14\x28\x29\x2f\x3c\x3d\x3e\x40\x65", "\f^{}\\[~]|€", strict=True
    )
}
"""§6.2.1.1: the characters of septets behind ESC, and both octets."""

GSM7_CHARACTERS: Final = frozenset(_DEFAULT) | frozenset(_EXTENSION)
"""All 137 characters: 127 of the default alphabet and 10 of the extension table."""
EXTENSION_CHARACTERS: Final = frozenset(_EXTENSION)
"""The characters that take two septets."""

_fits: Final = re.compile("[" + re.escape("".join(sorted(GSM7_CHARACTERS))) + "]*").fullmatch
is_short: Final = re.compile("[" + re.escape("".join(sorted(_DEFAULT))) + "]{0,160}").fullmatch
"""Matches a text of at most 160 characters, each of one septet: it fits one message."""
_extended: Final = re.compile("[" + re.escape("".join(sorted(_EXTENSION))) + "]").findall
_ENCODE: Final = {ord(text): octets for text, octets in (_DEFAULT | _EXTENSION).items()}
_EASY: Final = {text: octets[0] for text, octets in _DEFAULT.items() if text.isascii()}
_is_easy: Final = re.compile("[" + re.escape("".join(_EASY)) + "]*").fullmatch
_EASILY: Final = bytes(_EASY.get(chr(n), 0) for n in range(0x100))
"""Septets by ASCII octet, for texts whose characters take one septet each: ten times faster."""

_UNDEFINED: Final = "\ufffe"  # charmap_decode takes this for "undefined"
_DECODE: Final = _TABLE.replace(ESCAPE_CHARACTER, _UNDEFINED) + _UNDEFINED * 0x80
_units: Final = re.compile(rb"\x1b?[\x00-\xff]").findall
_UNITS: Final = (
    dict.fromkeys((bytes((octet,)) for octet in range(0x100)), "\ufffd")
    | dict.fromkeys((bytes((ESCAPE, octet)) for octet in range(0x100)), "\ufffd")
    | {octets: text for text, octets in _DEFAULT.items()}
    | {bytes((ESCAPE, *octets)): text for text, octets in _DEFAULT.items()}
    | {octets: text for text, octets in _EXTENSION.items()}
    | {bytes((ESCAPE, ESCAPE)): " ", bytes((ESCAPE,)): ""}
)
"""The character that a unit reads as; a unit is one septet, or ESC with the septet behind it."""


def fits_gsm7(text: str) -> bool:
    """True when GSM 7-bit carries every character of ``text``."""
    return _fits(text) is not None


def choose_alphabet(text: str) -> Alphabet:
    """The cheapest alphabet that carries ``text`` unchanged."""
    return Alphabet.GSM7 if _fits(text) else Alphabet.UCS2


def septet_count(text: str) -> int:
    """Length of ``text`` in septets: extension characters count two.

    Meaningful only if :func:`fits_gsm7` is true; any other character is counted as one.
    """
    return len(text) + len(_extended(text))


def code_unit_count(text: str) -> int:
    """Length of ``text`` in UTF-16 code units: characters beyond the basic plane count two."""
    return len(text.encode("utf-16-be", "surrogatepass")) // 2


def encode_gsm7(text: str) -> bytes:
    """Septets of ``text``, unpacked: one to an octet, the extension table by ESC pairs.

    Raises :class:`UnicodeEncodeError` if a character is in neither table.
    """
    if _is_easy(text):
        return text.encode("ascii").translate(_EASILY)
    return codecs.charmap_encode(text, "strict", _ENCODE)[0]


def encode_gsm7_part(text: str) -> bytes:
    """As :func:`encode_gsm7`, for a part that may end in ESC (U+001B): the other half of that
    character begins the next part."""
    if text.endswith(ESCAPE_CHARACTER):
        return encode_gsm7(text[:-1]) + bytes((ESCAPE,))
    return encode_gsm7(text)


def decode_gsm7(octets: bytes) -> str:
    """Text of unpacked septets. Never raises: a network may send anything.

    An octet above 0x7F becomes U+FFFD. After ESC, a septet that the extension table lacks is read
    in the default alphabet, and ESC ESC (reserved for a further table) is a space, as §6.2.1.1
    requires of a receiver; a final ESC is dropped.
    """
    if ESCAPE not in octets:
        return codecs.charmap_decode(octets, "replace", _DECODE)[0]
    return "".join([_UNITS[unit] for unit in _units(octets)])


def decode_gsm7_part(octets: bytes) -> str:
    """As :func:`decode_gsm7`, for a part: a final ESC is kept as U+001B, for
    :func:`risala.sms.segment.join` to mend with the next part."""
    escapes = len(octets) - len(octets.rstrip(bytes((ESCAPE,))))
    return decode_gsm7(octets) + ESCAPE_CHARACTER * (escapes % 2)


def encode_ucs2(text: str) -> bytes:
    """UTF-16 big-endian octets of ``text``. Never raises; a lone surrogate is kept."""
    return text.encode("utf-16-be", "surrogatepass")


def decode_ucs2(octets: bytes, *, partial: bool = False) -> str:
    """Text of UTF-16 big-endian octets. Never raises; invalid octets become U+FFFD.

    That includes an odd last octet and half a surrogate pair. With ``partial`` (one part of a
    concatenated message: some phones split pairs) halves are kept, for
    :func:`risala.sms.segment.join` to mend.
    """
    if not partial:
        return octets.decode("utf-16-be", "replace")
    whole = len(octets) & ~1
    return octets[:whole].decode("utf-16-be", "surrogatepass") + "\ufffd" * (len(octets) & 1)


def decode_ucs2_part(octets: bytes) -> str:
    """As :func:`decode_ucs2`, for one part that :func:`risala.sms.segment.join` joins: halves of
    surrogate pairs are kept. A last U+001B, which no phone shows, is dropped, because there it
    represents half of an escape pair."""
    return decode_ucs2(octets, partial=True).rstrip(ESCAPE_CHARACTER)


_SMART: Final = str.maketrans(
    dict.fromkeys("‘’‚‛", "'")
    | dict.fromkeys("“”„‟", '"')
    # hyphen, non-breaking hyphen, figure, en and em dash, horizontal bar, minus
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | {"…": "..."}
    # no-break, figure and narrow no-break space
    | dict.fromkeys("\u00a0\u2007\u202f", " ")
)


_LIGATURES: Final = {"œ": "oe", "Œ": "OE"}
"""French ligatures, which are more than plain letters with an accent."""


def plainer(character: str) -> str | None:
    """A similar text in GSM 7-bit for a character that is not in it; None: no similar text, or the
    character is in it.

    In addition to the replacements of :func:`smart_encode` these are letters without their accent:
    this may change the meaning of a word, so only its writer can choose them.
    """
    if fits_gsm7(character):
        return None
    same = character.translate(_SMART)
    if same == character:
        same = _LIGATURES.get(character) or unicodedata.normalize("NFD", character)[:1]
    return same if same != character and fits_gsm7(same) else None


def with_plain_signs(text: str) -> str:
    """``text`` with its typographic characters replaced, whatever else is in it."""
    return text.translate(_SMART)


def smart_encode(text: str) -> str:
    """``text`` with typographic characters replaced, if that makes it fit GSM 7-bit.

    Curly quotes, dashes, the ellipsis and no-break spaces have plain equivalents; letters are never
    changed. A text that would still need UCS-2 is returned unchanged: nothing would be gained, and
    an ellipsis would cost two code units more.
    """
    plain = with_plain_signs(text)
    return plain if fits_gsm7(plain) else text
