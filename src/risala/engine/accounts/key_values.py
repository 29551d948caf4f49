"""The values of API keys: made by chance, stored as hashes."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode

KEY_CHARACTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
KEY_LENGTH: Final = 32
_PREFIX: Final = {
    (KeyType.SECRET, Mode.LIVE): "sk_live_",
    (KeyType.PUBLISHABLE, Mode.LIVE): "pk_live_",
    (KeyType.SECRET, Mode.TEST): "sk_test_",
    (KeyType.PUBLISHABLE, Mode.TEST): "pk_test_",
}


def new_value(key_type: KeyType, mode: Mode) -> str:
    """A value that nobody has had."""
    random = "".join(secrets.choice(KEY_CHARACTERS) for _ in range(KEY_LENGTH))
    return _PREFIX[key_type, mode] + random


def digest_of(value: str) -> bytes:
    """What is stored of a value."""
    # A key has 32 random characters, which cannot be guessed: a plain hash is enough, and a slow
    # one would cost every request.
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
