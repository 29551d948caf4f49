"""What is sent to webhook endpoints, as the reference tells it: a body for each family of events.

The bodies are made in :mod:`risala.engine.model.events`; nothing at run time goes through here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from risala.engine.model.events import (
    FAMILIES,
    BalanceEvent,
    ConversationEvent,
    Event,
    EventType,
    InboundEvent,
    MessageEvent,
    RepeatEvent,
    SenderEvent,
    TrialEvent,
    VerificationEvent,
    event_body,
)
from risala.http.api.answers import ApiAnswer, Json
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.numbering.plan import EXAMPLE

_TEXT: Final = {"type": "string"}
_NULL: Final = {"type": "null"}


def _event(
    name: str,
    family: type[Event],
    members: str,
    more: Mapping[str, Json] | None = None,
    sometimes: Mapping[str, Json] | None = None,
) -> ApiAnswer:
    return ApiAnswer(
        name,
        record=family,
        members=f"id type createdAt=at organizationId test {members}",
        more={
            "id": _TEXT
            | {
                "description": "The event's id; also in the header `webhook-id`, the same each time"
                " that it is sent."
            },
            "type": _TEXT | {"enum": [kind.value for kind in family.TYPES]},
            "test": {
                "type": "boolean",
                "description": "True for what test keys do; such events go only to endpoints that "
                "were made for them.",
            },
            **(more or {}),
        },
        sometimes=sometimes or {},
    )


MODELS: Final[Mapping[type[Event], ApiAnswer]] = {
    MessageEvent: _event(
        *("MessageEventModel", MessageEvent),
        "messageId=subject to=recipient from=sender status providerMessageId errorCode errorText"
        " carrierCode metadata price currency",
        {"errorText": {"type": ["string", "null"]}, "price": _TEXT},
        {
            "messageClass": {
                "type": "integer",
                "enum": [0],
                "description": "Of flash messages alone.",
            },
        },
    ),
    InboundEvent: _event(
        *("InboundEventModel", InboundEvent),
        "messageId=subject to=recipient from=sender status providerMessageId errorCode errorText"
        " carrierCode metadata text",
        {
            "status": _TEXT | {"description": "Always `received`."},
            **dict.fromkeys(("errorCode", "errorText", "carrierCode"), _NULL),
            "metadata": {
                "type": "object",
                "additionalProperties": _TEXT,
                "description": "Empty.",
            },
        },
        {
            "sentAt": _TEXT
            | {
                "format": "date-time",
                "description": "The text's own time, which the network wrote on it. Left out where "
                "the carrier tells none.",
            },
        },
    ),
    VerificationEvent: _event(
        *("VerificationEventModel", VerificationEvent),
        "verificationId=subject to=recipient status reason",
    ),
    SenderEvent: _event("SenderEventModel", SenderEvent, "senderId=subject name status reason"),
    BalanceEvent: _event(
        *("BalanceEventModel", BalanceEvent),
        "balance lowBalance currency",
        {"balance": _TEXT, "lowBalance": _TEXT},
    ),
    ConversationEvent: _event(
        *("ConversationEventModel", ConversationEvent),
        "conversationId=subject number messageId assignedTo",
    ),
    RepeatEvent: _event(
        *("RepeatEventModel", RepeatEvent), "repeatId=subject name dueAt mailingId reason"
    ),
    TrialEvent: _event("TrialEventModel", TrialEvent, "endpointId=subject"),
}

_LIVE: Final = (1_795_231_187_670, "org_06GZR7F45ATR38BGRJTCACHCWB8JPGP5", "live")
_TAIL: Final = "06GZR7G2S8Y82F86A5D9RSE7XH300HSN"
_EVENT_ID: Final = "evt_06GZR7G2TTD7CG1MXYNKYGWV011JA66E"
_TO: Final = EXAMPLE


def _message(
    kind: EventType,
    status: str,
    carrier_id: str | None,
    error: str | None = None,
    carrier_code: str | None = None,
) -> MessageEvent:
    return MessageEvent(
        *(kind, *_LIVE, f"sms_{_TAIL}", _TO, "RISALA"),
        status=status,
        provider_message_id=carrier_id,
        error_code=error,
        carrier_code=carrier_code,
        metadata={"order": "7"},
        price=50,
        currency="MRU",
    )


def _verification(kind: EventType, status: str, reason: str | None = None) -> VerificationEvent:
    return VerificationEvent(kind, *_LIVE, f"ver_{_TAIL}", _TO, status, reason)


EXAMPLES: Final[dict[EventType, Event]] = {
    event.type: event
    for event in (
        _message(EventType.SMS_SENT, "sent", "1a1fc1de"),
        _message(EventType.SMS_DELIVERED, "delivered", "1a1fc1de"),
        _message(EventType.SMS_FAILED, "failed", None, "REJECTED", "ESME_RINVDSTADR"),
        _message(EventType.SMS_CANCELED, "canceled", None),
        InboundEvent(EventType.SMS_RECEIVED, *_LIVE, f"mo_{_TAIL}", "1234", _TO, None, "Vote 7"),
        _verification(EventType.VERIFY_SENT, "pending"),
        _verification(EventType.VERIFY_APPROVED, "approved"),
        _verification(EventType.VERIFY_FAILED, "canceled", "max_attempts"),
        SenderEvent(EventType.SENDER_APPROVED, *_LIVE, f"snd_{_TAIL}", "Acme", "approved", None),
        SenderEvent(
            *(EventType.SENDER_DENIED, *_LIVE, f"snd_{_TAIL}", "Acme", "denied"),
            "The name is already used by another organization.",
        ),
        BalanceEvent(EventType.BALANCE_LOW, *_LIVE, _LIVE[1], 4950, 5000, "MRU"),
        ConversationEvent(
            EventType.CONVERSATION_RECEIVED, *_LIVE, f"cnv_{_TAIL}", _TO, f"mo_{_TAIL}", None
        ),
        ConversationEvent(
            EventType.CONVERSATION_ASSIGNED, *_LIVE, f"cnv_{_TAIL}", _TO, None, f"usr_{_TAIL}"
        ),
        ConversationEvent(
            EventType.CONVERSATION_PAUSED, *_LIVE, f"cnv_{_TAIL}", _TO, f"mo_{_TAIL}", None
        ),
        RepeatEvent(
            *(EventType.REPEAT_BEGUN, *_LIVE, f"rpt_{_TAIL}", "Rent"),
            *(_LIVE[0], f"mlg_{_TAIL}", None),
        ),
        RepeatEvent(
            *(EventType.REPEAT_SKIPPED, *_LIVE, f"rpt_{_TAIL}", "Rent"),
            *(_LIVE[0], None, "missed"),
        ),
        RepeatEvent(
            *(EventType.REPEAT_ENDED, *_LIVE, f"rpt_{_TAIL}", "Rent"), *(None, None, "until")
        ),
        TrialEvent(EventType.WEBHOOK_TEST, *_LIVE, f"whe_{_TAIL}"),
    )
}

_SUMMARIES: Final = {
    EventType.SMS_SENT: "A carrier accepted every segment of a message",
    EventType.SMS_DELIVERED: "The receipts say that every segment reached the phone",
    EventType.SMS_FAILED: "A message is `failed` or `undelivered`",
    EventType.SMS_CANCELED: "A message was canceled before it was sent, and refunded",
    EventType.SMS_RECEIVED: "A message was received",
    EventType.VERIFY_SENT: "A carrier accepted the SMS with a code",
    EventType.VERIFY_APPROVED: "The user entered the right code",
    EventType.VERIFY_FAILED: "A verification ended without the right code",
    EventType.SENDER_APPROVED: "A sender was approved",
    EventType.SENDER_DENIED: "A sender was denied",
    EventType.BALANCE_LOW: "A charge took the balance below the organization's limit",
    EventType.CONVERSATION_RECEIVED: "A conversation got a text",
    EventType.CONVERSATION_ASSIGNED: "A conversation was given to a member",
    EventType.CONVERSATION_PAUSED: "Automatic answers to a number are paused for a day",
    EventType.REPEAT_BEGUN: "A mailing that repeats was due, and a mailing is made of it",
    EventType.REPEAT_SKIPPED: "A mailing that repeats was due, and nothing is sent",
    EventType.REPEAT_ENDED: "A mailing that repeats has ended",
    EventType.WEBHOOK_TEST: "A test event was sent to the endpoint",
}
_HEADERS: Final = {
    "webhook-id": "The id of the event. The same event may come again.",
    "webhook-timestamp": "When this attempt was made, in seconds since 1970.",
    "webhook-signature": "`v1,` and an HMAC-SHA256 in base64, as in Standard Webhooks. While an "
    "old secret still signs, two signatures, separated by a space.",
}


_SECOND: Final = (
    "An endpoint with a `signatureHeader` also gets `t=<seconds>,v1=<hex>` in that header: an "
    "HMAC-SHA256 over time, dot and body with the secret as text, one `v1` for each secret. The "
    "body then has `smsId` beside `messageId`."
)


_REPLY: Final = {
    "200": {
        "description": "The event was accepted within 15 seconds. If the endpoint may reply, the "
        "`reply` in an answer of up to 4 KiB is sent to who wrote the message, once: the first one "
        "counts.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "reply": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": TEXT_CHARACTERS_MAX,
                        }
                    },
                },
                "example": {"reply": "We open at 9."},
            }
        },
    }
}


def webhooks() -> dict[str, Any]:
    """By type: the POST that an endpoint gets."""
    return {kind.value: {"post": _post(kind, MODELS[FAMILIES[kind]])} for kind in EventType}


def _post(kind: EventType, body: ApiAnswer) -> dict[str, Any]:
    example = json.loads(event_body(EXAMPLES[kind], _EVENT_ID))
    return {
        "operationId": f"on{''.join(word.capitalize() for word in kind.value.split('.'))}",
        "tags": ["Webhooks"],
        "summary": _SUMMARIES[kind],
        "description": _SECOND,
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": text}
            | {"schema": {"type": "string"}}
            for name, text in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": body.reference},
                    "example": example,
                }
            },
        },
        "responses": {
            **(_REPLY if kind in (EventType.SMS_RECEIVED, EventType.CONVERSATION_RECEIVED) else {}),
            "2XX": {
                "description": "The event was accepted within 15 seconds. The body of the "
                "answer is ignored."
            },
            "410": {"description": "The endpoint no longer exists: it is disabled at once."},
            "default": {"description": "The event was not accepted: it comes again later."},
        },
    }
