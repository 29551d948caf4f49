"""Cutting a text into segments and the header that joins them again (3GPP TS 23.040 §9.2.3.24).

A user data field has 140 octets: 160 septets or 70 code units. A concatenated part gives 6 of
them to its header (7 with a 16-bit reference), which leaves 153 or 67 (152 or 66).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.sms.alphabet import (
    ESCAPE,
    ESCAPE_CHARACTER,
    choose_alphabet,
    code_unit_count,
    decode_gsm7,
    encode_gsm7,
    fits_gsm7,
    is_short,
    septet_count,
)
from risala.sms.message import Alphabet, Concatenation, ReferenceBits
from risala.sms.values import quickly

PARTS_MAX: Final = 255
"""The number of parts is one octet (§9.2.3.24.1)."""

_WHOLE: Final = {Alphabet.GSM7: 160, Alphabet.UCS2: 70}
_PART: Final = {
    (Alphabet.GSM7, 8): 153,
    (Alphabet.GSM7, 16): 152,
    (Alphabet.UCS2, 8): 67,
    (Alphabet.UCS2, 16): 66,
}
_MEASURE: Final = {Alphabet.GSM7: septet_count, Alphabet.UCS2: code_unit_count}
_alone: Final = re.compile("[\ud800-\udfff]").sub
"""Replaces surrogates that are no longer half of a pair."""

_utf8_letters: Final = re.compile("(?<![\ud800-\udbff])[\udcc2-\udcf4][\udc80-\udcbf]{1,3}").sub
"""Replaces octets of a letter of UTF-8 that the cut between two parts divided: each was kept as the
surrogate that ``surrogateescape`` makes of it."""

_IEI_CONCATENATION_8: Final = 0x00
_IEI_CONCATENATION_16: Final = 0x08
_IEI_PORTS_16: Final = 0x05
_IEI_SINGLE_SHIFT: Final = 0x24
_IEI_LOCKING_SHIFT: Final = 0x25


def whole_capacity(alphabet: Alphabet) -> int:
    """Septets or code units that fit one message without header: 160 or 70."""
    return _WHOLE[alphabet]


def part_capacity(alphabet: Alphabet, *, reference_bits: ReferenceBits = 8) -> int:
    """Septets or code units that fit one part of a concatenated message: 153 or 67 (152 or 66 with
    a 16-bit reference)."""
    return _PART[alphabet, reference_bits]


@dataclass(frozen=True, slots=True)
class SegmentCount:
    """The cost of sending a text."""

    alphabet: Alphabet
    segments: int
    """1 or more; an empty text is one segment."""
    units: int
    """Length of the whole text: septets in GSM 7-bit, code units in UCS-2."""


_SHORT: Final = tuple(
    SegmentCount(Alphabet.GSM7, 1, units) for units in range(_WHOLE[Alphabet.GSM7] + 1)
)
"""The result of :func:`count` for most texts, by length: characters of one septet, and few."""


def count(text: str, *, reference_bits: ReferenceBits = 8) -> SegmentCount:
    """Alphabet, number of segments and length of ``text``, as :func:`split` would cut it."""
    if is_short(text):
        return _SHORT[len(text)]
    alphabet = choose_alphabet(text)
    units = _MEASURE[alphabet](text)
    if units <= _WHOLE[alphabet]:
        return SegmentCount(alphabet, 1, units)
    parts = split(text, alphabet, reference_bits=reference_bits)
    return SegmentCount(alphabet, len(parts), units)


def split(
    text: str, alphabet: Alphabet | None = None, *, reference_bits: ReferenceBits = 8
) -> tuple[str, ...]:
    """The segments' texts in order; their concatenation is ``text``.

    An escape pair and a surrogate pair always stay together; a visible character does too, unless
    it alone is longer than a segment. By default ``alphabet`` is chosen automatically.
    """
    alphabet = alphabet or choose_alphabet(text)
    measure = _MEASURE[alphabet]
    if measure(text) <= _WHOLE[alphabet]:
        return (text,)
    capacity = _PART[alphabet, reference_bits]
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = start + len(_fitting(text[start : start + capacity], alphabet, capacity))
        cut = _last_boundary(text, start, end)
        parts.append(text[start:cut])
        start = cut
    assert len(parts) <= PARTS_MAX, "a text is at most 1600 characters, which is under 50 parts"
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class Parts:
    """A message as it is sent."""

    texts: tuple[str, ...] = field(repr=False)
    """The parts' texts in order; joined they are the message's text."""
    reference_bits: ReferenceBits
    """The widest reference that every part has room for."""


_parts: Final = quickly(Parts)


def whole(text: str) -> Parts:
    """The one part of a text that fits into one."""
    return _parts((text,), 16)


def cut(text: str, alphabet: Alphabet | None = None) -> Parts:
    """The parts to send: with room for a 16-bit reference if that needs no further part.

    Their number is that of :func:`count`, which the customer pays for, independent of the carrier
    and the width of its reference.
    """
    narrow = split(text, alphabet)
    if len(narrow) == 1:
        return whole(text)
    wide = split(text, alphabet, reference_bits=16)
    if len(wide) == len(narrow):
        return Parts(wide, 16)
    return Parts(narrow, 8)


def _fitting(piece: str, alphabet: Alphabet, capacity: int) -> str:
    """The longest beginning of ``piece`` that takes at most ``capacity`` units."""
    measure = _MEASURE[alphabet]
    excess = measure(piece) - capacity
    end = len(piece)
    while excess > 0:
        end -= 1
        excess -= measure(piece[end])
    return piece[:end]


def _last_boundary(text: str, start: int, end: int) -> int:
    """The last grapheme boundary in ``(start, end]``; else ``end``."""
    for cut in range(end, start, -1):
        if is_boundary(text, cut):
            return cut
    return end


def halves(units: str, alphabet: Alphabet) -> tuple[str, str, str]:
    """A part's text between the halves of characters that a cut left at its ends.

    Args:
        units: the decoded octets of the part; surrogates are kept, a last ESC is U+001B.
        alphabet: only in GSM 7-bit is a last ESC half of a character; in UCS-2 it is a whole one.

    Returns: a low surrogate or nothing, the text, a high surrogate or ESC or nothing.

    Raises:
        ValueError: another surrogate is alone: no cut made that.
    """
    before = units[:1] if "\udc00" <= units[:1] <= "\udfff" else ""
    last = units[len(before) :][-1:]
    is_escape = last == ESCAPE_CHARACTER and alphabet is Alphabet.GSM7
    behind = last if is_escape or "\ud800" <= last <= "\udbff" else ""
    text = units[len(before) : len(units) - len(behind)]
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a character stands alone in the middle of a part") from None
    return before, text, behind


def join(parts: Iterable[str]) -> str:
    """The text of a concatenated message from its parts in order.

    Escape pairs and surrogate pairs that the sender split (see
    :func:`risala.sms.alphabet.decode_gsm7_part` and ``decode_ucs2``) are mended, and halves that
    stay alone become U+FFFD, so the result can be stored and sent anywhere.
    """
    return join_cut((part.removesuffix(ESCAPE_CHARACTER), part[-1:]) for part in parts)


def join_cut(parts: Iterable[tuple[str, str]], *, lost: str = "\ufffd") -> str:
    """As :func:`join`, for parts with their ends: ESC if the cut divides an escape pair.

    ESC inside a part is a character of its own (UCS-2 has it), and halves become ``lost``.
    """
    text = "".join(_mended(parts))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = _utf8_letters(_utf8_letter, text)
        paired = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
        return _alone(lost, paired)
    return text


def _utf8_letter(match: re.Match[str]) -> str:
    octets = match[0].encode("utf-8", "surrogateescape")
    return octets.decode("utf-8", "surrogateescape")


def _mended(parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The parts, with the ESC behind one before the septet that the next begins with."""
    escape = b""
    for part, behind in parts:
        if escape and part and fits_gsm7(part[0]):
            yield decode_gsm7(escape + encode_gsm7(part[0]))
            part = part[1:]
        escape = bytes((ESCAPE,)) if behind == ESCAPE_CHARACTER else b""
        yield part


@dataclass(frozen=True, slots=True)
class UserDataHeader:
    """The content of a user data header (3GPP TS 23.040 §9.2.3.24)."""

    length: int
    """Octets of the header, including its own length octet: the text begins there."""
    concatenation: Concatenation | None
    locking: int = 0
    single: int = 0
    """Languages of the locking and of the single shift table of GSM 7-bit (§9.2.3.24.16 and
    §9.2.3.24.15); 0 is the default table."""
    port: int | None = None
    """The port of the phone's program that the message is for (§9.2.3.24.4); None: for people."""


def user_data_header(
    reference: int, total: int, number: int, *, reference_bits: ReferenceBits = 8
) -> bytes:
    """The header of one part, with its length octet: 6 octets, or 7 with a 16-bit reference.

    §9.2.3.24.1 (8 bits; the low octet of ``reference`` is used) and §9.2.3.24.8 (16 bits).
    Raises :class:`ValueError` when the part is not within 1 to ``total`` to 255.
    """
    if not 1 <= number <= total <= PARTS_MAX:
        raise ValueError(f"part {number} of {total}: parts are counted from 1 to {PARTS_MAX}")
    if reference_bits == 8:
        return bytes((5, _IEI_CONCATENATION_8, 3, reference & 0xFF, total, number))
    high, low = (reference >> 8) & 0xFF, reference & 0xFF
    return bytes((6, _IEI_CONCATENATION_16, 4, high, low, total, number))


def parse_user_data_header(octets: bytes) -> UserDataHeader:
    """Read the header at the beginning of ``octets``; the rest is ignored.

    Unknown elements are skipped, and so is a concatenation element of a wrong length or with an
    impossible part number (§9.2.3.24.1); of several the last counts (§9.2.3.24). Raises
    :class:`ValueError` when the header or one of its elements does not fit.
    """
    if not octets or len(octets) <= octets[0]:
        raise ValueError("the user data header is longer than the user data")
    end = octets[0] + 1
    concatenation: Concatenation | None = None
    port: int | None = None
    languages = {_IEI_SINGLE_SHIFT: 0, _IEI_LOCKING_SHIFT: 0}
    at = 1
    while at < end:
        if at + 2 > end or at + 2 + octets[at + 1] > end:
            raise ValueError("an element of the user data header is longer than the header")
        value = octets[at + 2 : at + 2 + octets[at + 1]]
        concatenation = _concatenation(octets[at], value) or concatenation
        if octets[at] in languages and len(value) == 1:
            languages[octets[at]] = value[0]
        if octets[at] == _IEI_PORTS_16 and len(value) == 4:
            port = int.from_bytes(value[:2], "big")
        at += 2 + len(value)
    return UserDataHeader(
        end, concatenation, languages[_IEI_LOCKING_SHIFT], languages[_IEI_SINGLE_SHIFT], port
    )


def _concatenation(identifier: int, value: bytes) -> Concatenation | None:
    bits: ReferenceBits
    if identifier == _IEI_CONCATENATION_8 and len(value) == 3:
        bits = 8
    elif identifier == _IEI_CONCATENATION_16 and len(value) == 4:
        bits = 16
    else:
        return None
    *reference, total, number = value
    if not 1 <= number <= total:
        return None
    return Concatenation(int.from_bytes(bytes(reference), "big"), total, number, bits)


# The boundaries of visible characters: a compact rule after UAX #29.
#
# Enough for Arabic, Latin, Greek, Cyrillic and emoji: combining marks, variation selectors, joined
# emoji, skin tones, flags and CR LF stay whole. Hangul jamo and Indic conjuncts are ignored.

_ZWJ: Final = "\u200d"
_MARKS: Final = frozenset(("Mn", "Me", "Mc"))  # variation selectors and Arabic harakat are Mn
_REGIONAL: Final = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_PREPENDED: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u08e2")
"""Arabic number and verse signs, drawn around the next character (Prepended_Concatenation_Mark)."""


def is_boundary(text: str, at: int) -> bool:
    """True if ``text`` may be cut before the character ``at`` (UAX #29 GB1 to GB13)."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":  # no mark is below: only CR LF stays together
        return not (before == "\r" and after == "\n")
    if _extends(after) or before == _ZWJ or before in _PREPENDED:
        return False
    if _is_regional(after) and _is_regional(before):
        return _regional_run(text, at) % 2 == 0
    return True


def _extends(character: str) -> bool:
    """True for characters drawn on the previous one (Grapheme_Extend, SpacingMark, ZWJ)."""
    return (
        unicodedata.category(character) in _MARKS
        or character in ("\u200c", _ZWJ)
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags of the flags of regions
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regional_run(text: str, end: int) -> int:
    """Number of regional indicators just before ``end``; two of them make a flag."""
    # No loop: a text may be nothing else, and every cut in it is looked for from the end.
    return end - len(text[:end].rstrip(_REGIONAL))


GAP: Final = "…"
"""Replaces missing parts and halves of characters."""


class PartText(NamedTuple):
    """The text of one part, with the halves of characters that its cuts left at its ends."""

    text: str
    before: str = ""
    """A low surrogate, or nothing."""
    behind: str = ""
    """A high surrogate or ESC, or nothing."""


def text_of_parts(parts: Mapping[int, PartText], total: int) -> str:
    """The joined text of the parts, by their numbers from 1 to ``total``.

    A character divided by a cut is whole again if both of its parts are there.
    """
    pieces = []
    for is_there, numbers in groupby(range(1, total + 1), parts.__contains__):
        run = [*numbers]
        pieces.append(_joined(parts, run, total) if is_there else GAP)
    return "".join(pieces)


def _joined(parts: Mapping[int, PartText], run: Sequence[int], total: int) -> str:
    """The text of parts that follow one another. Halves towards a gap are part of the gap."""
    texts = [parts[number] for number in run]
    if run[0] > 1:
        texts[0] = texts[0]._replace(before="")
    if run[-1] < total:
        texts[-1] = texts[-1]._replace(behind="")
    return join_cut(map(_cut, texts), lost=GAP)


def _cut(part: PartText) -> tuple[str, str]:
    """The part's units, without the ESC that it ends in, and that ESC."""
    if part.behind == ESCAPE_CHARACTER:
        return part.before + part.text, part.behind
    return part.before + part.text + part.behind, ""
