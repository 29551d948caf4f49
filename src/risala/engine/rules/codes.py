"""One-time codes: derived when they are needed, never stored. Pure.

A code is HMAC-SHA256(key, its purpose) modulo 10^length. The database, its WAL or a backup alone
reveals no code; neither does the key alone.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from risala.engine.rules.keyring import KeyRing
from risala.sms.typed import typed_code

Ring = Callable[[], KeyRing]
"""Returns the present keys: they may be rotated while a reference to it is kept."""


class Codes:
    """Derives every code for one purpose."""

    def __init__(self, ring: Ring, purpose: str | None = None) -> None:
        """
        Args:
            purpose: what they are for; None: verification sessions, by the key itself.
        """
        self._ring = ring
        self._purpose = purpose

    def __repr__(self) -> str:
        return "<Codes ***>"

    def code(self, basis: str, length: int, *, test: bool) -> str:
        """The code of a session: ``length`` digits, zeros for a test key.

        Args:
            basis: the input of the derivation; begins with the id of the code's object.
        """
        if test:
            return "0" * length
        digest = hmac.new(self._key(basis), basis.encode(), hashlib.sha256).digest()
        return str(int.from_bytes(digest, "big") % 10**length).zfill(length)

    def _key(self, basis: str) -> bytes:
        secret = self._ring().for_id(basis.partition(" ")[0])
        return secret if self._purpose is None else key_for(secret, self._purpose)

    def matches(self, guess: str, basis: str, length: int, *, test: bool) -> bool:
        """Compare in constant time, however a person writes those digits."""
        cleaned = typed_code(guess)
        expected = self.code(basis, length, test=test)
        return hmac.compare_digest(cleaned.encode("utf-8", "surrogatepass"), expected.encode())


def key_for(server_key: bytes, purpose: str) -> bytes:
    """A separate key for one purpose: what is derived from it fits nothing else."""
    return hmac.new(server_key, f"risala {purpose}".encode(), hashlib.sha256).digest()
