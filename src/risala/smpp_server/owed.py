"""The data for a customer's receivers: receipts for its own messages, and texts from phones.

Pure. Both come from the events of the credential's own messages and of its organization's texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from risala.drivers.smpp.protocol.inbound import inbound_pdus
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, varied
from risala.drivers.smpp.protocol.receipt import STATE_NUMBERS, format_receipt_text
from risala.drivers.smpp.protocol.submit import ESM_INTERMEDIATE, ESM_RECEIPT
from risala.drivers.smpp.protocol.tlv import (
    MESSAGE_STATE,
    RECEIPTED_MESSAGE_ID,
    USER_MESSAGE_REFERENCE,
    Tlv,
)
from risala.engine.model.events import EventType
from risala.engine.model.following import OwnEvent
from risala.smpp_server.answers import error_of, state_of
from risala.smpp_server.session_registry import SmppAccount
from risala.smpp_server.submits import INTERMEDIATE, RECEIPT, REFERENCE, shape_of, written
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

_DCS_IA5: Final = 0x01
"""For receipts: in GSM 03.38, which ``data_coding`` 0 is here, the octet of ``_`` in an id is ``§``
to software that decodes by it."""
_MINUTE_MS: Final = 60_000
_MINUTES_MAX: Final = 256
"""Minutes whose text is kept: all receipts of the last minutes have them in common, and writing one
takes longer than the rest of a receipt's text."""
_FAILURES: Final = "2"
_DELIVERIES: Final = "3"


@dataclass(frozen=True, slots=True)
class Owed:
    """One event as PDUs for a customer: a receipt, or the parts of one text."""

    seq: int
    pdus: tuple[DeliverSm | DataSm, ...]


def owed_for(event: OwnEvent, account: SmppAccount) -> Owed | None:
    """The PDUs of an event for a credential's receivers; None: nothing to send."""
    if event.type is EventType.SMS_RECEIVED:
        return Owed(event.seq, _text(event)) if account.hears else None
    if not _is_asked_for(event.type, event.metadata):
        return None
    return Owed(event.seq, (_receipt(event),))


def _is_asked_for(kind: EventType, metadata: Mapping[str, str]) -> bool:
    if kind is EventType.SMS_SENT:
        return INTERMEDIATE in metadata
    receipts = metadata.get(RECEIPT)
    if receipts == _FAILURES:
        return kind is not EventType.SMS_DELIVERED
    if receipts == _DELIVERIES:
        return kind is EventType.SMS_DELIVERED
    return receipts is not None


_FORM: Final = DeliverSm(esm_class=ESM_RECEIPT, data_coding=_DCS_IA5)
"""What receipts have in common."""


def _receipt(event: OwnEvent) -> DeliverSm:
    """A receipt (§4.6.1, appendix B): its addresses are those of the submit, swapped."""
    state = state_of(event.status, event.error_code)
    phone, name = destination_address(event.recipient or ""), source_address(event.sender)
    is_final = state.is_final
    tells_why = is_final and state is not ReceiptState.DELIVERED
    message_id = written(event.message_id, shape_of(event.metadata))
    text = format_receipt_text(
        message_id,
        state,
        submit_date=_minute(event.accepted_at // _MINUTE_MS),
        done_date=_minute(event.at // _MINUTE_MS),
        error_code=error_of(event.carrier_code) if tells_why else "000",
    )
    tlvs = [
        Tlv(RECEIPTED_MESSAGE_ID, message_id.encode() + b"\0"),
        Tlv(MESSAGE_STATE, bytes([STATE_NUMBERS[state]])),
    ]
    reference = event.metadata.get(REFERENCE, "")
    if reference.isdecimal():
        tlvs.append(Tlv(USER_MESSAGE_REFERENCE, (int(reference) & 0xFFFF).to_bytes(2)))
    return varied(
        _FORM,
        source_addr_ton=int(phone.ton),
        source_addr_npi=int(phone.npi),
        source_addr=phone.text,
        dest_addr_ton=int(name.ton),
        dest_addr_npi=int(name.npi),
        destination_addr=name.text,
        esm_class=ESM_RECEIPT if is_final else ESM_INTERMEDIATE,
        short_message=text.encode("ascii"),
        tlvs=tuple(tlvs),
    )


def _text(event: OwnEvent) -> tuple[DeliverSm | DataSm, ...]:
    """A text from a phone, in as many parts as it needs."""
    recipient = (event.recipient or "").removeprefix("+")
    return tuple(inbound_pdus(event.text, event.sender, recipient, event.seq & 0xFF))


@lru_cache(maxsize=_MINUTES_MAX)
def _minute(minute: int) -> str:
    """A minute since 1970 as ``YYMMDDhhmm``, in UTC."""
    return f"{datetime.fromtimestamp(minute * 60, UTC):%y%m%d%H%M}"
