"""The bodies of the most frequent PDUs, encoded and decoded by hand.

``submit_sm``, ``deliver_sm`` and their responses are nearly all of the traffic, and in one
direction nearly all of their fields are the same from one to the next. So the octets of those
fields are kept, and only addresses and text are encoded each time. A test proves that this way and
the general one (by layout, :mod:`.fields`) agree. A PDU that does not fit here is left to the
general way, which reports the reason.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Any, Final

from risala.drivers.smpp.protocol.fields import SHORT_MESSAGE_MAX
from risala.drivers.smpp.protocol.pdu import MessageIdResp, Pdu, ShortMessage
from risala.drivers.smpp.protocol.tlv import decode_tlvs

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
