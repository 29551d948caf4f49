"""Signed heads of the audit trail: the number and hash of a line, with a signature. Pure.

A head that went out shows later that every line up to it is as it was. It is one line of JSON, and
its signature (Ed25519, RFC 8032) is over :attr:`Head.signed`.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.rules.trail.chain import ChainEnd

_WORDS: Final = "risala audit head 1"
"""In front of what is signed: a signature of something else is never one of a head."""
_WRITTEN: Final = re.compile(r'\{\\?"seq\\?":[^{}]*\}')
"""A head in a line. A log in JSON has a backslash before each quotation mark."""
KEY: Final = "audit.key"
"""The action of the line that names a public key, before the first head that is signed with it."""
SEED_BYTES: Final = 32
"""Octets of a private key (RFC 8032 §5.1.5)."""


class NoHead(ValueError):
    """A line of a file is not a head."""


@dataclass(frozen=True, slots=True)
class Head:
    """A head that went out."""

    end: ChainEnd
    at: str
    """When it was signed, as ISO 8601 in UTC."""
    key: str
    """The public key, in base64."""
    signature: str
    """In base64."""

    @property
    def text(self) -> str:
        """One line of JSON."""
        values = {"seq": self.end.seq, "hash": self.end.hash, "at": self.at}
        return json.dumps({**values, "key": self.key, "signature": self.signature})

    @property
    def signed(self) -> bytes:
        return _signed(self.end, self.at)

    def is_genuine(self) -> bool:
        """Whether the signature is by the key that the head names."""
        # Imported here, as below: the library takes 7 MB, and most processes sign nothing.
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(b64decode(self.key, validate=True))
            key.verify(b64decode(self.signature, validate=True), self.signed)
        except (InvalidSignature, ValueError):
            return False
        return True


def signed_head(end: ChainEnd, at: str, seed: bytes) -> Head:
    """A head of this line.

    Args:
        at: now, as ISO 8601 in UTC.
        seed: the private key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(_signed(end, at))
    return Head(end, at, public_key(seed), b64encode(signature).decode())


def public_key(seed: bytes) -> str:
    """The public key of a private one, in base64."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(seed).public_key()
    return b64encode(key.public_bytes_raw()).decode()


def heads_of(lines: Iterable[str]) -> Iterator[Head]:
    """The heads of a file, as it, a log or a mail has them: what is around a head is skipped.

    Raises:
        NoHead: something that begins as a head is none.
    """
    for number, line in enumerate(lines, 1):
        match = _WRITTEN.search(line)
        if match is not None:
            yield _head(match[0].replace('\\"', '"'), number)


def _head(text: str, number: int) -> Head:
    try:
        members: Any = json.loads(text)
        end = ChainEnd(int(members["seq"]), str(members["hash"]))
        return Head(end, str(members["at"]), str(members["key"]), str(members["signature"]))
    except (ValueError, KeyError, TypeError) as error:
        raise NoHead(f"Line {number} is not a head of the audit trail.") from error


def _signed(end: ChainEnd, at: str) -> bytes:
    return json.dumps([_WORDS, end.seq, end.hash, at], separators=(",", ":")).encode()


# What the last look at the audit trail found: written by what sends its heads, read by alerts.


class TrailState:
    def __init__(self) -> None:
        self.faults: tuple[str, ...] | None = None
        """The faults of the last look; None: nobody has looked since the start."""
