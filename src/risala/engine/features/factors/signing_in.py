"""Second factors at sign-in, and shown again within a session."""

from __future__ import annotations

from risala.engine.features.factors.records import PasskeySite, ShownFactor
from risala.engine.features.factors.service import Factors
from risala.engine.features.factors.stored import FactorRepository
from risala.engine.model.people import Browser, Denied, SessionKind, SignedIn, WebSession
from risala.engine.people.tokens import digest, new_token
from risala.engine.services import Services


class FactorSignIn:
    def __init__(self, services: Services) -> None:
        people = services.people
        self._have = people.sources
        self._stored = services.repositories.part(FactorRepository)
        self._sessions = people.sessions
        self._sign_in = people.sign_in
        self._factors = services.part(Factors)

    def question(self, site: PasskeySite, cookie: str) -> str:
        """What a browser is asked to show a passkey, as JSON."""
        return self._factors.passkeys.to_show(site, cookie)

    # -- without a session

    async def finish(
        self, browser: Browser, shown: ShownFactor, kind: SessionKind
    ) -> SignedIn | Denied:
        """Judge the second factor of a browser whose code was right.

        Raises:
            RateLimited: too many tries.
            Forbidden: the user may not sign in here.
            Unavailable: not possible now; nothing was counted.
        """
        sources, hashed = self._have, digest(browser.token)
        waiting = sources.sign_in.request_of(hashed)
        email = None if waiting is None else waiting.email
        await self._sign_in.limits.take_guess(browser, kind, email)
        if waiting is None or waiting.user_id is None:
            return Denied(0)
        tried = await self._factors.tried(waiting.user_id, shown, browser.token)
        token = new_token()
        entrant = self._sign_in.entrant(browser, waiting.email, waiting.kind, token)
        answer = await self._stored.judge(hashed, tried, entrant, self._sign_in.rules)
        sources.owed()
        return self._sign_in.entered(answer, token)

    async def by_passkey(
        self, browser: Browser, shown: ShownFactor, kind: SessionKind
    ) -> SignedIn | Denied:
        """Sign in with a passkey alone. Raises the same."""
        await self._sign_in.limits.take_guess(browser, kind, None)
        factor = self._factors.passkey_owner(shown.answer)
        if factor is None:
            return Denied(0)
        tried = await self._factors.tried(factor.user_id, shown, browser.token)
        token, user = new_token(), self._have.users.user(factor.user_id)
        entrant = self._sign_in.entrant(browser, user.email, kind, token)
        answer = await self._stored.enter_by_passkey(user.id, tried, entrant, self._sign_in.rules)
        return self._sign_in.entered(answer, token)

    # -- within a session

    async def freshen(
        self, session: WebSession, browser: Browser, shown: ShownFactor
    ) -> bool | Denied:
        """Judge a factor that is shown again. Raises as :meth:`finish`."""
        user, sources = session.user, self._have
        await self._sign_in.limits.take_guess(browser, session.kind, user.email)
        tried = await self._factors.tried(user.id, shown, browser.token)
        entrant = self._sign_in.entrant_of(session, browser)
        try:
            answer = await self._stored.freshen(session.id, tried, entrant, self._sign_in.rules)
        finally:
            self._sessions.forget(user.id)
        sources.owed()
        return self._sign_in.freshened(answer)
