"""TP-UD with its header: text or octets in a coding (3GPP TS 23.040 §9.2.3.16 and §9.2.3.24)."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.tpdu.coding import CHARACTERS_OF, CharacterSet, Coding, coding_of, dcs_of
from risala.drivers.modem.tpdu.tpfields import (
    PduError,
    Reader,
    fill_bits_after,
    octets_for,
    pack,
    unpack,
)
from risala.sms.alphabet import ESCAPE, ESCAPE_CHARACTER, decode_ucs2, decode_ucs2_part, encode_ucs2
from risala.sms.message import Alphabet, Concatenation
from risala.sms.national import decode_national, encode_national
from risala.sms.segment import parse_user_data_header

USER_DATA_MAX: Final = 140
SEPTETS_MAX: Final = 160


@dataclass(frozen=True, slots=True)
class UserData:
    """A message's content: ``text`` in GSM 7-bit and UCS-2, ``data`` in 8-bit or compressed."""

    text: str = field(default="", repr=False)
    data: bytes = field(default=b"", repr=False)
    dcs: int = 0
    header: bytes = b""
    """The user data header with its length octet, or nothing."""
    octets: bytes = field(default=b"", repr=False, compare=False)
    """The octets behind the header as they came: as many as the length says if it counts octets.
    Nothing if those did not come, which is usual in GSM 7-bit, where the length counts septets."""

    @classmethod
    def of_text(
        cls,
        text: str,
        alphabet: Alphabet,
        *,
        header: bytes = b"",
        message_class: int | None = None,
    ) -> UserData:
        """User data that carries a text in an alphabet, with a header before it."""
        return cls(text, dcs=dcs_of(CHARACTERS_OF[alphabet], message_class), header=header)

    @property
    def coding(self) -> Coding:
        """The decoded TP-DCS octet."""
        return coding_of(self.dcs)

    @property
    def concatenation(self) -> Concatenation | None:
        """The part number and reference; None for a whole message."""
        return parse_user_data_header(self.header).concatenation if self.header else None

    @property
    def port(self) -> int | None:
        """The port of the program that it is for; None: it is for people."""
        return parse_user_data_header(self.header).port if self.header else None

    @property
    def is_octets(self) -> bool:
        """Whether ``data`` has the content."""
        return self.coding.compressed or self.coding.characters is CharacterSet.EIGHT_BIT

    def encode(self) -> bytes:
        """TP-UDL and TP-UD. The length counts septets in GSM 7-bit and octets else."""
        coding = self.coding
        if coding.compressed or coding.characters is CharacterSet.EIGHT_BIT:
            body = self.header + self.data
        elif coding.characters is CharacterSet.UCS2:
            body = self.header + encode_ucs2(self.text)
        else:
            return self._encode_gsm7()
        if len(body) > USER_DATA_MAX:
            raise PduError("the text does not fit one message")
        return bytes((len(body),)) + body

    def _encode_gsm7(self) -> bytes:
        parsed = parse_user_data_header(self.header) if self.header else None
        languages = (parsed.locking, parsed.single) if parsed else (0, 0)
        try:
            # A part whose cut falls inside an escape pair ends in ESC.
            whole = self.text.removesuffix(ESCAPE_CHARACTER)
            septets = encode_national(whole, *languages)
            septets += bytes((ESCAPE,)) * (len(self.text) - len(whole))
        except UnicodeEncodeError:
            # ``from None``, because the encoding error holds the message's text.
            raise PduError("the text has a character that GSM 7-bit lacks") from None
        fill = fill_bits_after(len(self.header))
        length = (8 * len(self.header) + fill) // 7 + len(septets)
        if length > SEPTETS_MAX:
            raise PduError("the text does not fit one message")
        return bytes((length,)) + self.header + pack(septets, fill)


def read_user_data(
    reader: Reader, dcs: int, *, has_header: bool, is_lenient: bool = False
) -> UserData:
    """Read TP-UDL and TP-UD. Further octets are ignored, since some modems pad.

    Args:
        is_lenient: a header that cannot be one is read as text.

    Raises:
        PduError: they are shorter than declared, or the header does not fit.
    """
    length = reader.octet("the user data")
    coding = coding_of(dcs)
    seven_bit = coding.characters is CharacterSet.GSM7 and not coding.compressed
    if length > (SEPTETS_MAX if seven_bit else USER_DATA_MAX):
        raise PduError("the user data is longer than 140 octets")
    all_of_it = reader.rest()[:length] if reader.left >= length else b""
    octets = reader.take(octets_for(length) if seven_bit else length, "the user data")
    header, partial, languages = b"", False, (0, 0)
    if has_header:
        try:
            parsed = parse_user_data_header(octets)
        except ValueError as fault:
            if not is_lenient:
                raise PduError(str(fault)) from None
        else:
            header, partial = octets[: parsed.length], parsed.concatenation is not None
            languages = parsed.locking, parsed.single
    body, raw = octets[len(header) :], all_of_it[len(header) :]
    if coding.compressed or coding.characters is CharacterSet.EIGHT_BIT:
        return UserData(data=body, dcs=dcs, header=header)
    if coding.characters is CharacterSet.UCS2:
        text = decode_ucs2_part(body) if partial else decode_ucs2(body)
        return UserData(text, dcs=dcs, header=header, octets=raw)
    fill = fill_bits_after(len(header))
    count = length - (8 * len(header) + fill) // 7
    text = decode_national(unpack(body, max(count, 0), fill), *languages)
    return UserData(text, dcs=dcs, header=header, octets=raw)
