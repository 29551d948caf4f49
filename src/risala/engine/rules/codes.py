"""One-time codes: derived when they are needed, never stored. Pure.

A code is HMAC-SHA256(key, what it is for) modulo 10^length. Who has the database, its WAL or a
backup has no code; who has the key alone has none either.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

_DIGITS: Final = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹", "01234567890123456789")


class Codes:
    """Knows every code that is derived from one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "<Codes ***>"

    def code(self, session_id: str, length: int, *, test: bool) -> str:
        """The code of a session: ``length`` digits, zeros for a test key."""
        if test:
            return "0" * length
        digest = hmac.new(self._key, session_id.encode(), hashlib.sha256).digest()
        return str(int.from_bytes(digest, "big") % 10**length).zfill(length)

    def matches(self, guess: str, session_id: str, length: int, *, test: bool) -> bool:
        """Compare in constant time; spaces around and Arabic-Indic digits are forgiven."""
        cleaned = guess.strip().translate(_DIGITS)
        expected = self.code(session_id, length, test=test)
        return hmac.compare_digest(cleaned.encode("utf-8", "surrogatepass"), expected.encode())


def key_for(server_key: bytes, purpose: str) -> bytes:
    """A key of its own for one purpose: what is derived from it fits nothing else."""
    return hmac.new(server_key, f"risala {purpose}".encode(), hashlib.sha256).digest()
