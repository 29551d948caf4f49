"""Verification sessions: the answers of their operations, and the asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Count, Moment, OneOf
from risala.engine.model.records.figures import Funnel
from risala.engine.model.states import Mode, SessionState

TAGS_MAX: Final = 10
TAG_CHARACTERS_MAX: Final = 64
USER_AGENT_CHARACTERS_MAX: Final = 512
"""Browsers inside applications write 300."""
PAYEE_CHARACTERS_MAX: Final = 60
"""Of a variable too."""
TEMPLATE_NAME_CHARACTERS_MAX: Final = 40
"""Of a variable's name too."""


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


LIST: Final = Ask("verify.list", SessionPage)
FIGURES: Final = Ask("verify.figures", Funnel)
SEND: Final = Ask("verify.send", CodeSent)
CHECK: Final = Ask("verify.check", JudgedCode)
GET: Final = Ask("verify.get", VerificationView)
CANCEL: Final = Ask("verify.cancel", VerificationView)
