"""The reference of the Verify endpoints."""

from __future__ import annotations

from typing import Final

from risala.http.api import answers
from risala.http.api.openapi.sms import WITH_BODY, ApiOperation
from risala.http.api.verify_beside import CheckCodeBody, SendCodeBody
from risala.http.api.verify_bodies import GetVerificationBody, ResendCodeBody
from risala.http.api.verify_start import StartVerificationBody
from risala.sms.numbering.plan import EXAMPLE

_ID: Final = "ver_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
STORED: Final = {
    "id": _ID,
    "to": EXAMPLE,
    "status": "pending",
    "attempts": 1,
    "expiresAt": "2026-11-21T08:40:00.123Z",
    "createdAt": "2026-11-21T08:30:00.123Z",
    "updatedAt": "2026-11-21T08:31:07.512Z",
}

DELIVERIES: Final = [
    {"channel": "telegram", "status": "failed", "at": "2026-11-21T08:30:00.123Z"},
    {"channel": "sms", "status": "pending", "at": "2026-11-21T08:30:01.377Z"},
]

SEND: Final = ApiOperation(
    path="/api/verify/send",
    name="sendCode",
    tag="Verify",
    summary="Send a one-time code",
    description=(
        "Sends a code by SMS and opens a session for it. A publishable key is allowed, also in "
        "a browser. The limits per address (publishable keys only), number and organization "
        "answer 429. Where a publishable key asks for a challenge, 403 with `data.code` "
        "`CHALLENGE_REQUIRED` has it as `data.challenge`: send the same body with its answer."
    ),
    body=SendCodeBody,
    answer=answers.CODE_SENT,
    links={
        "check": {
            "operationId": "checkCode",
            "requestBody": {"verificationId": "$response.body#/verificationId", "code": "042137"},
            "description": "Whether the code is right.",
        },
        "status": {
            "operationId": "getVerification",
            "requestBody": {"verificationId": "$response.body#/verificationId"},
            "description": "The status of the session.",
        },
    },
    errors=(*WITH_BODY, 402, 429),
    body_examples={
        "plain": {
            "summary": "With the organization's own template",
            "value": {"to": EXAMPLE},
        },
        "french": {
            "summary": "In French, with what your server knows of its user",
            "value": {
                "to": EXAMPLE,
                "locale": "fr",
                "clientIp": "203.0.113.9",
                "tags": ["sign-up"],
            },
        },
    },
    answer_examples={"sent": {"value": {"verificationId": _ID}}},
)
CHECK: Final = ApiOperation(
    path="/api/verify/check",
    name="checkCode",
    tag="Verify",
    summary="Check a code",
    description=(
        "`denied`: the code is wrong, expired or already used. A publishable key is allowed, "
        "also in a browser. A secret key may name the number (`to`) instead of the "
        "verification: its newest pending session is meant, and 404 says that it has none."
    ),
    body=CheckCodeBody,
    answer=answers.CHECK,
    errors=(*WITH_BODY, 404, 429),
    body_examples={
        "typed": {"value": {"verificationId": _ID, "code": "042137"}},
        "number": {
            "summary": "By the number, with a secret key",
            "value": {"to": EXAMPLE, "code": "042137"},
        },
    },
    answer_examples={
        "approved": {"summary": "The code is right", "value": {"status": "approved"}},
        "denied": {
            "summary": "The code is wrong, expired or already used",
            "value": {"status": "denied"},
        },
    },
)
GET: Final = ApiOperation(
    path="/api/verify/get",
    name="getVerification",
    tag="Verify",
    summary="Get a verification",
    description="Needs a secret key of the organization and the mode that opened it.",
    body=GetVerificationBody,
    answer=answers.VERIFICATION,
    errors=(*WITH_BODY, 404),
    body_examples={"one": {"value": {"verificationId": _ID}}},
    answer_examples={
        "pending": {
            "summary": "After one wrong guess",
            "value": STORED,
        }
    },
)

RESEND: Final = ApiOperation(
    path="/api/verify/resend",
    name="resendCode",
    tag="Verify",
    summary="Bring a code by the next channel",
    description=(
        "Brings the same code once more, by the next channel or by the named one. A publishable "
        "key is allowed, also in a browser; it is answered `verificationId` alone. Each counts "
        "in the limits and is charged. 400 with `data.code` `NO_CHANNEL_LEFT`: each channel was "
        "tried, or the verification is over."
    ),
    body=ResendCodeBody,
    answer=answers.VERIFICATION,
    errors=(*WITH_BODY, 402, 404, 429),
    body_examples={"next": {"value": {"verificationId": _ID}}},
    answer_examples={
        "secret": {
            "summary": "With a secret key",
            "value": {**STORED, "channel": "sms", "deliveries": DELIVERIES},
        },
    },
)

START: Final = ApiOperation(
    path="/api/verify/start",
    name="startVerification",
    tag="Verify",
    summary="Let the user prove a number by a text or a call",
    description=(
        "Opens a verification without a code: your user sends the text, or calls `sendTo` and is "
        "not answered. No SMS leaves, and nothing is charged. A publishable key is allowed, also "
        "in a browser; the limits of codes hold. 400 with `data.code` `NO_NUMBER`: no number of "
        "the service can be texted or called. `POST /api/verify/check` of it is 400 with "
        "`data.code` `NO_CODE`."
    ),
    body=StartVerificationBody,
    answer=answers.STARTED,
    errors=(*WITH_BODY, 429),
    body_examples={"text": {"value": {"method": "inbound_sms", "to": EXAMPLE, "locale": "fr"}}},
    answer_examples={
        "text": {
            "value": {
                "verificationId": _ID,
                "status": "pending",
                "method": "inbound_sms",
                "sendTo": EXAMPLE,
                "text": "Boutique Nour 7K3MX9QD",
                "link": f"sms:{EXAMPLE}?&body=Boutique%20Nour%207K3MX9QD",
                "qrSvg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
                "page": "https://sms.example.com/v/Zx3vTn0q2cJ8hYkWb1LrAg",
                "expiresAt": "2026-11-21T08:40:00.123Z",
            }
        }
    },
)

OPERATIONS: Final = (SEND, CHECK, GET, RESEND, START)
