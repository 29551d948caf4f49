"""The fields of TPDUs (3GPP TS 23.040 §9.1.2, §9.2.3): read within bounds, and written."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Final

from risala.dataclass import dataclass
from risala.sms.alphabet import decode_gsm7, encode_gsm7

TON_INTERNATIONAL: Final = 1
TON_ALPHANUMERIC: Final = 5
NPI_ISDN: Final = 1

# Bits of the first octet (§9.2.3.1 to §9.2.3.7, §9.2.3.17, §9.2.3.23).
MTI: Final = 0x03
MTI_SUBMIT: Final = 0x01
"""From the phone: SUBMIT; the same value is SUBMIT-REPORT in the other direction."""
MTI_STATUS_REPORT: Final = 0x02
"""To the phone: STATUS-REPORT; the same value is COMMAND in the other direction."""
NO_MORE_MESSAGES: Final = 0x04
"""TP-MMS, which is inverted (§9.2.3.2)."""
REJECT_DUPLICATES: Final = 0x04
"""TP-RD."""
VPF: Final = 0x18
VPF_RELATIVE: Final = 0x10
STATUS_REPORT: Final = 0x20
"""TP-SRR, TP-SRI or TP-SRQ."""
HEADER: Final = 0x40
"""TP-UDHI."""
REPLY_PATH: Final = 0x80
"""TP-RP."""

_SEMI_OCTETS_MAX: Final = 20
"""Semi-octets of an address value: it has at most 10 octets (§9.1.2.5)."""
_DIGITS: Final = "0123456789*#abc"  # §9.1.2.3
_FILL: Final = 0xF
_EXTENSION: Final = 0x80
"""Bit 7 of a type-of-address octet is always 1 (§9.1.2.5)."""
_SCTS_OCTETS: Final = 7
_CENTURY: Final = 2000
_QUARTERS_MAX: Final = 79


class PduError(ValueError):
    """The octets are not a valid PDU, or no PDU can hold the values."""


class Reader:
    """Octets that are taken from the front and never beyond the end."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets
        self._at = 0

    @property
    def left(self) -> int:
        """How many octets are left."""
        return len(self._octets) - self._at

    def take(self, count: int, what: str) -> bytes:
        """The next ``count`` octets, or :class:`PduError`."""
        if count > self.left:
            raise PduError(f"{what} ends too early")
        self._at += count
        return self._octets[self._at - count : self._at]

    def octet(self, what: str) -> int:
        """The next octet, or :class:`PduError`."""
        return self.take(1, what)[0]

    def rest(self) -> bytes:
        """All that was not taken."""
        return self._octets[self._at :]


def _semi_octets(octets: bytes) -> list[int]:
    """The halves of octets, each octet's low half first (§9.1.2.3)."""
    return [half for octet in octets for half in (octet & 0x0F, octet >> 4)]


def _digits(octets: bytes, count: int | None = None) -> str:
    """The first ``count`` digits, or all; fewer if a fill comes before, as some networks write
    it."""
    halves = _semi_octets(octets)[:count]
    if _FILL in halves:
        halves = halves[: halves.index(_FILL)]
    return "".join(_DIGITS[half] for half in halves)


def _pack_digits(text: str) -> bytes:
    try:
        halves = [_DIGITS.index(character) for character in text]
    except ValueError:
        raise PduError("an address has a character that no digit is") from None
    if len(halves) % 2:
        halves.append(_FILL)
    return bytes(low | high << 4 for low, high in zip(halves[::2], halves[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class TpAddress:
    """An address field with its type (§9.1.2.5). TON and NPI are plain numbers: all occur."""

    text: str
    """Digits without ``+``, or the characters of an alphanumeric one."""
    ton: int = TON_INTERNATIONAL
    npi: int = NPI_ISDN

    @classmethod
    def of_number(cls, number: str) -> TpAddress:
        """A number with ``+`` is international, anything else of an unknown type (a short code)."""
        if number.startswith("+"):
            return cls(number[1:])
        return cls(number, 0)

    @property
    def readable(self) -> str:
        """The address as people write it: an international number with ``+``. Empty if missing."""
        return f"+{self.text}" if self.ton == TON_INTERNATIONAL and self.text else self.text

    @property
    def _type(self) -> int:
        return _EXTENSION | (self.ton & 0x07) << 4 | self.npi & 0x0F

    def encode(self) -> bytes:
        """The octets of a TP-OA, TP-DA or TP-RA, whose length counts semi-octets (§9.1.2.5).

        Raises:
            PduError: the address is too long, or has characters that the field cannot carry.
        """
        if self.ton == TON_ALPHANUMERIC:
            try:
                septets = encode_gsm7(self.text)
            except UnicodeEncodeError:
                raise PduError("the address has a character that GSM 7-bit lacks") from None
            value, length = pack(septets), (7 * len(septets) + 3) // 4
        else:
            value, length = _pack_digits(self.text), len(self.text)
        if length > _SEMI_OCTETS_MAX:
            raise PduError("the address is too long")
        return bytes((length, self._type)) + value

    def encode_smsc(self) -> bytes:
        """The octets of the service centre in front of a PDU, whose length counts octets (27.005
        §3.1)."""
        value = _pack_digits(self.text)
        if len(value) * 2 > _SEMI_OCTETS_MAX:
            raise PduError("the SMSC number is too long")
        return bytes((1 + len(value), self._type)) + value


def read_address(reader: Reader) -> TpAddress:
    """Read a TP-OA, TP-DA or TP-RA (§9.1.2.5). Raises :class:`PduError` if it is missing."""
    length = reader.octet("the address")
    kind = reader.octet("the address")
    if length > _SEMI_OCTETS_MAX:
        raise PduError("the address is longer than 20 semi-octets")
    octets = reader.take((length + 1) // 2, "the address")
    ton, npi = kind >> 4 & 0x07, kind & 0x0F
    if ton != TON_ALPHANUMERIC:
        return TpAddress(_digits(octets, length), ton, npi)
    septets = unpack(octets, length * 4 // 7)
    # Seven septets take seven octets, as eight do, and many senders give the length of the octets:
    # an eighth septet of zeros is padding then, and would read as "@".
    if septets and len(septets) % 8 == 0 and septets[-1] == 0:
        septets = septets[:-1]
    return TpAddress(decode_gsm7(septets), ton, npi)


def read_smsc(reader: Reader) -> TpAddress | None:
    """The service centre in front of a PDU; None if the modem is to use its own (length 0)."""
    length = reader.octet("the SMSC number")
    if length == 0:
        return None
    if length > 1 + _SEMI_OCTETS_MAX // 2:
        raise PduError("the SMSC number is longer than 10 octets")
    kind = reader.octet("the SMSC number")
    octets = reader.take(length - 1, "the SMSC number")
    return TpAddress(_digits(octets), kind >> 4 & 0x07, kind & 0x0F)


def read_time(reader: Reader, what: str) -> datetime | None:
    """TP-SCTS or TP-DT (§9.2.3.11). None for an invalid date: networks send zeros, and worse."""
    *date, zone = reader.take(_SCTS_OCTETS, what)
    halves = _semi_octets(bytes(date))
    if any(half > 9 for half in halves):
        return None
    year, *rest = (tens * 10 + ones for tens, ones in zip(halves[::2], halves[1::2], strict=True))
    # Bit 3 of the zone's octet is its sign; the other bits are two digits, quarters of an hour.
    quarters = (zone & 0x07) * 10 + (zone >> 4)
    minutes = 15 * (-quarters if zone & 0x08 else quarters)
    try:
        offset = timezone(timedelta(minutes=minutes))
        month, day, hour, minute, second = rest
        return datetime(_CENTURY + year, month, day, hour, minute, second, tzinfo=offset)
    except ValueError:
        return None


def write_time(moment: datetime | None) -> bytes:
    """Seven octets; zeros for None. Seconds are whole, the zone a multiple of 15 minutes."""
    if moment is None:
        return bytes(_SCTS_OCTETS)
    offset = moment.utcoffset() or timedelta()
    quarters = round(offset / timedelta(minutes=15))
    if not _CENTURY <= moment.year < _CENTURY + 100 or abs(quarters) > _QUARTERS_MAX:
        raise PduError("the time cannot be written in seven octets")
    values = (moment.year % 100, moment.month, moment.day, moment.hour, moment.minute)
    octets = bytes(value % 10 << 4 | value // 10 for value in (*values, moment.second))
    sign = 0x08 if quarters < 0 else 0
    return octets + bytes((abs(quarters) % 10 << 4 | abs(quarters) // 10 | sign,))


def relative_minutes(code: int) -> int:
    """Minutes that a relative TP-VP octet means (§9.2.3.12.1)."""
    if code <= 143:
        return (code + 1) * 5
    if code <= 167:
        return 12 * 60 + (code - 143) * 30
    if code <= 196:
        return (code - 166) * 24 * 60
    return (code - 192) * 7 * 24 * 60


_VP_MINUTES: Final = tuple(relative_minutes(code) for code in range(256))


def relative_code(minutes: float) -> int:
    """The shortest relative TP-VP that is no shorter than ``minutes``; at most 63 weeks."""
    return next((code for code, reach in enumerate(_VP_MINUTES) if reach >= minutes), 255)


# Seven-bit characters packed into octets (3GPP TS 23.038 §6.1.2.1), and the octets of USSD.
#
# A packed text is one long number: septet 0 has its lowest seven bits, septet 1 the next seven. So
# packing is a shift and a conversion, and no carry from octet to octet is kept by hand.

_CARRIAGE_RETURN: Final = 0x0D


def octets_for(septets: int, fill_bits: int = 0) -> int:
    """Octets that so many septets take."""
    return (7 * septets + fill_bits + 7) // 8


def fill_bits_after(header_octets: int) -> int:
    """Bits between a user data header and the text, which begins on a septet (23.040 §9.2.3.24)."""
    return -8 * header_octets % 7


def pack(septets: bytes, fill_bits: int = 0) -> bytes:
    """Septets, one to an octet, packed; the first ``fill_bits`` bits are 0."""
    number = 0
    for septet in reversed(septets):
        number = number << 7 | septet & 0x7F
    return (number << fill_bits).to_bytes(octets_for(len(septets), fill_bits), "little")


def unpack(octets: bytes, count: int, fill_bits: int = 0) -> bytes:
    """The first ``count`` septets, one to an octet; bits beyond the end of ``octets`` are 0."""
    number = int.from_bytes(octets, "little") >> fill_bits
    return bytes(number >> 7 * at & 0x7F for at in range(count))


def unpack_ussd(octets: bytes) -> bytes:
    """The septets of a packed USSD string, which has no length of its own.

    If seven bits were left over the sender filled them with CR (23.038 §6.1.2.3.1), because zeros
    would read as ``@``.
    """
    septets = unpack(octets, len(octets) * 8 // 7)
    if septets and len(septets) % 8 == 0 and septets[-1] == _CARRIAGE_RETURN:
        return septets[:-1]
    return septets


def pack_ussd(septets: bytes) -> bytes:
    """Septets, one to an octet, packed as a USSD string: the reverse of :func:`unpack_ussd`."""
    if len(septets) % 8 == 7:
        septets += bytes((_CARRIAGE_RETURN,))
    return pack(septets)
