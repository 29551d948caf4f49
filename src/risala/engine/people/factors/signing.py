"""Second factors at sign-in, and shown again within a session."""

from __future__ import annotations

from dataclasses import replace

from risala.engine.model.errors import Refusal
from risala.engine.model.people import (
    Browser,
    Denied,
    PasskeySite,
    SessionKind,
    ShownFactor,
    SignedIn,
    WebSession,
)
from risala.engine.model.people_records.sign_in import Entrant, TurnedAway
from risala.engine.people import sign_in_limits
from risala.engine.people.factors.factors import Factors
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in import SignIn
from risala.engine.people.sources import PeopleSources
from risala.engine.people.tokens import digest, new_token


class FactorSignIn:
    def __init__(
        self, sources: PeopleSources, sessions: WebSessions, factors: Factors, sign_in: SignIn
    ) -> None:
        self._have = sources
        self._sessions = sessions
        self._factors = factors
        self._sign_in = sign_in

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
        have, hashed = self._have, digest(browser.token)
        waiting = have.sign_in.request_of(hashed)
        email = None if waiting is None else waiting.email
        await self._sign_in.limits.take_guess(browser, kind, email)
        if waiting is None or waiting.user_id is None:
            return Denied(0)
        tried = await self._factors.tried(waiting.user_id, shown, browser.token)
        token = new_token()
        entrant = self._sign_in.entrant(browser, waiting.email, waiting.kind, token)
        answer = await have.factors.judge(hashed, tried, entrant, self._sign_in.rules)
        have.owed()
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
        answer = await self._have.factors.enter_by_passkey(
            user.id, tried, entrant, self._sign_in.rules
        )
        return self._sign_in.entered(answer, token)

    # -- within a session

    async def freshen(
        self, session: WebSession, browser: Browser, shown: ShownFactor
    ) -> bool | Denied:
        """Judge a factor that is shown again. Raises as :meth:`finish`."""
        user, have = session.user, self._have
        await self._sign_in.limits.take_guess(browser, session.kind, user.email)
        tried = await self._factors.tried(user.id, shown, browser.token)
        entrant = self._entrant(session, browser)
        try:
            answer = await have.factors.freshen(session.id, tried, entrant, self._sign_in.rules)
        finally:
            self._sessions.forget(user.id)
        have.owed()
        return _freshened(answer)

    async def ask_code(self, session: WebSession, browser: Browser) -> None:
        """Mail a code to a user without a factor, for the same. Raises as :meth:`SignIn.begin`."""
        await self._sign_in.begin(browser, session.user.email, session.kind)

    async def freshen_by_code(
        self, session: WebSession, browser: Browser, code: str
    ) -> bool | Denied:
        """Judge that code. Raises as :meth:`finish`."""
        user = session.user
        await self._sign_in.limits.take_guess(browser, session.kind, user.email)
        entrant = self._entrant(session, browser)
        hashed, rules = digest(browser.token), self._sign_in.rules
        unit = self._have.factors.freshen_by_code
        try:
            answer = await unit(session.id, hashed, code, entrant, rules)
        finally:
            self._sessions.forget(user.id)
        return _freshened(answer)

    def _entrant(self, session: WebSession, browser: Browser) -> Entrant:
        made = self._sign_in.entrant(browser, session.user.email, session.kind, new_token())
        device = replace(made.device, kind=session.kind)
        return replace(made, user=session.user, device=device)


def _freshened(answer: bool | Denied | TurnedAway) -> bool | Denied:
    if not isinstance(answer, TurnedAway):
        return answer
    sign_in_limits.say(answer.failure)
    if isinstance(answer.answer, Refusal):
        raise answer.answer
    return answer.answer
