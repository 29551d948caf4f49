"""Secrets that the database holds sealed: AES-256-GCM (NIST SP 800-38D). Pure.

The key is a file of its own beside the database, and in no backup but an encrypted one. A sealed
secret is text::

    sealed1.KEY.SECRET

KEY says which key opens it, so that it stays known what a lost key takes with it. SECRET is the
nonce and the ciphertext in base64. The cipher binds it to its purpose and to the id of its row: put
into another row or column it does not open.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.errors import SecretLost
from risala.engine.rules.keyring import Ring, key_for

KEY_BYTES: Final = 32
"""AES-256."""
NONCE_BYTES: Final = 12
"""Octets of a sealed secret's nonce (SP 800-38D §8.2.2). It is random, because a key seals far
fewer than 2^32."""
FORM: Final = "sealed1"
"""The first word of what is sealed: another cipher would get another one."""
_KEY_ID_DIGITS: Final = 8
"""Digits of a key's id, in hexadecimal: they tell a handful of keys apart, and reveal nothing of
them."""


class SecretPurpose(StrEnum):
    """What a sealed secret is for, in the order in which people are told of them."""

    WEBHOOK_SECRET = "webhook secret"  # noqa: S105
    WEBHOOK_HEADER = "webhook header"
    """A value of an endpoint's own headers, which may be a token."""
    HOOK_SECRET = "hook secret"  # noqa: S105
    """By what callers of a hook prove themselves."""
    CREDENTIAL_SIGNER = "credential signer"
    """What signs calls that are made for a credential."""
    TOTP_SEED = "totp seed"
    """What an authenticator application has too."""
    CLIENT_SECRET = "client secret"  # noqa: S105
    """By what an organization's identity provider knows this service."""
    CARRIER_SECRET = "carrier secret"  # noqa: S105
    """What a carrier's driver keeps, such as a device's token."""
    FIXED_CODE = "fixed code"
    """What an app store's reviewer enters in place of a code by SMS."""
    FORWARD_SECRET = "forward secret"  # noqa: S105
    """By what a rule forwards texts: the token of a bot, or what signs calls of a webhook."""


@dataclass(frozen=True, slots=True)
class SealingKey:
    secret: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """The key's name in what it sealed."""
        digest = hmac.new(self.secret, b"risala sealing key", hashlib.sha256).hexdigest()
        return digest[:_KEY_ID_DIGITS]


@dataclass(frozen=True, slots=True)
class SealingRing:
    """Keys, the newest first; there is always at least one. The newest seals, all of them open."""

    keys: tuple[SealingKey, ...]

    @property
    def newest(self) -> SealingKey:
        return self.keys[0]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(each.id for each in self.keys)

    def find(self, key_id: str) -> SealingKey | None:
        """A key by its id; None: it is not here."""
        return next((each for each in self.keys if each.id == key_id), None)


def seal(
    ring: SealingRing, purpose: SecretPurpose, identity: str, secret: bytes, nonce: bytes
) -> str:
    """A secret as the database may keep it.

    Args:
        identity: the id of its row.
        nonce: random octets, never used before.
    """
    # Imported here: most services seal nothing, and the library takes some megabytes.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key = ring.newest
    sealed = AESGCM(key.secret).encrypt(nonce, secret, _bound_to(purpose, identity))
    return f"{FORM}.{key.id}.{base64.b64encode(nonce + sealed).decode()}"


def unseal(ring: SealingRing, purpose: SecretPurpose, identity: str, sealed: str) -> bytes:
    """The secret that was sealed for this purpose and row.

    Raises:
        SecretLost: its key is not here, or it was changed or moved.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key_id = key_of(sealed)
    key = None if key_id is None else ring.find(key_id)
    if key is None:
        raise SecretLost(purpose, identity)
    try:
        octets = base64.b64decode(sealed.rpartition(".")[2], validate=True)
        nonce, rest = octets[:NONCE_BYTES], octets[NONCE_BYTES:]
        return AESGCM(key.secret).decrypt(nonce, rest, _bound_to(purpose, identity))
    except (InvalidTag, ValueError) as error:
        raise SecretLost(purpose, identity) from error


def key_of(sealed: str) -> str | None:
    """The id of the key that opens it; None: it is not sealed."""
    form, _, rest = sealed.partition(".")
    key_id, point, _ = rest.partition(".")
    return key_id if form == FORM and point and len(key_id) == _KEY_ID_DIGITS else None


def _bound_to(purpose: SecretPurpose, identity: str) -> bytes:
    return f"risala\0{purpose}\0{identity}".encode()


def written(ring: SealingRing) -> str:
    """The text of a ring's file: one key per line in hexadecimal, the newest first."""
    return "".join(f"{each.secret.hex()}\n" for each in ring.keys)


def read(text: str) -> SealingRing | None:
    """The ring in a text; lines that begin with ``#`` are for people. None: it is no ring."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return _ring([word for line in lines for word in line.replace(",", " ").split()])


def _ring(words: Sequence[str]) -> SealingRing | None:
    try:
        secrets = [bytes.fromhex(word) for word in words]
    except ValueError:
        return None
    if not secrets or any(len(each) != KEY_BYTES for each in secrets):
        return None
    return SealingRing(tuple(SealingKey(each) for each in dict.fromkeys(secrets)))


# Texts that the database must not reveal, such as a code that other software made. Pure.
#
# AES-256-GCM (NIST SP 800-38D) under a key that follows from the server's key and the text's
# purpose. The database, its WAL or a backup alone reveals no text; neither does the key alone.


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
