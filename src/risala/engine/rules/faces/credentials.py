"""What names and passwords the credentials of each face have. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

PLAIN_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
"""Letters and digits that nobody takes for one another, none of which an address has to escape."""
HEX_ALPHABET: Final = "0123456789abcdef"
FACE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""The name of a face, as a plugin registers it."""
_USERNAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")


@dataclass(frozen=True, slots=True)
class CredentialShape:
    """What the names and passwords of one face look like."""

    username_max: int = 40
    """Characters."""
    made: str = ""
    """What a name begins with that we make up: 32 hexadecimal digits follow, and nobody chooses
    one. Empty: it is chosen, and made up only where it is not."""
    alphabet: str = PLAIN_ALPHABET
    """The characters of a password."""
    length: int = 32
    """The characters of a password: 187 bits."""
    signs: bool = False
    """Calls that are made for it are signed by a key that follows from its password."""

    @property
    def is_weak(self) -> bool:
        """Whether somebody who has the hash could find the password by trying: so its hash is a
        slow one."""
        return self.length < 16


ANY: Final = CredentialShape()
"""Of the face of a plugin."""
SHAPES: Final = {
    "kannel": CredentialShape(),
    # The key of an HMAC-SHA1 that is longer than a block of 64 octets is hashed first: so what is
    # kept for signing is that hash, and nobody signs in by it.
    "twilio": CredentialShape(
        username_max=34, made="AC", alphabet=HEX_ALPHABET, length=72, signs=True
    ),
    # SMPP 3.4 §5.2.1 and §5.2.2: 16 and 9 octets, of which one ends them.
    "smpp": CredentialShape(username_max=15, length=8),
}


def shape_of(face: str) -> CredentialShape:
    return SHAPES.get(face, ANY)


def username_fault(face: str, username: str) -> str | None:
    """Why a name cannot be chosen for a credential of a face; None: it can."""
    shape = shape_of(face)
    if shape.made:
        return f"The name of a {face} credential is made for you: leave it out."
    if len(username) > shape.username_max or not _USERNAME.fullmatch(username):
        return (
            f"A name has 1 to {shape.username_max} letters, digits, and `.`, `_`, `@`, `-` after"
            " the first."
        )
    return None
