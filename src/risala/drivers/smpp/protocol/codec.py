"""Octets to PDUs and back, without any I/O.

Lengths are checked before memory is allocated: a peer's declared length never decides how much.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from struct import Struct
from typing import Any, Final

from risala.drivers.smpp.protocol.fields import (
    C_OCTETS,
    ESME_RINVCMDID,
    ESME_RINVCMDLEN,
    SHORT_MESSAGE_MAX,
    PduFault,
    decode_fields,
    encode_fields,
)
from risala.drivers.smpp.protocol.pdu import PDUS, RESPONSE_BIT, MessageIdResp, Pdu, ShortMessage
from risala.drivers.smpp.protocol.tlv import decode_tlvs, encode_tlvs

# The bodies of the most frequent PDUs, encoded and decoded by hand.
#
# ``submit_sm``, ``deliver_sm`` and their responses are nearly all of the traffic, and in one
# direction nearly all of their fields are the same from one to the next. So the octets of those
# fields are kept, and only addresses and text are encoded each time. A test proves that this way
# and the general one (by layout, :mod:`.fields`) agree. A PDU that does not fit here is left to
# the general way, which reports the reason.

KEPT_MAX: Final = 1024
"""Sets of equal fields that are kept for each direction (under 2 MiB); when there are more, all are
dropped. A peer that varies its fields to fill our memory only slows its own traffic."""

_HEADER_OCTETS: Final = 16
_new: Final = object.__new__
# The __init__ of a frozen dataclass sets its fields one by one, which takes longer than all the
# rest of decoding. Setting its whole __dict__ at once makes the same object (as pdu.varied does).
_set_dict: Final = Pdu.__dict__["__dict__"].__set__

_SAME: Final = attrgetter(
    *("service_type", "source_addr", "schedule_delivery_time", "validity_period"),
    *("source_addr_ton", "source_addr_npi", "dest_addr_ton", "dest_addr_npi"),
    *("esm_class", "protocol_id", "priority_flag"),
    *("registered_delivery", "replace_if_present_flag", "data_coding", "sm_default_msg_id"),
)
_HEAD: Final = b"%b\0%c%c%b\0%c%c"
_TAIL: Final = b"\0%c%c%c%b\0%b\0%c%c%c%c"
_encoded: Final[dict[tuple[Any, ...], tuple[bytes, bytes]]] = {}
"""Octets by their fields: those before ``destination_addr``, and those after it up to
``sm_length``."""

# Five groups: all before source_addr, source_addr, the part between the addresses,
# destination_addr, and the rest up to sm_length. Matched on Latin-1 text, in which each octet is
# the character of its number.
_match: Final = re.compile(
    "([^\0]*+\0..)([^\0]*+)(\0..)([^\0]*+)(\0...[^\0]*+\0[^\0]*+\0....)", re.DOTALL
).match
_decoded: Final[dict[tuple[str, str, str], dict[str, Any]]] = {}
"""The fields of a PDU but its addresses and text, by the octets that they were read from."""


def encode_short_message(pdu: Pdu) -> bytes:
    """The octets of the mandatory part of a ``submit_sm`` or ``deliver_sm``.

    Raises:
        ValueError, OverflowError, TypeError: a field does not fit; the general way reports which.
    """
    same = _SAME(pdu)
    try:
        head, tail = _encoded[same]
    except KeyError:
        head, tail = _encode_same(same)
    to = pdu.destination_addr.encode("latin-1")  # type: ignore[attr-defined]
    octets: bytes = pdu.short_message  # type: ignore[attr-defined]
    if len(octets) > SHORT_MESSAGE_MAX or 0 in to:
        raise ValueError
    return b"%b%b%b%c%b" % (head, to, tail, len(octets), octets)


def _encode_same(same: tuple[Any, ...]) -> tuple[bytes, bytes]:
    texts, numbers = same[:4], same[4:]
    # A NUL within one of the texts gives a piece too many, and so a ValueError here.
    service, source, at, until = "\0".join(texts).encode("latin-1").split(b"\0")
    s_ton, s_npi, d_ton, d_npi, esm_class, protocol, priority, *rest = numbers
    head = _HEAD % (service, s_ton, s_npi, source, d_ton, d_npi)
    tail = _TAIL % (esm_class, protocol, priority, at, until, *rest)
    if len(_encoded) >= KEPT_MAX:
        _encoded.clear()
    _encoded[same] = head, tail
    return head, tail


def decode_short_message(
    kind: type[Pdu], octets: bytes, command_status: int, sequence_number: int
) -> Pdu:
    """A ``submit_sm`` or ``deliver_sm`` from the octets of the whole PDU.

    Raises:
        ValueError, IndexError: they do not fit; the general way reports why.
    """
    matched = _match(octets.decode("latin-1"), _HEADER_OCTETS)
    if matched is None:
        raise ValueError
    head, source, middle, to, tail = matched.groups()
    try:
        fields = _decoded[head, middle, tail].copy()
    except KeyError:
        fields = _decode_same(head, middle, tail).copy()
    fields["sequence_number"] = sequence_number
    fields["source_addr"] = source
    fields["destination_addr"] = to
    if command_status:
        fields["command_status"] = command_status
    at = matched.end() + 1
    end = at + octets[at - 1]
    if end == len(octets):
        fields["short_message"] = octets[at:]
    elif end < len(octets):
        fields["short_message"] = octets[at:end]
        fields["tlvs"], fields["trailing"] = decode_tlvs(octets, end, len(octets))
    else:
        raise ValueError
    pdu = _new(kind)
    _set_dict(pdu, fields)
    return pdu


def _decode_same(head: str, middle: str, tail: str) -> dict[str, Any]:
    at, until = tail[4:-5].split("\0")
    fields = {
        "command_status": 0,
        "sequence_number": 0,
        "tlvs": (),
        "trailing": b"",
        "service_type": head[:-3],
        "source_addr_ton": ord(head[-2]),
        "source_addr_npi": ord(head[-1]),
        "source_addr": "",
        "dest_addr_ton": ord(middle[1]),
        "dest_addr_npi": ord(middle[2]),
        "destination_addr": "",
        "esm_class": ord(tail[1]),
        "protocol_id": ord(tail[2]),
        "priority_flag": ord(tail[3]),
        "schedule_delivery_time": at,
        "validity_period": until,
        "registered_delivery": ord(tail[-4]),
        "replace_if_present_flag": ord(tail[-3]),
        "data_coding": ord(tail[-2]),
        "sm_default_msg_id": ord(tail[-1]),
        "short_message": b"",
    }
    if len(_decoded) >= KEPT_MAX:
        _decoded.clear()
    _decoded[head, middle, tail] = fields
    return fields


def encode_message_id(pdu: Pdu) -> bytes:
    """The octets of a response's body that is a message id. Raises as
    :func:`encode_short_message`."""
    message_id: str = pdu.message_id  # type: ignore[attr-defined]
    octets = message_id.encode("latin-1")
    if 0 in octets:
        raise ValueError
    return octets + b"\0"


def decode_message_id(
    kind: type[Pdu], octets: bytes, command_status: int, sequence_number: int
) -> Pdu:
    """A response whose body is a message id, from the octets of the whole PDU. Raises as
    :func:`decode_short_message`."""
    if octets.index(0, _HEADER_OCTETS) != len(octets) - 1:
        raise ValueError
    pdu = _new(kind)
    _set_dict(
        pdu,
        {
            "command_status": command_status,
            "sequence_number": sequence_number,
            "tlvs": (),
            "trailing": b"",
            "message_id": octets[_HEADER_OCTETS:-1].decode("latin-1"),
        },
    )
    return pdu


HOT_ENCODERS: Final = ((ShortMessage, encode_short_message), (MessageIdResp, encode_message_id))
HOT_DECODERS: Final = ((ShortMessage, decode_short_message), (MessageIdResp, decode_message_id))


HEADER: Final = Struct(">IIII")
HEADER_OCTETS: Final = HEADER.size
PDU_OCTETS_MAX: Final = 64 * 1024
"""Longer than any PDU in use (a full message_payload is 64 KiB in theory, 2 KiB in practice)."""

_ONE_STRING: Final = (C_OCTETS,)
_OUTSIDE_BODY: Final = {field.name for field in fields(Pdu)}


def _body_of(kind: type[Pdu]) -> Callable[[Pdu], tuple[Any, ...]]:
    names = [field.name for field in fields(kind) if field.name not in _OUTSIDE_BODY]
    if len(names) == 1:
        one = attrgetter(names[0])
        return lambda pdu: (one(pdu),)
    return attrgetter(*names) if names else lambda _: ()


_BODY: Final = {number: _body_of(kind) for number, kind in PDUS.items()}
_HOT_ENCODE: Final = {
    number: encode
    for number, kind in PDUS.items()
    for base, encode in HOT_ENCODERS
    if issubclass(kind, base)
}
_HOT_DECODE: Final = {
    number: (kind, decode)
    for number, kind in PDUS.items()
    for base, decode in HOT_DECODERS
    if issubclass(kind, base)
}


def encode(pdu: Pdu, sequence_number: int | None = None) -> bytes:
    """One PDU as octets; with its own ``sequence_number`` unless another is given.

    Raises:
        FieldError: a value does not fit its field.
    """
    command_id = pdu.command_id
    hot = _HOT_ENCODE.get(command_id)
    try:
        body = hot(pdu) if hot else encode_body(pdu)
    except (ValueError, OverflowError, TypeError):
        body = encode_body(pdu)
    if pdu.tlvs:
        body += encode_tlvs(pdu.tlvs)
    if pdu.trailing:
        body += pdu.trailing
    if sequence_number is None:
        sequence_number = pdu.sequence_number
    return HEADER.pack(16 + len(body), command_id, pdu.command_status, sequence_number) + body


def encode_body(pdu: Pdu) -> bytes:
    """The octets of a body's mandatory part, by the PDU's layout.

    Raises:
        FieldError: a value does not fit its field.
    """
    return encode_fields(pdu.layout, _BODY[pdu.command_id](pdu))


def decode(octets: bytes) -> Pdu:
    """One whole PDU.

    A response may lack its body: error answers come so (§4.1.2, §4.4.2), and some carriers leave it
    out of good ones too. One whose body is a single string may lack that string's NUL: the header
    has the result, and a carrier that forgets an octet has still accepted.

    Raises:
        PduFault: the octets are no PDU.
    """
    _, command_id, command_status, sequence_number = HEADER.unpack_from(octets)
    try:
        kind, hot = _HOT_DECODE[command_id]
        return hot(kind, octets, command_status, sequence_number)
    except (KeyError, ValueError, IndexError):
        # A PDU of another kind, one without a body, or a malformed one: the general way reads the
        # first two, and reports the fault of the last.
        return decode_any(octets)


def decode_any(octets: bytes) -> Pdu:
    """As :func:`decode`, by the PDU's layout, for PDUs of every kind."""
    _, command_id, command_status, sequence_number = HEADER.unpack_from(octets)
    length = len(octets)
    try:
        kind = PDUS[command_id]
    except KeyError:
        raise PduFault(
            f"unknown command 0x{command_id:08X}",
            ESME_RINVCMDID,
            command_id=command_id,
            sequence_number=sequence_number,
        ) from None
    if length == HEADER_OCTETS and command_id & RESPONSE_BIT:
        return kind(command_status=command_status, sequence_number=sequence_number)
    try:
        values, at = decode_fields(kind.layout, octets, HEADER_OCTETS, length)
    except PduFault as fault:
        if command_id & RESPONSE_BIT and command_status:
            # A refusal is accepted as a response even if its body cannot be read.
            return kind(command_status=command_status, sequence_number=sequence_number)
        if command_id & RESPONSE_BIT and kind.layout == _ONE_STRING:
            values = [octets[HEADER_OCTETS:].decode("latin-1")]
            return kind(*values, sequence_number=sequence_number)
        fault.command_id = command_id
        fault.sequence_number = sequence_number
        raise
    if at == length:
        return kind(*values, command_status=command_status, sequence_number=sequence_number)
    tlvs, trailing = decode_tlvs(octets, at, length)
    return kind(
        *values,
        command_status=command_status,
        sequence_number=sequence_number,
        tlvs=tlvs,
        trailing=trailing,
    )


class PduReader:
    """Takes octets split anywhere and returns whole PDUs, or the faults in their place.

    Holds less than one PDU between calls. After a fault by which the next PDU's start is unknown
    (:attr:`PduFault.in_sync`) it takes nothing more.
    """

    __slots__ = ("_broken", "_rest", "octets_max")

    def __init__(self, octets_max: int = PDU_OCTETS_MAX) -> None:
        self.octets_max = octets_max
        self._rest = b""
        self._broken = False

    @property
    def octets_held(self) -> int:
        """Octets of a PDU that is not whole yet."""
        return len(self._rest)

    @property
    def rest(self) -> bytes:
        """The octets that came of a PDU that is not whole yet."""
        return self._rest

    def feed(self, octets: bytes) -> list[Pdu | PduFault]:
        """Everything that became whole with these octets, in order."""
        if self._broken:
            return []
        data = self._rest + octets
        pdus: list[Pdu | PduFault] = []
        at, end = 0, len(data)
        while end - at >= HEADER_OCTETS:
            length = int.from_bytes(data[at : at + 4])
            if not HEADER_OCTETS <= length <= self.octets_max:
                pdus.append(self._lost(length, data, at))
                return pdus
            if end - at < length:
                break
            try:
                pdus.append(decode(data[at : at + length]))
            except PduFault as fault:
                pdus.append(fault)
            at += length
        self._rest = data[at:]
        return pdus

    def _lost(self, length: int, data: bytes, at: int) -> PduFault:
        self._broken = True
        self._rest = b""
        _, command_id, _, sequence_number = HEADER.unpack_from(data, at)
        return PduFault(
            f"a command_length of {length}",
            ESME_RINVCMDLEN,
            command_id=command_id,
            sequence_number=sequence_number,
            in_sync=False,
        )
