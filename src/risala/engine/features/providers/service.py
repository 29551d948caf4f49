"""Organizations' own identity providers: registered by owners, confirmed by operators.

What asks a provider is loaded with the first sign-in by one (:mod:`.signing_in`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from risala.config.oidc_defaults import ROLE_CLAIM, TWO_FACTORS, VERIFIED_CLAIM
from risala.engine.features.providers.records import (
    CONSOLE,
    SESSION_HOURS,
    IdentityProvider,
    OfferedProvider,
    ProviderState,
)
from risala.engine.features.providers.rules import REDIRECT
from risala.engine.features.providers.stored.repository import ProviderRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Invalid
from risala.engine.model.people import AccessEnded
from risala.engine.model.people_records import OwedMail
from risala.engine.people.letters import (
    Letters,
    Values,
    Words,
    apart,
    moment,
    named,
    one_line,
    who_did,
)
from risala.engine.rules.people.emails import domain_of, typed_address
from risala.engine.rules.webhooks.url import UrlRefused, parse_target, rules_of
from risala.engine.services import Services

if TYPE_CHECKING:
    from risala.engine.features.providers.signing_in import IdentitySignIn, IdentitySignIns


class Providers:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._have = services.people.sources
        self._stored = services.repositories.part(ProviderRepository)
        self._sessions = services.people.sessions
        self._rules = rules_of(services.settings.webhooks)

    # -- signing in

    def console(self) -> IdentitySignIn | None:
        """Sign-in to the console by an identity provider; None: there is none."""
        has_one = CONSOLE in self._services.surroundings.fetches
        return self._sign_ins().console() if has_one else None

    def sign_in_of(self, organization_id: str) -> IdentitySignIn | None:
        """Sign-in by an organization's identity provider; None: it has none that works."""
        # Looked up first: strangers' addresses load nothing.
        if self.of_organization(organization_id) is None:
            return None
        return self._sign_ins().of_organization(organization_id)

    def _sign_ins(self) -> IdentitySignIns:
        from risala.engine.features.providers.signing_in import IdentitySignIns

        return self._services.part(IdentitySignIns)

    # -- reading

    def state(self, organization_id: str) -> ProviderState:
        """The provider of an organization, if it has one.

        Raises:
            NotFound: no such organization.
        """
        self._have.accounts.organization(organization_id)
        return ProviderState(
            self.redirect_address(organization_id), self._stored.find(organization_id)
        )

    def redirect_address(self, organization_id: str) -> str:
        return self._have.public_url + REDIRECT.format(organization_id)

    def offered(self, email: str) -> OfferedProvider | None:
        """The provider for an address of this domain, whether anybody has it or not; None: there
        is none."""
        address = typed_address(email)
        provider = None if address is None else self._stored.of_domain(domain_of(address))
        return None if provider is None else self._offered(provider)

    def of_organization(self, organization_id: str) -> OfferedProvider | None:
        """The provider of an organization, once an operator has confirmed a domain."""
        provider = self._stored.find(organization_id)
        return None if provider is None or not provider.confirmed else self._offered(provider)

    def _offered(self, provider: IdentityProvider) -> OfferedProvider:
        name = self._have.accounts.organization(provider.organization_id).name
        return OfferedProvider(provider.organization_id, provider.label or name)

    # -- changing

    async def put(
        self,
        organization_id: str,
        values: Mapping[str, Any],
        secret: str | None,
        actor_id: str | None,
        by: AuditEntry,
    ) -> IdentityProvider:
        """Register a provider, or change the given settings of the present one.

        Args:
            secret: of its client; empty: it has none any more. None: it stays.
            actor_id: the owner who asks; None: the operator.

        Raises:
            Invalid: a value is missing or wrong.
            Forbidden: the actor is no longer an owner.
        """
        sources, now_ms = self._have, self._have.now_ms()
        sources.accounts.organization(organization_id)
        checked = self._checked(values)
        column: dict[str, str | None] = {}
        if secret is not None:
            sealed = self._stored.sealed(organization_id, secret) if secret else None
            column["client_secret"] = sealed

        def change(former: IdentityProvider | None) -> IdentityProvider:
            present = former or _first(organization_id, by.caller.who, now_ms, checked)
            return replace(present, **checked, updated_at=now_ms)

        with self._changing(organization_id):
            return await self._stored.put(
                by, organization_id, change, column, actor_id, by.caller.who
            )

    def _checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        made = dict(values)
        if "issuer" in made:
            try:
                parse_target(made["issuer"], self._rules)
            except UrlRefused as refused:
                raise Invalid("issuer", "invalid_url", f"`issuer`: {refused.fault}") from None
        if "domains" in made:
            made["domains"] = tuple(dict.fromkeys(map(_domain, made["domains"])))
            if not made["domains"]:
                raise Invalid("domains", "missing", "`domains` must name at least one domain.")
        return made

    async def delete(
        self, organization_id: str, actor_id: str | None, by: AuditEntry
    ) -> IdentityProvider:
        """Delete a provider.

        Raises:
            NotFound: the organization has none.
            Forbidden: the actor is no longer an owner.
        """
        with self._changing(organization_id):
            delete = self._stored.delete
            return await delete(by, organization_id, actor_id, by.caller.who)

    async def confirm(self, organization_id: str, domain: str, by: AuditEntry) -> IdentityProvider:
        """An operator says that a domain is the organization's.

        Raises:
            NotFound: the organization did not ask for it.
            Conflict: it is another organization's.
        """
        with self._changing(organization_id):
            confirm = self._stored.confirm
            arguments = (organization_id, _domain(domain), by.caller.who, self._have.now_ms())
            return await confirm(by, *arguments)

    async def refuse(self, organization_id: str, domain: str, by: AuditEntry) -> IdentityProvider:
        """An operator takes a domain away.

        Raises:
            NotFound: the organization did not ask for it.
        """
        with self._changing(organization_id):
            refuse = self._stored.refuse
            arguments = (organization_id, _domain(domain), by.caller.who, self._have.now_ms())
            return await refuse(by, *arguments)

    @contextmanager
    def _changing(self, organization_id: str) -> Iterator[None]:
        """Have sessions read again after the block, and what members follow end."""
        try:
            yield
        finally:
            self._sessions.forget_bound(organization_id)
            self._sessions.tell_ended(AccessEnded(organization_id=organization_id))
            self._have.owed()


def _domain(text: str) -> str:
    """A domain in its one form.

    Raises:
        Invalid: it is none.
    """
    address = typed_address(f"x@{text.strip().removeprefix('@')}")
    if address is None:
        raise Invalid(
            "domains", "invalid_domain", "`domains` must be domains, such as example.com."
        )
    return domain_of(address)


def _first(
    organization_id: str, who: str, now_ms: int, values: Mapping[str, Any]
) -> IdentityProvider:
    """A new provider, before its given settings.

    Raises:
        Invalid: what it cannot do without is not given.
    """
    for name in ("issuer", "client_id", "domains"):
        if not values.get(name):
            raise Invalid(name, "missing", f"`{name}` is required.")
    return IdentityProvider(
        organization_id=organization_id,
        issuer="",
        client_id="",
        has_secret=False,
        label="",
        domains=(),
        confirmed=(),
        role_claim=ROLE_CLAIM,
        owners=(),
        developers=(),
        viewers=(),
        default_role=None,
        verified_claim=VERIFIED_CLAIM,
        two_factors=TWO_FACTORS,
        required=False,
        session_hours=SESSION_HOURS,
        created_at=now_ms,
        created_by=who,
        updated_at=now_ms,
    )


def letter(letters: Letters, owed: OwedMail, words: Words) -> Values:
    """What owners are told of a change of their organization's provider."""
    organization = letters.accounts.organization(owed.details["organization"])
    sentence = words["providers"][owed.details["what"]]
    return {
        "organization": named(organization),
        "what": sentence.format(domain=apart(owed.language, one_line(owed.details["domain"]))),
        "issuer": owed.details["issuer"],
        "who": who_did(owed.details["who"], words, "operator"),
        "when": moment(owed.details["at"], owed.language, organization.time_zone),
        "url": f"{letters.url}/app/{organization.id}/members/sign-in",
    }
