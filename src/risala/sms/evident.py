"""What octets evidently say, beside what their label declares. Pure.

Carriers, modems and customers' software label texts wrongly: a receipt in ASCII gets the coding of
its message (UCS-2), UTF-8 comes as the default alphabet, UCS-2 comes low octet first, a header is
announced and missing. Every decoder of what comes in asks :func:`judge_octets` or :func:`judge`:
the octets are read in each form that they may have, and the declared one is believed unless another
is clearly more like a text that people write (:mod:`risala.sms.likely`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.sms.alphabet import decode_gsm7, decode_gsm7_part, decode_ucs2, decode_ucs2_part
from risala.sms.likely import cost_bits
from risala.sms.segment import UserDataHeader, parse_user_data_header


class TextForm(StrEnum):
    """How octets carry a text."""

    GSM7 = "gsm7"
    """GSM 03.38, one septet in each octet."""
    PACKED = "packed"
    """GSM 03.38, eight septets in seven octets."""
    ASCII = "ascii"
    UTF8 = "utf8"
    LATIN1 = "latin1"
    UCS2 = "ucs2"
    """High octet first, as SMPP and 3GPP TS 23.038 have it."""
    UCS2_LE = "ucs2_le"
    """Low octet first."""
    PLAIN = "plain"
    """The characters themselves, where a modem may write them in hexadecimal."""


class InboundCoding(StrEnum):
    """The setting ``inbound_coding``: how texts that come in are read."""

    AUTO = "auto"
    """As declared, unless the content is evidently something else."""
    DECLARED = "declared"
    """As declared, whatever the content."""
    GSM7 = "gsm7"
    UTF8 = "utf8"
    LATIN1 = "latin1"
    UCS2 = "ucs2"
    UCS2_LE = "ucs2_le"


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A text as it was read, with what was declared and what was believed."""

    text: str = field(repr=False)
    declared: TextForm
    believed: TextForm

    @property
    def is_as_declared(self) -> bool:
        """Whether the label was believed."""
        return self.believed is self.declared


class TextLabel(NamedTuple):
    """How a carrier labelled what it sent, where that is not as it was read."""

    declared: str
    """A :class:`TextForm`, or :data:`HEADER`."""
    believed: str
    is_forced: bool
    """Whether the setting said so, and not the content."""

    def __str__(self) -> str:
        """As drivers tell it, and as it is stored: :func:`read_label` reads it."""
        by = f" {_BY_SETTING}" if self.is_forced else ""
        return f"labelled {self.declared}, read as {self.believed}{by}"


HEADER: Final = "header"
"""In a :class:`TextLabel`: a text behind a user data header."""
_BY_SETTING: Final = "by inbound_coding"
_LABEL_WORDS: Final = "|".join((*TextForm, HEADER))
_label: Final = re.compile(
    f"labelled ({_LABEL_WORDS}), read as ({_LABEL_WORDS})(?: ({_BY_SETTING}))?"
).fullmatch


def read_label(written: str | None) -> TextLabel | None:
    """The label that a driver told; None if it told none, or something else."""
    match = _label(written or "")
    return None if match is None else TextLabel(match[1], match[2], match[3] is not None)


JUDGED_OCTETS_MAX: Final = 1024
"""Octets of a longer text by which its form is chosen: far more than tells it, and even, so that
two octets of a letter stay together. A field of SMPP may have 65,535, and each form costs time."""
_LABEL_BITS: Final = {TextForm.UCS2: 3.0}
_LABEL_BITS_ELSE: Final = 8.0
"""How much likelier than the declared form another one must be, as a power of two. Two octets a
letter are declared wrongly more often, because carriers copy that from the message; and a form that
is wrong costs some bits in each letter, so this decides only about two or three letters."""
_SELDOM_BITS: Final = {TextForm.LATIN1: 8.0, TextForm.GSM7: 4.0, TextForm.UCS2_LE: 4.0}
"""How much rarer than others these forms are under a wrong label, as a power of two."""
_OF_OCTETS: Final = frozenset((TextForm.ASCII, TextForm.UTF8, TextForm.LATIN1))
BYTE_ORDER_MARK: Final = "\ufeff"
_UNSEEN: Final = "\0\t\n\r \ufeff\ufffd"
_ODD_OCTETS_MIN: Final = 7
"""The fewest octets of a cut text of two octets a letter, where no label says that it is one."""
_plain: Final = re.compile(rb"[\n\r -#%-?A-Za-z]*")
"""Octets that are the same letters in GSM 03.38, ASCII, Latin-1 and UTF-8."""
_EASY_HIGH: Final = frozenset((0x00, 0x06, 0x20))
"""High octets of Latin and Arabic letters and of typographic marks: a text with no others is UCS-2
beyond doubt."""
_HEADER_MAX: Final = 0x20
"""A length octet from here on, followed by printable octets alone, is a letter."""
_is_printable: Final = re.compile(rb"[ -~]*").fullmatch
MMS_PORT: Final = 2948
"""The port of WAP push (WAP-259): a message to it is for a program of the phone."""
_wap_push: Final = re.compile(
    rb"(?s).\x06([\x80-\xff]{0,2}[\x00-\x7f])"
    rb"((?:[\x01-\x1e]|\x1f[\x00-\x7f])?(?:\xbe|(?i:application/vnd\.wap\.mms-message)\0))"
).match
"""A push (WAP-230 §8.2.4.1): transaction, type, octets of headers; its content type is an MMS, as a
number or in letters, with or without parameters."""
_MMS_NOTICE: Final = b"\x8c\x82"
"""How a notice of a message that waits begins (OMA-TS-MMS_ENC §6.2), and no other MMS."""
_mms_from: Final = re.compile(
    rb"\x89(?:[\x01-\x1e]|\x1f[\x00-\x7f])\x80(?:[\x01-\x1e][\x80-\xff])?"
    rb"(\+?[0-9]{3,15})/TYPE=PLMN\0"
).search
"""The sender of an MMS (§7.3.21) that is a number, with or without a character set."""
_begins_with_place: Final = re.compile(rb"(?s)(?:\x05\x00\x03.|\x06\x08\x04..)(.)(.)").match
"""The two headers that mark a part (3GPP TS 23.040 §9.2.3.24.1 and §9.2.3.24.8): no text begins so
in any form."""


def judge(declared: TextForm, readings: Mapping[TextForm, str], *, lead: float = 0.0) -> JudgedText:
    """Choose among the readings of the same octets: the declared one, unless another, in which
    there is something to see, is clearly likelier.

    Args:
        readings: by form, each text with its lost octets as U+FFFD; the declared form is among
            them.
        lead: further bits by which another form must be likelier.
    """
    label = _LABEL_BITS.get(declared, _LABEL_BITS_ELSE) + lead
    best, least = declared, cost_bits(readings[declared]) - label
    for form, text in readings.items():
        if form is declared or not text.strip(_UNSEEN):
            continue
        cost = cost_bits(text) + _SELDOM_BITS.get(form, 0)
        if cost < least:
            best, least = form, cost
    return _believed(readings, declared, best)


def _believed(
    readings: Mapping[TextForm, str], declared: TextForm, believed: TextForm
) -> JudgedText:
    """A reading, without the NULs that end a text of octets in some programs."""
    text = readings[believed]
    if believed is not declared and believed in _OF_OCTETS:
        text = text.rstrip("\0")
    return JudgedText(text, declared, believed)


def judge_octets(
    octets: bytes,
    declared: TextForm,
    *,
    coding: InboundCoding = InboundCoding.AUTO,
    is_part: bool = False,
    more: Mapping[TextForm, str] | None = None,
) -> JudgedText:
    """The text of octets: in the declared form, or in the one that they evidently have. A text
    longer than :data:`JUDGED_OCTETS_MAX` is judged by a piece of it, and then decoded once.

    Args:
        declared: the form that the label means.
        coding: the setting; ``auto`` judges, anything else forces.
        is_part: halves of characters at the ends are kept, for
            :func:`risala.sms.segment.join` to mend with the next part.
        more: other readings of the same octets, which only the caller can make.
    """
    known = more or {}
    if coding is InboundCoding.AUTO:
        if len(octets) <= JUDGED_OCTETS_MAX:
            return _judged(octets, declared, is_part, known)
        begin, end = _telling(octets)
        cut = {
            form: text[begin * len(text) // len(octets) : end * len(text) // len(octets)]
            for form, text in known.items()
        }
        form = _judged(octets[begin:end], declared, True, cut).believed
        return _believed({form: _reading(octets, form, is_part, known)}, declared, form)
    form = declared if coding is InboundCoding.DECLARED else TextForm(coding)
    return JudgedText(_reading(octets, form, is_part, known), declared, form)


def _telling(octets: bytes) -> tuple[int, int]:
    """Begin and end of the piece of a long text by which its form is chosen: from the first octet
    that is not the same letter in every form, at an even place."""
    plain = _plain.match(octets)
    assert plain is not None, "nothing at all is plain too"
    begin = min(plain.end(), len(octets) - JUDGED_OCTETS_MAX) & ~1
    return begin, begin + JUDGED_OCTETS_MAX


def _reading(octets: bytes, form: TextForm, is_part: bool, known: Mapping[TextForm, str]) -> str:
    return known[form] if form in known else _DECODERS[form](octets, is_part)


def _judged(
    octets: bytes, declared: TextForm, is_part: bool, known: Mapping[TextForm, str]
) -> JudgedText:
    readings = {**known, declared: _reading(octets, declared, is_part, known)}
    if not octets or _is_beyond_doubt(octets, declared, known):
        return JudgedText(readings[declared], declared, declared)
    # In UCS-2 an odd NUL is no half of a letter: it ends a text of octets in some programs.
    is_ended = declared is TextForm.UCS2 and len(octets) % 2
    narrow = octets.rstrip(b"\0") if is_ended else octets
    for form, decode in _DECODERS.items():
        these = narrow if form in _OF_OCTETS else octets
        if form not in readings and _may_be(these, form):
            readings[form] = decode(these, is_part)
    marked = _marked(octets)
    if marked is not None and marked in readings:
        return _believed(readings, declared, marked)
    return judge(declared, readings)


def judge_header(
    octets: bytes, *, is_declared: bool, coding: InboundCoding = InboundCoding.AUTO
) -> tuple[UserDataHeader | None, bool]:
    """The user data header at the beginning of octets, if there is one; and whether that is as
    declared.

    One that is declared is missing where the octets cannot be one, or are letters; one that is not
    declared is there where the octets mark a part of a long message.
    """
    if not is_declared:
        place = _begins_with_place(octets) if coding is InboundCoding.AUTO else None
        if place is None or not 1 <= place[2][0] <= place[1][0]:
            return None, True
        return parse_user_data_header(octets), False
    try:
        header = parse_user_data_header(octets)
    except ValueError:
        return None, not octets
    if coding is not InboundCoding.AUTO:
        return header, True
    is_text = octets[0] >= _HEADER_MAX and _is_printable(octets[: header.length])
    # A header without an element marks nothing: it is the high octet of a Latin letter.
    is_letter = header.length == 1 and len(octets) % 2 == 0
    return (None, False) if is_text or is_letter else (header, True)


def mms_notice(octets: bytes, sender: str) -> str | None:
    """What to tell instead of the notice of an MMS, from the octets to :data:`MMS_PORT`; None if
    they are no such notice.

    Args:
        sender: who sent these octets, which counts where the notice names no number.
    """
    push = _wap_push(octets)
    if push is None:
        return None
    length = 0
    for octet in push[1]:
        length = length << 7 | octet & 0x7F
    content = octets[push.end(1) + length :]
    if not content.startswith(_MMS_NOTICE):
        return None
    match = _mms_from(content)
    who = match[1].decode("ascii") if match else sender
    came = f"came from {who}" if who else "came"
    return f"A picture message (MMS) {came}; it cannot be read here."


def _is_beyond_doubt(octets: bytes, declared: TextForm, more: Mapping[TextForm, str]) -> bool:
    """The declared form is right: the common texts, of which no other reading is tried."""
    if declared is TextForm.UCS2:
        is_easy = len(octets) % 2 == 0 and _EASY_HIGH.issuperset(octets[::2])
        return is_easy and not octets.startswith(b"\x00\x00")
    return not more and _plain.fullmatch(octets) is not None


def _marked(octets: bytes) -> TextForm | None:
    """The form that a byte order mark tells."""
    if octets.startswith(codecs.BOM_UTF8):
        return TextForm.UTF8
    if octets.startswith(codecs.BOM_UTF16_LE):
        return TextForm.UCS2_LE
    return TextForm.UCS2 if octets.startswith(codecs.BOM_UTF16_BE) else None


def _may_be(octets: bytes, form: TextForm) -> bool:
    """Whether these octets can carry a text in a form that is not declared."""
    match form:
        case TextForm.ASCII:
            return octets.isascii()
        case TextForm.UTF8:
            return not octets.isascii()
        case TextForm.LATIN1:
            return not octets.isascii() and b"\0" not in octets
        case TextForm.GSM7:
            return octets.isascii() and b"\0\0" not in octets
        case _:
            # Few octets of an odd count are sooner letters and @, whose code is 0.
            return len(octets) > (_ODD_OCTETS_MIN - 1 if len(octets) % 2 else 1)


def _decode_ucs2(octets: bytes, is_part: bool) -> str:
    text = decode_ucs2_part(octets) if is_part else decode_ucs2(_without_end(octets))
    return text.removeprefix(BYTE_ORDER_MARK)


def _decode_ucs2_le(octets: bytes, is_part: bool) -> str:
    if len(octets) % 2:
        # The last letter's high octet got lost: it is that of the letter before.
        octets += octets[-2:-1]
    swapped, even = bytearray(octets), len(octets) & ~1
    swapped[:even:2], swapped[1:even:2] = octets[1:even:2], octets[:even:2]
    return _decode_ucs2(bytes(swapped), is_part)


def _without_end(octets: bytes) -> bytes:
    """Without the single NUL that ends the text in some programs."""
    return octets[:-1] if len(octets) % 2 and octets[1:].endswith(b"\0") else octets


def _decode_utf8(octets: bytes, is_part: bool) -> str:
    """UTF-8; of a part, octets of a letter that the cut divides are kept as surrogates."""
    text = octets.decode("utf-8", "surrogateescape" if is_part else "replace")
    if is_part:
        middle = text.lstrip(_TAILS).rstrip(_LEADS_AND_TAILS)
        if any("\udc80" <= each <= "\udcff" for each in middle):
            text = octets.decode("utf-8", "replace")
    return text.removeprefix(BYTE_ORDER_MARK)


_TAILS: Final = "".join(chr(0xDC00 + octet) for octet in range(0x80, 0xC0))
_LEADS_AND_TAILS: Final = _TAILS + "".join(chr(0xDC00 + octet) for octet in range(0xC2, 0xF5))


def _decode_latin1(octets: bytes, is_part: bool) -> str:
    return octets.decode("latin-1")


def _decode_gsm7(octets: bytes, is_part: bool) -> str:
    return decode_gsm7_part(octets) if is_part else decode_gsm7(octets)


_DECODERS: Final[Mapping[TextForm, Callable[[bytes, bool], str]]] = {
    TextForm.ASCII: _decode_utf8,
    TextForm.UTF8: _decode_utf8,
    TextForm.UCS2: _decode_ucs2,
    TextForm.UCS2_LE: _decode_ucs2_le,
    TextForm.GSM7: _decode_gsm7,
    TextForm.LATIN1: _decode_latin1,
}
