"""A message as the app reads it in the list that it fetches. Pure."""

from __future__ import annotations

from typing import Final

from risala.drivers.phone.messages import PhoneMessage
from risala.drivers.phone.words import PhoneState, written_time

LIST_MAX: Final = 20
"""The most messages in one answer: the phone sends one after the other."""
URGENT: Final = 100
"""From this priority on the app neither waits between messages nor heeds a limit of its own."""
_LONG_AGO_MS: Final = 946_684_800_000
_NOBODY: Final = "0"


def listed(message: PhoneMessage, sim: int | None) -> dict[str, object]:
    """A message that the phone is to send, or to give back if nobody wants it any more.

    Args:
        sim: the SIM that sends; None: the phone chooses.
    """
    segment = message.segment
    state = PhoneState.CANCELLING if message.is_unwanted else PhoneState.PENDING
    fields: dict[str, object] = {
        "id": message.id,
        "textMessage": {"text": segment.text},
        "phoneNumbers": [segment.recipient],
        "withDeliveryReport": True,
        "isEncrypted": False,
        "validUntil": written_time(segment.expires_at_ms),
        "state": state.value,
        "createdAt": written_time(message.put_at_ms),
    }
    if sim is not None:
        fields["simNumber"] = sim
    if segment.urgent:
        fields["priority"] = URGENT
    return fields


def probe(phone_id: str) -> dict[str, object]:
    """A question about a message that the phone has sent. A phone that knows the id reports its
    state again; one that does not finds the validity over, and sends nothing."""
    return {
        "id": phone_id,
        "textMessage": {"text": "?"},
        "phoneNumbers": [_NOBODY],
        "withDeliveryReport": False,
        "isEncrypted": False,
        "validUntil": written_time(_LONG_AGO_MS),
        "state": PhoneState.PENDING.value,
    }
