"""Reverse verifications: why a text proves nothing, what is stored, and what their page shows."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Final, Protocol

from risala.dataclass import dataclass
from risala.engine.model.commands import Starts
from risala.engine.model.records.asks import FeatureAccess
from risala.engine.model.records.verify.sessions import Method
from risala.engine.model.states import SessionState

NAME: Final = "reverse"
"""The feature's, by which sessions name it."""
MEMBER: Final = "reverse"
"""The member of a request by which it takes part; no body of the API has it."""


class TextFault(StrEnum):
    """Why a text with the right word proved nothing."""

    OTHER_NUMBER = "other_number"
    UNTRUSTED = "untrusted"
    """The text or call came by a carrier whose word on numbers is not believed."""
    WITHHELD = "withheld"
    """The sender is no mobile number of a served country."""


@dataclass(frozen=True, slots=True)
class ReverseLine:
    """A number of ours, and the carrier that has it."""

    number: str
    carrier: str


class LineFault(StrEnum):
    """Why a carrier's number proves no numbers of phones."""

    DEAF = "deaf"
    """The carrier brings no texts, or no calls."""
    UNTRUSTED = "untrusted"
    NAMELESS = "nameless"
    """The carrier's own number is not known."""
    TAKEN = "taken"
    """The carrier's texts are not for customers, but for something else, such as payments."""


@dataclass(frozen=True, slots=True)
class CarrierOrigin:
    """Whether phones can prove their numbers by a carrier."""

    origin: str
    """``network``, ``trusted`` or ``untrusted``."""
    number: str
    """The carrier's own number; empty: it is not known."""
    fault: LineFault | None
    """Why texts by it prove nothing; None: they do."""
    calls: bool
    """Whether calls do too."""


@dataclass(frozen=True, slots=True)
class ReverseSession:
    """A reverse verification as it is stored beside its session."""

    verification_id: str
    organization_id: str
    mode: str
    created_at: int
    method: Method
    send_to: str
    carrier: str
    name: str
    locale: str | None
    token: bytes = field(repr=False)
    """SHA-256 of what stands in the address of its page."""
    word: str | None = field(default=None, repr=False)
    """A keyed mark of the word in the text."""
    number: str | None = None
    """Who has to send or call; None: anybody may, or the session is over."""
    refused: TextFault | None = None


@dataclass(frozen=True, slots=True)
class ReverseRequest:
    """What a start says of its session."""

    method: Method
    line: ReverseLine
    token: bytes = field(repr=False)
    has_number: bool = True


@dataclass(frozen=True, slots=True)
class HostedVerification:
    """What the page of a reverse verification shows: no number of a user."""

    verification_id: str
    organization_id: str
    status: SessionState
    method: Method
    name: str
    send_to: str
    text: str | None = field(repr=False)
    link: str = field(repr=False)
    qr_svg: str = field(repr=False)
    locale: str | None
    refused: TextFault | None


class ReverseAccess(Starts, Protocol):
    """Starts reverse verifications, and finds them for their pages."""

    async def hosted(self, token: str) -> HostedVerification:
        """What a page shows.

        Raises:
            NotFound: there is no such page.
            Unavailable: not now.
        """

    def origin(self, carrier: str) -> CarrierOrigin | None:
        """Whether phones can prove their numbers by a carrier; None: it does not run."""


HOSTED: Final[FeatureAccess[ReverseAccess]] = FeatureAccess(NAME)
