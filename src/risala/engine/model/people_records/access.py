"""How people show who they are by what a feature brings, as pages and the engine call it."""

from __future__ import annotations

from typing import Protocol

from risala.engine.model.people import (
    Browser,
    Denied,
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
