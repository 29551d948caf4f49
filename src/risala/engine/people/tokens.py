"""Tokens that browsers carry, and what is derived from them: hashes, form tokens, codes.

A token is 256 random bits and stands nowhere but in its cookie or link; the journal has its hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from typing import Final

from risala.engine.rules.codes import Codes, key_for

TOKEN_BYTES: Final = 32
TOKEN_CHARACTERS: Final = 43
"""Of a token as text; anything else is none, and not worth hashing."""


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def is_token(text: str) -> bool:
    return len(text) == TOKEN_CHARACTERS and text.isascii()


def digest(token: str) -> bytes:
    """What the journal knows of a token: nothing to guess, so a plain hash is the right one."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class Derived:
    """What the server key makes of them, in domains of their own."""

    def __init__(self, server_key: bytes) -> None:
        self._forms = key_for(server_key, "forms")
        self.sign_in_codes = Codes(key_for(server_key, "sign-in"))
        self.address_codes = Codes(key_for(server_key, "change of address"))

    def __repr__(self) -> str:
        return "<Derived ***>"

    def form_token(self, cookie: str) -> str:
        """What a form of the page that belongs to this cookie carries."""
        found = hmac.new(self._forms, digest(cookie), hashlib.sha256).digest()
        return urlsafe_b64encode(found).decode().rstrip("=")

    def is_form_token(self, cookie: str, given: str) -> bool:
        """Compared in constant time."""
        expected = self.form_token(cookie).encode()
        return hmac.compare_digest(expected, given.encode("utf-8", "surrogatepass"))
