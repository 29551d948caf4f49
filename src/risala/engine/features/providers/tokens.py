"""Checks what an identity provider signed, by the library `joserfc`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from joserfc import jwk, jws, jwt
from joserfc.errors import ExpiredTokenError, InvalidClaimError, JoseError

from risala.engine.features.providers.rules import (
    ALGORITHMS,
    LEEWAY_S,
    Provider,
    half_hash,
    token_fault,
)
from risala.engine.model.errors import IdentityFault, IdentityRefused
from risala.engine.model.wire import unstorable

KEYS_MAX: Final = 50
"""Keys of one provider that are kept: large ones publish a dozen."""
_TIMES: Final = frozenset({"iat", "nbf"})
_REGISTRY: Final = jws.JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
"""Providers put names of their own into a header; those that change its meaning are in ``crit``,
which the library refuses."""

Key = jwk.Key


class UnknownKey(Exception):
    """The token names a key that the provider had not published when its keys were read."""


def keys_of(document: Mapping[str, Any]) -> list[Key]:
    """The keys for signatures that a provider publishes; others are left out."""
    keys: list[Key] = []
    published = document.get("keys")
    for each in published[:KEYS_MAX] if isinstance(published, list) else ():
        if not isinstance(each, dict) or each.get("use", "sig") != "sig":
            continue
        if each.get("kty") not in ("RSA", "EC", "OKP"):
            continue  # a symmetric key that is published is no secret
        try:
            keys.append(jwk.import_key(each))
        except (JoseError, ValueError, TypeError):
            continue
    return keys


def checked_claims(
    token: str,
    keys: Sequence[Key],
    provider: Provider,
    nonce: str,
    access_token: str,
    now_s: int,
) -> dict[str, Any]:
    """What an ID token says.

    Raises:
        UnknownKey: none of the keys is the token's.
        IdentityRefused: it is not valid, or not the answer to this sign-in.
    """
    try:
        header = jws.extract_compact(token.encode("ascii", "replace"), registry=_REGISTRY).headers()
        algorithm = str(header.get("alg"))
        _REGISTRY.get_alg(algorithm)
        key = _key_of(header, keys)
        claims = jwt.decode(token, key, registry=_REGISTRY).claims
    except (JoseError, ValueError, TypeError) as error:
        raise _invalid(str(error)) from None
    if (why := unstorable(claims)) is not None:
        raise _invalid(f"a claim cannot be stored: {why.value}")
    _check_claims(claims, provider, now_s)
    fault = token_fault(claims, provider, nonce, half_hash(access_token, algorithm), now_s)
    if fault is not None:
        raise _invalid(fault)
    return claims


def _key_of(header: Mapping[str, Any], keys: Sequence[Key]) -> Key:
    """The key that a token names; without a name the only one of its kind.

    Raises:
        UnknownKey: there is none, or several could be it.
    """
    kind = _REGISTRY.get_alg(str(header["alg"])).key_type
    name = header.get("kid")
    fitting = [key for key in keys if key.key_type == kind and name in (None, key.kid)]
    if len(fitting) != 1:
        raise UnknownKey(str(name)[:80])
    return fitting[0]


def _check_claims(claims: dict[str, Any], provider: Provider, now_s: int) -> None:
    """Check the registered claims.

    Raises:
        IdentityRefused: one is missing or wrong; or clocks differ.
    """
    registry = jwt.JWTClaimsRegistry(
        now=now_s,
        leeway=LEEWAY_S,
        iss={"essential": True, "value": provider.issuer},
        aud={"essential": True, "value": provider.client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        registry.validate(claims)
    except ExpiredTokenError:
        raise IdentityRefused(IdentityFault.CLOCK, "exp is over") from None
    except InvalidClaimError as error:
        if error.claim in _TIMES:
            raise IdentityRefused(IdentityFault.CLOCK, f"{error.claim} is to come") from None
        raise _invalid(str(error)) from None
    except JoseError as error:
        raise _invalid(str(error)) from None


def _invalid(detail: str) -> IdentityRefused:
    return IdentityRefused(IdentityFault.INVALID, detail)
