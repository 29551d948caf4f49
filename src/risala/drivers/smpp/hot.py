"""The bodies that traffic is made of, written out by hand.

``submit_sm``, ``deliver_sm`` and their responses are nearly all that ever passes, and the general
way by layout takes three times as long for them. A test proves that both ways agree. What is odd
in any way (optional parameters, a field that does not fit) is left to the general way.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from risala.drivers.smpp.fields import SHORT_MESSAGE_MAX
from risala.drivers.smpp.pdu import MessageIdResp, Pdu, ShortMessage

_HEADER_OCTETS: Final = 16
_new: Final = object.__new__
_set: Final = object.__setattr__
# Fields of a frozen dataclass are set one by one by its own __init__, which takes longer than all
# the rest of decoding. A whole __dict__ at once is the same object.
_BODY: Final = attrgetter(
    *("service_type", "source_addr", "destination_addr"),
    *("schedule_delivery_time", "validity_period"),
    *("source_addr_ton", "source_addr_npi", "dest_addr_ton", "dest_addr_npi"),
    *("esm_class", "protocol_id", "priority_flag"),
    *("registered_delivery", "replace_if_present_flag", "data_coding", "sm_default_msg_id"),
    "short_message",
)
_FORMAT: Final = b"%b\0%c%c%b\0%c%c%b\0%c%c%c%b\0%b\0%c%c%c%c%c%b"


def encode_short_message(pdu: Pdu) -> bytes:
    """The mandatory part.

    Raises:
        ValueError, OverflowError: a field does not fit; the general way tells which.
    """
    service, source, dest, at, until, s_ton, s_npi, d_ton, d_npi, *rest = _BODY(pdu)
    esm_class, protocol, priority, registered, replace, data_coding, default_id, octets = rest
    if len(octets) > SHORT_MESSAGE_MAX:
        raise ValueError
    # A NUL within any of them makes one piece more.
    service, source, dest, at, until = f"{service}\0{source}\0{dest}\0{at}\0{until}".encode(
        "latin-1"
    ).split(b"\0")
    head = (service, s_ton, s_npi, source, d_ton, d_npi, dest, esm_class, protocol, priority)
    tail = (at, until, registered, replace, data_coding, default_id, len(octets), octets)
    return _FORMAT % (head + tail)


def decode_short_message(
    kind: type[Pdu], octets: bytes, command_status: int, sequence_number: int
) -> Pdu:
    """The whole PDU from its octets.

    Raises:
        ValueError, IndexError: it is not of the plain kind; the general way tells.
    """
    text = octets.decode("latin-1")
    find = octets.index
    a = find(0, _HEADER_OCTETS)
    b = find(0, a + 3)
    c = find(0, b + 3)
    d = find(0, c + 4)
    e = find(0, d + 1)
    if e + 6 + octets[e + 5] != len(octets):
        raise ValueError
    pdu = _new(kind)
    _set(
        pdu,
        "__dict__",
        {
            "command_status": command_status,
            "sequence_number": sequence_number,
            "tlvs": (),
            "trailing": b"",
            "service_type": text[_HEADER_OCTETS:a],
            "source_addr_ton": octets[a + 1],
            "source_addr_npi": octets[a + 2],
            "source_addr": text[a + 3 : b],
            "dest_addr_ton": octets[b + 1],
            "dest_addr_npi": octets[b + 2],
            "destination_addr": text[b + 3 : c],
            "esm_class": octets[c + 1],
            "protocol_id": octets[c + 2],
            "priority_flag": octets[c + 3],
            "schedule_delivery_time": text[c + 4 : d],
            "validity_period": text[d + 1 : e],
            "registered_delivery": octets[e + 1],
            "replace_if_present_flag": octets[e + 2],
            "data_coding": octets[e + 3],
            "sm_default_msg_id": octets[e + 4],
            "short_message": octets[e + 6 :],
        },
    )
    return pdu


def encode_message_id(pdu: Pdu) -> bytes:
    """The body of a response that is a message id. Raises as above."""
    message_id: str = pdu.message_id  # type: ignore[attr-defined]
    octets = message_id.encode("latin-1")
    if 0 in octets:
        raise ValueError
    return octets + b"\0"


def decode_message_id(
    kind: type[Pdu], octets: bytes, command_status: int, sequence_number: int
) -> Pdu:
    """The whole PDU from its octets. Raises as above."""
    if octets.index(0, _HEADER_OCTETS) != len(octets) - 1:
        raise ValueError
    pdu = _new(kind)
    _set(
        pdu,
        "__dict__",
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
