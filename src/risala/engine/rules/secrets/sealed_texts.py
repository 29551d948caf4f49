"""Texts that the database must not reveal, such as a code that other software made. Pure.

AES-256-GCM (NIST SP 800-38D) under a key that follows from the server's key and the text's purpose.
The database, its WAL or a backup alone reveals no text; neither does the key alone.
"""

from __future__ import annotations

import hmac
from typing import Final

from risala.engine.rules.codes import Ring, key_for

NONCE_BYTES: Final = 12
"""Octets of a sealed text's nonce (SP 800-38D §5.2.1.1). It is random, because one key seals texts
of one purpose only, and far fewer than 2^32 of them."""


class Seal:
    """Seals and opens the texts of one purpose."""

    def __init__(self, ring: Ring, purpose: str) -> None:
        self._ring = ring
        self._purpose = purpose

    def __repr__(self) -> str:
        return "<Seal ***>"

    def close(self, text: str, identity: str, nonce: bytes) -> bytes:
        """The sealed text.

        Args:
            identity: the id of the text's object: no other object's text can be put in its place.
            nonce: random octets, never used before.
        """
        # Imported here: most services never seal a text, and the library takes some megabytes.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        sealed = AESGCM(self._key(identity)).encrypt(nonce, text.encode(), identity.encode())
        return nonce + sealed

    def open(self, sealed: bytes, identity: str) -> str | None:
        """The text; None: it was sealed by a key that is gone, or it was changed."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        try:
            return AESGCM(self._key(identity)).decrypt(nonce, rest, identity.encode()).decode()
        except (InvalidTag, ValueError):
            return None

    def mark(self, text: str, identity: str) -> str:
        """A text's mark, which reveals nothing of it: the same for the same text.

        Args:
            identity: the id of what it is compared within.
        """
        key = key_for(self._ring().newest, f"{self._purpose} mark")
        return hmac.digest(key, f"{identity}\0{text}".encode(), "sha256").hex()

    def _key(self, identity: str) -> bytes:
        return key_for(self._ring().for_id(identity), self._purpose)
