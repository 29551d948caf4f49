"""A segment as a ``submit_sm``, and the text of a message PDU back (SMPP 3.4 §4.4, §5.2).

Pure: the time is handed in.
"""

from __future__ import annotations

import re
from dataclasses import field
from enum import StrEnum
from functools import lru_cache
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, QuerySm, SubmitSm, varied
from risala.drivers.smpp.protocol.times import SPAN_MAX_S, absolute_time, relative_time
from risala.drivers.smpp.protocol.tlv import (
    DEST_ADDR_SUBUNIT,
    MESSAGE_PAYLOAD,
    SAR_MSG_REF_NUM,
    SAR_SEGMENT_SEQNUM,
    SAR_TOTAL_SEGMENTS,
    USER_MESSAGE_REFERENCE,
    Tlv,
    find,
)
from risala.sms.address import destination_address, destination_digits, source_address
from risala.sms.alphabet import encode_gsm7_part, encode_ucs2
from risala.sms.evident import (
    HEADER,
    MMS_PORT,
    InboundCoding,
    JudgedText,
    TextForm,
    TextLabel,
    judge_header,
    judge_octets,
)
from risala.sms.message import Alphabet, Concatenation, Segment, octet_reference
from risala.sms.segment import user_data_header

ESM_TRANSACTION: Final = 0x02
"""The answer to the submit is the phone's (Forward mode, §5.2.12)."""
ESM_RECEIPT: Final = 0x04
ESM_INTERMEDIATE: Final = 0x20
ESM_UDHI: Final = 0x40
FORMS_MAX: Final = 1024
"""Senders whose form of a submit is kept (under 2 MiB)."""
_USER_DATA_MAX: Final = 140
_DCS_DEFAULT: Final = 0x00
_DCS_IA5: Final = 0x01
DCS_UCS2: Final = 0x08
DCS_FLASH: Final = 0xF0
"""GSM message class control: GSM 03.38, class 0 (§5.2.19, 3GPP TS 23.038 §4)."""
DCS_FLASH_UCS2: Final = 0x18
"""UCS-2, class 0: of the general group of TS 23.038 §4, which the standard's own list leaves out.
Its message class control knows no UCS-2."""
FLASH_CODINGS: Final = frozenset({0x10, DCS_FLASH_UCS2, DCS_FLASH})
_ON_DISPLAY: Final = b"\x01"
"""The value of ``dest_addr_subunit`` that names the phone's display (§5.3.2.1)."""
_has_controls: Final = re.compile(rb"[\x00-\x09\x0b\x0c\x0e-\x1f]").search
"""Finds octets that represent letters in GSM 03.38 and occur in no IA5 text."""
_CODECS: Final = {
    0x05: "shift_jis",
    0x06: "iso8859-5",
    0x07: "iso8859-8",
    0x0A: "iso2022_jp",
    0x0D: "iso2022_jp_1",
    0x0E: "euc_kr",
}
"""Alphabets of §5.2.19 other than GSM 03.38, Latin-1 and UCS-2, which phones use. All other values,
including 8-bit data, are read as Latin-1, in which no octet is lost."""

_HEADER_NOTES: Final = {
    True: "esm_class declares a header that is missing",
    False: "a header that esm_class does not declare",
}
MessagePdu = SubmitSm | DeliverSm | DataSm


class DefaultAlphabet(StrEnum):
    """A carrier's meaning of ``data_coding`` 0; the standard leaves it to the SMSC."""

    GSM7 = "gsm7"
    """GSM 03.38, one septet in each octet."""
    LATIN1 = "latin1"


class Concatenating(StrEnum):
    """How the parts of a long message are marked."""

    UDH = "udh"
    """A user data header with an 8-bit reference, before the text of each part."""
    UDH16 = "udh16"
    """A user data header with a 16-bit reference, if every part has room for it; else 8-bit."""
    SAR = "sar"
    """The optional parameters ``sar_…`` (§5.3.2.22 to 24); the SMSC makes the header."""


class TextField(StrEnum):
    """The field of the user data (§5.2.22, §5.3.2.32)."""

    SHORT_MESSAGE = "short_message"
    MESSAGE_PAYLOAD = "message_payload"


class Validity(StrEnum):
    """How ``validity_period`` is written (§7.1.1)."""

    RELATIVE = "relative"
    ABSOLUTE = "absolute"
    NONE = "none"
    """The carrier's own default."""


class FlashBy(StrEnum):
    """How a flash message is marked."""

    DATA_CODING = "data_coding"
    """By ``data_coding``: 0xF0 in GSM 03.38, 0x18 in UCS-2."""
    DEST_ADDR_SUBUNIT = "dest_addr_subunit"
    """By the optional parameter of this name, with the value 1 (§5.3.2.1)."""
    NONE = "none"
    """The carrier takes none."""


class UnsendableError(ValueError):
    """A text that this carrier's alphabet cannot carry; another carrier may."""


@dataclass(frozen=True, slots=True, eq=False)
class SubmitOptions:
    """A carrier's format of submits; None if TON and NPI follow from the address.

    Equal to itself only: it is the key of a cache that is used with every submit.
    """

    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
    long_messages: Concatenating = Concatenating.UDH
    text_in: TextField = TextField.SHORT_MESSAGE
    validity: Validity = Validity.RELATIVE
    service_type: str = ""
    source_ton: int | None = None
    source_npi: int | None = None
    dest_ton: int | None = None
    dest_npi: int | None = None
    priority_flag: int = 0
    priority_flag_code: int = 1
    protocol_id: int = 0
    registered_delivery: int = 1
    replace_if_present_flag: int = 0
    extra_tlvs: tuple[Tlv, ...] = ()
    is_reference_octet: bool = False
    """Use references of 1 to 255: some SMSCs keep one octet of them."""
    is_transaction: bool = False
    """Let the carrier answer once the phone has answered."""
    flash: FlashBy = FlashBy.DATA_CODING


def submit_sm(
    segment: Segment, options: SubmitOptions, now_ms: int, *, has_reference: bool = False
) -> SubmitSm:
    """The PDU for one segment (§4.4.1).

    Args:
        now_ms: UTC epoch milliseconds, from which the validity counts.
        has_reference: give it the segment's own ``user_message_reference`` (§5.3.2.17).

    Raises:
        UnsendableError: the carrier's default alphabet lacks a character.
    """
    place, tlvs = _concatenation(segment, options.long_messages)
    is_flash = segment.message_class == 0
    if is_flash and options.flash is FlashBy.DATA_CODING:
        data_coding, octets = _encode_flash(segment)
    else:
        data_coding, octets = _encode(segment, options.default_alphabet, len(place))
        if is_flash:
            tlvs = (*tlvs, Tlv(DEST_ADDR_SUBUNIT, _ON_DISPLAY))
    esm_class = (ESM_UDHI if place else 0) | (ESM_TRANSACTION if options.is_transaction else 0)
    octets, tlvs = place + octets, (*options.extra_tlvs, *tlvs)
    if has_reference:
        reference = segment.submit_reference
        sent_reference = octet_reference(reference) if options.is_reference_octet else reference
        tlvs = (*tlvs, Tlv(USER_MESSAGE_REFERENCE, sent_reference.to_bytes(2)))
    if options.text_in is TextField.MESSAGE_PAYLOAD:
        octets, tlvs = b"", (*tlvs, Tlv(MESSAGE_PAYLOAD, octets))
    return varied(
        _form(options, segment.sender, segment.urgent),
        destination_addr=destination_digits(segment.recipient),
        esm_class=esm_class,
        validity_period=_validity(options.validity, segment.expires_at_ms, now_ms),
        data_coding=data_coding,
        short_message=octets,
        tlvs=tlvs,
    )


@lru_cache(maxsize=FORMS_MAX)
def _form(options: SubmitOptions, sender: str, urgent: bool) -> SubmitSm:
    """A ``submit_sm`` with all fields that the next one of this sender shares."""
    source = source_address(sender)
    destination = destination_address("")
    return SubmitSm(
        service_type=options.service_type,
        source_addr_ton=_or(options.source_ton, source.ton),
        source_addr_npi=_or(options.source_npi, source.npi),
        source_addr=source.text,
        dest_addr_ton=_or(options.dest_ton, destination.ton),
        dest_addr_npi=_or(options.dest_npi, destination.npi),
        protocol_id=options.protocol_id,
        priority_flag=options.priority_flag_code if urgent else options.priority_flag,
        registered_delivery=options.registered_delivery,
        replace_if_present_flag=options.replace_if_present_flag,
    )


def _concatenation(segment: Segment, how: Concatenating) -> tuple[bytes, tuple[Tlv, ...]]:
    """The marks of a part: the octets of a user data header, or parameters."""
    place = segment.place
    if place is None:
        return b"", ()
    if how is Concatenating.SAR:
        return b"", sar_tlvs(place.reference, place.total, place.number)
    bits = place.bits if how is Concatenating.UDH16 else 8
    return user_data_header(place.reference, place.total, place.number, reference_bits=bits), ()


def query_sm(message_id: str, sender: str, options: SubmitOptions) -> QuerySm:
    """A ``query_sm`` about a message that was submitted as ``sender`` (§4.8.1)."""
    source = source_address(sender)
    return QuerySm(
        message_id=message_id,
        source_addr_ton=_or(options.source_ton, source.ton),
        source_addr_npi=_or(options.source_npi, source.npi),
        source_addr=source.text,
    )


def sar_tlvs(reference: int, total: int, number: int) -> tuple[Tlv, Tlv, Tlv]:
    """The three optional parameters that mark a part (§5.3.2.22 to 24)."""
    return (
        Tlv(SAR_MSG_REF_NUM, (reference & 0xFFFF).to_bytes(2)),
        Tlv(SAR_TOTAL_SEGMENTS, bytes([total])),
        Tlv(SAR_SEGMENT_SEQNUM, bytes([number])),
    )


def _validity(how: Validity, expires_at_ms: int, now_ms: int) -> str:
    match how:
        case Validity.RELATIVE:
            return relative_time(expires_at_ms - now_ms)
        case Validity.ABSOLUTE:
            return absolute_time(min(expires_at_ms, now_ms + SPAN_MAX_S * 1000))
        case Validity.NONE:
            return ""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The content of a message PDU."""

    text: str = field(repr=False)
    concatenation: Concatenation | None
    note: str = ""
    """What was declared and what was believed, if these differ."""
    label: TextLabel | None = None
    """The difference in a word, for the message's page; None: no difference."""
    form: TextForm | None = None
    """How the text was read; None: in an alphabet of another continent."""
    octets: bytes = field(default=b"", repr=False)
    """The text's octets, behind any header."""


def decode_message(
    pdu: MessagePdu,
    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7,
    coding: InboundCoding = InboundCoding.AUTO,
) -> Decoded:
    """A PDU's text, and its part number; invalid octets are replaced.

    If a user data header and the SAR parameters contradict each other, the header counts.

    Args:
        coding: ``auto``: the text is read as it evidently is, where ``data_coding`` or
            ``esm_class`` declare something else.
    """
    octets = message_octets(pdu)
    concatenation = _sar(pdu)
    is_flagged = bool(pdu.esm_class & ESM_UDHI)
    header, is_as_flagged = judge_header(octets, is_declared=is_flagged, coding=coding)
    if header is not None:
        octets = octets[header.length :]
        concatenation = header.concatenation or concatenation
    declared = _declared_form(octets, pdu.data_coding, default_alphabet)
    notes = [] if is_as_flagged else [_HEADER_NOTES[is_flagged]]
    if declared is None:
        text = octets.decode(_CODECS[pdu.data_coding], "replace")
        return Decoded(text, concatenation, "; ".join(notes), None, None, octets)
    if header is not None and header.port == MMS_PORT and declared is TextForm.LATIN1:
        # No text: each octet stays as it is, for whoever joins the parts.
        coding = InboundCoding.DECLARED
    # A part may end in the middle of a surrogate pair; halves are kept, and joining mends them.
    is_part = concatenation is not None
    reading = judge_octets(octets, declared, coding=coding, is_part=is_part)
    if reading.believed is not declared:
        notes.insert(0, f"declared data_coding {pdu.data_coding}, read as {reading.believed}")
    label = _label_of(reading, coding, is_as_flagged=is_as_flagged, is_flagged=is_flagged)
    return Decoded(reading.text, concatenation, "; ".join(notes), label, reading.believed, octets)


def _label_of(
    reading: JudgedText, coding: InboundCoding, *, is_as_flagged: bool, is_flagged: bool
) -> TextLabel | None:
    """How the text was labelled, if that was not believed: its coding sooner than its header."""
    if not reading.is_as_declared:
        is_forced = coding is not InboundCoding.AUTO
        return TextLabel(reading.declared, reading.believed, is_forced)
    if is_as_flagged:
        return None
    form = reading.believed
    declared, believed = (HEADER, form) if is_flagged else (form, HEADER)
    return TextLabel(declared, believed, is_forced=False)


def plain_text(pdu: MessagePdu, coding: InboundCoding = InboundCoding.AUTO) -> str:
    """A receipt's text. Its fields are ASCII: without evidence of two octets a letter it is read as
    that, for any declared alphabet except UCS-2."""
    return text_and_label(pdu, coding)[0]


def text_and_label(
    pdu: MessagePdu, coding: InboundCoding = InboundCoding.AUTO
) -> tuple[str, TextLabel | None]:
    """A message's text, and how it was labelled if that was not believed."""
    octets = message_octets(pdu)
    is_usual = pdu.data_coding != DCS_UCS2 and not pdu.esm_class & ESM_UDHI
    if is_usual and b"\0" not in octets:
        return octets.decode("latin-1"), None
    decoded = decode_message(pdu, DefaultAlphabet.LATIN1, coding)
    # Without its flags, the label is no carrier's: no receipt is declared to be Latin-1.
    return decoded.text, None if is_usual else decoded.label


def message_octets(pdu: MessagePdu) -> bytes:
    """The user data: ``short_message``, or ``message_payload`` if that is used instead."""
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


def flashes(pdu: MessagePdu) -> bool:
    """Whether a message is for the phone's display alone: of class 0."""
    if pdu.data_coding in FLASH_CODINGS:
        return True
    subunit = find(pdu.tlvs, DEST_ADDR_SUBUNIT)
    return subunit is not None and subunit.value == _ON_DISPLAY


def _encode_flash(segment: Segment) -> tuple[int, bytes]:
    """As :func:`_encode`, with a ``data_coding`` of class 0. It names GSM 03.38, whatever the
    carrier's default alphabet is."""
    if segment.alphabet is Alphabet.UCS2:
        return DCS_FLASH_UCS2, encode_ucs2(segment.units)
    return DCS_FLASH, encode_gsm7_part(segment.units)


def _encode(segment: Segment, default: DefaultAlphabet, header: int) -> tuple[int, bytes]:
    """``data_coding`` and the octets of a segment's text.

    Args:
        header: octets that a user data header takes before the text.
    """
    if segment.alphabet is Alphabet.UCS2:
        return DCS_UCS2, encode_ucs2(segment.units)
    if default is DefaultAlphabet.GSM7:
        return _DCS_DEFAULT, encode_gsm7_part(segment.units)
    if segment.half_behind:
        raise UnsendableError("the part ends inside a character, which Latin-1 has whole only")
    try:
        return _DCS_DEFAULT, segment.text.encode("latin-1")
    except UnicodeEncodeError:
        # Latin-1 lacks the euro sign and the Greek capitals of GSM 03.38.
        octets = encode_ucs2(segment.text)
        if header + len(octets) <= _USER_DATA_MAX:
            return DCS_UCS2, octets
        raise UnsendableError("a character is not in Latin-1") from None


def _declared_form(octets: bytes, data_coding: int, default: DefaultAlphabet) -> TextForm | None:
    """The form that ``data_coding`` declares; None: one of :data:`_CODECS`."""
    # Above 0x0F the octet is a GSM data coding scheme (TS 23.038 §4), which some pass through.
    scheme = data_coding & 0x0C if 0x10 <= data_coding < 0x80 else None
    if data_coding == DCS_UCS2 or scheme == 0x08:
        return TextForm.UCS2
    if data_coding == _DCS_DEFAULT and default is DefaultAlphabet.GSM7:
        return TextForm.GSM7
    if scheme == 0x00 or data_coding & 0xF4 == 0xF0:
        return TextForm.GSM7
    if data_coding == _DCS_IA5 and _has_controls(octets):
        # Letters of GSM 03.38 marked as IA5: node-smpp, and programs built on it, write them so.
        return TextForm.GSM7
    return None if data_coding in _CODECS else TextForm.LATIN1


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
