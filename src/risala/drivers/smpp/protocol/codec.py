"""Octets to PDUs and back, without any I/O.

Lengths are checked before memory is allocated: a peer's declared length never decides how much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from struct import Struct
from typing import Any, Final

from risala.drivers.smpp.protocol.fields import (
    C_OCTETS,
    ESME_RINVCMDID,
    ESME_RINVCMDLEN,
    PduFault,
    decode_fields,
    encode_fields,
)
from risala.drivers.smpp.protocol.hot import HOT_DECODERS, HOT_ENCODERS
from risala.drivers.smpp.protocol.pdu import PDUS, RESPONSE_BIT, Pdu
from risala.drivers.smpp.protocol.tlv import decode_tlvs, encode_tlvs

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
