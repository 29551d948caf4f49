"""Codes of authenticator apps by time (TOTP, RFC 6238), and recovery codes: each of these lets its
owner in once, in place of a factor that is lost."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import b32encode
from collections.abc import Sequence
from typing import Final

from risala.engine.features.factors.records import RECOVERY_CODES
from risala.sms.typed import Purpose, typed, typed_code

SEED_BYTES: Final = 20
"""RFC 4226 §4, R6: the length that is recommended, and that every app takes."""
STEP_MS: Final = 30_000
"""RFC 6238 §5.2: the length of a step that every app assumes."""
SKEW_STEPS: Final = 1
"""A code is accepted one step early and one late: a phone's clock and a slow reader."""
APP_DIGITS: Final = 6
CHARACTERS: Final = 16
"""79 bits: a code cannot be guessed, so that a plain hash of it is right."""
_GROUP: Final = 4
_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without those that are read as another: i, l, o, 0, 1."""


def seed_of(secret: bytes) -> str:
    """A seed as apps take it, from secret bytes."""
    return b32encode(secret[:SEED_BYTES]).decode()


def matching_step(seed: str, code: str, now_ms: int) -> int | None:
    """The time step whose code this is; None: of none that counts now.

    All steps are compared, each in constant time.
    """
    # Imported here: an idle service needs no factor.
    import pyotp

    app, now = pyotp.TOTP(seed), now_ms // STEP_MS
    given = typed_code(code).encode("utf-8", "surrogatepass")
    steps = range(max(0, now - SKEW_STEPS), now + SKEW_STEPS + 1)
    fits = [step for step in steps if hmac.compare_digest(app.generate_otp(step).encode(), given)]
    return fits[-1] if fits else None


def address_of(seed: str, email: str, service: str) -> str:
    """The address that the QR code holds: with it an app knows the seed, and what it is for."""
    import pyotp

    return pyotp.TOTP(seed).provisioning_uri(name=email, issuer_name=service)


def new_codes() -> tuple[str, ...]:
    """A set of codes, as its owner reads them."""
    return tuple(_grouped(_random()) for _ in range(RECOVERY_CODES))


def hashes_of(user_id: str, codes: Sequence[str]) -> list[bytes]:
    return [hash_of(user_id, code) for code in codes]


def hash_of(user_id: str, code: str) -> bytes:
    """The form of a code in the journal. How it is grouped and in which case it is typed does not
    matter."""
    letters = "".join(each for each in typed(code, Purpose.HEADING) if each.isalnum())
    return hashlib.sha256(f"{user_id} {letters}".encode("utf-8", "surrogatepass")).digest()


def _random() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(CHARACTERS))


def _grouped(code: str) -> str:
    return "-".join(code[at : at + _GROUP] for at in range(0, CHARACTERS, _GROUP))
