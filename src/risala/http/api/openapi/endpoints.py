"""The reference of webhook endpoints in the hands of programs, and of what they may withdraw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from risala.engine.model.records.record import to_json
from risala.engine.model.records.webhooks import HIDDEN_VALUE, Endpoint
from risala.engine.model.times import iso
from risala.http.api import answers
from risala.http.api.bodies import GetBody
from risala.http.api.management import webhook_bodies as bodies
from risala.http.api.management.actions import EstimateBody
from risala.http.api.management.cursors import ListName, written
from risala.http.api.management.list_bodies import EmptyBody
from risala.http.api.openapi import sms, verify
from risala.http.api.openapi.sms import LEAN, WITH_BODY, ApiOperation
from risala.http.api.verify_bodies import GetVerificationBody
from risala.sms.numbering.plan import EXAMPLE

_ID: Final = "06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
_AT_MS: Final = 1_795_249_800_123
_AT: Final = iso(_AT_MS)
_THIS: Final = {"endpointId": f"whe_{_ID}"}
_ENDPOINT: Final = to_json(
    Endpoint(
        id=f"whe_{_ID}",
        organization_id=f"org_{_ID}",
        mode="live",
        url="https://example.com/events",
        types=("sms.sent", "sms.failed"),
        headers={"Authorization": HIDDEN_VALUE},
        created_at=_AT_MS,
        updated_at=_AT_MS,
    )
)
_SECRET: Final = {**_ENDPOINT, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
_DELIVERY: Final = {
    "endpointId": f"whe_{_ID}",
    "eventId": f"evt_{_ID}",
    "type": "sms.sent",
    "state": "failed",
    "attempts": 10,
    "nextAttemptAt": None,
    "status": 503,
    "error": None,
    "excerpt": "Service Unavailable",
    "createdAt": _AT,
    "updatedAt": _AT,
    "deliveredAt": None,
}
_KEY: Final = (
    " Needs a secret key: a live one for endpoints of live events, a test one for those of test"
    " events."
)


def _of(
    name: str,
    operation: str,
    summary: str,
    words: str,
    *,
    body: type[BaseModel],
    answer: answers.Component,
    body_examples: Mapping[str, Any],
    answer_examples: Mapping[str, Any],
) -> ApiOperation:
    return ApiOperation(
        path=f"/api/webhooks/{name}",
        name=operation,
        tag="Webhooks",
        summary=summary,
        description=f"{words}{_KEY}".strip(),
        body=body,
        answer=answer,
        errors=WITH_BODY if name in ("list", "create") else (*WITH_BODY, 404),
        body_examples={each: {"value": value} for each, value in body_examples.items()},
        answer_examples={each: {"value": value} for each, value in answer_examples.items()},
    )


_CANCEL: Final = (
    ApiOperation(
        path="/api/sms/cancel",
        name="cancelSms",
        tag="SMS",
        summary="Withdraw a message",
        description="Cancels a message that is `pending` and has no part sent yet, and refunds "
        "its price. Any other message gives 400 with `data.code` `NOT_CANCELABLE`."
        f" Needs a secret key.{LEAN}",
        body=GetBody,
        answer=answers.MESSAGE,
        errors=(*WITH_BODY, 404),
        body_examples={"one": {"value": {"messageId": f"sms_{_ID}"}}},
        answer_examples={
            "canceled": {
                "value": {
                    **sms.STORED,
                    "status": "canceled",
                    "attempts": 0,
                    "carrier": None,
                    "providerMessageId": None,
                    "sentAt": None,
                    "deliveredAt": None,
                }
            }
        },
    ),
    ApiOperation(
        path="/api/sms/estimate",
        name="estimateSms",
        tag="SMS",
        summary="Get the price of a text",
        description="Charges nothing. Needs a secret key; with a test key the price is zero.",
        body=EstimateBody,
        answer=answers.ESTIMATE,
        errors=WITH_BODY,
        body_examples={"one": {"value": {"to": EXAMPLE, "body": "It’s ready"}}},
        answer_examples={
            "unicode": {
                "value": {
                    "encoding": "ucs2",
                    "segments": 1,
                    "characters": 10,
                    "price": "0.50",
                    "currency": "MRU",
                    "unicodeCharacters": [
                        {"character": "’", "index": 2, "suggestion": "'", "name": None}
                    ],
                }
            }
        },
    ),
    ApiOperation(
        path="/api/verify/cancel",
        name="cancelVerification",
        tag="Verify",
        summary="End a verification",
        description=(
            "Its code no longer works. A verification that has already ended stays as it is. "
            "Needs a secret key."
        ),
        body=GetVerificationBody,
        answer=answers.VERIFICATION,
        errors=(*WITH_BODY, 404),
        body_examples={"one": {"value": {"verificationId": f"ver_{_ID}"}}},
        answer_examples={"canceled": {"value": {**verify.STORED, "status": "canceled"}}},
    ),
)

OPERATIONS: Final = (
    *_CANCEL,
    _of(
        *("list", "listEndpoints", "Webhook endpoints", "At most twenty."),
        body=EmptyBody,
        answer=answers.ENDPOINTS,
        body_examples={"all": {}},
        answer_examples={"one": {"items": [_ENDPOINT]}},
    ),
    _of(
        *("create", "createEndpoint", "Create a webhook endpoint"),
        "Only this answer has the secret that signs the calls.",
        body=bodies.CREATE,
        answer=answers.ENDPOINT_SECRET,
        body_examples={
            "plain": {"url": "https://example.com/events"},
            "chosen": {
                "url": "https://example.com/events",
                "types": ["sms.sent", "sms.failed"],
                "headers": {"Authorization": "Bearer 4711"},
            },
            "shaped": {"url": "https://example.com/c/kn/4711/receive", "shape": "rapidpro"},
        },
        answer_examples={"made": _SECRET},
    ),
    _of(
        *("update", "updateEndpoint", "Change a webhook endpoint"),
        "Fields that are left out stay as they are. `enabled` switches the endpoint on and off.",
        body=bodies.UPDATE,
        answer=answers.ENDPOINT,
        body_examples={"off": {**_THIS, "enabled": False}},
        answer_examples={"off": {**_ENDPOINT, "enabled": False, "disabledReason": "owner"}},
    ),
    _of(
        *("delete", "deleteEndpoint", "Delete a webhook endpoint"),
        "Its pending deliveries are dropped.",
        body=bodies.ONE,
        answer=answers.ENDPOINT_DELETED,
        body_examples={"one": _THIS},
        answer_examples={"one": {**_ENDPOINT, "deleted": True}},
    ),
    _of(
        *("rotate", "rotateSecret", "Rotate the secret of a webhook endpoint"),
        "Only this answer has the new secret. The old one also signs for 24 hours, unless "
        "`atOnce` is true.",
        body=bodies.ROTATE,
        answer=answers.ENDPOINT_SECRET,
        body_examples={"soft": _THIS, "hard": {**_THIS, "atOnce": True}},
        answer_examples={"made": {**_SECRET, "oldSecretUntil": "2026-11-22T08:30:00.123Z"}},
    ),
    _of(
        *("test", "testEndpoint", "Send a test event"),
        "The event's type is `webhook.test`.",
        body=bodies.ONE,
        answer=answers.DELIVERY,
        body_examples={"one": _THIS},
        answer_examples={
            "owed": {
                **_DELIVERY,
                "type": "webhook.test",
                "state": "pending",
                "attempts": 0,
                "nextAttemptAt": _AT,
                "status": None,
                "excerpt": None,
            }
        },
    ),
    _of(
        *("deliveries", "listDeliveries", "List the deliveries of an endpoint"),
        "Newest first, in pages as in the other lists.",
        body=bodies.DELIVERIES,
        answer=answers.DELIVERIES,
        body_examples={"failed": {**_THIS, "state": "failed", "limit": 1}},
        answer_examples={
            "page": {
                "items": [_DELIVERY],
                "next": written(ListName.DELIVERIES, 4711),
                "previous": None,
            }
        },
    ),
    _of(
        *("replay", "replayDeliveries", "Deliver again"),
        "Repeats one delivery by its event, or all failed deliveries of events since a time. "
        "One request repeats at most 5,000: ask again with the answer's `until` while `done` is "
        "false.",
        body=bodies.REPLAY,
        answer=answers.REPLAY,
        body_examples={
            "one": {**_THIS, "eventId": f"evt_{_ID}"},
            "failed": {**_THIS, "since": "2026-11-21T00:00:00Z"},
        },
        answer_examples={
            "one": {**_DELIVERY, "state": "pending", "nextAttemptAt": _AT},
            "failed": {"replayed": 12, "until": _AT, "done": True},
        },
    ),
)
