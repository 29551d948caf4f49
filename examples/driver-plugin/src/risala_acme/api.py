"""The carrier's API: what is asked, what its answers mean, and what its calls tell."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import socket
import struct
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import httpcore2  # noqa: F401 -- httpx2 would import it with the first client, inside the loop
import httpx2
from risala.plugins.contract import (
    Accepted,
    Cause,
    Inbound,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Segment,
    Throttled,
    Uncertain,
    Unsent,
)

from risala_acme.settings import AcmeSettings

ANSWER_MAX_BYTES: Final = 65_536
"""What we read of an answer: a real one has some hundred bytes."""
CONNECT_S: Final = 5.0
DROP_UNSENT: Final = (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("@ii", 1, 0))
"""``SO_LINGER`` of 0 s: what the carrier's machine has not taken does not leave after the
connection or the process has ended. By then another machine may send."""
RETRY_MAX_S: Final = 300.0
"""The longest wait that we believe the carrier."""
SIGNED_FOR_S: Final = 300
"""How old a signature may be: who overheard a call cannot make it again for ever."""
_SIGNATURE: Final = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")
STATES: Final[Mapping[str, ReceiptState]] = {
    "queued": ReceiptState.ENROUTE,
    "sent": ReceiptState.ENROUTE,
    "delivered": ReceiptState.DELIVERED,
    "expired": ReceiptState.EXPIRED,
    "undeliverable": ReceiptState.UNDELIVERABLE,
    "rejected": ReceiptState.REJECTED,
}
REFUSALS: Final[Mapping[str, tuple[Scope, Cause]]] = {
    "invalid_number": (Scope.FINAL, Cause.UNKNOWN_NUMBER),
    "blocked_number": (Scope.FINAL, Cause.BARRED),
    "invalid_text": (Scope.CARRIER, Cause.CONTENT_REFUSED),
    "sender_not_allowed": (Scope.CARRIER, Cause.SENDER_REFUSED),
    "no_credit": (Scope.CARRIER, Cause.NO_CREDIT),
    "not_allowed": (Scope.CARRIER, Cause.NOT_ALLOWED),
}
"""The carrier's words for a refusal. Another word refuses it by this carrier alone."""


class AcmeApi:
    """Talks to the carrier. One for the life of a link."""

    def __init__(self, settings: AcmeSettings) -> None:
        self._http = httpx2.AsyncClient(
            base_url=settings.url,
            headers={"authorization": f"Bearer {settings.api_key.get_secret_value()}"},
            timeout=httpx2.Timeout(settings.answer_s, connect=CONNECT_S),
            transport=httpx2.AsyncHTTPTransport(
                limits=httpx2.Limits(max_connections=settings.window_max + 2),
                trust_env=False,
                socket_options=[DROP_UNSENT],
            ),
            follow_redirects=False,
            trust_env=False,
        )

    async def aclose(self) -> None:
        await self._http.aclose()

    async def look(self) -> int:
        """The status that the carrier answers a question about our account with.

        Raises:
            httpx2.TransportError: it could not be asked.
        """
        status, _ = await self._ask("GET", "/v1/account")
        return status

    async def send(self, segment: Segment) -> Outcome:
        """Submit a text, short or long: the carrier cuts it."""
        key = f"{segment.message_id}-{segment.attempt}"
        body: dict[str, object] = {
            "to": segment.recipient,
            "from": segment.sender,
            "text": segment.text,
            "encoding": segment.alphabet.value,  # the carrier counts parts as Risala does
            "validUntil": datetime.fromtimestamp(segment.expires_at_ms / 1000, UTC).isoformat(),
        }
        try:
            status, told = await self._ask("POST", "/v1/messages", body, {"idempotency-key": key})
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            return Unsent(name_of(error), "No connection to the carrier; nothing left.")
        except (httpx2.TransportError, AnswerTooLongError) as error:
            return Uncertain(name_of(error))
        return outcome_of(status, told)

    async def query(self, carrier_id: str) -> Receipt | None:
        try:
            status, told = await self._ask("GET", f"/v1/messages/{carrier_id}")
        except FAILURES:
            return None
        return receipt_of(told) if status == 200 else None

    async def _ask(
        self,
        method: str,
        path: str,
        body: dict[str, object] | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, dict[str, Any]]:
        """An answer's status and body, of which no more is read than a bound."""
        async with self._http.stream(method, path, json=body, headers=headers) as answer:
            octets = b""
            async for piece in answer.aiter_bytes():
                octets += piece
                if len(octets) > ANSWER_MAX_BYTES:
                    raise AnswerTooLongError
        told = object_of(octets)
        if answer.status_code == 429:
            told["retry_after"] = answer.headers.get("retry-after")
        return answer.status_code, told


class AnswerTooLongError(Exception):
    """The carrier says more than it should."""


FAILURES: Final = (httpx2.HTTPError, AnswerTooLongError)
"""What a question to the carrier may end with; for a message only some of it is certain."""


def object_of(octets: bytes) -> dict[str, Any]:
    """The JSON object that was sent; empty: it is none."""
    try:
        told = json.loads(octets)
    except ValueError:
        told = None
    return told if isinstance(told, dict) else {}


def outcome_of(status: int, told: Mapping[str, Any]) -> Outcome:
    """What an answer to a submit means."""
    code = told.get("code")
    raw = f"{status} {code}"[:80] if isinstance(code, str) else str(status)
    if status in (200, 202):
        carrier_id = told.get("id")
        if isinstance(carrier_id, str) and carrier_id:
            return Accepted(carrier_id, f"{raw}{parts_of(told)}")
        return Uncertain(raw, "The carrier took it, and gave no id.")
    if status == 429:
        return Throttled(raw, retry_after_s=seconds(told.get("retry_after")))
    if status in (401, 403):
        return Refused(Scope.CARRIER, raw, cause=Cause.NOT_ALLOWED)
    if status == 503:
        return Refused(Scope.NOW, raw, cause=Cause.CARRIER_FAULT)
    if 400 <= status < 500:
        scope, cause = REFUSALS.get(str(code), (Scope.CARRIER, Cause.REJECTED))
        return Refused(scope, raw, cause=cause)
    # Also 500, 502 and 504: who says so may have passed the message on before.
    return Uncertain(raw)


def parts_of(told: Mapping[str, Any]) -> str:
    """How many parts the carrier counted and bills, for the timeline; empty: it does not say."""
    parts = told.get("parts")
    return f" parts={parts}" if isinstance(parts, int) else ""


def receipt_of(told: Mapping[str, Any]) -> Receipt | None:
    """What the carrier tells of a message, of all its parts at once; None where it tells nothing
    that we know."""
    carrier_id, word = told.get("id"), told.get("state")
    if not isinstance(carrier_id, str) or not isinstance(word, str) or word not in STATES:
        return None
    recipient = told.get("to")
    return Receipt(
        carrier_id,
        STATES[word],
        raw=word,
        recipient=recipient if isinstance(recipient, str) else None,
    )


def inbound_of(told: Mapping[str, Any], received_at_ms: int) -> Inbound | None:
    """A text that the carrier brings; None where it is none."""
    sender, text, carrier_id = told.get("from"), told.get("text"), told.get("id")
    if not isinstance(sender, str) or not isinstance(text, str) or not isinstance(carrier_id, str):
        return None
    recipient = told.get("to")
    return Inbound(
        sender,
        recipient if isinstance(recipient, str) else None,
        text,
        received_at_ms,
        carrier_ids=(carrier_id,),
    )


def sign(secret: bytes, at_s: int, body: bytes) -> str:
    """The signature of a body at a time."""
    code = hmac.new(secret, b"%d.%b" % (at_s, body), hashlib.sha256).hexdigest()
    return f"t={at_s},v1={code}"


def is_signed(secret: bytes, signature: str, body: bytes, now_s: float) -> bool:
    """Whether the carrier signed a body, not long ago."""
    found = _SIGNATURE.fullmatch(signature)
    if found is None or abs(now_s - int(found[1])) > SIGNED_FOR_S:
        return False
    return hmac.compare_digest(sign(secret, int(found[1]), body), signature)


def seconds(text: object) -> float | None:
    """A Retry-After in seconds; a date in it, or nonsense, is no number."""
    if isinstance(text, str) and text.isascii() and text.isdigit():
        return min(float(text), RETRY_MAX_S)
    return None


def name_of(error: Exception) -> str:
    """The error's kind: its text could hold an address with a key in it."""
    return type(error).__name__
