"""The words of ``data.code``, each with its status, when it is answered and what to do.

The OpenAPI document lists them, and ``/docs/errors`` explains each at the address that an error's
``docs`` names. The list is closed: words may be added, none is renamed or taken away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

PAGE: Final = "/docs/errors"


class ErrorWord(NamedTuple):
    status: int
    when: str
    """When an answer has it: the end of a sentence."""
    remedy: str
    """What the caller does: a sentence."""


WORDS: Final[Mapping[str, ErrorWord]] = {
    "COUNTRY_NOT_OPEN": ErrorWord(
        403,
        "the number's country is not open to the organization",
        "Ask the operator to open the country.",
    ),
    "SENDER_NOT_APPROVED": ErrorWord(
        400,
        "`from` was denied, or is not on the account",
        "Leave `from` out, or use a sender of the organization.",
    ),
    "CLASS_NOT_POSSIBLE": ErrorWord(
        400,
        "no carrier of the number can send a flash message (`messageClass` 0)",
        "Leave `messageClass` out to send an ordinary message, or ask the operator.",
    ),
    "RECIPIENT_OPTED_OUT": ErrorWord(
        400,
        "the recipient wants no messages of the organization",
        "Do not send to this number.",
    ),
    "POLICY": ErrorWord(
        400,
        "a policy of the operator's forbids the message",
        "`data.reason` says which. Change the message, or ask the operator.",
    ),
    "NO_CHANNEL_LEFT": ErrorWord(
        400,
        "each channel of the verification was tried, or the verification is over",
        "Send another code.",
    ),
    "NO_CODE": ErrorWord(
        400,
        "the user sends a text or calls in this verification: there is no code to check",
        "Wait for `verify.approved`, or ask `POST /api/verify/get`.",
    ),
    "NO_NUMBER": ErrorWord(
        400,
        "no number of the service can be texted or called to prove a number",
        "Send a code instead. The operator sees why on the carriers' pages.",
    ),
    "NOT_ANSWERABLE": ErrorWord(
        400,
        "nothing can be sent to who wrote, or by the carrier that brought the last text",
        "Write to the number with `POST /api/sms`, if it is one.",
    ),
    "LOOP": ErrorWord(
        400,
        "another Risala passes on a message that has come through this service before, or through "
        "eight services",
        "Correct the routes of the services: the message goes in a circle.",
    ),
    "NOT_CANCELABLE": ErrorWord(
        400,
        "the message has left, in whole or in part, or has ended",
        "Nothing: the message stays as it is.",
    ),
    "TOO_MANY_ENDPOINTS": ErrorWord(
        400, "the organization has twenty webhook endpoints", "Delete one first."
    ),
    "ENDPOINT_DISABLED": ErrorWord(400, "the webhook endpoint is disabled", "Enable it first."),
    "ROTATED_LATELY": ErrorWord(
        400,
        "the secret before the present one still signs",
        "Wait a day, or rotate with `atOnce`.",
    ),
    "DELIVERY_PENDING": ErrorWord(
        400, "the delivery is attempted by itself already", "Wait for its result."
    ),
    "EVENT_NOT_KEPT": ErrorWord(
        400, "the event is no longer kept", "Ask for the message or the verification itself."
    ),
    "KEY_EXPIRED": ErrorWord(401, "the key's time is over", "Use a newer key."),
    "SPEND_CAP": ErrorWord(
        402,
        "the organization may not spend more today",
        "Send tomorrow, or have an owner raise the spend cap.",
    ),
    "ADDRESS_NOT_ALLOWED": ErrorWord(
        403,
        "the key may not be used from the client's address",
        "Add the address to the key, or call from one that is there.",
    ),
    "CHALLENGE_REQUIRED": ErrorWord(
        403,
        "the key sends a code only after a challenge is answered",
        "Solve `data.challenge`, and send the same body with `challenge: {id, nonce}`.",
    ),
    "OUTCOME_UNKNOWN": ErrorWord(
        503,
        "it is not known whether the message was stored: the disk failed, or the second machine "
        "did not confirm in time",
        "Send the same request with the same idempotency key: the answer is the truth.",
    ),
}

STATUS_WORDS: Final[Mapping[str, ErrorWord]] = {
    "BAD_REQUEST": ErrorWord(
        400, "the request is not valid", "`data.issues` names each fault. Mend them."
    ),
    "UNAUTHORIZED": ErrorWord(
        401,
        "the key is missing, unknown, disabled or deleted",
        "Send an enabled key in the header `x-api-key`.",
    ),
    "PAYMENT_REQUIRED": ErrorWord(
        402, "the balance does not cover the price", "Top up, then send again."
    ),
    "FORBIDDEN": ErrorWord(
        403,
        "the organization is not active, or the key is not for this endpoint or origin",
        "Use a secret key on your server, or ask the operator.",
    ),
    "NOT_FOUND": ErrorWord(
        404,
        "the path does not exist, or this key has no thing with this id",
        "Check the path and the id, and whether both are of the same mode (live or test).",
    ),
    "METHOD_NOT_ALLOWED": ErrorWord(
        405, "the path takes another method", "The header `Allow` names it."
    ),
    "REQUEST_TIMEOUT": ErrorWord(408, "the body did not arrive in time", "Send it again."),
    "CONFLICT": ErrorWord(
        409, "the thing has changed meanwhile", "Read it again, then repeat the change."
    ),
    "PAYLOAD_TOO_LARGE": ErrorWord(413, "the body is too large", "Send less at once."),
    "UNSUPPORTED_MEDIA_TYPE": ErrorWord(
        415,
        "the body is not uncompressed JSON in UTF-8",
        "Send `Content-Type: application/json`.",
    ),
    "TOO_MANY_REQUESTS": ErrorWord(
        429,
        "a limit is reached; `data.limit` names it",
        "Wait as many seconds as `Retry-After` says.",
    ),
    "REQUEST_HEADER_FIELDS_TOO_LARGE": ErrorWord(
        431, "the header is larger than 16 KiB", "Send less in the header."
    ),
    "INTERNAL_SERVER_ERROR": ErrorWord(
        500, "the service has a fault", "Try again later, and give the operator the `requestId`."
    ),
    "SERVICE_UNAVAILABLE": ErrorWord(
        503,
        "the service is full, is stopping, or cannot store; nothing was stored or charged",
        "Send again after as many seconds as `Retry-After` says.",
    ),
}
"""The words of ``code``, which every error has."""


def page_of(code: str, data: Mapping[str, Any]) -> str:
    """The address that explains an error: its ``data.code`` where the page has it, else its
    ``code``."""
    word = data.get("code")
    return f"{PAGE}#{word if word in WORDS else code}"
