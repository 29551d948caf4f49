"""A realistic example event of each type, for developers of receivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from risala.engine.model.events import FAMILIES, Event, EventType
from risala.sms.currencies import DEFAULT_CURRENCY
from risala.sms.numbering.plan import EXAMPLE

_RECIPIENT: Final = EXAMPLE
_SENDER: Final = "RISALA"
_MESSAGE: Final = {
    "subject": "sms",
    "recipient": _RECIPIENT,
    "sender": _SENDER,
    "provider_message_id": "4b1f0c22",
    "error_code": None,
    "carrier_code": None,
    "metadata": {"order": "4711"},
    "price": 50,
}
_CODE: Final = {"subject": "ver", "recipient": _RECIPIENT, "reason": None}
_NAME: Final = {"subject": "snd", "name": "ACME", "reason": None}
_TALK: Final = {"subject": "cnv", "number": _RECIPIENT, "message_id": None, "assigned_to": None}
_DUE: Final = {
    "subject": "rpt",
    "name": "Rent",
    "due_at": 1_796_119_200_000,
    "mailing_id": "mlg_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT",
    "reason": None,
}
_MEMBERS: Final[Mapping[EventType, Mapping[str, Any]]] = {
    EventType.SMS_SENT: {**_MESSAGE, "status": "sent"},
    EventType.SMS_DELIVERED: {**_MESSAGE, "status": "delivered"},
    EventType.SMS_FAILED: {
        **_MESSAGE,
        "status": "failed",
        "error_code": "UNKNOWN_NUMBER",
        "carrier_code": "ESME_RINVDSTADR",
        "provider_message_id": None,
    },
    EventType.SMS_CANCELED: {**_MESSAGE, "status": "canceled", "provider_message_id": None},
    EventType.SMS_RECEIVED: {
        "subject": "sms",
        "recipient": "1234",
        "sender": _RECIPIENT,
        "provider_message_id": None,
        "text": "Salam",
    },
    EventType.VERIFY_SENT: {**_CODE, "status": "pending"},
    EventType.VERIFY_APPROVED: {**_CODE, "status": "approved"},
    EventType.VERIFY_FAILED: {**_CODE, "status": "expired", "reason": "expired"},
    EventType.SENDER_APPROVED: {**_NAME, "status": "approved"},
    EventType.SENDER_DENIED: {**_NAME, "status": "denied", "reason": "name_in_use"},
    EventType.BALANCE_LOW: {
        "subject": "org",
        "balance": 995,
        "low_balance": 1000,
    },
    EventType.CONVERSATION_RECEIVED: {**_TALK, "message_id": "mo_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"},
    EventType.CONVERSATION_ASSIGNED: {
        **_TALK,
        "assigned_to": "usr_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT",
    },
    EventType.CONVERSATION_PAUSED: {**_TALK, "message_id": "mo_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"},
    EventType.REPEAT_BEGUN: _DUE,
    EventType.REPEAT_SKIPPED: {**_DUE, "mailing_id": None, "reason": "no_money"},
    EventType.REPEAT_ENDED: {**_DUE, "due_at": None, "mailing_id": None, "reason": "until"},
    EventType.WEBHOOK_TEST: {"subject": "whe"},
}
"""For each type the members of its family only; for the subject the prefix of its id."""


PREFIXES: Final = ("sms", "ver", "snd", "org", "whe", "cnv", "rpt")
"""The prefixes of the ids in an example."""


def example(
    kind: EventType,
    at: int,
    organization_id: str,
    identities: Mapping[str, str],
    currency: str = DEFAULT_CURRENCY,
    number: str = EXAMPLE,
) -> Event:
    """A made-up event, marked as a test.

    Args:
        identities: possible ids, by their prefix.
        currency: of its amounts.
        number: of a person.
    """
    members = {name: number if each == EXAMPLE else each for name, each in _MEMBERS[kind].items()}
    subject = identities[members.pop("subject")]
    if "price" in members or "balance" in members:
        members["currency"] = currency
    return FAMILIES[kind](
        type=kind,
        at=at,
        organization_id=organization_id,
        mode="test",
        subject=subject,
        **members,
    )
