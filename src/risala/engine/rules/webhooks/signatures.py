"""Signing by the Standard Webhooks scheme, and by another one, again for each attempt."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from standardwebhooks import Webhook

PREFIX: Final = "whsec_"
SECRET_BYTES: Final = 32
"""Random bytes of a secret."""
SECRET_BYTES_MIN: Final = 24
SECRET_BYTES_MAX: Final = 64
"""The length that the scheme requires."""


def new_secret() -> str:
    """A new random secret, in the scheme's form (``whsec_…``)."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def is_secret(text: str) -> bool:
    """Whether a text is a secret in the scheme's form and length."""
    try:
        octets = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError:
        return False
    return text.startswith(PREFIX) and SECRET_BYTES_MIN <= len(octets) <= SECRET_BYTES_MAX


def stamped(body: str, keys: Sequence[str], now_ms: int, *, key: str = "text") -> str:
    """The other signature, for customers of a hosted service: ``t=…,v1=…``, the time in seconds and
    HMAC-SHA256 in hex of time, dot and body; one ``v1`` for each key, the newest first.

    Args:
        key: one of ``SIGNATURE_KEYS``. ``text``: the whole secret as it is shown, as in that
            service's snippets. ``decoded``: its base64 decoded, as in that service's clients.
    """
    octets = _decoded if key == "decoded" else str.encode
    at = str(now_ms // 1000)
    signed = f"{at}.{body}".encode()
    marks = [hmac.new(octets(each), signed, hashlib.sha256).hexdigest() for each in keys]
    return ",".join([f"t={at}", *(f"v1={mark}" for mark in marks)])


def _decoded(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX))


def with_sms_id(body: str) -> str:
    """An event's body with its message's id as ``smsId`` beside ``messageId``; unchanged if it has
    no message."""
    event = json.loads(body)
    if "messageId" not in event:
        return body
    members: dict[str, object] = {}
    for name, value in event.items():
        members[name] = value
        if name == "messageId":
            members["smsId"] = value
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def signed(event_id: str, body: str, keys: Sequence[str], now_ms: int) -> dict[str, str]:
    """The scheme's three headers; one signature for each key, the newest first."""
    # The library needs the body as text (it would sign the repr of bytes) and a UTC time.
    at = datetime.fromtimestamp(now_ms // 1000, UTC)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(now_ms // 1000),
        "webhook-signature": " ".join(Webhook(key).sign(event_id, at, body) for key in keys),
    }
