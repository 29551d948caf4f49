"""A customer's ``submit_sm`` or ``data_sm`` as a message of ours, or the reason against it. Pure.

Features that our messages lack are refused with a sentence, never silently dropped: binary data,
headers that address a port, silent messages, acknowledged delivery.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from risala.drivers.smpp.protocol.checks import form_fault
from risala.drivers.smpp.protocol.fields import SHORT_MESSAGE_MAX
from risala.drivers.smpp.protocol.pdu import DataSm, SubmitSm
from risala.drivers.smpp.protocol.status import status_of as row_of
from risala.drivers.smpp.protocol.submit import (
    ESM_UDHI,
    FLASH_CODINGS,
    Decoded,
    DefaultAlphabet,
    decode_message,
    message_octets,
)
from risala.drivers.smpp.protocol.times import parse_time
from risala.drivers.smpp.protocol.tlv import USER_MESSAGE_REFERENCE, Tlv, find
from risala.engine.model.commands import AHEAD_MAX_S, CutPart, SendMessage
from risala.engine.model.ids import key_of
from risala.smpp_server.statuses import (
    ESME_RINVDCS,
    ESME_RINVDFTMSGID,
    ESME_RINVDSTADR,
    ESME_RINVESMCLASS,
    ESME_RINVEXPIRY,
    ESME_RINVMSGLEN,
    ESME_RINVREPFLAG,
    ESME_RINVSCHED,
    ESME_RINVSERTYP,
    ESME_RINVSRCADR,
    ESME_RINVTLVVAL,
    ESME_RSUBMITFAIL,
    StatusRefusal,
)
from risala.sms.address import sender_fault
from risala.sms.alphabet import ESCAPE_CHARACTER, decode_ucs2, fits_gsm7
from risala.sms.evident import BYTE_ORDER_MARK, InboundCoding, TextForm
from risala.sms.limits import IDEMPOTENCY_KEY_CHARACTERS, TEXT_CHARACTERS_MAX, VALIDITY_S
from risala.sms.message import Alphabet, Concatenation
from risala.sms.numbering.plan import NumberingPlan
from risala.sms.segment import halves

# The format of message ids for customers' software: the service's own id, or a number.
#
# Many programs keep ids in a column of numbers, or read them as hexadecimal. A number here is the
# message's key, which is unique, stored with the message and less than 2 to the power of 63. So a
# number needs no table, and identifies its message for as long as the message is kept. Pure.

MESSAGE_ID: Final = "smpp.id"
"""The metadata's member with the shape of a numeric message id in the submit's answer: receipts use
the same shape, even after the setting was changed."""


class IdShape(StrEnum):
    """The formats of ids."""

    TEXT = "text"
    """The usual format: ``sms_`` and 32 characters."""
    DECIMAL = "decimal"
    """Up to 19 digits."""
    HEX = "hex"
    """Up to 16 digits, letters small."""


def written(message_id: str, shape: IdShape) -> str:
    """A message's id in this shape."""
    key = None if shape is IdShape.TEXT else key_of(message_id)
    if key is None:
        return message_id
    return f"{key}" if shape is IdShape.DECIMAL else f"{key:x}"


def shape_of(metadata: Mapping[str, str]) -> IdShape:
    """The shape of the id in the answer to a message's submit."""
    try:
        return IdShape(metadata.get(MESSAGE_ID, IdShape.TEXT))
    except ValueError:  # metadata that a caller of the API made
        return IdShape.TEXT


Submit = SubmitSm | DataSm

IDEMPOTENCY_KEY: Final = 0x1401
"""Tag of our own optional parameter (§5.3.2 leaves 0x1400 to 0x3FFF to vendors): the API's
idempotency key, as a C-Octet String. ``user_message_reference`` could not serve: it has 65,536
values, which come again, and a key holds for ever."""
RECEIPT: Final = "smpp.receipt"
"""The metadata's member for the requested receipts: ``registered_delivery``'s lowest two bits
(§5.2.17), 1 all, 2 of failures, 3 of deliveries (SMPP 5.0)."""
INTERMEDIATE: Final = "smpp.intermediate"
"""The metadata's member for requested intermediate notifications: bit 4 of
``registered_delivery``."""
REFERENCE: Final = "smpp.reference"
"""The metadata's member with the submit's ``user_message_reference``, which receipts repeat."""
READ_AS: Final = "smpp.read_as"
"""The metadata's member that says what the submit declared and what was believed, if these
differ."""

_CODINGS: Final = frozenset({0x00, 0x01, 0x03, 0x08}) | FLASH_CODINGS
"""The default alphabet, IA5, Latin-1 and UCS-2 (§5.2.19): what a phone shows as text; and those of
class 0."""
_DCS_DEFAULT: Final = 0x00
_MODE_AND_TYPE: Final = 0x3F
_STORE_AND_FORWARD: Final = 0x03
_REPLY_PATH: Final = 0x80
_RECEIPTS: Final = 0x03
_INTERMEDIATE: Final = 0x10
_ELSEWHERE: Final = frozenset({"USSD", "WAP", "CBS"})
"""Services that are no short messages (§5.2.11)."""
_TON_ALPHANUMERIC: Final = 5
_CONCATENATION: Final = frozenset({0x00, 0x08})
"""Elements of a user data header that mark a part of a long message (TS 23.040 §9.2.3.24)."""


def command_of(
    request: Submit,
    now_ms: int,
    plan: NumberingPlan,
    alphabet: DefaultAlphabet,
    sender: str | None,
    shape: IdShape = IdShape.TEXT,
    coding: InboundCoding = InboundCoding.AUTO,
) -> SendMessage:
    """The message that a submit asks for.

    Args:
        plan: the numbers that are served.
        alphabet: the meaning of ``data_coding`` 0.
        sender: used for a message without a sender; None: the service's own sender.
        shape: the format of its id.
        coding: whether a text is read as declared, or as it evidently is.

    Raises:
        StatusRefusal: it cannot be one of ours; with the status to answer.
    """
    if fault := form_fault(request, now_ms):
        raise StatusRefusal(fault, f"The request is not well made: {row_of(fault).name}.")
    _refuse_forms(request)
    send_at = validity_s = None
    if isinstance(request, SubmitSm):
        _refuse_wishes(request)
        send_at, validity_s = _times(request, now_ms)
    decoded = _decoded(request, alphabet, coding)
    text, part = _text(request, decoded)
    return SendMessage(
        to=_recipient(request.destination_addr, plan),
        body=text,
        sender=_sender(request) or sender,
        idempotency_key=_key(request.tlvs),
        metadata=_metadata(request, shape, decoded.note),
        send_at=send_at,
        validity_s=validity_s,
        part=part,
        message_class=0 if request.data_coding in FLASH_CODINGS else None,
    )


def _refuse_forms(request: Submit) -> None:
    """Refuse ``esm_class``, ``service_type`` and ``data_coding`` that ask for more than text."""
    if request.service_type.upper() in _ELSEWHERE:
        raise StatusRefusal(ESME_RINVSERTYP, "Only short messages are taken.")
    if request.esm_class & _MODE_AND_TYPE not in (0, _STORE_AND_FORWARD):
        text = "Only store and forward is done; no datagram, transaction or acknowledgement."
        raise StatusRefusal(ESME_RINVESMCLASS, text)
    if request.esm_class & _REPLY_PATH:
        raise StatusRefusal(ESME_RINVESMCLASS, "A reply path cannot be set.")
    if request.data_coding not in _CODINGS:
        text = "Only text is taken: data_coding 0, 1, 3 or 8, no binary and no class but 0."
        raise StatusRefusal(ESME_RINVDCS, text)
    if request.esm_class & ESM_UDHI and _has_other_elements(message_octets(request)):
        text = "The header may only tell the part of a long message; ports are not addressed."
        raise StatusRefusal(ESME_RINVESMCLASS, text)


def _has_other_elements(octets: bytes) -> bool:
    """Whether a user data header has elements that would get lost, or cannot be read."""
    end, at = (octets[0] + 1 if octets else 0), 1
    if not octets or end > len(octets):
        return True
    while at + 1 < end:
        if octets[at] not in _CONCATENATION:
            return True
        at += 2 + octets[at + 1]
    return at != end


def _refuse_wishes(request: SubmitSm) -> None:
    if request.replace_if_present_flag:
        text = "A message that was accepted is not replaced: cancel it, and submit another."
        raise StatusRefusal(ESME_RINVREPFLAG, text)
    if request.sm_default_msg_id:
        raise StatusRefusal(ESME_RINVDFTMSGID, "There are no predefined messages.")
    if len(request.short_message) > SHORT_MESSAGE_MAX:
        text = f"short_message has {SHORT_MESSAGE_MAX} octets at most; message_payload has more."
        raise StatusRefusal(ESME_RINVMSGLEN, text)
    if request.protocol_id:
        raise StatusRefusal(ESME_RSUBMITFAIL, "protocol_id must be 0: an ordinary short message.")


def _times(request: SubmitSm, now_ms: int) -> tuple[int | None, int | None]:
    """When to send it, and for how many seconds from then on it is worth sending."""
    send_at = None
    if request.schedule_delivery_time:
        send_at = parse_time(request.schedule_delivery_time, now_ms)
        if send_at > now_ms + AHEAD_MAX_S * 1000:
            text = f"A message can be scheduled at most {AHEAD_MAX_S // 86_400} days ahead."
            raise StatusRefusal(ESME_RINVSCHED, text)
        send_at = send_at if send_at > now_ms else None
    if not request.validity_period:
        return send_at, None
    left_ms = parse_time(request.validity_period, now_ms) - (send_at or now_ms)
    if left_ms <= 0:
        raise StatusRefusal(ESME_RINVEXPIRY, "The validity is over before the message is sent.")
    return send_at, min(-(-left_ms // 1000), VALIDITY_S[1])  # a longer one is shortened


def _recipient(address: str, plan: NumberingPlan) -> str:
    try:
        return plan.read(address)
    except ValueError as wrong:
        raise StatusRefusal(ESME_RINVDSTADR, str(wrong)) from None


def _sender(request: Submit) -> str | None:
    """The requested sender; None: no sender in the request."""
    if not request.source_addr:
        return None
    wrong = sender_fault(request.source_addr)
    if wrong is not None:
        raise StatusRefusal(ESME_RINVSRCADR, wrong)
    return request.source_addr


def _decoded(request: Submit, alphabet: DefaultAlphabet, coding: InboundCoding) -> Decoded:
    """The content: read as it evidently is, where that can be sent so."""
    decoded = decode_message(request, alphabet, coding)
    is_part = decoded.concatenation is not None and decoded.concatenation.total > 1
    is_latin1 = decoded.form is TextForm.LATIN1 and request.data_coding == _DCS_DEFAULT
    if (is_part and decoded.form is TextForm.UTF8) or is_latin1:
        # A part is sent with the octets that it has; and Latin-1 has a data_coding of its own.
        return decode_message(request, alphabet, InboundCoding.DECLARED)
    return decoded


def _text(request: Submit, decoded: Decoded) -> tuple[str, CutPart | None]:
    """The text, and for a part of a longer message its place there."""
    octets, is_ucs2 = decoded.octets, decoded.form is TextForm.UCS2
    if is_ucs2 and len(octets) % 2:
        raise StatusRefusal(ESME_RINVDCS, "A text in UCS-2 has an even number of octets.")
    if decoded.form is TextForm.GSM7 and max(octets, default=0) > 0x7F:
        text = "data_coding 0 is GSM 03.38, one septet in each octet; Latin-1 is data_coding 3."
        raise StatusRefusal(ESME_RINVDCS, text)
    place = decoded.concatenation
    is_part = place is not None and place.total > 1
    # The half that a cut leaves at the end of a part is not shown, but is still sent.
    units = decoded.text
    if is_ucs2:
        units = decode_ucs2(octets, partial=True).removeprefix(BYTE_ORDER_MARK)
    elif not is_part:
        units = units.removesuffix(ESCAPE_CHARACTER)
    try:
        before, text, behind = halves(units, _alphabet(decoded))
    except ValueError as fault:
        raise StatusRefusal(ESME_RINVDCS, f"The UCS-2 text cannot be read: {fault}.") from None
    if (before or behind) and not is_part:
        sentence = "The UCS-2 text begins or ends with half of a character, and is no part."
        raise StatusRefusal(ESME_RINVDCS, sentence)
    if not text + before + behind or len(text) > TEXT_CHARACTERS_MAX or "\0" in text:
        sentence = f"A message has 1 to {TEXT_CHARACTERS_MAX} characters, and no NUL."
        raise StatusRefusal(ESME_RINVMSGLEN, sentence)
    if not is_part:
        return text, None
    return text, _part(request, decoded, text, (before, behind))


def _part(request: Submit, decoded: Decoded, text: str, cut: tuple[str, str]) -> CutPart:
    """A part is sent as it was cut: in the alphabet of all parts, with the customer's reference.

    Raises:
        StatusRefusal: it does not fit one SMS next to its header, or is not in its alphabet.
    """
    place = decoded.concatenation
    assert place is not None
    if not request.esm_class & ESM_UDHI:
        # The SAR parameters come without a header of which the text would leave the room: all parts
        # get the narrow one.
        place = Concatenation(place.reference & 0xFF, place.total, place.number, 8)
    alphabet = _alphabet(decoded)
    if alphabet is Alphabet.GSM7 and not fits_gsm7(text):
        sentence = "A part with letters beyond GSM 03.38 is UCS-2, as are all of its message."
        raise StatusRefusal(ESME_RINVDCS, sentence)
    part = CutPart(place, alphabet, cut)
    if not part.takes(text):
        sentence = f"A part has room for {part.room} septets or code units beside its header."
        raise StatusRefusal(ESME_RINVMSGLEN, sentence)
    return part


def _alphabet(decoded: Decoded) -> Alphabet:
    """The alphabet of a part."""
    is_ucs2 = decoded.form in (TextForm.UCS2, TextForm.UCS2_LE)
    return Alphabet.UCS2 if is_ucs2 else Alphabet.GSM7


def _key(tlvs: tuple[Tlv, ...]) -> str | None:
    key = find(tlvs, IDEMPOTENCY_KEY)
    if key is None:
        return None
    least, most = IDEMPOTENCY_KEY_CHARACTERS
    if not least <= len(key.text) <= most:
        sentence = f"An idempotency key has {least} to {most} characters."
        raise StatusRefusal(ESME_RINVTLVVAL, sentence)
    return key.text


def _metadata(request: Submit, shape: IdShape, note: str) -> dict[str, str]:
    metadata = {} if shape is IdShape.TEXT else {MESSAGE_ID: shape.value}
    if note:
        metadata[READ_AS] = note
    if receipts := request.registered_delivery & _RECEIPTS:
        metadata[RECEIPT] = str(receipts)
    if request.registered_delivery & _INTERMEDIATE:
        metadata[INTERMEDIATE] = "1"
    reference = find(request.tlvs, USER_MESSAGE_REFERENCE)
    if reference is not None:
        metadata[REFERENCE] = str(reference.number)
    return metadata
