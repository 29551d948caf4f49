"""Webhooks: whether the service sent what came, and what it says.

Two signatures are known. The one that every request has is of Standard Webhooks: the headers
``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``. An endpoint can be set to carry
another as well, ``t=<unix>,v1=<hex>``, in a header of its own choice.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from .decoding import WIRE, decoded
from .errors import SignatureError, UnreadableAnswerError

TOLERANCE_S: Final = 300
"""How far a signature's time may be from ours: as Standard Webhooks have it."""
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 -- what every secret begins with


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEvent:
    """What happened. Of a type that this version does not know it is just this."""

    id: str
    """The event's id. It may come again with the same id: remember those that you have handled."""
    type: str
    created_at: datetime
    organization_id: str
    test: bool
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The whole event as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEvent(WebhookEvent):
    """`sms.sent`, `sms.delivered`, `sms.failed`, `sms.canceled`."""

    message_id: str
    to: str
    sender: str = field(metadata={WIRE: "from"})
    status: str
    provider_message_id: str | None = None
    error_code: str | None = None
    error_text: str | None = None
    carrier_code: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    price: Decimal | None = None
    """The price of the message. None: the service is of an older version."""
    currency: str | None = None
    message_class: int | None = None
    """0: a flash message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundEvent(WebhookEvent):
    """`sms.received`: a message that somebody sent to the organization."""

    message_id: str
    sender: str = field(metadata={WIRE: "from"})
    text: str = field(repr=False)
    to: str | None = None
    provider_message_id: str | None = None
    sent_at: datetime | None = None
    """The text's own time, by the network; None where the carrier does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationEvent(WebhookEvent):
    """`verify.sent`, `verify.approved`, `verify.failed`."""

    verification_id: str
    to: str
    status: str
    reason: str | None = None
    """The reason of `verify.failed`: ``expired``, ``max_attempts``, ``delivery_failed``,
    ``canceled``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderEvent(WebhookEvent):
    """`sender.approved`, `sender.denied`."""

    sender_id: str
    name: str
    status: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceEvent(WebhookEvent):
    """`balance.low`."""

    balance: Decimal
    low_balance: Decimal
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationEvent(WebhookEvent):
    """`conversation.received`, `conversation.assigned`, `conversation.paused`."""

    conversation_id: str
    number: str
    message_id: str | None = None
    """The text that came in; None of `conversation.assigned`."""
    assigned_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatEvent(WebhookEvent):
    """`repeat.begun`, `repeat.skipped`, `repeat.ended`."""

    repeat_id: str
    name: str
    due_at: datetime | None = None
    """None of `repeat.ended`."""
    mailing_id: str | None = None
    """The mailing that begins; None: nothing is sent."""
    reason: str | None = None
    """Why it was skipped, or ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEvent(WebhookEvent):
    """`webhook.test`: sent by hand, to see whether the endpoint is there."""

    endpoint_id: str


KINDS: Final[Mapping[str, type[WebhookEvent]]] = {
    **dict.fromkeys(("sms.sent", "sms.delivered", "sms.failed", "sms.canceled"), MessageEvent),
    "sms.received": InboundEvent,
    **dict.fromkeys(("verify.sent", "verify.approved", "verify.failed"), VerificationEvent),
    **dict.fromkeys(("sender.approved", "sender.denied"), SenderEvent),
    "balance.low": BalanceEvent,
    **dict.fromkeys(
        ("conversation.received", "conversation.assigned", "conversation.paused"), ConversationEvent
    ),
    **dict.fromkeys(("repeat.begun", "repeat.skipped", "repeat.ended"), RepeatEvent),
    "webhook.test": TrialEvent,
}


class Webhook:
    """An endpoint's side: takes what came, gives the event or raises `SignatureError`.

    Give it both secrets while one replaces the other: ``Webhook(new, old)``. An endpoint that may
    reply answers a received message with the JSON ``{"reply": "…"}``.
    """

    def __init__(
        self,
        *secrets: str,
        tolerance_s: float = TOLERANCE_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        if not secrets:
            raise ValueError("A webhook needs its secret: whsec_…")
        self._secrets = [each.encode() for each in secrets]
        self._keys = [_key(each) for each in secrets]
        self._tolerance_s = tolerance_s
        self._now = now

    def __repr__(self) -> str:
        return f"<Webhook with {len(self._keys)} secrets>"

    def verify(self, body: bytes | str, headers: Mapping[str, str]) -> WebhookEvent:
        """The event in a request: its body as it came, before anything has parsed it, and its
        headers in whatever case."""
        fields = {name.lower(): value for name, value in headers.items()}
        try:
            signed, at = fields["webhook-id"], fields["webhook-timestamp"]
            signatures = fields["webhook-signature"]
        except KeyError as missing:
            raise SignatureError(f"The request has no header {missing}.") from None
        self._check_time(at)
        octets = _octets(body)
        decoded_signatures = [
            _unbased(each[3:]) for each in signatures.split() if each.startswith("v1,")
        ]
        content = f"{signed}.{at}.".encode() + octets
        self._check(content, self._keys, decoded_signatures)
        return event(octets)

    def verify_signed(self, body: bytes | str, signature: str) -> WebhookEvent:
        """The event in a request that a header ``t=<unix>,v1=<hex>`` signs, whichever form of the
        secret is its key."""
        parts = [each.strip().partition("=") for each in signature.split(",")]
        times = [value for name, _, value in parts if name == "t"]
        if len(times) != 1:
            raise SignatureError("The signature does not tell its time.")
        [at] = times
        self._check_time(at)
        octets = _octets(body)
        signatures = [_unhexed(value) for name, _, value in parts if name == "v1"]
        self._check(f"{at}.".encode() + octets, (*self._secrets, *self._keys), signatures)
        return event(octets)

    def _check_time(self, at: str) -> None:
        if not (at.isascii() and at.isdigit()) or len(at) > 12:  # seconds, for 30,000 years
            raise SignatureError("The signature's time is no number.")
        if abs(self._now() - int(at)) > self._tolerance_s:
            raise SignatureError("The signature is too old, or of a time to come.")

    def _check(self, content: bytes, keys: Iterable[bytes], signatures: Iterable[bytes]) -> None:
        """Compares every pair, each in a time that does not tell how much of it is right."""
        made = [hmac.new(key, content, hashlib.sha256).digest() for key in keys]
        matches = [hmac.compare_digest(ours, theirs) for ours in made for theirs in signatures]
        if not any(matches):
            raise SignatureError("No signature is by this endpoint's secret.")


def event(body: bytes) -> WebhookEvent:
    """The event that a body tells. Whoever calls this must know where the body is from."""
    try:
        members = json.loads(body)
    except ValueError as error:
        raise SignatureError("The body is no JSON.") from error
    if not isinstance(members, dict):
        raise SignatureError("The body is no JSON object.")
    kind = KINDS.get(str(members.get("type")), WebhookEvent)
    try:
        return decoded(kind, members | {"data": members})
    except UnreadableAnswerError as error:
        raise SignatureError(f"The body is no event: {error}") from error


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except ValueError as error:
        raise ValueError("A webhook's secret is like whsec_…, as it was shown.") from error


def _octets(body: bytes | str) -> bytes:
    return body.encode() if isinstance(body, str) else bytes(body)


def _unbased(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


def _unhexed(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
