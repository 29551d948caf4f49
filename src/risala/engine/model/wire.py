"""The engine's values as JSON, for the HTTP API, the control socket and ``--json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.money import money
from risala.engine.model.records.message_lists import Listed
from risala.engine.model.records.messages import MessageView
from risala.engine.model.states import Status
from risala.engine.model.times import iso, maybe_iso


def message_wire(view: MessageView | Listed) -> dict[str, Any]:
    """The response of ``POST /api/sms/get`` (contract §3)."""
    return {
        "messageId": view.id,
        "id": view.id,
        "to": view.to,
        "from": view.sender,
        "body": view.body,
        "status": view.status,
        "segments": view.segments,
        "encoding": view.encoding,
        "price": money(view.price),
        "currency": view.currency,
        "attempts": view.attempts,
        "carrier": view.carrier,
        "providerMessageId": view.provider_message_id,
        "errorCode": view.error_code,
        "errorText": cause_text(view.error_code),
        "carrierCode": view.carrier_code,
        "metadata": view.metadata,
        "sendAt": maybe_iso(view.send_at),
        "sentAt": maybe_iso(view.sent_at),
        "deliveredAt": maybe_iso(view.delivered_at),
        "createdAt": iso(view.created_at),
        "updatedAt": iso(view.updated_at),
    }


LEAN_STATUS: Final[Mapping[str, str]] = {
    Status.PENDING: "pending",
    Status.PROCESSING: "processing",
    Status.SENT: "sent",
    Status.DELIVERED: "sent",
    Status.UNDELIVERED: "failed",
    Status.FAILED: "failed",
    Status.CANCELED: "failed",
}
"""The four states that clients of a hosted service know, by ours."""
_LEAN: Final = ("id", "to", "from", "body", "status", "createdAt", "updatedAt")


def lean(told: Mapping[str, Any]) -> dict[str, Any]:
    """The seven fields of :func:`message_wire` that such clients know, with one of four states."""
    return {name: told[name] for name in _LEAN} | {"status": LEAN_STATUS[told["status"]]}
