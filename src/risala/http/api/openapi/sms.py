"""The reference of the SMS endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from pydantic import BaseModel

from risala.dataclass import dataclass
from risala.engine.model.errors import SenderNotApproved
from risala.http.api import answers
from risala.http.api.answers import Component
from risala.http.api.bodies import BatchBody, GetBody, SendBody
from risala.http.api.fields import PAST
from risala.http.api.openapi.answers import BatchAnswer, SendAnswer
from risala.http.common.problems import problem_of
from risala.sms.numbering.plan import EXAMPLE

# An endpoint as the OpenAPI document describes it.

EVERY = (405, 500)
"""Statuses that any endpoint may answer with."""
LEAN = " An organization with lean answers gets a `LeanMessageAnswer` for each message."
WITH_BODY = (400, 401, 403, 408, 413, 415, 503, *EVERY)
"""Statuses that any endpoint may answer with that wants a key and a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOperation:
    """One endpoint: its path, bodies, answers and words."""

    path: str
    method: str = "post"
    name: str
    """The operationId: clients are generated with methods of this name."""
    tag: str
    summary: str
    description: str
    body: type[BaseModel] | None = None
    """The model of its body; None: it takes neither a body nor a key."""
    answer: type[BaseModel] | Component | None = None
    """The answer 200; None: ``answer_types`` describes it."""
    answer_types: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, Any] = field(default_factory=dict)
    """OpenAPI links: what can be asked next with values of the answer 200."""
    errors: tuple[int, ...] = EVERY
    body_examples: Mapping[str, Any] = field(default_factory=dict)
    answer_examples: Mapping[str, Any] = field(default_factory=dict)


_MESSAGE: Final = {"to": EXAMPLE, "body": "Salam from Risala"}
_ID: Final = "06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
_ACCEPTED: Final = {
    "accepted": True,
    "messageId": f"sms_{_ID}",
    "idempotencyKey": "order-7-paid",
    "organizationId": f"org_{_ID}",
    "from": "RISALA",
}
_PENDING: Final = {
    **_ACCEPTED,
    "notice": {
        "code": "SENDER_PENDING_APPROVAL",
        "requestedFrom": "Acme",
        "message": "The sender 'Acme' awaits approval; sent from 'RISALA'.",
    },
}
STORED: Final = {
    "messageId": f"sms_{_ID}",
    "id": f"sms_{_ID}",
    "to": EXAMPLE,
    "from": "RISALA",
    "body": "Salam from Risala",
    "status": "delivered",
    "segments": 1,
    "encoding": "gsm7",
    "messageClass": None,
    "price": "0.50",
    "currency": "MRU",
    "attempts": 1,
    "carrier": "mattel",
    "providerMessageId": "7f3a",
    "errorCode": None,
    "errorText": None,
    "carrierCode": None,
    "metadata": {"order": "7"},
    "sendAt": None,
    "sentAt": "2026-11-21T08:30:00.410Z",
    "deliveredAt": "2026-11-21T08:30:02.907Z",
    "createdAt": "2026-11-21T08:30:00.123Z",
    "updatedAt": "2026-11-21T08:30:02.907Z",
}

SEND: Final = ApiOperation(
    path="/api/sms",
    name="sendSms",
    tag="SMS",
    summary="Send a message",
    description=(
        "Accepts a message. With the answer 200 it is stored, charged and synced to disk. Needs "
        "a secret key. A request with an `idempotencyKey` can be repeated safely: it returns "
        "the original response, byte for byte. The header `Risala-Hops` is of other Risala "
        "services, which pass messages on: 400 with `data.code` `LOOP` where one comes back."
    ),
    body=SendBody,
    answer=SendAnswer,
    links={
        "status": {
            "operationId": "getSms",
            "requestBody": {"messageId": "$response.body#/messageId"},
            "description": "The status of the message.",
        }
    },
    errors=(*WITH_BODY, 402, 429),
    body_examples={
        "now": {"summary": "At once", "value": _MESSAGE},
        "later": {
            "summary": "Scheduled, with one hour to deliver",
            "value": {
                **_MESSAGE,
                "from": "RISALA",
                "idempotencyKey": "order-7-paid",
                "sendAt": PAST,
                "validitySeconds": 3600,
                "metadata": {"order": "7"},
            },
        },
    },
    answer_examples={
        "accepted": {"summary": "Accepted", "value": _ACCEPTED},
        "pending": {"summary": "The requested sender is waiting for approval", "value": _PENDING},
    },
)
BATCH: Final = ApiOperation(
    path="/api/sms/batch",
    name="sendSmsBatch",
    tag="SMS",
    summary="Send up to 1000 messages",
    description=(
        "Each message is handled on its own: the results are in the order of the messages, and "
        "each is what `POST /api/sms` would have answered. All accepted messages are stored and "
        "synced to disk together before the answer is sent. Needs a secret key."
    ),
    body=BatchBody,
    answer=BatchAnswer,
    errors=WITH_BODY,
    body_examples={
        "two": {
            "summary": "One accepted, one refused",
            "value": {
                "messages": [
                    {**_MESSAGE, "idempotencyKey": "order-7-paid"},
                    {**_MESSAGE, "from": "Other"},
                ]
            },
        }
    },
    answer_examples={
        "two": {
            "summary": "One accepted, one refused",
            "value": {
                "results": [_ACCEPTED, problem_of(SenderNotApproved("Other")).wire(f"req_{_ID}")]
            },
        }
    },
)
GET: Final = ApiOperation(
    path="/api/sms/get",
    name="getSms",
    tag="SMS",
    summary="Get a message",
    description=(
        "Needs a secret key of the organization and the mode that sent it. An id that is "
        f"unknown, malformed or from another organization gives the same 404.{LEAN}"
    ),
    body=GetBody,
    answer=answers.MESSAGE,
    errors=(*WITH_BODY, 404),
    body_examples={"one": {"value": {"messageId": f"sms_{_ID}"}}},
    answer_examples={"delivered": {"summary": "Delivered", "value": STORED}},
)

OPERATIONS: Final = (SEND, BATCH, GET)
