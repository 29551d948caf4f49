"""Second factors as they are stored, and what a person shows of them."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass

RECOVERY_CODES: Final = 10
"""That are made together; a user has one set. As many as others give, and they fit a small note."""


class FactorKind(StrEnum):
    APP = "app"
    """An authenticator app with codes by time (TOTP, RFC 6238)."""
    PASSKEY = "passkey"


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a user."""

    id: str
    user_id: str
    kind: FactorKind
    name: str
    """As its owner calls it."""
    site: str
    """Of a passkey: the host that it is for (RP ID); empty for an app."""
    credential: bytes
    """Of a passkey: its id at the authenticator; empty for an app."""
    public_key: bytes
    """Of a passkey; empty for an app."""
    seed: str = field(repr=False)
    """Of an app: its seed, sealed; empty for a passkey."""
    counter: int
    """Of an app: the time step of the last code that was accepted. Of a passkey: the number of its
    signatures, as far as its authenticator counts them."""
    created_at: int
    used_at: int | None


class ProofKind(StrEnum):
    APP = "app"
    PASSKEY = "passkey"
    RECOVERY_CODE = "recovery_code"


@dataclass(frozen=True, slots=True)
class FactorProof:
    """A factor that was shown, and checked as far as that needs no database."""

    kind: ProofKind
    factor_id: str = ""
    """Empty for a recovery code."""
    counter: int = 0
    """The new value of :attr:`Factor.counter`."""
    code: bytes = field(default=b"", repr=False)
    """The hash of a recovery code."""


@dataclass(frozen=True, slots=True)
class FactorTry:
    """What somebody showed; a wrong one counts too."""

    proof: FactorProof | None
    """None: it fits no factor."""
    is_guessable: bool
    """It is a code of an app, which has few digits."""
