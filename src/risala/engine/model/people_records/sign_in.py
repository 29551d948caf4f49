"""What lets people in, what is stored of those who are in, and of sign-ins that failed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from risala.engine.model.errors import Refusal
from risala.engine.model.people import Denied, Device, Language, SessionKind, User

SITES: Final = {SessionKind.CUSTOMER: "dashboard", SessionKind.OPERATOR: "console"}
"""What operators call the pages of each kind of session."""


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A browser that waits for a code; there is one for each browser, or none."""

    id: str
    browser: bytes
    """The hash of its pre-session token."""
    kind: SessionKind
    email: str
    language: Language
    attempts: int
    mailed_at: int
    expires_at: int
    created_at: int


@dataclass(frozen=True, slots=True)
class SignInLink:
    """A link that signs a user in, once."""

    user_id: str
    kind: SessionKind
    expires_at: int


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A web session, as it is found by a token."""

    device: Device
    stale: bool
    is_previous: bool
    """It was found by the token of before its rotation."""


class FailureReason(StrEnum):
    WRONG_CODE = "wrong_code"
    NOT_ALLOWED = "not_allowed"
    """The code was right, and nobody may come in by it."""
    EXPIRED = "expired"
    """The code was too old."""
    HELD_UP = "held_up"
    """The code was not judged: strangers tried too many wrong ones at this operator's address."""
    LINK = "link"
    """A link was used before, too old or never made; noted once a minute for each site."""
    LIMITED = "limited"
    """A limit that strangers share was reached; noted once a minute for each."""
    SLOWED = "slowed"
    """A limit of this client alone was reached; noted once a minute for each."""


@dataclass(frozen=True, slots=True)
class SignInFailure:
    at: int
    """UTC epoch milliseconds."""
    kind: SessionKind
    email: str
    """A user's address, else the hash of what was typed. Empty: of no address alone."""
    address: str
    """Of the client."""
    reason: FailureReason
    known_browser: bool = False
    """Somebody signed in on it with this address before."""
    is_slow: bool = False
    """An operator's slow windows count it."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """What a right code or link lets in, decided before the unit that writes it."""

    user: User
    """As it is made where nobody has the address."""
    device: Device
    hashed: bytes
    """Of the session's token."""
    now_ms: int
    known_browser: bool = False


@dataclass(frozen=True, slots=True)
class LetIn:
    """Somebody is signed in."""

    device: Device
    is_new: bool
    """The user was made by it."""


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """What is answered to a code that lets nobody in, and what was written down of it."""

    answer: Denied | Refusal
    failure: SignInFailure
