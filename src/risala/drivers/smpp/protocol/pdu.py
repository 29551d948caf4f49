"""Every PDU of SMPP 3.4 as a frozen value, with its layout on the wire (§4).

Field names are the standard's. Strings are C-Octet Strings as text (latin-1, so that any octet
survives); ``command_status`` and ``tlvs`` stay raw, so that a vendor's own are never lost.
``repr`` shows neither message text nor passwords.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import ClassVar, Final, TypeVar

from risala.dataclass import dataclass
from risala.drivers.smpp.protocol.destinations import Destination, DistributionList, Unsuccessful
from risala.drivers.smpp.protocol.fields import (
    C_OCTETS,
    DESTINATIONS,
    INT8_2,
    INT8_3,
    INT8_4,
    SHORT_MESSAGE,
    UNSUCCESSFUL,
    Layout,
)
from risala.drivers.smpp.protocol.tlv import Tlv

RESPONSE_BIT: Final = 0x80000000
_C = C_OCTETS
_ADDRESS: Final[Layout] = (INT8_2, _C)


@dataclass(frozen=True, kw_only=True)
class Pdu:
    """The common part of all PDUs: header, and optional parameters (§3.2)."""

    command_id: ClassVar[int]
    layout: ClassVar[Layout] = ()

    command_status: int = 0
    """Has a meaning in responses only (§3.2, §5.1.3)."""
    sequence_number: int = 0
    """Given to a request by the session that sends it; a response has its request's (§3.2)."""
    tlvs: tuple[Tlv, ...] = ()
    trailing: bytes = field(default=b"", repr=False)
    """Octets after the last whole optional parameter; a well-made PDU has none."""

    @property
    def name(self) -> str:
        """The standard's name: ``submit_sm_resp``."""
        return NAMES[self.command_id]

    @property
    def is_response(self) -> bool:
        """Whether it is a response: the highest bit of its ``command_id`` is set (§3.2)."""
        return bool(self.command_id & RESPONSE_BIT)


_AnyPdu = TypeVar("_AnyPdu", bound=Pdu)
_new: Final = object.__new__
_set_dict: Final = Pdu.__dict__["__dict__"].__set__


def varied(pdu: _AnyPdu, **fields: object) -> _AnyPdu:
    """A copy of a PDU with other values in these fields.

    As :func:`dataclasses.replace`, which spends its time on setting the fields of a frozen value
    one by one: ten times faster, for values made again and again from one pattern.
    """
    made = _new(type(pdu))
    _set_dict(made, pdu.__dict__ | fields)
    return made


@dataclass(frozen=True)
class Bind(Pdu):
    """An ESME introduces itself: the common part of the three kinds of bind (§4.1)."""

    layout: ClassVar[Layout] = (_C, _C, _C, INT8_3, _C)

    system_id: str = ""
    password: str = field(default="", repr=False)
    system_type: str = ""
    interface_version: int = 0x34
    addr_ton: int = 0
    addr_npi: int = 0
    address_range: str = ""


class BindReceiver(Bind):
    """Bind to receive only (§4.1.3)."""

    command_id = 0x00000001


class BindTransmitter(Bind):
    """Bind to submit only (§4.1.1)."""

    command_id = 0x00000002


class BindTransceiver(Bind):
    """Bind to submit and receive (§4.1.5)."""

    command_id = 0x00000009


@dataclass(frozen=True)
class BindResp(Pdu):
    """The answer to a bind; ``system_id`` is the SMSC's (§4.1.2)."""

    layout: ClassVar[Layout] = (_C,)

    system_id: str = ""


class BindReceiverResp(BindResp):
    """The answer to ``bind_receiver`` (§4.1.4)."""

    command_id = 0x80000001


class BindTransmitterResp(BindResp):
    """The answer to ``bind_transmitter`` (§4.1.2)."""

    command_id = 0x80000002


class BindTransceiverResp(BindResp):
    """The answer to ``bind_transceiver`` (§4.1.6)."""

    command_id = 0x80000009


@dataclass(frozen=True)
class Outbind(Pdu):
    """The SMSC asks an ESME to bind as a receiver (§4.1.7)."""

    command_id = 0x0000000B
    layout: ClassVar[Layout] = (_C, _C)

    system_id: str = ""
    password: str = field(default="", repr=False)


class Unbind(Pdu):
    """Ends a session, from either side (§4.2.1)."""

    command_id = 0x00000006


class UnbindResp(Pdu):
    """The answer to ``unbind`` (§4.2.2)."""

    command_id = 0x80000006


class EnquireLink(Pdu):
    """Asks, from either side, whether the other is still there (§4.11.1)."""

    command_id = 0x00000015


class EnquireLinkResp(Pdu):
    """The answer to ``enquire_link`` (§4.11.2)."""

    command_id = 0x80000015


class GenericNack(Pdu):
    """The answer to a PDU that is unknown or cannot be read, for which no response fits (§4.3)."""

    command_id = 0x80000000


@dataclass(frozen=True)
class ShortMessage(Pdu):
    """The body that ``submit_sm`` and ``deliver_sm`` share (§4.4, §4.6)."""

    layout: ClassVar[Layout] = (_C, *_ADDRESS, *_ADDRESS, INT8_3, _C, _C, INT8_4, SHORT_MESSAGE)

    service_type: str = ""
    source_addr_ton: int = 0
    source_addr_npi: int = 0
    source_addr: str = ""
    dest_addr_ton: int = 0
    dest_addr_npi: int = 0
    destination_addr: str = ""
    esm_class: int = 0
    protocol_id: int = 0
    priority_flag: int = 0
    schedule_delivery_time: str = ""
    validity_period: str = ""
    registered_delivery: int = 0
    replace_if_present_flag: int = 0
    data_coding: int = 0
    sm_default_msg_id: int = 0
    short_message: bytes = field(default=b"", repr=False)


class SubmitSm(ShortMessage):
    """An ESME submits a message to one destination (§4.4.1)."""

    command_id = 0x00000004


class DeliverSm(ShortMessage):
    """The SMSC delivers a message or a receipt to an ESME (§4.6.1)."""

    command_id = 0x00000005


@dataclass(frozen=True)
class MessageIdResp(Pdu):
    """A response whose body is a message id; ``deliver_sm_resp`` keeps it empty."""

    layout: ClassVar[Layout] = (_C,)

    message_id: str = ""


class SubmitSmResp(MessageIdResp):
    """The answer to ``submit_sm`` (§4.4.2)."""

    command_id = 0x80000004


class DeliverSmResp(MessageIdResp):
    """The answer to ``deliver_sm``; its message id is unused and empty (§4.6.2)."""

    command_id = 0x80000005


@dataclass(frozen=True)
class SubmitMulti(Pdu):
    """One message to several destinations (§4.5)."""

    command_id = 0x00000021
    layout: ClassVar[Layout] = (
        *(_C, *_ADDRESS, DESTINATIONS, INT8_3, _C, _C, INT8_4, SHORT_MESSAGE),
    )

    service_type: str = ""
    source_addr_ton: int = 0
    source_addr_npi: int = 0
    source_addr: str = ""
    dest_addresses: tuple[Destination | DistributionList, ...] = ()
    esm_class: int = 0
    protocol_id: int = 0
    priority_flag: int = 0
    schedule_delivery_time: str = ""
    validity_period: str = ""
    registered_delivery: int = 0
    replace_if_present_flag: int = 0
    data_coding: int = 0
    sm_default_msg_id: int = 0
    short_message: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class SubmitMultiResp(Pdu):
    """The answer to ``submit_multi``: one id, and the SMEs that were refused (§4.5.2)."""

    command_id = 0x80000021
    layout: ClassVar[Layout] = (_C, UNSUCCESSFUL)

    message_id: str = ""
    unsuccess_sme: tuple[Unsuccessful, ...] = ()


@dataclass(frozen=True)
class DataSm(Pdu):
    """The lean form of both directions; its text is a ``message_payload`` (§4.7)."""

    command_id = 0x00000103
    layout: ClassVar[Layout] = (_C, *_ADDRESS, *_ADDRESS, INT8_3)

    service_type: str = ""
    source_addr_ton: int = 0
    source_addr_npi: int = 0
    source_addr: str = ""
    dest_addr_ton: int = 0
    dest_addr_npi: int = 0
    destination_addr: str = ""
    esm_class: int = 0
    registered_delivery: int = 0
    data_coding: int = 0


class DataSmResp(MessageIdResp):
    """The answer to ``data_sm`` (§4.7.2)."""

    command_id = 0x80000103


@dataclass(frozen=True)
class QuerySm(Pdu):
    """Asks for the state of a message; the source is that of its submit (§4.8.1)."""

    command_id = 0x00000003
    layout: ClassVar[Layout] = (_C, *_ADDRESS)

    message_id: str = ""
    source_addr_ton: int = 0
    source_addr_npi: int = 0
    source_addr: str = ""


@dataclass(frozen=True)
class QuerySmResp(Pdu):
    """The answer to ``query_sm``: the message's state (§4.8.2, §5.2.28)."""

    command_id = 0x80000003
    layout: ClassVar[Layout] = (_C, _C, INT8_2)

    message_id: str = ""
    final_date: str = ""
    message_state: int = 0
    error_code: int = 0


@dataclass(frozen=True)
class CancelSm(Pdu):
    """Withdraws one message, or without an id all from a source to a destination (§4.9.1)."""

    command_id = 0x00000008
    layout: ClassVar[Layout] = (_C, _C, *_ADDRESS, *_ADDRESS)

    service_type: str = ""
    message_id: str = ""
    source_addr_ton: int = 0
    source_addr_npi: int = 0
    source_addr: str = ""
    dest_addr_ton: int = 0
    dest_addr_npi: int = 0
    destination_addr: str = ""


class CancelSmResp(Pdu):
    """The answer to ``cancel_sm`` (§4.9.2)."""

    command_id = 0x80000008


@dataclass(frozen=True)
class ReplaceSm(Pdu):
    """Replaces the text of a message that waits at the SMSC (§4.10.1)."""

    command_id = 0x00000007
    layout: ClassVar[Layout] = (_C, *_ADDRESS, _C, _C, INT8_2, SHORT_MESSAGE)

    message_id: str = ""
    source_addr_ton: int = 0
    source_addr_npi: int = 0
    source_addr: str = ""
    schedule_delivery_time: str = ""
    validity_period: str = ""
    registered_delivery: int = 0
    sm_default_msg_id: int = 0
    short_message: bytes = field(default=b"", repr=False)


class ReplaceSmResp(Pdu):
    """The answer to ``replace_sm`` (§4.10.2)."""

    command_id = 0x80000007


@dataclass(frozen=True)
class AlertNotification(Pdu):
    """A subscriber is reachable again (§4.12). It has no response."""

    command_id = 0x00000102
    layout: ClassVar[Layout] = (*_ADDRESS, *_ADDRESS)

    source_addr_ton: int = 0
    source_addr_npi: int = 0
    source_addr: str = ""
    esme_addr_ton: int = 0
    esme_addr_npi: int = 0
    esme_addr: str = ""


PDUS: Final[dict[int, type[Pdu]]] = {
    kind.command_id: kind
    for kind in (
        *(BindReceiver, BindTransmitter, BindTransceiver, Outbind, Unbind, EnquireLink),
        *(BindReceiverResp, BindTransmitterResp, BindTransceiverResp, UnbindResp),
        *(EnquireLinkResp, GenericNack, SubmitSm, SubmitSmResp, DeliverSm, DeliverSmResp),
        *(
            SubmitMulti,
            SubmitMultiResp,
            DataSm,
            DataSmResp,
            QuerySm,
            QuerySmResp,
            CancelSm,
            CancelSmResp,
        ),
        *(ReplaceSm, ReplaceSmResp, AlertNotification),
    )
}
"""Every kind of PDU by its ``command_id`` (§5.1.2.1)."""


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")


NAMES: Final[dict[int, str]] = {number: _snake(kind.__name__) for number, kind in PDUS.items()}


def response_to(request: Pdu, command_status: int = 0) -> Pdu:
    """An empty response of the kind that ``request`` needs; ``generic_nack`` if it has none."""
    response = unnumbered_response(request.command_id, command_status)
    return varied(response, sequence_number=request.sequence_number)


@lru_cache(maxsize=256)
def unnumbered_response(command_id: int, command_status: int) -> Pdu:
    """As :func:`response_to` any request with this ``command_id``; the caller sets the number."""
    return PDUS.get(command_id | RESPONSE_BIT, GenericNack)(command_status=command_status)
