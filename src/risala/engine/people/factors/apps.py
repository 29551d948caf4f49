"""Codes of authenticator apps by time: TOTP, RFC 6238. Pure."""

from __future__ import annotations

import hmac
from base64 import b32encode
from typing import Final

from risala.sms.typed import typed_code

SEED_BYTES: Final = 20
"""RFC 4226 §4, R6: the length that is recommended, and that every app takes."""
STEP_MS: Final = 30_000
"""RFC 6238 §5.2: the length of a step that every app assumes."""
SKEW_STEPS: Final = 1
"""A code is accepted one step early and one late: a phone's clock and a slow reader."""
APP_DIGITS: Final = 6


def seed_of(secret: bytes) -> str:
    """A seed as apps take it, from secret bytes."""
    return b32encode(secret[:SEED_BYTES]).decode()


def matching_step(seed: str, typed: str, now_ms: int) -> int | None:
    """The time step whose code this is; None: of none that counts now.

    All steps are compared, each in constant time.
    """
    # Imported here: an idle service needs no factor.
    import pyotp

    app, now = pyotp.TOTP(seed), now_ms // STEP_MS
    given = typed_code(typed).encode("utf-8", "surrogatepass")
    steps = range(max(0, now - SKEW_STEPS), now + SKEW_STEPS + 1)
    fits = [step for step in steps if hmac.compare_digest(app.generate_otp(step).encode(), given)]
    return fits[-1] if fits else None


def address_of(seed: str, email: str, service: str) -> str:
    """The address that the QR code holds: with it an app knows the seed, and what it is for."""
    import pyotp

    return pyotp.TOTP(seed).provisioning_uri(name=email, issuer_name=service)
