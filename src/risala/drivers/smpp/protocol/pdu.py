"""Every PDU of SMPP 3.4 as a frozen value, with its layout on the wire (§4).

Field names are the standard's. Strings are C-Octet Strings as text (latin-1, so that any octet
survives); ``command_status`` and ``tlvs`` stay raw, so that a vendor's own are never lost.
``repr`` shows neither message text nor passwords.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

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
    """What all have in common."""

    command_id: ClassVar[int]
    layout: ClassVar[Layout] = ()

    command_status: int = 0
    """Meaningful in responses only (§3.2)."""
    sequence_number: int = 0
    """Given by the session when it sends."""
    tlvs: tuple[Tlv, ...] = ()
    trailing: bytes = field(default=b"", repr=False)
    """Octets after the last whole optional parameter; a well-made PDU has none."""

    @property
    def name(self) -> str:
        """The standard's name: ``submit_sm_resp``."""
        return NAMES[self.command_id]

    @property
    def is_response(self) -> bool:
        return bool(self.command_id & RESPONSE_BIT)


@dataclass(frozen=True)
class Bind(Pdu):
    """An ESME introduces itself (§4.1)."""

    layout: ClassVar[Layout] = (_C, _C, _C, INT8_3, _C)

    system_id: str = ""
    password: str = field(default="", repr=False)
    system_type: str = ""
    interface_version: int = 0x34
    addr_ton: int = 0
    addr_npi: int = 0
    address_range: str = ""


class BindReceiver(Bind):
    command_id = 0x00000001


class BindTransmitter(Bind):
    command_id = 0x00000002


class BindTransceiver(Bind):
    command_id = 0x00000009


@dataclass(frozen=True)
class BindResp(Pdu):
    layout: ClassVar[Layout] = (_C,)

    system_id: str = ""


class BindReceiverResp(BindResp):
    command_id = 0x80000001


class BindTransmitterResp(BindResp):
    command_id = 0x80000002


class BindTransceiverResp(BindResp):
    command_id = 0x80000009


@dataclass(frozen=True)
class Outbind(Pdu):
    """The SMSC asks an ESME to bind as a receiver (§4.1.7)."""

    command_id = 0x0000000B
    layout: ClassVar[Layout] = (_C, _C)

    system_id: str = ""
    password: str = field(default="", repr=False)


class Unbind(Pdu):
    command_id = 0x00000006


class UnbindResp(Pdu):
    command_id = 0x80000006


class EnquireLink(Pdu):
    command_id = 0x00000015


class EnquireLinkResp(Pdu):
    command_id = 0x80000015


class GenericNack(Pdu):
    """The answer to what has no answer of its own (§4.3)."""

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
    command_id = 0x00000004


class DeliverSm(ShortMessage):
    command_id = 0x00000005


@dataclass(frozen=True)
class MessageIdResp(Pdu):
    """A response whose body is a message id; ``deliver_sm_resp`` keeps it empty."""

    layout: ClassVar[Layout] = (_C,)

    message_id: str = ""


class SubmitSmResp(MessageIdResp):
    command_id = 0x80000004


class DeliverSmResp(MessageIdResp):
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
    command_id = 0x80000103


@dataclass(frozen=True)
class QuerySm(Pdu):
    command_id = 0x00000003
    layout: ClassVar[Layout] = (_C, *_ADDRESS)

    message_id: str = ""
    source_addr_ton: int = 0
    source_addr_npi: int = 0
    source_addr: str = ""


@dataclass(frozen=True)
class QuerySmResp(Pdu):
    command_id = 0x80000003
    layout: ClassVar[Layout] = (_C, _C, INT8_2)

    message_id: str = ""
    final_date: str = ""
    message_state: int = 0
    error_code: int = 0


@dataclass(frozen=True)
class CancelSm(Pdu):
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
    command_id = 0x80000008


@dataclass(frozen=True)
class ReplaceSm(Pdu):
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
"""By ``command_id``."""


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


NAMES: Final[dict[int, str]] = {number: _snake(kind.__name__) for number, kind in PDUS.items()}


def response_to(request: Pdu, command_status: int = 0) -> Pdu:
    """An empty response of the kind that ``request`` asks for; ``generic_nack`` where none is."""
    kind = PDUS.get(request.command_id | RESPONSE_BIT, GenericNack)
    return kind(command_status=command_status, sequence_number=request.sequence_number)
