"""Signing by the Standard Webhooks scheme, anew for each attempt."""

from __future__ import annotations

import base64
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
"""The scheme asks for so many."""


def new_secret() -> str:
    """A new random secret, in the scheme's form (``whsec_…``)."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def is_secret(text: str) -> bool:
    """Whether a text is a secret in the scheme's form, of as many bytes as it asks for."""
    try:
        found = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError:
        return False
    return text.startswith(PREFIX) and SECRET_BYTES_MIN <= len(found) <= SECRET_BYTES_MAX


def signed(event_id: str, body: str, keys: Sequence[str], now_ms: int) -> dict[str, str]:
    """The scheme's three headers; one signature for each key, the newest first."""
    # The library takes the body as text (of bytes it would sign their repr) and a UTC time.
    at = datetime.fromtimestamp(now_ms // 1000, UTC)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(now_ms // 1000),
        "webhook-signature": " ".join(Webhook(key).sign(event_id, at, body) for key in keys),
    }
