"""Verification sessions: the answers of their operations, and the asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Annotated, Any, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Count, JsonName, Moment, OneOf
from risala.engine.model.states import Mode, SessionState

TAGS_MAX: Final = 10
TAG_CHARACTERS_MAX: Final = 64
USER_AGENT_CHARACTERS_MAX: Final = 512
"""Browsers inside applications write 300."""
PAYEE_CHARACTERS_MAX: Final = 60
"""Characters of a payee, and of a variable."""
TEMPLATE_NAME_CHARACTERS_MAX: Final = 40
"""Characters of a name, and of a variable's name."""
SESSIONS_MAX: Final = 5000
"""Sessions in one funnel, the latest of its time: a few milliseconds."""


@dataclass(frozen=True, slots=True)
class VerificationView:
    """A verification with its status."""

    id: Annotated[str, UNAUDITED]
    to: Annotated[str, UNAUDITED]
    status: Annotated[SessionState, AUDITED]
    attempts: Annotated[Count, AUDITED]
    """The wrong codes so far."""
    expires_at: Annotated[Moment, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    updated_at: Annotated[Moment, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    mode: Annotated[Mode, UNAUDITED]
    reason: Annotated[str | None, UNAUDITED]
    """Why it ended without being approved."""
    attempts_max: Annotated[int, UNAUDITED]
    """The number of wrong codes that ends it."""
    message_id: Annotated[str | None, UNAUDITED]
    """The message that carries the code; None: its number has a fixed code, and no SMS left."""
    details: Annotated[Mapping[str, Any], UNAUDITED] = field(default_factory=dict)
    """What else is known of it, such as its tags, by the names in the API."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, the newest first, and where the next pages begin."""

    sessions: tuple[VerificationView, ...]
    newer: str | None
    older: str | None
    looked_to: Moment | None
    """The time as far as the search came; None: as far as there are any."""


@dataclass(frozen=True, slots=True)
class CodeSent:
    """The code is on its way."""

    verification_id: str
    """For `POST /api/verify/check` and `POST /api/verify/get`."""
    warning: str | None = None
    """No carrier serves its number."""


@dataclass(frozen=True, slots=True)
class JudgedCode:
    """Whether the code is right."""

    status: Annotated[str, OneOf(("approved", "denied"))]


@dataclass(frozen=True, slots=True)
class SessionDelivery:
    """One delivery of a session's code."""

    channel: str
    status: str
    """The status of its message, or `refused`: it did not leave."""
    at: Moment
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Funnel:
    """Sessions, how many of them were answered, and how many were approved."""

    sessions: int
    tried: int
    approved: int
    expired: int
    pending: int
    is_cut: Annotated[bool, JsonName("latestOnly")]
    """True: there were more than :data:`SESSIONS_MAX`, and these are the latest."""


LIST: Final = Ask("verify.list", SessionPage)
FIGURES: Final = Ask("verify.figures", Funnel)
SEND: Final = Ask("verify.send", CodeSent)
CHECK: Final = Ask("verify.check", JudgedCode)
GET: Final = Ask("verify.get", VerificationView)
CANCEL: Final = Ask("verify.cancel", VerificationView)


# Without a code: the user sends a text or calls.


class Method(StrEnum):
    """What the user does."""

    INBOUND_SMS = "inbound_sms"
    MISSED_CALL = "missed_call"


@dataclass(frozen=True, slots=True)
class StartedReverse:
    """What the user has to do, and where the program shows it."""

    verification_id: str
    status: SessionState
    method: Annotated[str, OneOf(tuple(Method))]
    send_to: str
    """The number of the service that the user texts or calls."""
    text: str | None = field(repr=False)
    """What the user sends: the organization's name and a word that counts once. None: a call."""
    link: str = field(repr=False)
    """Opens the application for texts, or for calls, of a phone with all of it filled in."""
    qr_svg: str = field(repr=False)
    """The link for a phone's camera, as an SVG drawing."""
    page: str = field(repr=False)
    """The address of a page that shows all this and how it stands. Who has it may open it."""
    expires_at: Moment


START: Final = Ask("verify.start", StartedReverse)
