"""Sign-in by each identity provider: that of the console, and those of organizations."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.people import SessionKind
from risala.engine.people.identities.client import ProviderClient
from risala.engine.people.identities.providers import REDIRECT
from risala.engine.people.identities.signing import IdentitySignIn, UsedAnswers
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in import SignIn
from risala.engine.people.sources import PeopleSources
from risala.engine.rules.people.oidc import member_provider, provider_of

KNOWN_MAX: Final = 100
"""Organizations' providers whose endpoints and keys are remembered: some 20 kB each."""
CALLBACK: Final = "/operator/sign-in/oidc/callback"
"""Where the console's provider sends browsers back to; it knows this address."""


@dataclass(frozen=True, slots=True)
class _Known:
    updated_at: int
    sign_in: IdentitySignIn


class IdentitySignIns:
    def __init__(self, sources: PeopleSources, sessions: WebSessions, sign_in: SignIn) -> None:
        self._have = sources
        self._sessions = sessions
        self._sign_in = sign_in
        self._used = UsedAnswers()
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._console: IdentitySignIn | None = None

    def console(self) -> IdentitySignIn | None:
        """The console's; None: the settings name no provider."""
        have = self._have
        if self._console is None and have.identity_fetches is not None:
            provider = provider_of(have.settings.people.oidc, have.identity_secret)
            client = ProviderClient(provider, have.identity_fetches, have.now_ms)
            address = have.console_url + CALLBACK
            self._console = self._sign_in_by(client, SessionKind.OPERATOR, address, "")
        return self._console

    def of_organization(self, organization_id: str) -> IdentitySignIn | None:
        """An organization's; None: it has no provider, no domain of it is confirmed, or the key of
        its secret is lost."""
        have = self._have
        found = have.providers.find(organization_id)
        if found is None or not found.confirmed or have.provider_fetches is None:
            self._known.pop(organization_id, None)
            return None
        known = self._known.get(organization_id)
        if known is None or known.updated_at != found.updated_at:
            secret = have.providers.secret_of(organization_id)
            if secret is None:
                return None
            client = ProviderClient(
                member_provider(found, secret), have.provider_fetches, have.now_ms
            )
            address = have.public_url + REDIRECT.format(organization_id)
            sign_in = self._sign_in_by(client, SessionKind.CUSTOMER, address, organization_id)
            known = self._known[organization_id] = _Known(found.updated_at, sign_in)
        self._known.move_to_end(organization_id)
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        # Domains are confirmed and refused without a change of the provider itself.
        known.sign_in.set_domains(found.confirmed)
        return known.sign_in

    def _sign_in_by(
        self, client: ProviderClient, kind: SessionKind, address: str, organization_id: str
    ) -> IdentitySignIn:
        return IdentitySignIn(
            self._have, self._sessions, self._sign_in, client, self._used, kind, address,
            organization_id,
        )  # fmt: skip
