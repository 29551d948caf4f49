"""Signing in and up: with a code to an e-mail address, or with a link from the operator.

A person who cannot read an address's mail does not learn whether it is known: the answer and the
work are the same (a row for the request, a row for the mail, which is sent or not). Errors of
unknown addresses (sign-up is closed, too many sign-ups) come after the right code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from risala.engine.limits.claims import TakePeople
from risala.engine.model.commands import PeopleUse
from risala.engine.model.errors import Forbidden, Invalid, Refusal
from risala.engine.model.people import (
    Browser,
    CodeAsked,
    Denied,
    Device,
    FactorAwaited,
    LinkView,
    SessionKind,
    SignedIn,
    User,
    WebSession,
)
from risala.engine.model.people_records import (
    CodeRequest,
    Entrant,
    FailureReason,
    LetIn,
    TurnedAway,
)
from risala.engine.people import sign_in_limits
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in_limits import SignInLimits
from risala.engine.people.tokens import PeopleSources, digest, is_token, new_token
from risala.engine.rules.people.emails import domain_of, typed_address
from risala.engine.rules.people.entering import SignInRules, goes_on, is_over
from risala.engine.rules.people.key_age import network_of
from risala.engine.rules.people.lifetimes import (
    AGAIN_MS,
    ATTEMPTS_MAX,
    CODE_MS,
    SIGN_IN_DIGITS,
    TOTAL_MS,
)

AGENT_MAX: Final = 200
"""Characters of a browser's name: enough to recognise it in a list of devices."""
GUESS_MAX: Final = 64
"""Characters of a typed code that are read."""


def address_of(text: str, path: str = "email") -> str:
    """An e-mail address in its one form.

    Raises:
        Invalid: it is no address.
    """
    address = typed_address(text)
    if address is None:
        raise Invalid(
            path, "invalid_email", f"`{path}` must be an e-mail address, like name@example.com."
        )
    return address


class SignIn:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._sources = sources
        self._sessions = sessions
        self.rules = SignInRules(
            sources.settings.people.sign_up, self._matches, sources.derived.hashed_address
        )
        self.limits = SignInLimits(sources, self.rules)

    # -- by a code

    async def begin(
        self, browser: Browser, email: str, kind: SessionKind = SessionKind.CUSTOMER
    ) -> CodeAsked:
        """Mail a code to an address that may sign in; the answer does not reveal whether it may.

        Raises:
            Invalid: it is no address.
            RateLimited: too many were requested, for any address.
            Forbidden: operators sign in by their identity provider alone.
            Unavailable: not possible now; nothing was stored.
        """
        self._refuse_without_codes(kind)
        sources, hashed = self._sources, digest(browser.token)
        address, now_ms = address_of(email), sources.now_ms()
        waiting = sources.sign_in.request_of(hashed)
        if goes_on(waiting, address, kind, now_ms) and now_ms < waiting.mailed_at + AGAIN_MS:
            return _as_asked(waiting)
        may_mail = await self.limits.take_code(browser, kind, address)
        new = CodeRequest(
            id=sources.ids.new("sgn"),
            browser=hashed,
            kind=kind,
            email=address,
            language=browser.language,
            attempts=0,
            mailed_at=now_ms,
            expires_at=now_ms + CODE_MS,
            created_at=now_ms,
        )
        request = await sources.sign_in.ask(new, self.rules, may_mail=may_mail)
        sources.owed()
        return _as_asked(request)

    def pending(self, token: str) -> CodeAsked | None:
        """The request that a browser waits for."""
        request = self._sources.sign_in.request_of(digest(token))
        if request is None or is_over(request, self._sources.now_ms()):
            return None
        return _as_asked(request)

    async def finish(
        self, browser: Browser, code: str, kind: SessionKind = SessionKind.CUSTOMER
    ) -> SignedIn | FactorAwaited | Denied:
        """Judge a code; the attempt is counted on disk before this returns.

        Raises:
            RateLimited: too many guesses from this address, or too many sign-ups.
            Forbidden: the code was right, but its owner may not sign in.
            Unavailable: not possible now; nothing was counted.
        """
        self._refuse_without_codes(kind)
        sources, hashed = self._sources, digest(browser.token)
        waiting = sources.sign_in.request_of(hashed)
        await self.limits.take_guess(browser, kind, None if waiting is None else waiting.email)
        if waiting is None:
            return Denied(0)
        if self._matches(waiting, code) and sources.users.by_email(waiting.email) is None:
            uses = (
                (PeopleUse.SIGN_UP_IP, browser.bucket),
                (PeopleUse.SIGN_UP_NETWORK, network_of(browser.address) or browser.bucket),
                (PeopleUse.SIGN_UP_DOMAIN, domain_of(waiting.email)),
                (PeopleUse.SIGN_UP_ALL, None),
            )
            await sources.limits.ask(TakePeople(uses))
        token = new_token()
        entrant = self.entrant(browser, waiting.email, waiting.kind, token)
        answer = await sources.sign_in.judge(hashed, code, entrant, self.rules)
        return answer if isinstance(answer, FactorAwaited) else self.entered(answer, token)

    def _refuse_without_codes(self, kind: SessionKind) -> None:
        oidc = self._sources.settings.people.oidc
        if kind is SessionKind.OPERATOR and oidc.issuer is not None and not oidc.email_codes:
            raise Forbidden("Operators sign in by their identity provider here.")

    def _matches(self, request: CodeRequest, code: str) -> bool:
        codes, basis = self._sources.derived.sign_in_codes, code_basis(request)
        guess = "".join(code[:GUESS_MAX].split())  # people copy "123 456"
        return codes.matches(guess, basis, SIGN_IN_DIGITS[request.kind], test=False)

    # -- by a link

    def peek_link(self, token: str) -> LinkView | None:
        """The purpose of a link; None: it was used, is too old, or does not exist."""
        if not is_token(token):
            return None
        return self._sources.sign_in.peek_link(digest(token), self._sources.now_ms())

    async def use_link(
        self, token: str, browser: Browser, kind: SessionKind = SessionKind.CUSTOMER
    ) -> SignedIn | FactorAwaited | None:
        """Sign in with a link, which is used up by that.

        Args:
            kind: the pages it was opened on, in case the link's purpose is unknown.

        Raises:
            RateLimited: too many were tried from this address.
            Forbidden: the link was for an operator who is none now.
            Unavailable: not possible now; the link stays valid.
        """
        sources = self._sources
        view = self.peek_link(token)
        kind = kind if view is None else view.kind
        await self.limits.take_guess(browser, kind, None)
        if view is None:
            await self.limits.note(FailureReason.LINK, "link", browser, kind)
            return None
        cookie = new_token()
        entrant = self.entrant(browser, "", view.kind, cookie)
        answer = await sources.sign_in.use_link(digest(token), entrant, self.rules)
        if isinstance(answer, FactorAwaited):
            return answer
        signed_in = self.entered(answer, cookie)
        return signed_in if isinstance(signed_in, SignedIn) else None

    # -- within a session

    async def freshen_by_code(
        self, session: WebSession, browser: Browser, code: str
    ) -> bool | Denied:
        """Judge the code that :meth:`begin` mailed to a signed-in user without a factor, who shows
        who they are. Raises as :meth:`finish`."""
        user, hashed = session.user, digest(browser.token)
        await self.limits.take_guess(browser, session.kind, user.email)
        entrant, unit = self.entrant_of(session, browser), self._sources.sign_in.freshen_by_code
        try:
            answer = await unit(session.id, hashed, code, entrant, self.rules)
        finally:
            self._sessions.forget(user.id)
        return self.freshened(answer)

    def entrant_of(self, session: WebSession, browser: Browser) -> Entrant:
        """:meth:`entrant` for a session that is there."""
        made = self.entrant(browser, session.user.email, session.kind, new_token())
        return replace(made, user=session.user)

    def freshened(self, answer: bool | Denied | TurnedAway) -> bool | Denied:
        """The result of a unit that makes a session fresh.

        Raises:
            Refusal: it refused.
        """
        return self._answer(answer) if isinstance(answer, TurnedAway) else answer

    def _answer(self, turned: TurnedAway) -> Denied:
        sign_in_limits.say(turned.failure)
        if isinstance(turned.answer, Refusal):
            raise turned.answer
        return turned.answer

    # -- all

    def entrant(self, browser: Browser, email: str, kind: SessionKind, token: str) -> Entrant:
        """What a right code, link or factor of this browser gives."""
        sources = self._sources
        now_ms, user_id = sources.now_ms(), sources.ids.new("usr")
        user = User(user_id, email, "", browser.language, False, now_ms, now_ms, None)
        device = Device(
            id=sources.ids.new("web"),
            user_id=user_id,
            kind=kind,
            agent=_cleaned(browser.agent)[:AGENT_MAX],
            address=_cleaned(browser.address)[:AGENT_MAX],
            created_at=now_ms,
            used_at=now_ms,
            expires_at=now_ms + TOTAL_MS[kind],
            fresh_at=now_ms,
        )
        known = bool(email) and self.limits.known_browser(browser, kind, email) is not None
        return Entrant(user, device, digest(token), now_ms, known, digest(browser.token))

    def entered(self, answer: LetIn | Denied | TurnedAway, token: str) -> SignedIn | Denied:
        """The result of a unit that signs in.

        Raises:
            Refusal: it refused.
        """
        if isinstance(answer, TurnedAway):
            return self._answer(answer)
        if isinstance(answer, Denied):
            return answer
        self._sessions.forget(answer.device.user_id)
        session, kind = self._sessions.view(answer.device), answer.device.kind
        known_as = ""
        if session.bound_to is None:  # an organization's provider says nothing of the address here
            now_ms = self._sources.now_ms()
            known_as = self._sources.derived.known_browser(kind, session.user.email, now_ms)
        return SignedIn(token, session, answer.is_new, known_as)


def code_basis(request: CodeRequest) -> str:
    """The input of a code's derivation: this request of this browser, and nothing else."""
    return f"{request.id} {request.browser.hex()}"


def _as_asked(request: CodeRequest) -> CodeAsked:
    return CodeAsked(
        request.email,
        request.kind,
        request.expires_at,
        ATTEMPTS_MAX - request.attempts,
        request.mailed_at + AGAIN_MS,
        request.user_id,
    )


def _cleaned(text: str) -> str:
    """A browser's ``User-Agent`` as one line."""
    return "".join(each if each.isprintable() else " " for each in text).strip()
