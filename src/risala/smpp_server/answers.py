"""The answers to requests of a bound session, and to invalid ones. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from risala.drivers.smpp.protocol.pdu import (
    DataSm,
    DataSmResp,
    Pdu,
    QuerySm,
    QuerySmResp,
    SubmitSm,
    SubmitSmResp,
    response_to,
    varied,
)
from risala.drivers.smpp.protocol.receipt import STATE_NUMBERS
from risala.drivers.smpp.protocol.times import absolute_time
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.engine.model.records.messages import MessageView
from risala.sms.cause import Cause
from risala.sms.receipt import ReceiptState

ADDITIONAL_STATUS_INFO_TEXT: Final = 0x001D
"""Tag of the sentence with the reason (§5.3.2.11)."""
_SENTENCE_MAX: Final = 255
"""Octets of it, without its NUL."""

_BY_STATUS: Final[Mapping[str, ReceiptState]] = {
    "pending": ReceiptState.ENROUTE,
    "processing": ReceiptState.ENROUTE,
    "sent": ReceiptState.ENROUTE,
    "delivered": ReceiptState.DELIVERED,
    "undelivered": ReceiptState.UNDELIVERABLE,
    "failed": ReceiptState.UNDELIVERABLE,
    "canceled": ReceiptState.DELETED,
}
"""A message's state in SMPP (§5.2.28), unless its cause is more precise. ``sent`` is not
``ACCEPTED``: by the standard that means that somebody has read the message for the subscriber."""
_BY_CAUSE: Final[Mapping[str, ReceiptState]] = {
    Cause.EXPIRED: ReceiptState.EXPIRED,
    Cause.VALIDITY_OVER: ReceiptState.EXPIRED,
    Cause.DELETED: ReceiptState.DELETED,
    Cause.REJECTED: ReceiptState.REJECTED,
    Cause.UNCERTAIN: ReceiptState.UNKNOWN,
    Cause.UNTRACED: ReceiptState.UNKNOWN,
}
_ENDED: Final = frozenset({"delivered", "undelivered", "failed", "canceled"})
_error_of: Final = re.compile(r"\berr:([0-9A-Za-z]{1,3})\b").search


def state_of(status: str, error_code: str | None) -> ReceiptState:
    """A message's state in receipts and ``query_sm``."""
    state = _BY_STATUS.get(status, ReceiptState.UNKNOWN)
    if state is ReceiptState.UNDELIVERABLE and error_code is not None:
        return _BY_CAUSE.get(error_code, state)
    return state


def error_of(carrier_code: str | None) -> str:
    """The three characters of a receipt's ``err``: the carrier's own, or ``000``."""
    match = _error_of(carrier_code or "")
    return match[1].rjust(3, "0") if match else "000"


def accepted(request: SubmitSm | DataSm, message_id: str) -> Pdu:
    kind = DataSmResp if isinstance(request, DataSm) else SubmitSmResp
    return kind(message_id)


def refused(request: Pdu, command_status: int, sentence: str) -> Pdu:
    """A refusal with its reason: the sentence is an optional parameter behind an empty body."""
    octets = sentence.encode("ascii", "replace")[:_SENTENCE_MAX]
    why = (Tlv(ADDITIONAL_STATUS_INFO_TEXT, octets + b"\0"),)
    return varied(response_to(request, command_status), tlvs=why)


def query_answer(request: QuerySm, view: MessageView) -> Pdu:
    """The state of a customer's message (§4.8.2)."""
    state = state_of(view.status, view.error_code)
    ended = view.status in _ENDED
    error = error_of(view.carrier_code)
    return QuerySmResp(
        message_id=request.message_id,
        final_date=absolute_time(view.delivered_at or view.updated_at) if ended else "",
        message_state=STATE_NUMBERS[state],
        error_code=int(error) % 256 if error.isdecimal() else 0,
    )
