"""Settings of people: who may sign up, and limits on mails."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from risala.config.kinds import Money, Network, Section
from risala.config.oidc_defaults import ROLE_CLAIM, TWO_FACTORS, VERIFIED_CLAIM

Count = Annotated[int, Field(ge=1, le=100_000)]
Text = Annotated[str, Field(min_length=1, max_length=200)]


class SignUp(StrEnum):
    """The people who may sign up."""

    OPEN = "open"
    INVITED = "invited"
    CLOSED = "closed"


class OidcRolesSection(Section):
    """Which values of ``role_claim`` give which operator's role; the first that fits counts. All
    empty: the provider gives no roles, and Risala's own hold."""

    administrator: tuple[Text, ...] = ()
    """Values that make an administrator."""
    finance: tuple[Text, ...] = ()
    """Values that give the role finance."""
    support: tuple[Text, ...] = ()
    """Values that give the role support."""
    viewer: tuple[Text, ...] = ()
    """Values that give the role viewer."""


class OidcSection(Section):
    """Operators sign in to the console by OpenID Connect, at a provider of yours."""

    issuer: str | None = None
    """The provider's issuer, exactly as its documents say it, such as
    ``"https://id.example.com/realms/staff"``. Not set: nobody signs in by it."""
    client_id: str = ""
    """The client that the provider knows this service by."""
    client_secret_env: str | None = None
    """Name of the environment variable with the client's secret. Not set: a public client, which
    PKCE alone protects."""
    label: str = ""
    """What the button names, such as ``"Example Ltd"``. Empty: "your identity provider"."""
    domains: tuple[Text, ...] = ()
    """The domains of e-mail addresses that may sign in by it. At least one."""
    verified_claim: str = VERIFIED_CLAIM
    """The claim that says that the e-mail address is verified: ``"xms_edov"`` for Entra ID."""
    two_factors: tuple[Text, ...] = TWO_FACTORS
    """Values of the claims ``amr`` and ``acr`` by which a sign-in counts as two factors. Empty: it
    never does."""
    role_claim: str = ROLE_CLAIM
    """The claim whose values give an operator's role."""
    roles: OidcRolesSection = OidcRolesSection()
    """Which values give which role."""
    make_operators: bool = False
    """Whether a person to whom the provider gives a role becomes an operator at the first sign-in.
    Otherwise only who is one already may sign in."""
    email_codes: bool = True
    """Whether operators may still sign in by a code by e-mail. A link made on the machine,
    ``risala user sign-in EMAIL --console``, lets in at any time."""
    allow_networks: tuple[Network, ...] = ()
    """Private networks where the provider may be, such as ``"10.1.0.0/16"``."""

    @model_validator(mode="after")
    def _is_whole(self) -> OidcSection:
        if self.issuer is None:
            return self
        if not self.client_id:
            raise ValueError("with issuer, set client_id too")
        if not self.domains:
            raise ValueError(
                'with issuer, set domains too, such as ["example.com"]: addresses of other domains '
                "are not the provider's to vouch for"
            )
        if self.make_operators and not any(self.roles.model_dump().values()):
            raise ValueError("with make_operators, say in roles which values give which role")
        return self


class PeopleSection(Section):
    """Sign-in to the dashboard: who may sign up, and how often codes are mailed and tried."""

    sign_up: SignUp = SignUp.OPEN
    """``open``: anybody with a proved e-mail address; ``invited``: people whom an organization
    invited; ``closed``: only users whom the operator makes with ``risala user create``."""
    operator_factors: Annotated[int, Field(ge=1, le=2)] | None = None
    """How many factors an operator needs to enter the console: 1, a code by e-mail; 2, also a
    passkey or an authenticator app. If it is not set, 2 once any operator has set one up."""
    oidc: OidcSection = OidcSection()
    """Operators sign in by OpenID Connect."""
    codes_per_ip_per_hour: Count = 60
    """The most sign-in codes requested from one IPv4 address or IPv6 /64. Many people share an
    address behind a mobile network."""
    codes_per_address_per_hour: Count = 6
    """The most sign-in codes requested for one e-mail address, from anywhere. Signed-in users stay
    signed in."""
    codes_per_hour: Count = 2000
    """The most sign-in codes requested in all, separately for the dashboard and the console. An
    IPv6 /32 may ask for a quarter of them."""
    strangers_codes_per_hour: Count = 300
    """The most sign-up mails in an hour to addresses without a user here; further codes are not
    mailed."""
    guesses_per_ip_per_minute: Count = 30
    """The most codes tried from one address in any minute; each code also has only five tries."""
    sign_ups_per_ip_per_hour: Count = 20
    """The most new users from one address. From a network, an IPv4 /24 or an IPv6 /48, three times
    as many."""
    sign_ups_per_domain_per_hour: Count = 100
    """The most new users of one mail domain."""
    sign_ups_per_hour: Count = 300
    """The most new users in all."""
    four_eyes_from: Money | None = None
    """From this sum on, in a day, a second operator confirms what one operator does: top-ups,
    adjustments and confirmed payments count together. Prices, senders and operators' roles then
    always need two. Not set: each operator decides alone."""
