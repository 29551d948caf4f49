"""Signing in by OpenID Connect: to a provider, and back.

Nothing is stored between the two: what the answer is held to follows from a cookie of the browser
that began, and from the server key. So strangers who begin fill nothing.
"""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from typing import Any, Final

import structlog

from risala.engine.model.errors import IdentityFault, IdentityRefused, Refusal
from risala.engine.model.people import (
    Browser,
    Denied,
    FactorAwaited,
    IdentityReturn,
    IdentityStart,
    SessionKind,
    SignedIn,
    WebSession,
)
from risala.engine.model.people_records.identities import ShownIdentity
from risala.engine.model.people_records.sign_in import (
    Entrant,
    FailureReason,
    SignInFailure,
    TurnedAway,
)
from risala.engine.people import sign_in_limits
from risala.engine.people.identities.client import ProviderClient
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in import SignIn
from risala.engine.people.sources import PeopleSources
from risala.engine.people.tokens import FlowSecrets, new_token
from risala.engine.rules.people.lifetimes import CODE_MS
from risala.engine.rules.people.oidc import (
    ERRORS,
    authorization_query,
    identity_of,
    provider_of,
    signed_in_now,
)
from risala.engine.rules.webhooks.types import Fetches

log = structlog.get_logger(__name__)

CALLBACK: Final = "/operator/sign-in/oidc/callback"
"""Where a provider sends browsers back to; it knows this address."""
USED_MAX: Final = 10_000
"""Sign-ins that are remembered as answered. A provider accepts a code once too."""
FLOW_MAX: Final = 1000
"""Characters of a cookie that are read."""
_KIND: Final = SessionKind.OPERATOR
_QUIET: Final = (IdentityFault.CANCELLED, IdentityFault.UNREACHABLE, IdentityFault.MISSET)
"""Faults that say nothing about the person: they are logged, and are no refused sign-in."""


class IdentitySignIn:
    def __init__(
        self, sources: PeopleSources, sessions: WebSessions, sign_in: SignIn, fetches: Fetches
    ) -> None:
        self._have = sources
        self._sessions = sessions
        self._sign_in = sign_in
        provider = provider_of(sources.settings.people.oidc, sources.identity_secret)
        self._client = ProviderClient(provider, fetches, sources.now_ms)
        self._used: dict[str, int] = {}

    @property
    def _redirect_uri(self) -> str:
        return self._have.console_url + CALLBACK

    async def begin(self, target: str | None, *, freshens: bool) -> IdentityStart:
        """Send a browser to the provider.

        Args:
            target: where it goes on to afterwards.
            freshens: the person is signed in, and shows once more who they are.

        Raises:
            IdentityRefused: the provider does not answer, or is not what the settings say.
        """
        try:
            endpoints = await self._client.endpoints()
        except IdentityRefused as error:
            _log(error)
            raise
        until = self._have.now_ms() + CODE_MS
        said = [secrets.token_urlsafe(16), until, freshens, target or ""]
        flow = urlsafe_b64encode(json.dumps(said).encode()).decode()
        of = self._have.derived.flow_secrets(flow)[0]
        query = authorization_query(
            self._client.provider, self._redirect_uri, of.state, of.nonce, of.verifier,
            anew=freshens,
        )  # fmt: skip
        joint = "&" if "?" in endpoints.authorization else "?"
        return IdentityStart(f"{endpoints.authorization}{joint}{query}", flow)

    def read(self, flow: str) -> tuple[bool, str]:
        """Of a browser's cookie: whether it freshens a session, and where it goes on to."""
        try:
            _, _, freshens, target = json.loads(urlsafe_b64decode(flow[:FLOW_MAX]))
        except (ValueError, TypeError):
            return False, ""
        return freshens is True, str(target)

    async def finish(
        self, browser: Browser, back: IdentityReturn
    ) -> SignedIn | FactorAwaited | Denied:
        """Sign an operator in.

        Raises:
            RateLimited: too many tries from this address.
            IdentityRefused: it lets nobody in.
            Conflict: with the provider's role the operators would be without an administrator.
            Unavailable: not possible now.
        """
        shown = (await self._shown(browser, back, freshens=False))[0]
        token = new_token()
        entrant = self._sign_in.entrant(browser, shown.email, _KIND, token)
        unit = self._have.sign_in.enter_by_identity
        answer = await unit(shown, entrant, self._sign_in.rules)
        if isinstance(answer, FactorAwaited):
            self._sessions.forget(answer.user_id)
            return answer
        return self._sign_in.entered(answer, token)

    async def freshen(self, session: WebSession, browser: Browser, back: IdentityReturn) -> None:
        """Make a session fresh. Raises the same."""
        shown, anew = await self._shown(browser, back, freshens=True)
        entrant = self._entrant(session, browser)
        if not anew:
            await self._refuse(IdentityRefused(IdentityFault.STALE, email=shown.email), browser)
        try:
            answer = await self._have.sign_in.freshen_by_identity(
                session.id, shown, entrant, self._sign_in.rules
            )
        finally:
            self._sessions.forget(session.user.id)
        if isinstance(answer, TurnedAway):
            sign_in_limits.say(answer.failure)
            assert isinstance(answer.answer, Refusal), "the unit refuses in words"
            raise answer.answer

    async def _shown(
        self, browser: Browser, back: IdentityReturn, *, freshens: bool
    ) -> tuple[ShownIdentity, bool]:
        """The person that a browser brings the provider's word of, and whether they signed in
        there anew."""
        await self._sign_in.limits.take_guess(browser, _KIND, None)
        of = self._secrets_of(back, freshens=freshens)
        if of is None:
            await self._sign_in.limits.note_identity(browser, _KIND)
            raise IdentityRefused(IdentityFault.NOT_BEGUN)
        try:
            claims = await self._claims(back, of)
            shown = identity_of(claims, self._client.provider)
        except IdentityRefused as error:
            await self._refuse(error, browser)
            raise
        return shown, signed_in_now(claims, self._have.now_ms() // 1000)

    def _secrets_of(self, back: IdentityReturn, *, freshens: bool) -> FlowSecrets | None:
        """What the answer is held to; None: it is not this browser's, too late, or a second one."""
        given, flow = back.state.encode("utf-8", "surrogatepass"), back.flow[:FLOW_MAX]
        ours = self._have.derived.flow_secrets(flow)
        found = next((of for of in ours if hmac.compare_digest(of.state.encode(), given)), None)
        if found is None or self.read(flow)[0] is not freshens:
            return None
        now_ms, until = self._have.now_ms(), _until(flow)
        if now_ms >= until or found.state in self._used:
            return None
        kept = [(each, at) for each, at in self._used.items() if now_ms < at]
        self._used = dict([*kept, (found.state, until)][-USED_MAX:])
        return found

    async def _claims(self, back: IdentityReturn, of: FlowSecrets) -> dict[str, Any]:
        if back.error:
            fault = ERRORS.get(back.error, IdentityFault.MISSET)
            raise IdentityRefused(fault, f"it sent the error {back.error[:80]!r}")
        client = self._client
        endpoints = await client.endpoints()
        if back.issuer != client.provider.issuer and (back.issuer or endpoints.names_itself):
            raise IdentityRefused(IdentityFault.INVALID, "the answer names another issuer")
        return await client.claims(back.code, of.verifier, self._redirect_uri, of.nonce)

    async def _refuse(self, error: IdentityRefused, browser: Browser) -> None:
        """Log and store a refusal, and raise it."""
        _log(error)
        if error.fault not in _QUIET:
            now_ms, reason = self._have.now_ms(), FailureReason.IDENTITY
            failure = SignInFailure(now_ms, _KIND, error.email, browser.address, reason)
            await self._have.sign_in.note_failure(failure, self._sign_in.rules)
            sign_in_limits.say(failure)
        raise error

    def _entrant(self, session: WebSession, browser: Browser) -> Entrant:
        made = self._sign_in.entrant(browser, session.user.email, session.kind, new_token())
        return replace(made, user=session.user)


def _until(flow: str) -> int:
    return int(json.loads(urlsafe_b64decode(flow))[1])


def _log(error: IdentityRefused) -> None:
    log.warning("sign_in.identity_refused", fault=error.fault.value, detail=error.detail)
