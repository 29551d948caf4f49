"""The fields of SMPP bodies (SMPP 3.4 §3.1), and the errors if they do not fit.

A body's layout is a tuple of steps, in the order of the PDU's fields: a :class:`struct.Struct` for
a run of integers, :data:`C_OCTETS` for one C-Octet String, :data:`SHORT_MESSAGE` for an octet of
length followed by that many octets, :data:`DESTINATIONS` and :data:`UNSUCCESSFUL` for the lists of
``submit_multi``.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Final

from risala.drivers.smpp.protocol.destinations import (
    ListFault,
    decode_destinations,
    decode_unsuccessful,
    encode_destinations,
    encode_unsuccessful,
)

ESME_RINVMSGLEN: Final = 0x01
ESME_RINVCMDLEN: Final = 0x02
ESME_RINVCMDID: Final = 0x03

SHORT_MESSAGE_MAX: Final = 254
"""Octets of ``short_message`` that the standard allows (§5.2.21); 255 is refused by most peers."""

C_OCTETS: Final = "c"
SHORT_MESSAGE: Final = "sm"
DESTINATIONS: Final = "dests"
UNSUCCESSFUL: Final = "unsuccess"
Step = Struct | str
Layout = tuple[Step, ...]

INT8: Final = Struct(">B")
INT8_2: Final = Struct(">BB")
INT8_3: Final = Struct(">BBB")
INT8_4: Final = Struct(">BBBB")


class PduFault(Exception):
    """Octets that are no PDU; the peer's fault.

    ``command_status`` is the status to answer (§3.2: 0x02 bad length, 0x03 unknown command). It is
    sent in a ``generic_nack``, or in the response if ``command_id`` is a known request.
    """

    def __init__(
        self,
        reason: str,
        command_status: int,
        *,
        command_id: int = 0,
        sequence_number: int = 0,
        in_sync: bool = True,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.command_status = command_status
        self.command_id = command_id
        self.sequence_number = sequence_number
        self.in_sync = in_sync
        """False if the next PDU's start is unknown: the connection must close."""


class FieldError(ValueError):
    """A value that has no place on the wire; our own fault (a longer text, a NUL in a string)."""


def decode_fields(layout: Layout, octets: bytes, at: int, end: int) -> tuple[list[Any], int]:
    """Read a body from ``at``; returns the values and where they ended.

    Raises:
        PduFault: the body ends within a field.
    """
    values: list[Any] = []
    for step in layout:
        if step is C_OCTETS:
            stop = octets.find(b"\0", at, end)
            if stop < 0:
                raise PduFault("a string has no end", ESME_RINVCMDLEN)
            values.append(octets[at:stop].decode("latin-1"))
            at = stop + 1
        elif step is SHORT_MESSAGE:
            if at >= end or at + 1 + octets[at] > end:
                raise PduFault("sm_length goes beyond the PDU", ESME_RINVMSGLEN)
            stop = at + 1 + octets[at]
            values.append(octets[at + 1 : stop])
            at = stop
        elif isinstance(step, str):
            value, at = _decode_list(step, octets, at, end)
            values.append(value)
        else:
            if at + step.size > end:
                raise PduFault("the body ends too early", ESME_RINVCMDLEN)
            values += step.unpack_from(octets, at)
            at += step.size
    return values, at


def encode_fields(layout: Layout, values: tuple[Any, ...]) -> bytes:
    """The octets of a body's mandatory part.

    Raises:
        FieldError: a value does not fit. Its text names no value.
    """
    parts: list[bytes] = []
    index = 0
    for step in layout:
        if step is C_OCTETS:
            text: str = values[index]
            if "\0" in text or not text.isascii():
                parts.append(_latin1(text))
            else:
                parts.append(text.encode())
            parts.append(b"\0")
            index += 1
        elif step is SHORT_MESSAGE:
            octets: bytes = values[index]
            if len(octets) > SHORT_MESSAGE_MAX:
                raise FieldError(f"short_message takes {SHORT_MESSAGE_MAX} octets at most")
            parts.append(INT8.pack(len(octets)))
            parts.append(octets)
            index += 1
        elif isinstance(step, str):
            parts.append(_encode_list(step, values[index]))
            index += 1
        else:
            # These structs hold single octets only (">BBB"): their size is their number of values.
            parts.append(step.pack(*values[index : index + step.size]))
            index += step.size
    return b"".join(parts)


def _latin1(text: str) -> bytes:
    if "\0" in text:
        raise FieldError("a C-Octet String cannot hold NUL")
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        # ``from None``: the original exception has the text among its arguments.
        raise FieldError("a C-Octet String holds octets only") from None


def _decode_list(step: str, octets: bytes, at: int, end: int) -> tuple[Any, int]:
    try:
        if step is DESTINATIONS:
            return decode_destinations(octets, at, end)
        return decode_unsuccessful(octets, at, end)
    except ListFault as fault:
        raise PduFault(fault.reason, fault.command_status) from None


def _encode_list(step: str, value: Any) -> bytes:  # noqa: ANN401 - a list of that step's kind
    try:
        return encode_destinations(value) if step is DESTINATIONS else encode_unsuccessful(value)
    except (ValueError, OverflowError):
        # ``from None``: the original exception may have an address among its arguments.
        raise FieldError("a list of destinations does not fit") from None
