"""Users: the answers of their operations, and the asks for them."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.callers import OperatorRole
from risala.engine.model.people import (
    Device,
    Language,
    ReachableOrganization,
    SessionKind,
    User,
)
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment


@dataclass(frozen=True, slots=True)
class VersionedUser:
    """A user with the version of their settings."""

    id: Annotated[str, UNAUDITED]
    email: Annotated[str, AUDITED]
    name: Annotated[str, AUDITED]
    """Empty: not given."""
    language: Annotated[Language, AUDITED]
    operator: Annotated[bool, AUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    updated_at: Annotated[Moment, UNAUDITED]
    last_seen_at: Annotated[Moment | None, UNAUDITED]
    version: Annotated[int, UNAUDITED]
    operator_role: Annotated[OperatorRole | None, AUDITED] = None
    """What they may do in the console; None: they are no operator."""


def versioned(user: User, version: int = 0) -> VersionedUser:
    return VersionedUser(
        user.id,
        user.email,
        user.name,
        user.language,
        user.operator,
        user.created_at,
        user.updated_at,
        user.seen_at,
        version,
        user.operator_role,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedUser(VersionedUser):
    """A user with the number of their organizations."""

    organizations: int


@dataclass(frozen=True, slots=True)
class UserPage:
    users: tuple[ListedUser, ...]
    next: str | None
    previous: str | None


@dataclass(frozen=True, slots=True)
class UserDevice:
    """A web session, as lists show it."""

    id: str
    kind: SessionKind
    agent: str
    address: str
    created_at: Moment
    used_at: Moment
    expires_at: Moment


def user_device(device: Device) -> UserDevice:
    return UserDevice(
        device.id,
        device.kind,
        device.agent,
        device.address,
        device.created_at,
        device.used_at,
        device.expires_at,
    )


@dataclass(frozen=True, slots=True)
class UserSessions:
    """The sessions of a user, the newest first."""

    user: VersionedUser
    sessions: tuple[UserDevice, ...]


class FactorKind(StrEnum):
    APP = "app"
    """An authenticator app with codes by time (TOTP, RFC 6238)."""
    PASSKEY = "passkey"


@dataclass(frozen=True, slots=True)
class FactorView:
    """A second factor, without what is secret of it."""

    id: Annotated[str, UNAUDITED]
    kind: Annotated[FactorKind, AUDITED]
    name: Annotated[str, AUDITED]
    site: Annotated[str, AUDITED]
    """The host that a passkey is for; empty for an app."""
    created_at: Annotated[Moment, UNAUDITED]
    last_used_at: Annotated[Moment | None, UNAUDITED]


@dataclass(frozen=True, slots=True)
class UserStory:
    user: VersionedUser
    memberships: tuple[ReachableOrganization, ...]
    devices: tuple[UserDevice, ...]
    factors: tuple[FactorView, ...]
    """The second factors, the oldest first."""


@dataclass(frozen=True, slots=True)
class MadeLink:
    """A link that signs in whoever follows it; its token exists only here."""

    email: str
    kind: SessionKind
    token: str = field(repr=False)
    url: str = field(repr=False)
    expires_at: Moment


@dataclass(frozen=True, slots=True)
class Ended:
    """The number of sessions that an operation ended."""

    ended: int


@dataclass(frozen=True, slots=True)
class EndedUser:
    """A deleted user."""

    id: str


CREATE: Final = Ask("user.create", VersionedUser)
LIST: Final = Ask("user.list", UserPage)
SHOW: Final = Ask("user.show", UserStory)
SET: Final = Ask("user.set", VersionedUser)
SIGN_IN: Final = Ask("user.sign_in", MadeLink)
SESSIONS: Final = Ask("user.sessions", UserSessions)
SIGN_OUT: Final = Ask("user.sign_out", Ended)
DELETE: Final = Ask("user.delete", EndedUser)
