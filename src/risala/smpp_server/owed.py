"""The data for a customer's receivers: receipts for its own messages, and texts from phones.

Pure. Both come from the events of the organization, which have all except the time of the submit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from risala.drivers.smpp.protocol.inbound import inbound_pdus
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm
from risala.drivers.smpp.protocol.receipt import STATE_NUMBERS, format_receipt_text
from risala.drivers.smpp.protocol.submit import ESM_INTERMEDIATE, ESM_RECEIPT
from risala.drivers.smpp.protocol.tlv import (
    MESSAGE_STATE,
    RECEIPTED_MESSAGE_ID,
    USER_MESSAGE_REFERENCE,
    Tlv,
)
from risala.engine.model.errors import NotFound
from risala.engine.model.events import EventType
from risala.engine.model.following import FollowedEvent
from risala.engine.model.records.messages import MessageView
from risala.engine.model.states import Mode
from risala.smpp_server.answers import error_of, state_of
from risala.smpp_server.message_ids import shape_of, written
from risala.smpp_server.session_registry import SmppAccount
from risala.smpp_server.submits import INTERMEDIATE, RECEIPT, REFERENCE
from risala.sms.address import destination_address, source_address
from risala.sms.receipt import ReceiptState

TYPES: Final = (
    EventType.SMS_SENT,
    EventType.SMS_DELIVERED,
    EventType.SMS_FAILED,
    EventType.SMS_CANCELED,
    EventType.SMS_RECEIVED,
)
"""The events that anything is sent for."""

Look = Callable[[str], MessageView]
"""One of the organization's messages by its id.

Raises:
    NotFound: it is no longer kept.
"""
_DCS_IA5: Final = 0x01
"""For receipts: in GSM 03.38, which ``data_coding`` 0 is here, the octet of ``_`` in an id is ``§``
to software that decodes by it."""
_FAILURES: Final = "2"
_DELIVERIES: Final = "3"


@dataclass(frozen=True, slots=True)
class Owed:
    """One event as PDUs for a customer: a receipt, or the parts of one text."""

    seq: int
    pdus: tuple[DeliverSm | DataSm, ...]


def owed_for(event: FollowedEvent, account: SmppAccount, look: Look) -> Owed | None:
    """The PDUs of an event for a credential's receivers; None: nothing to send."""
    if event.is_test is not (account.principal.mode is Mode.TEST):
        return None
    told = json.loads(event.body)
    if event.type is EventType.SMS_RECEIVED:
        return Owed(event.seq, _text(event, told)) if account.hears else None
    if not _is_asked_for(event.type, told["metadata"]):
        return None
    try:
        view = look(told["messageId"])
    except NotFound:
        return None
    if view.api_key != account.credential_id:
        return None
    return Owed(event.seq, (_receipt(event, told, view),))


def _is_asked_for(kind: EventType, metadata: Mapping[str, str]) -> bool:
    if kind is EventType.SMS_SENT:
        return INTERMEDIATE in metadata
    wanted = metadata.get(RECEIPT)
    if wanted == _FAILURES:
        return kind is not EventType.SMS_DELIVERED
    if wanted == _DELIVERIES:
        return kind is EventType.SMS_DELIVERED
    return wanted is not None


def _receipt(event: FollowedEvent, told: dict[str, Any], view: MessageView) -> DeliverSm:
    """A receipt (§4.6.1, appendix B): its addresses are those of the submit, swapped."""
    state = state_of(told["status"], told["errorCode"])
    phone, name = destination_address(told["to"]), source_address(told["from"])
    tells_why = state.is_final and state is not ReceiptState.DELIVERED
    message_id = written(view.id, shape_of(told["metadata"]))
    text = format_receipt_text(
        message_id,
        state,
        submit_date=_minute(view.created_at),
        done_date=_minute(event.at),
        error_code=error_of(told["carrierCode"]) if tells_why else "000",
    )
    tlvs = [
        Tlv(RECEIPTED_MESSAGE_ID, message_id.encode() + b"\0"),
        Tlv(MESSAGE_STATE, bytes([STATE_NUMBERS[state]])),
    ]
    reference = told["metadata"].get(REFERENCE, "")
    if reference.isdecimal():
        tlvs.append(Tlv(USER_MESSAGE_REFERENCE, (int(reference) & 0xFFFF).to_bytes(2)))
    return DeliverSm(
        source_addr_ton=int(phone.ton),
        source_addr_npi=int(phone.npi),
        source_addr=phone.text,
        dest_addr_ton=int(name.ton),
        dest_addr_npi=int(name.npi),
        destination_addr=name.text,
        esm_class=ESM_RECEIPT if state.is_final else ESM_INTERMEDIATE,
        data_coding=_DCS_IA5,
        short_message=text.encode("ascii"),
        tlvs=tuple(tlvs),
    )


def _text(event: FollowedEvent, told: dict[str, Any]) -> tuple[DeliverSm | DataSm, ...]:
    """A text from a phone, in as many parts as it needs."""
    recipient = (told["to"] or "").removeprefix("+")
    return tuple(inbound_pdus(told["text"], told["from"], recipient, event.seq & 0xFF))


def _minute(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms // 1000, UTC):%y%m%d%H%M}"
