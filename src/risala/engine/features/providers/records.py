"""Organizations' identity providers, and people's accounts at them: what is stored, what operations
answer, and the asks."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final, Protocol

from risala.config.oidc_defaults import ROLE_CLAIM, TWO_FACTORS, VERIFIED_CLAIM
from risala.dataclass import dataclass
from risala.engine.model.callers import OperatorRole, Role
from risala.engine.model.people import Browser, Denied, FactorAwaited, SignedIn, WebSession
from risala.engine.model.records.asks import Ask, FeatureAccess
from risala.engine.model.records.fields import (
    AUDITED,
    N_,
    UNAUDITED,
    Hint,
    Label,
    Maximum,
    Moment,
    Typed,
)

TEXT_MAX: Final = 200
"""Characters of an issuer, a client's id, a claim or a value at most: longer than any in use."""
LABEL_MAX: Final = 40
"""Characters of a button's name."""
SECRET_MAX: Final = 500
"""Characters of a client's secret at most."""
LIST_MAX: Final = 20
"""Domains, and values of a role, at most: a page shows them all."""
SESSION_HOURS: Final = 12
"""How long a session lasts if nothing else is set: a working day."""
SESSION_HOURS_MAX: Final = 168
"""A week: who leaves the organization's own directory is out after that at the latest."""


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """An OpenID Connect provider by which members of one organization sign in, without its
    secret."""

    organization_id: Annotated[str, UNAUDITED]
    issuer: Annotated[
        str,
        AUDITED,
        Label(N_("Issuer")),
        Hint(N_("Exactly as your identity provider writes it.")),
        Maximum(TEXT_MAX),
        Typed("https://id.example.com/realms/staff", left_to_right=True),
    ]
    client_id: Annotated[
        str, AUDITED, Label(N_("Client ID")), Maximum(TEXT_MAX), Typed(left_to_right=True)
    ]
    has_secret: Annotated[bool, AUDITED]
    """False: a public client, which PKCE alone protects."""
    label: Annotated[
        str,
        AUDITED,
        Label(N_("Name on the button")),
        Hint(N_("“Sign in with …”. Empty: the organization’s name.")),
        Maximum(LABEL_MAX),
    ]
    domains: Annotated[
        tuple[str, ...],
        AUDITED,
        Label(N_("Domains of e-mail addresses")),
        Hint(N_("One a line. Each works once an operator of this service has confirmed it.")),
        Typed("example.com", left_to_right=True),
    ]
    confirmed: Annotated[tuple[str, ...], AUDITED]
    """The domains that an operator confirmed: the others do nothing."""
    role_claim: Annotated[
        str,
        AUDITED,
        Label(N_("Claim with the role")),
        Hint(N_("Often groups or roles.")),
        Maximum(TEXT_MAX),
        Typed(ROLE_CLAIM, left_to_right=True),
    ]
    owners: Annotated[
        tuple[str, ...], AUDITED, Label(N_("Values for owners")), Typed(left_to_right=True)
    ]
    """Values of the claim that make an owner."""
    developers: Annotated[
        tuple[str, ...], AUDITED, Label(N_("Values for developers")), Typed(left_to_right=True)
    ]
    viewers: Annotated[
        tuple[str, ...], AUDITED, Label(N_("Values for viewers")), Typed(left_to_right=True)
    ]
    default_role: Annotated[Role | None, AUDITED, Label(N_("Everybody else"))]
    """The role of a person who has none of the values; None: they are refused."""
    verified_claim: Annotated[
        str,
        AUDITED,
        Label(N_("Claim of a verified address")),
        Hint(N_("email_verified; for Entra ID xms_edov.")),
        Maximum(TEXT_MAX),
        Typed(VERIFIED_CLAIM, left_to_right=True),
    ]
    two_factors: Annotated[
        tuple[str, ...],
        AUDITED,
        Label(N_("Values of amr or acr that mean two factors")),
        Typed(TWO_FACTORS[0], left_to_right=True),
    ]
    required: Annotated[bool, AUDITED, Label(N_("Members enter by it alone"))]
    """Codes by e-mail do not enter the organization then, except owners with a second factor."""
    session_hours: Annotated[int, AUDITED, Label(N_("Hours until one signs in again"))]
    created_at: Annotated[Moment, UNAUDITED]
    created_by: Annotated[str, UNAUDITED]
    updated_at: Annotated[Moment, UNAUDITED]

    @property
    def id(self) -> str:
        """The provider's name in the audit trail: an organization has one."""
        return self.organization_id

    @property
    def gives_roles(self) -> bool:
        """Whether its claims give roles at each sign-in; else roles are given here."""
        return bool(self.owners or self.developers or self.viewers)


SETTINGS: Final = (
    *("issuer", "client_id", "label", "domains", "role_claim", "owners", "developers", "viewers"),
    *("default_role", "verified_claim", "two_factors", "required", "session_hours"),
)
"""The settings, in the order of their form."""


@dataclass(frozen=True, slots=True)
class LinkedIdentity:
    """A user's account at an identity provider."""

    organization_id: str
    """The organization whose provider it is; empty: the console's."""
    issuer: str
    subject: str
    """What the provider calls the person; it never gives this to another one."""
    user_id: str
    created_at: int
    used_at: int


@dataclass(frozen=True, slots=True)
class ShownIdentity:
    """A person, as an identity provider's checked answer names them."""

    issuer: str
    subject: str
    email: str
    """The address in its one form: verified by the provider, and of a domain that is its own."""
    two_factors: bool
    role: OperatorRole | Role | None
    """What the provider gives them, in the console or in its organization; None: it gives no
    roles."""
    makes: bool
    """Whether a person with a role becomes an operator, or a member."""
    organization_id: str = ""
    """The organization whose provider it is; empty: the console's."""
    is_anew: bool = False
    """The person signed in at the provider just now."""


@dataclass(frozen=True, slots=True)
class ProviderState:
    """The identity provider of an organization, and what it has to be told."""

    redirect_address: str
    """The address that the provider sends browsers back to."""
    provider: IdentityProvider | None
    """None: the organization has none."""


@dataclass(frozen=True, slots=True)
class IdentityProviders:
    """All identity providers of organizations: those with an unconfirmed domain first."""

    providers: tuple[IdentityProvider, ...]


@dataclass(frozen=True, slots=True)
class OfferedProvider:
    """What a sign-in page offers to an address of a confirmed domain."""

    organization_id: str
    label: str


@dataclass(frozen=True, slots=True)
class IdentityStart:
    """A sign-in at an identity provider that begins."""

    url: str
    """The address that the browser goes to."""
    flow: str = field(repr=False)
    """The flow for a cookie of this browser: what the answer is held to."""


@dataclass(frozen=True, slots=True)
class IdentityReturn:
    """What a browser brings back from an identity provider."""

    flow: str = field(repr=False)
    """The value of its cookie; empty: it has none."""
    state: str = field(repr=False)
    code: str = field(repr=False)
    error: str = ""
    issuer: str = ""
    """The issuer that the answer names (RFC 9207); empty: it names none."""


class IdentityAccess(Protocol):
    """Sign-in by an identity provider.

    Each raises ``IdentityRefused``; what judges also ``RateLimited``, ``Conflict``,
    ``Unavailable``.
    """

    async def begin(self, target: str | None, /, *, freshens: bool) -> IdentityStart:
        """Send a browser to the provider."""

    def read(self, flow: str, /) -> tuple[bool, str]:
        """Read a browser's cookie: whether it freshens a session, and where it goes on to."""

    async def finish(
        self, browser: Browser, back: IdentityReturn, /
    ) -> SignedIn | FactorAwaited | Denied:
        """Sign in by what a browser brings back."""

    async def freshen(self, session: WebSession, browser: Browser, back: IdentityReturn, /) -> None:
        """Make a session fresh by it."""


class ProviderAccess(Protocol):
    """The identity providers that people may come by."""

    def console(self) -> IdentityAccess | None:
        """The provider of the console; None: there is none."""

    def sign_in_of(self, organization_id: str, /) -> IdentityAccess | None:
        """The provider of an organization; None: it has none that works."""

    def offered(self, email: str, /) -> OfferedProvider | None:
        """The provider for addresses of this domain; None: no organization has one."""

    def of_organization(self, organization_id: str, /) -> OfferedProvider | None:
        """The provider of an organization, once it works; None: it has none."""


ACCESS: Final[FeatureAccess[ProviderAccess]] = FeatureAccess("providers")
CONSOLE: Final = "providers.console"
ORGANIZATIONS: Final = "providers.organizations"
"""Names of what asks the console's identity provider, and those of organizations."""
SHOW: Final = Ask("provider.show", ProviderState)
SET: Final = Ask("provider.set", IdentityProvider)
DELETE: Final = Ask("provider.delete", IdentityProvider)
LIST: Final = Ask("provider.list", IdentityProviders)
CONFIRM: Final = Ask("provider.confirm", IdentityProvider)
REFUSE: Final = Ask("provider.refuse", IdentityProvider)
