"""A segment as a ``submit_sm``, and the text of a message PDU back (SMPP 3.4 §4.4, §5.2).

Pure: the time is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from risala.drivers.smpp.pdu import DataSm, DeliverSm, SubmitSm
from risala.drivers.smpp.tlv import (
    MESSAGE_PAYLOAD,
    SAR_MSG_REF_NUM,
    SAR_SEGMENT_SEQNUM,
    SAR_TOTAL_SEGMENTS,
    find,
)
from risala.sms.address import destination_address, source_address
from risala.sms.alphabet import decode_gsm7, decode_ucs2, encode_gsm7, encode_ucs2
from risala.sms.message import Alphabet, Segment
from risala.sms.segment import Concatenation, parse_user_data_header, user_data_header

ESM_RECEIPT: Final = 0x04
ESM_UDHI: Final = 0x40
_URGENT: Final = 1
_USER_DATA_MAX: Final = 140
_DCS_DEFAULT: Final = 0x00
_DCS_UCS2: Final = 0x08
_CODECS: Final = {
    0x05: "shift_jis",
    0x06: "iso8859-5",
    0x07: "iso8859-8",
    0x0A: "iso2022_jp",
    0x0D: "iso2022_jp_1",
    0x0E: "euc_kr",
}
"""Alphabets of §5.2.19 beyond GSM 03.38, Latin-1 and UCS-2, which are what phones use. All other
values, 8-bit data among them, are read as Latin-1, in which no octet is lost."""
_VALIDITY_MAX_S: Final = 30 * 86400
"""The day field of a relative time has two digits, and months have no agreed length."""

MessagePdu = SubmitSm | DeliverSm | DataSm


class DefaultAlphabet(StrEnum):
    """What a carrier takes ``data_coding`` 0 for; the standard leaves it to the SMSC."""

    GSM7 = "gsm7"
    """GSM 03.38, one septet in each octet."""
    LATIN1 = "latin1"


class UnsendableError(ValueError):
    """A text that this carrier's alphabet cannot carry; another carrier may."""


@dataclass(frozen=True, slots=True)
class SubmitOptions:
    """How this carrier wants its submits; None leaves what the address itself tells."""

    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
    service_type: str = ""
    source_ton: int | None = None
    source_npi: int | None = None
    dest_ton: int | None = None
    dest_npi: int | None = None


def submit_sm(segment: Segment, options: SubmitOptions, now_ms: int) -> SubmitSm:
    """The PDU for one segment. ``now_ms`` is UTC epoch milliseconds, for the validity.

    Raises:
        UnsendableError: the carrier's default alphabet lacks a character.
    """
    data_coding, octets = _encode(segment, options.default_alphabet)
    esm_class = 0
    if segment.total > 1:
        esm_class = ESM_UDHI
        octets = user_data_header(segment.reference, segment.total, segment.number) + octets
    source = source_address(segment.sender)
    destination = destination_address(segment.recipient)
    return SubmitSm(
        service_type=options.service_type,
        source_addr_ton=_or(options.source_ton, source.ton),
        source_addr_npi=_or(options.source_npi, source.npi),
        source_addr=source.text,
        dest_addr_ton=_or(options.dest_ton, destination.ton),
        dest_addr_npi=_or(options.dest_npi, destination.npi),
        destination_addr=destination.text,
        esm_class=esm_class,
        priority_flag=_URGENT if segment.urgent else 0,
        validity_period=relative_time(segment.expires_at_ms - now_ms),
        registered_delivery=1,
        data_coding=data_coding,
        short_message=octets,
    )


def relative_time(ms: int) -> str:
    """A span as ``YYMMDDhhmmss000R`` (§7.1.1.2): one second at least, thirty days at most."""
    seconds = min(max(-(-ms // 1000), 1), _VALIDITY_MAX_S)
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    return f"0000{days:02}{hours:02}{rest // 60:02}{rest % 60:02}000R"


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a message PDU carries."""

    text: str
    concatenation: Concatenation | None


def decode_message(
    pdu: MessagePdu, default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
) -> Decoded:
    """The text and the place in its message, of any PDU; octets that make no sense are replaced.

    A header of user data and the SAR parameters both tell the place; the header wins.
    """
    octets = message_octets(pdu)
    concatenation = _sar(pdu)
    if pdu.esm_class & ESM_UDHI:
        try:
            header = parse_user_data_header(octets)
        except ValueError:
            pass  # marked, but there is none that fits: it is all text
        else:
            octets = octets[header.length :]
            concatenation = header.concatenation or concatenation
    # A part may end in the middle of a pair, which joining mends.
    return Decoded(_decode(octets, pdu.data_coding, default_alphabet, concatenation), concatenation)


def plain_text(pdu: MessagePdu) -> str:
    """A receipt's text: ASCII whatever alphabet the carrier declares, but for UCS-2."""
    octets = message_octets(pdu)
    if pdu.esm_class & ESM_UDHI and octets and octets[0] < len(octets):
        octets = octets[octets[0] + 1 :]
    if pdu.data_coding == _DCS_UCS2:
        return octets.decode("utf-16-be", "replace")
    return octets.decode("latin-1")


def message_octets(pdu: MessagePdu) -> bytes:
    """The user data: ``short_message``, or ``message_payload`` where that is used instead."""
    octets = b"" if isinstance(pdu, DataSm) else pdu.short_message
    if not octets and pdu.tlvs:
        payload = find(pdu.tlvs, MESSAGE_PAYLOAD)
        octets = payload.value if payload else b""
    return octets


def readable_address(ton: int, address: str) -> str:
    """An address as people write it: ``+`` before an international number (TON 1)."""
    is_international = ton == 1 and address.isascii() and address.isdigit()
    return f"+{address}" if is_international else address


def _or(configured: int | None, otherwise: int) -> int:
    return int(otherwise) if configured is None else configured


def _encode(segment: Segment, default: DefaultAlphabet) -> tuple[int, bytes]:
    if segment.alphabet is Alphabet.UCS2:
        return _DCS_UCS2, encode_ucs2(segment.text)
    if default is DefaultAlphabet.GSM7:
        return _DCS_DEFAULT, encode_gsm7(segment.text)
    try:
        return _DCS_DEFAULT, segment.text.encode("latin-1")
    except UnicodeEncodeError:
        # Latin-1 lacks the euro sign and the Greek capitals of GSM 03.38.
        octets = encode_ucs2(segment.text)
        if len(octets) + (6 if segment.total > 1 else 0) <= _USER_DATA_MAX:
            return _DCS_UCS2, octets
        raise UnsendableError("a character is not in Latin-1") from None


def _decode(
    octets: bytes, data_coding: int, default: DefaultAlphabet, part: Concatenation | None
) -> str:
    # Above 0x0F the octet is a GSM data coding scheme (TS 23.038 §4), which some pass through.
    scheme = data_coding & 0x0C if 0x10 <= data_coding < 0x80 else None
    if data_coding == _DCS_UCS2 or scheme == 0x08:
        return decode_ucs2(octets, partial=part is not None)
    if data_coding == _DCS_DEFAULT and default is DefaultAlphabet.GSM7:
        return decode_gsm7(octets)
    if scheme == 0x00 or data_coding & 0xF4 == 0xF0:
        return decode_gsm7(octets)
    return octets.decode(_CODECS.get(data_coding, "latin-1"), "replace")


def _sar(pdu: MessagePdu) -> Concatenation | None:
    if not pdu.tlvs:
        return None
    reference = find(pdu.tlvs, SAR_MSG_REF_NUM)
    total = find(pdu.tlvs, SAR_TOTAL_SEGMENTS)
    number = find(pdu.tlvs, SAR_SEGMENT_SEQNUM)
    if reference is None or total is None or number is None:
        return None
    if not 1 <= number.number <= total.number <= 255:
        return None
    return Concatenation(reference.number & 0xFFFF, total.number, number.number, 16)
