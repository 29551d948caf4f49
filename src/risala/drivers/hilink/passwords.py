"""How a stick wants its password, by what it says of itself. Pure but for chance.

Old sticks take it in base64 (types 0 and 3), newer ones hashed with the request's token (type 4),
the newest by SCRAM (RFC 5802), with key and data of each HMAC the other way round.
"""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Mapping
from hashlib import pbkdf2_hmac, sha256
from hmac import digest
from typing import Final

from risala.dataclass import dataclass

HASHED: Final = "4"
"""The type of a password that is hashed with the token."""
ITERATIONS_MAX: Final = 20_000
"""Sticks ask for 100 or 1000; more would hold up everything else."""
_NONCE_OCTETS: Final = 32


class StrangeChallengeError(Exception):
    """A stick asks for what cannot be answered."""


def plain_proof(user: str, password: str, token: str, password_type: str) -> str:
    """The password as ``user/login`` takes it."""
    if password_type != HASHED:
        return b64encode(password.encode()).decode()
    return _hashed(f"{user}{_hashed(password)}{token}")


def _hashed(text: str) -> str:
    return b64encode(sha256(text.encode()).hexdigest().encode()).decode()


def new_nonce() -> str:
    """What a SCRAM login begins with."""
    return secrets.token_hex(_NONCE_OCTETS)


@dataclass(frozen=True, slots=True)
class ScramChallenge:
    """What a stick asks at a SCRAM login."""

    salt: bytes
    iterations: int
    nonce: str

    @staticmethod
    def read(fields: Mapping[str, str]) -> ScramChallenge:
        """What ``user/challenge_login`` answers.

        Raises:
            StrangeChallengeError: it is no challenge, or one that takes too long.
        """
        try:
            salt, iterations = bytes.fromhex(fields["salt"]), int(fields["iterations"])
            nonce = fields["servernonce"]
        except (KeyError, ValueError):
            raise StrangeChallengeError from None
        if not 1 <= iterations <= ITERATIONS_MAX or not nonce or not salt:
            raise StrangeChallengeError
        return ScramChallenge(salt, iterations, nonce)

    def proof(self, password: str, first_nonce: str) -> str:
        """What proves the password to ``user/authentication_login``."""
        salted = pbkdf2_hmac("sha256", password.encode(), self.salt, self.iterations)
        client_key = digest(b"Client Key", salted, "sha256")
        stored_key = sha256(client_key).digest()
        auth_message = f"{first_nonce},{self.nonce},{self.nonce}".encode()
        signature = digest(auth_message, stored_key, "sha256")
        return bytes(a ^ b for a, b in zip(client_key, signature, strict=True)).hex()
