"""The form of names and passwords of each face's credentials. Pure."""

from __future__ import annotations

import re
from typing import Final

from risala.dataclass import dataclass

PLAIN_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
"""Letters and digits that are not mistaken for one another and need no escaping in an address."""
HEX_ALPHABET: Final = "0123456789abcdef"
FACE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""The name of a face, as a plugin registers it."""
_USERNAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")


@dataclass(frozen=True, slots=True)
class CredentialShape:
    """The form of one face's names and passwords."""

    username_max: int = 40
    """Characters."""
    made: str = ""
    """The prefix of a generated name: 32 hexadecimal digits follow, and the name cannot be chosen.
    Empty: it is chosen, and generated only if it is not."""
    alphabet: str = PLAIN_ALPHABET
    """The alphabet of a password."""
    length: int = 32
    """The number of characters of a password: 187 bits."""
    signs: bool = False
    """Calls for it are signed with a key that is derived from its password."""

    @property
    def is_weak(self) -> bool:
        """Whether the password could be found from the hash by trying: so its hash is a slow
        one."""
        return self.length < 16


ANY: Final = CredentialShape()
"""The shape for a plugin's face."""
SHAPES: Final = {
    "kannel": CredentialShape(),
    # The form of playSMS's own tokens, for clients with a field of that size: 128 bits.
    "playsms": CredentialShape(alphabet=HEX_ALPHABET),
    # The key of an HMAC-SHA1 that is longer than a block of 64 octets is hashed first: so that hash
    # is what is kept for signing, and it cannot be used to sign in.
    "twilio": CredentialShape(
        username_max=34, made="AC", alphabet=HEX_ALPHABET, length=72, signs=True
    ),
    # SMPP 3.4 §5.2.1 and §5.2.2: 16 and 9 octets, of which one ends them.
    "smpp": CredentialShape(username_max=15, length=8),
}


def shape_of(face: str) -> CredentialShape:
    return SHAPES.get(face, ANY)


def username_fault(face: str, username: str) -> str | None:
    """Why a name cannot be chosen for a face's credential; None: it can."""
    shape = shape_of(face)
    if shape.made:
        return f"The user name of a {face} credential is generated. Do not give one."
    if len(username) > shape.username_max or not _USERNAME.fullmatch(username):
        return (
            f"A user name has 1 to {shape.username_max} letters and digits. The characters `.`, "
            f"`_`, `@` and `-` may follow the first one."
        )
    return None
