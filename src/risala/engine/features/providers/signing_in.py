"""Signing in by OpenID Connect: to a provider, and back.

Nothing is stored between the two: what the answer is held to follows from a cookie of the browser
that began, and from the server key. So strangers who begin fill nothing.
"""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import structlog

from risala.dataclass import dataclass
from risala.engine.features.providers.client import ProviderClient
from risala.engine.features.providers.records import (
    CONSOLE,
    ORGANIZATIONS,
    IdentityReturn,
    IdentityStart,
    ShownIdentity,
)
from risala.engine.features.providers.rules import (
    ERRORS,
    REDIRECT,
    authorization_query,
    identity_of,
    member_provider,
    provider_of,
)
from risala.engine.features.providers.stored.repository import ProviderRepository
from risala.engine.model.errors import IdentityFault, IdentityRefused
from risala.engine.model.people import (
    AccessEnded,
    Browser,
    Denied,
    FactorAwaited,
    SessionKind,
    SignedIn,
    WebSession,
)
from risala.engine.model.people_records import (
    FailureReason,
    SignInFailure,
)
from risala.engine.people import sign_in_limits
from risala.engine.people.tokens import FlowSecrets, new_token
from risala.engine.rules.people.lifetimes import CODE_MS
from risala.engine.services import Services

log = structlog.get_logger(__name__)

USED_MAX: Final = 10_000
"""Sign-ins that are remembered as answered. A provider accepts a code once too."""
FLOW_MAX: Final = 1000
"""Characters of a cookie that are read."""
KNOWN_MAX: Final = 100
"""Organizations' providers whose endpoints and keys are remembered: some 20 kB each."""
CALLBACK: Final = "/operator/sign-in/oidc/callback"
"""The address that the console's provider sends browsers back to; the provider knows it."""
_QUIET: Final = (IdentityFault.CANCELLED, IdentityFault.UNREACHABLE, IdentityFault.MISSET)
"""Faults that say nothing about the person: they are logged, and are no refused sign-in."""


class UsedAnswers:
    """Answers that let somebody in, by their ``state``: each does so once."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def take(self, state: str, until: int, now_ms: int) -> bool:
        """Whether this one was not taken yet; it is now."""
        if state in self._used:
            return False
        kept = [(each, at) for each, at in self._used.items() if now_ms < at]
        self._used = dict([*kept, (state, until)][-USED_MAX:])
        return True


class IdentitySignIn:
    """The way in by one provider: to the console, or to one organization."""

    def __init__(
        self,
        services: Services,
        client: ProviderClient,
        used: UsedAnswers,
        kind: SessionKind,
        redirect_uri: str,
        organization_id: str,
    ) -> None:
        """
        Args:
            redirect_uri: the address that the provider sends browsers back to.
            organization_id: the organization that is entered; empty: the console.
        """
        self._have = services.people.sources
        self._stored = services.repositories.part(ProviderRepository)
        self._sessions = services.people.sessions
        self._sign_in = services.people.sign_in
        self._client = client
        self._used = used
        self._kind = kind
        self._redirect_uri = redirect_uri
        self._organization_id = organization_id

    def set_domains(self, domains: Sequence[str]) -> None:
        """The domains that the provider answers for now."""
        client = self._client
        if client.provider.domains != domains:
            client.provider = replace(client.provider, domains=domains)

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
        parts = [secrets.token_urlsafe(16), until, freshens, target or "", self._organization_id]
        flow = urlsafe_b64encode(json.dumps(parts).encode()).decode()
        of = self._have.derived.flow_secrets(flow)[0]
        query = authorization_query(
            self._client.provider, self._redirect_uri, of.state, of.nonce, of.verifier,
            anew=freshens,
        )  # fmt: skip
        joint = "&" if "?" in endpoints.authorization else "?"
        return IdentityStart(f"{endpoints.authorization}{joint}{query}", flow)

    def read(self, flow: str) -> tuple[bool, str]:
        """Read a browser's cookie: whether it freshens a session, and where it goes on to."""
        try:
            _, _, freshens, target, whose = json.loads(urlsafe_b64decode(flow[:FLOW_MAX]))
        except (ValueError, TypeError):
            return False, ""
        if whose != self._organization_id:
            return False, ""
        return freshens is True, str(target)

    async def finish(
        self, browser: Browser, back: IdentityReturn
    ) -> SignedIn | FactorAwaited | Denied:
        """Sign an operator in, or a member of the organization.

        Raises:
            RateLimited: too many tries from this address.
            IdentityRefused: it lets nobody in.
            Conflict: with the provider's role the operators would be without an administrator; or
                the organization has too many members.
            Unavailable: not possible now.
        """
        shown = await self._shown(browser, back, freshens=False)
        token, stored = new_token(), self._stored
        entrant = self._sign_in.entrant(browser, shown.email, self._kind, token)
        if self._organization_id:
            member = await stored.enter_member(shown, entrant, self._sign_in.rules)
            return self._sign_in.entered(member, token)
        answer = await stored.enter_by_identity(shown, entrant, self._sign_in.rules)
        if isinstance(answer, FactorAwaited):
            self._sessions.forget(answer.user_id)
            return answer
        return self._sign_in.entered(answer, token)

    async def freshen(self, session: WebSession, browser: Browser, back: IdentityReturn) -> None:
        """Make a session fresh. Raises the same."""
        shown = await self._shown(browser, back, freshens=True)
        entrant = self._sign_in.entrant_of(session, browser)
        if session.bound_to != (self._organization_id or None):
            raise IdentityRefused(IdentityFault.NOT_BEGUN)
        if not shown.is_anew:
            await self._refuse(IdentityRefused(IdentityFault.STALE, email=shown.email), browser)
        try:
            answer = await self._stored.freshen_by_identity(
                session.id, shown, entrant, self._sign_in.rules
            )
        finally:
            self._sessions.forget(session.user.id)
        assert self._sign_in.freshened(answer) is True, "the unit refuses in words"

    async def _shown(
        self, browser: Browser, back: IdentityReturn, *, freshens: bool
    ) -> ShownIdentity:
        """The person that a browser brings the provider's word of."""
        await self._sign_in.limits.take_guess(browser, self._kind, None)
        of = self._secrets_of(back, freshens=freshens)
        if of is None:
            reason = FailureReason.IDENTITY
            await self._sign_in.limits.note(reason, "identity", browser, self._kind)
            raise IdentityRefused(IdentityFault.NOT_BEGUN)
        claims: dict[str, Any] = {}
        try:
            claims = await self._claims(back, of)
            return identity_of(claims, self._client.provider, self._have.now_ms() // 1000)
        except IdentityRefused as error:
            if error.fault is IdentityFault.NO_ROLE and self._organization_id:
                await self._end_open(str(claims["sub"]))
            await self._refuse(error, browser)
            raise

    async def _end_open(self, subject: str) -> None:
        """The provider gives a person no role any more: what they have open by it ends."""
        issuer, organization_id = self._client.provider.issuer, self._organization_id
        unit = self._stored.refuse_without_role
        for user_id in await unit(organization_id, issuer, subject):
            self._sessions.forget(user_id)
            self._sessions.tell_ended(AccessEnded(user_id, organization_id))

    def _secrets_of(self, back: IdentityReturn, *, freshens: bool) -> FlowSecrets | None:
        """What the answer is held to; None: it is not this browser's, too late, or a second one."""
        state, flow = back.state.encode("utf-8", "surrogatepass"), back.flow[:FLOW_MAX]
        ours = self._have.derived.flow_secrets(flow)
        flow_secrets = next(
            (of for of in ours if hmac.compare_digest(of.state.encode(), state)), None
        )
        if flow_secrets is None or self.read(flow)[0] is not freshens:
            return None
        now_ms, until = self._have.now_ms(), _until(flow)
        if _whose(flow) != self._organization_id or now_ms >= until:
            return None
        return flow_secrets if self._used.take(flow_secrets.state, until, now_ms) else None

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
            failure = SignInFailure(now_ms, self._kind, error.email, browser.address, reason)
            await self._have.sign_in.note_failure(failure, self._sign_in.rules)
            sign_in_limits.say(failure)
        raise error


@dataclass(frozen=True, slots=True)
class _Known:
    updated_at: int
    sign_in: IdentitySignIn


class IdentitySignIns:
    """Sign-in by each identity provider: that of the console, and those of organizations."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._have = services.people.sources
        self._stored = services.repositories.part(ProviderRepository)
        self._around = services.surroundings
        self._used = UsedAnswers()
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._console: IdentitySignIn | None = None

    def console(self) -> IdentitySignIn | None:
        """The console's; None: the settings name no provider."""
        sources, fetches = self._have, self._around.fetches.get(CONSOLE)
        if self._console is None and fetches is not None:
            secret = self._around.secrets.get(CONSOLE, "")
            client = ProviderClient(
                provider_of(sources.settings.people.oidc, secret), fetches, sources.now_ms
            )
            address = sources.console_url + CALLBACK
            self._console = IdentitySignIn(
                self._services, client, self._used, SessionKind.OPERATOR, address, ""
            )
        return self._console

    def of_organization(self, organization_id: str) -> IdentitySignIn | None:
        """An organization's; None: it has no provider, no domain of it is confirmed, or the key of
        its secret is lost."""
        sources, fetches = self._have, self._around.fetches.get(ORGANIZATIONS)
        row = self._stored.find(organization_id)
        if row is None or not row.confirmed or fetches is None:
            self._known.pop(organization_id, None)
            return None
        known = self._known.get(organization_id)
        if known is None or known.updated_at != row.updated_at:
            secret = self._stored.secret_of(organization_id)
            if secret is None:
                return None
            provider = member_provider(row, secret)
            client = ProviderClient(provider, fetches, sources.now_ms)
            address = sources.public_url + REDIRECT.format(organization_id)
            sign_in = IdentitySignIn(
                self._services, client, self._used, SessionKind.CUSTOMER, address, organization_id
            )
            known = self._known[organization_id] = _Known(row.updated_at, sign_in)
        self._known.move_to_end(organization_id)
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        # Domains are confirmed and refused without a change of the provider itself.
        known.sign_in.set_domains(row.confirmed)
        return known.sign_in


def _until(flow: str) -> int:
    return int(json.loads(urlsafe_b64decode(flow))[1])


def _whose(flow: str) -> str:
    """The organization that a sign-in was begun for; empty: the console."""
    return str(json.loads(urlsafe_b64decode(flow))[4])


def _log(error: IdentityRefused) -> None:
    log.warning("sign_in.identity_refused", fault=error.fault.value, detail=error.detail)
