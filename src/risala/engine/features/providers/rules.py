"""OpenID Connect: what a provider is asked, and what its claims mean here. Pure.

Signatures and the registered claims are checked by a library
(:mod:`risala.engine.features.providers.tokens`); here is the rest of OpenID Connect Core 3.1.3.7.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final
from urllib.parse import urlencode

from risala.config.people import OidcSection
from risala.dataclass import dataclass
from risala.engine.features.providers.records import IdentityProvider, ShownIdentity
from risala.engine.model.callers import OperatorRole, Role
from risala.engine.model.errors import IdentityFault, IdentityRefused
from risala.engine.rules.people.emails import domain_of, normalised

REDIRECT: Final = "/sign-in/oidc/{}/callback"
"""The address that an organization's provider sends browsers back to: each has an address of its
own, so that one provider's answer never passes for another's."""
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519"),
)
"""Algorithms of signatures that are accepted: asymmetric ones alone. With a symmetric one, who
knows the client's secret could make tokens; with `none`, anybody."""
LEEWAY_S: Final = 60
"""How far the provider's clock and ours may differ."""
AGE_MAX_S: Final = 600
"""A token is fetched at once; one that was made earlier is not the answer to this sign-in."""
ERRORS: Final = {
    "access_denied": IdentityFault.CANCELLED,
    "temporarily_unavailable": IdentityFault.UNREACHABLE,
    "server_error": IdentityFault.UNREACHABLE,
    "invalid_grant": IdentityFault.NOT_BEGUN,
}
"""A provider's errors that say something to the person; all others are the operator's matter."""
_SUBJECT_MAX: Final = 255
"""Characters of ``sub`` (OpenID Connect Core 2)."""
_TRUE: Final = (True, 1, "true", "1")
"""What providers write for a claim that is true."""


@dataclass(frozen=True, slots=True)
class Provider:
    """An identity provider, as the settings or an organization's owner name it."""

    issuer: str
    client_id: str
    domains: Sequence[str]
    verified_claim: str
    two_factors: Sequence[str]
    role_claim: str
    roles: Mapping[OperatorRole | Role, Sequence[str]]
    """The values of the claim for each role; empty: the provider gives no roles."""
    makes: bool
    default_role: Role | None = None
    """The role of a person who is given none; None: they are refused, if it gives roles."""
    organization_id: str = ""
    """The organization whose provider it is; empty: the console's."""
    client_secret: str = field(default="", repr=False)


def provider_of(settings: OidcSection, secret: str) -> Provider:
    """The provider of the console."""
    assert settings.issuer is not None, "it is asked for where it is set"
    values_of_roles: dict[OperatorRole | Role, Sequence[str]] = {
        role: getattr(settings.roles, role.value) for role in OperatorRole
    }
    return Provider(
        settings.issuer,
        settings.client_id,
        tuple(each.lower() for each in settings.domains),
        settings.verified_claim,
        settings.two_factors,
        settings.role_claim,
        {role: values for role, values in values_of_roles.items() if values},
        settings.make_operators,
        client_secret=secret,
    )


def member_provider(provider: IdentityProvider, secret: str) -> Provider:
    """The provider of an organization, for the domains that an operator confirmed."""
    values_of_roles: dict[OperatorRole | Role, Sequence[str]] = {
        Role.OWNER: provider.owners,
        Role.DEVELOPER: provider.developers,
        Role.VIEWER: provider.viewers,
    }
    return Provider(
        provider.issuer,
        provider.client_id,
        provider.confirmed,
        provider.verified_claim,
        provider.two_factors,
        provider.role_claim,
        {role: values for role, values in values_of_roles.items() if values},
        makes=True,
        default_role=provider.default_role,
        organization_id=provider.organization_id,
        client_secret=secret,
    )


def authorization_query(
    provider: Provider, redirect_uri: str, state: str, nonce: str, verifier: str, *, anew: bool
) -> str:
    """The query by which a browser asks the provider: code flow, with PKCE by S256.

    Args:
        anew: the person is to sign in there once more, even with a session there.
    """
    parameters = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": redirect_uri,
        "scope": "openid email profile",
        "state": state,
        "nonce": nonce,
        "code_challenge": _text(hashlib.sha256(verifier.encode()).digest()),
        "code_challenge_method": "S256",
    }
    if anew:
        parameters |= {"prompt": "login", "max_age": "0"}
    return urlencode(parameters)


def token_fault(
    claims: Mapping[str, Any], provider: Provider, nonce: str, half_hash: str, now_s: int
) -> str | None:
    """Why a token with a right signature is not the answer to this sign-in; None: it is.

    Args:
        half_hash: what ``at_hash`` must be, if it is there.
    """
    audience = claims.get("aud")
    party = claims.get("azp")
    if isinstance(audience, list) and len(audience) > 1 and party is None:
        return "several audiences and no azp"
    if party is not None and party != provider.client_id:
        return "azp is another client"
    if not _is_same(claims.get("nonce"), nonce):
        return "nonce is not of this sign-in"
    if "at_hash" in claims and not _is_same(claims["at_hash"], half_hash):
        return "at_hash is of another access token"
    if now_s - claims["iat"] > AGE_MAX_S + LEEWAY_S:
        return "the token is old"
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= _SUBJECT_MAX:
        return "sub is no text, empty or too long"
    return None


def half_hash(access_token: str, algorithm: str) -> str:
    """The ``at_hash`` of an access token: the left half of its hash by the token's algorithm."""
    name = f"sha{algorithm[2:]}" if algorithm[2:] in ("256", "384", "512") else "sha512"
    hashed = hashlib.new(name, access_token.encode("ascii", "replace")).digest()
    return _text(hashed[: len(hashed) // 2])


def signed_in_now(claims: Mapping[str, Any], now_s: int) -> bool:
    """Whether the person signed in at the provider just now."""
    at = claims.get("auth_time")
    return isinstance(at, int) and -LEEWAY_S <= now_s - at <= AGE_MAX_S


def identity_of(claims: Mapping[str, Any], provider: Provider, now_s: int) -> ShownIdentity:
    """The person that a checked answer names.

    Raises:
        IdentityRefused: their address is not verified, or not of the provider's domains; or it
            gives roles, and none to them.
    """
    email = normalised(str(claims.get("email", "")))
    if email is None or claims.get(provider.verified_claim) not in _TRUE:
        raise IdentityRefused(IdentityFault.NOT_VERIFIED)
    if domain_of(email) not in provider.domains:
        raise IdentityRefused(IdentityFault.DOMAIN, email=email)
    role = _role_of(_texts(claims.get(provider.role_claim)), provider) or provider.default_role
    if role is None and (provider.roles or provider.organization_id):
        raise IdentityRefused(IdentityFault.NO_ROLE, email=email)
    methods = {*_texts(claims.get("amr")), *_texts(claims.get("acr"))}
    return ShownIdentity(
        provider.issuer,
        claims["sub"],
        email,
        not methods.isdisjoint(provider.two_factors),
        role,
        provider.makes,
        provider.organization_id,
        signed_in_now(claims, now_s),
    )


def _role_of(values: Sequence[str], provider: Provider) -> OperatorRole | Role | None:
    """The first role of which a value is given: an administrator's, or an owner's, first."""
    for role, role_values in provider.roles.items():
        if not set(values).isdisjoint(role_values):
            return role
    return None


def _texts(value: object) -> list[str]:
    """The texts of a claim that is a list, or one text."""
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, str)]


def _is_same(value: object, expected: str) -> bool:
    if not isinstance(value, str):
        return False
    return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), expected.encode())


def _text(value: bytes) -> str:
    return urlsafe_b64encode(value).decode().rstrip("=")
