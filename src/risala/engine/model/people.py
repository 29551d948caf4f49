"""People as the pages and the operations see them: frozen values, times in UTC epoch ms."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from enum import StrEnum

from risala.dataclass import dataclass
from risala.engine.model.callers import OperatorRole, Role


class Language(StrEnum):
    FRENCH = "fr"
    ARABIC = "ar"
    ENGLISH = "en"


class SessionKind(StrEnum):
    """The people that a web session is for: each kind has a cookie of its own."""

    CUSTOMER = "customer"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class User:
    id: str
    email: str
    name: str
    """Empty: not given."""
    language: Language
    operator: bool
    created_at: int
    updated_at: int
    seen_at: int | None
    """When they last signed in."""
    operator_role: OperatorRole | None = None
    """What they may do in the console; None: they are no operator."""


@dataclass(frozen=True, slots=True)
class Membership:
    """A user's role in one organization."""

    organization_id: str
    user_id: str
    role: Role
    created_at: int
    updated_at: int

    @property
    def id(self) -> str:
        """A member's name in the audit trail: the user, beside the organization."""
        return self.user_id


@dataclass(frozen=True, slots=True)
class ReachableOrganization:
    """An organization that a person may open."""

    organization_id: str
    name: str
    status: str
    role: Role


@dataclass(frozen=True, slots=True)
class Browser:
    """The browser at the sign-in page."""

    token: str = field(repr=False)
    """The value of its pre-session cookie: :meth:`People.new_token`."""
    bucket: Hashable
    """The key of the limits that its address shares."""
    address: str
    agent: str
    """The browser's ``User-Agent``."""
    language: Language
    network: Hashable = None
    """The IPv6 /48 of its address; None: not IPv6."""
    provider: Hashable = None
    """The IPv6 /32 of its address."""
    known_as: str = field(default="", repr=False)
    """The value of the cookie from an earlier sign-in; empty: it has none."""


@dataclass(frozen=True, slots=True)
class CodeAsked:
    """A code is on its way, or would be if the address were known."""

    email: str
    kind: SessionKind
    expires_at: int
    attempts_left: int
    again_at: int
    """When another mail may be requested."""
    user_id: str | None = None
    """The code was right, and this user's second factor is awaited; None: the code is."""


@dataclass(frozen=True, slots=True)
class Device:
    """One web session, as its user sees it in the list of devices."""

    id: str
    user_id: str
    kind: SessionKind
    agent: str
    address: str
    created_at: int
    used_at: int
    expires_at: int
    fresh_at: int = 0
    """When its user last showed who they are: at sign-in, or before something important."""
    two_factors: bool = False
    """An identity provider says that its user showed two factors."""
    organization_id: str | None = None
    """The only organization that it enters: its user came by this organization's identity provider;
    None: they came by another way."""


@dataclass(frozen=True, slots=True)
class WebSession:
    """The session of a signed-in person."""

    device: Device
    user: User
    places: tuple[ReachableOrganization, ...]
    stale: bool
    """The person's role changed: the cookie must be renewed (:meth:`People.rotate`)."""
    has_factor: bool = False
    """The user has a second factor."""

    @property
    def id(self) -> str:
        return self.device.id

    @property
    def showed_two(self) -> bool:
        """The user has a second factor here, or showed two to an identity provider."""
        return self.has_factor or self.device.two_factors

    @property
    def kind(self) -> SessionKind:
        return self.device.kind

    @property
    def bound_to(self) -> str | None:
        """The organization whose identity provider let its user in; None: they signed in here."""
        return self.device.organization_id


@dataclass(frozen=True, slots=True)
class SignedIn:
    token: str = field(repr=False)
    """For the cookie; it cannot be read again."""
    session: WebSession
    is_new: bool
    """The user was made by this sign-in."""
    known_as: str = field(default="", repr=False)
    """For a cookie that stays: this browser is known by the user's address from now on."""


@dataclass(frozen=True, slots=True)
class FactorAwaited:
    """The code or link was right; the user has a second factor, which they must show now."""

    user_id: str


@dataclass(frozen=True, slots=True)
class Denied:
    """A code that does not match."""

    attempts_left: int
    """0: this code has expired, or this browser never had one."""


@dataclass(frozen=True, slots=True)
class LinkView:
    """A one-time link that may still be used."""

    kind: SessionKind
    expires_at: int


@dataclass(frozen=True, slots=True)
class EmailChange:
    """A change of address that waits for both codes."""

    id: str
    user_id: str
    email: str
    old_confirmed: bool
    new_confirmed: bool
    attempts: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class AccessEnded:
    """A person may no longer see something; fields that are None do not matter."""

    user_id: str | None = None
    organization_id: str | None = None
    session_id: str | None = None
