"""How people show who they are by what a feature brings, as pages and the engine call it."""

from __future__ import annotations

from typing import Protocol

from risala.engine.model.people import (
    Browser,
    Denied,
    FactorAwaited,
    IdentityReturn,
    IdentityStart,
    OfferedProvider,
    PasskeySite,
    SessionKind,
    ShownFactor,
    SignedIn,
    WebSession,
)


class FactorAccess(Protocol):
    """The part that handles what somebody shows; set-up and removal are operations.

    Each that judges raises ``RateLimited``, ``Forbidden``, ``Unavailable``.
    """

    def question(self, site: PasskeySite, cookie: str, /) -> str:
        """What a browser is asked to show a passkey, as JSON."""

    async def finish(
        self, browser: Browser, shown: ShownFactor, kind: SessionKind, /
    ) -> SignedIn | Denied:
        """Judge the second factor of a browser whose code was right."""

    async def by_passkey(
        self, browser: Browser, shown: ShownFactor, kind: SessionKind, /
    ) -> SignedIn | Denied:
        """Sign in with a passkey alone."""

    async def freshen(
        self, session: WebSession, browser: Browser, shown: ShownFactor, /
    ) -> bool | Denied:
        """Judge a factor that is shown again within a session."""


class IdentityAccess(Protocol):
    """Sign-in by an identity provider.

    Each raises ``IdentityRefused``; what judges also ``RateLimited``, ``Conflict``,
    ``Unavailable``.
    """

    async def begin(self, target: str | None, /, *, freshens: bool) -> IdentityStart:
        """Send a browser to the provider."""

    def read(self, flow: str, /) -> tuple[bool, str]:
        """Of a browser's cookie: whether it freshens a session, and where it goes on to."""

    async def finish(
        self, browser: Browser, back: IdentityReturn, /
    ) -> SignedIn | FactorAwaited | Denied:
        """Sign in by what a browser brings back."""

    async def freshen(self, session: WebSession, browser: Browser, back: IdentityReturn, /) -> None:
        """Make a session fresh by it."""


class ProviderAccess(Protocol):
    """The identity providers that people may come by."""

    def console(self) -> IdentityAccess | None:
        """That of the console; None: there is none."""

    def sign_in_of(self, organization_id: str, /) -> IdentityAccess | None:
        """That of an organization; None: it has none that works."""

    def offered(self, email: str, /) -> OfferedProvider | None:
        """The provider for addresses of this domain; None: no organization has one."""

    def of_organization(self, organization_id: str, /) -> OfferedProvider | None:
        """The provider of an organization, once it works; None: it has none."""
