"""The engine's values as JSON, for the HTTP API, the control socket and ``--json``; which values
that others bring in JSON can be kept.

Whatever comes from outside is asked that once, at its door: arguments of operations, what faces
hand in, what an identity provider says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
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
        "messageClass": view.message_class,
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


def lean(message: Mapping[str, Any]) -> dict[str, Any]:
    """The seven fields of :func:`message_wire` that such clients know, with one of four states."""
    return {name: message[name] for name in _LEAN} | {"status": LEAN_STATUS[message["status"]]}


INTEGER_MAX: Final = 2**63 - 1
"""SQLite's integers have 64 bits, signed."""


class Unstorable(StrEnum):
    """Why a value cannot be kept."""

    CHARACTERS = "invalid_characters"
    """A text has a NUL, or half of a pair of surrogates."""
    NUMBER = "invalid_number"
    """A whole number has more than 64 bits, or another one is none."""


def is_text(value: str) -> bool:
    """Whether carriers and databases can keep a text: it has no NUL and no lone surrogate."""
    if "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def unstorable(value: object) -> Unstorable | None:
    """Why a value cannot be kept, or a value in it; None: it can.

    Only of what JSON has: texts, numbers, lists and objects.
    """
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            if not is_text(each):
                return Unstorable.CHARACTERS
        elif isinstance(each, int):
            if not -INTEGER_MAX - 1 <= each <= INTEGER_MAX:
                return Unstorable.NUMBER
        elif isinstance(each, float):
            if not math.isfinite(each):
                return Unstorable.NUMBER
        elif isinstance(each, Mapping):
            left += [*each, *each.values()]
        elif isinstance(each, list | tuple):
            left += each
    return None
