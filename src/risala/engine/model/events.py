"""Events about messages, verifications, senders and balances, as frozen values.

An event has a type, a time, an organization, a subject, and the subject's state at that time. Its
body, which webhooks carry and signatures cover, follows from these alone: the same values always
give the same bytes. Its id follows from them and from its place in the outbox.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, ClassVar, Final

from risala.dataclass import dataclass
from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.money import money
from risala.engine.model.records.fields import Moment
from risala.engine.model.times import iso


class EventType(StrEnum):
    """All types of events; endpoints subscribe to them by these words."""

    SMS_SENT = "sms.sent"
    SMS_DELIVERED = "sms.delivered"
    SMS_FAILED = "sms.failed"
    SMS_CANCELED = "sms.canceled"
    SMS_RECEIVED = "sms.received"
    VERIFY_SENT = "verify.sent"
    VERIFY_APPROVED = "verify.approved"
    VERIFY_FAILED = "verify.failed"
    SENDER_APPROVED = "sender.approved"
    SENDER_DENIED = "sender.denied"
    BALANCE_LOW = "balance.low"
    CONVERSATION_RECEIVED = "conversation.received"
    CONVERSATION_ASSIGNED = "conversation.assigned"
    CONVERSATION_PAUSED = "conversation.paused"
    REPEAT_BEGUN = "repeat.begun"
    REPEAT_SKIPPED = "repeat.skipped"
    REPEAT_ENDED = "repeat.ended"
    WEBHOOK_TEST = "webhook.test"


@dataclass(frozen=True, slots=True)
class Event(ABC):
    """The common fields of all events. A subclass is a family of types, and adds fields about its
    subject."""

    TYPES: ClassVar[tuple[EventType, ...]]
    """The types of the family."""

    type: EventType
    at: Moment
    organization_id: str
    mode: str
    subject: str  # the id of the event's subject

    @abstractmethod
    def members(self) -> dict[str, Any]:
        """The body's members that only this family has, in their order."""


@dataclass(frozen=True, slots=True)
class MessageEvent(Event):
    """A message came to a new status: one event, however many segments it has."""

    TYPES: ClassVar[tuple[EventType, ...]] = (
        EventType.SMS_SENT,
        EventType.SMS_DELIVERED,
        EventType.SMS_FAILED,
        EventType.SMS_CANCELED,
    )

    recipient: str
    sender: str
    status: str
    """`sent`, `delivered`, `undelivered` or `failed`."""
    provider_message_id: str | None
    error_code: str | None
    """As of `POST /api/sms/get`, and so are the next two."""
    carrier_code: str | None
    metadata: Mapping[str, str]
    """Yours, as it was sent."""
    price: int
    """The message's, in minor units, as of `POST /api/sms/get`: that of its own number."""
    currency: str
    message_class: int | None = None
    """0, of a flash message; left out of others."""

    def members(self) -> dict[str, Any]:
        # Left out of others: a body that was sent before has the same bytes again.
        flash = {} if self.message_class is None else {"messageClass": self.message_class}
        return {
            "messageId": self.subject,
            "to": self.recipient,
            "from": self.sender,
            "status": self.status,
            "providerMessageId": self.provider_message_id,
            "errorCode": self.error_code,
            "errorText": cause_text(self.error_code),
            "carrierCode": self.carrier_code,
            "metadata": dict(self.metadata),
            "price": money(self.price),
            "currency": self.currency,
            **flash,
        }


@dataclass(frozen=True, slots=True)
class InboundEvent(Event):
    """A message was received, and a route gives it to the organization.

    The only event with a text."""

    TYPES: ClassVar[tuple[EventType, ...]] = (EventType.SMS_RECEIVED,)

    recipient: str | None
    """Null where the carrier does not tell."""
    sender: str
    provider_message_id: str | None
    text: str = field(repr=False)
    sent_at: Moment | None = None
    """The text's own time, which the network wrote on it."""

    def members(self) -> dict[str, Any]:
        # Left out where none was told: a body that was sent before has the same bytes again.
        sent = {} if self.sent_at is None else {"sentAt": iso(self.sent_at)}
        return {
            "messageId": self.subject,
            "to": self.recipient,
            "from": self.sender,
            "status": "received",
            "providerMessageId": self.provider_message_id,
            "errorCode": None,
            "errorText": None,
            "carrierCode": None,
            "metadata": {},
            "text": self.text,
            **sent,
        }


@dataclass(frozen=True, slots=True)
class VerificationEvent(Event):
    """A code was sent, or its verification ended. Never the code."""

    TYPES: ClassVar[tuple[EventType, ...]] = (
        EventType.VERIFY_SENT,
        EventType.VERIFY_APPROVED,
        EventType.VERIFY_FAILED,
    )

    recipient: str
    status: str
    """`pending`, `approved`, `expired` or `canceled`.

    As it was at that moment: the session may have ended before the carrier took the SMS."""
    reason: str | None
    """Why, for `verify.failed`: `expired`, `max_attempts`, `delivery_failed` or `canceled`."""

    def members(self) -> dict[str, Any]:
        return {
            "verificationId": self.subject,
            "to": self.recipient,
            "status": self.status,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class SenderEvent(Event):
    """A sender that was asked for was decided on."""

    TYPES: ClassVar[tuple[EventType, ...]] = (EventType.SENDER_APPROVED, EventType.SENDER_DENIED)

    name: str
    status: str
    """`approved` or `denied`."""
    reason: str | None

    def members(self) -> dict[str, Any]:
        return {
            "senderId": self.subject,
            "name": self.name,
            "status": self.status,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class BalanceEvent(Event):
    """A charge took the balance below the organization's limit.

    Amounts are in minor units."""

    TYPES: ClassVar[tuple[EventType, ...]] = (EventType.BALANCE_LOW,)

    balance: int
    """What was left after that charge: a decimal string, as all amounts are."""
    low_balance: int
    currency: str

    def members(self) -> dict[str, Any]:
        return {
            "balance": money(self.balance),
            "lowBalance": money(self.low_balance),
            "currency": self.currency,
        }


@dataclass(frozen=True, slots=True)
class ConversationEvent(Event):
    """A conversation got a text, somebody was to answer it from then on, or automatic answers to it
    were paused. Never a text."""

    TYPES: ClassVar[tuple[EventType, ...]] = (
        EventType.CONVERSATION_RECEIVED,
        EventType.CONVERSATION_ASSIGNED,
        EventType.CONVERSATION_PAUSED,
    )

    number: str
    """Who writes with the organization."""
    message_id: str | None
    """The text that came in or was answered last, as of `POST /api/inbound/list`; null of
    `conversation.assigned`."""
    assigned_to: str | None
    """The member who answers it; null: nobody in particular."""

    def members(self) -> dict[str, Any]:
        return {
            "conversationId": self.subject,
            "number": self.number,
            "messageId": self.message_id,
            "assignedTo": self.assigned_to,
        }


@dataclass(frozen=True, slots=True)
class RepeatEvent(Event):
    """A mailing that repeats was due, or repeats no more."""

    TYPES: ClassVar[tuple[EventType, ...]] = (
        EventType.REPEAT_BEGUN,
        EventType.REPEAT_SKIPPED,
        EventType.REPEAT_ENDED,
    )

    name: str
    due_at: Moment | None
    """When it was due; null of `repeat.ended`."""
    mailing_id: str | None
    """The mailing of this run, as `mailingId` of conversations' messages; null where none was
    made."""
    reason: str | None
    """Why it was skipped: `missed`, `no_money`, `empty` or `refused`; or why it ended: `hand`,
    `until`, `count`, `list_gone`, `no_money` or `owner_left`."""

    def members(self) -> dict[str, Any]:
        return {
            "repeatId": self.subject,
            "name": self.name,
            "dueAt": None if self.due_at is None else iso(self.due_at),
            "mailingId": self.mailing_id,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class TrialEvent(Event):
    """A test event was sent to the endpoint; nothing happened."""

    TYPES: ClassVar[tuple[EventType, ...]] = (EventType.WEBHOOK_TEST,)

    def members(self) -> dict[str, Any]:
        return {"endpointId": self.subject}


FAMILIES: Final[Mapping[EventType, type[Event]]] = {
    kind: family
    for family in (
        *(MessageEvent, InboundEvent, VerificationEvent),
        *(SenderEvent, BalanceEvent, ConversationEvent, RepeatEvent, TrialEvent),
    )
    for kind in family.TYPES
}


def event_body(event: Event, identity: str) -> str:
    """The event as webhooks carry it: JSON in one line."""
    whole = {
        "id": identity,
        "type": event.type,
        "createdAt": iso(event.at),
        "organizationId": event.organization_id,
        "test": event.mode == "test",
        **event.members(),
    }
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
