"""ID tokens: what is accepted, and each thing that is not."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from hashlib import sha256

import pytest
from joserfc import jws, jwt
from joserfc.jwk import OctKey

from identity_provider import CLIENT, ISSUER, IdentityProvider, new_key
from risala.config.people import OidcRolesSection, OidcSection
from risala.engine.features.providers.rules import authorization_query, identity_of, provider_of
from risala.engine.features.providers.tokens import UnknownKey, checked_claims, keys_of
from risala.engine.model.callers import OperatorRole
from risala.engine.model.errors import IdentityFault, IdentityRefused

NOW_S = 1_800_000_000
KEY = new_key("first")
PROVIDER = provider_of(
    OidcSection(issuer=ISSUER, client_id=CLIENT, domains=("Risala.example",)), "secret"
)


def usual(**bent):
    there = IdentityProvider(lambda: NOW_S, keys=[KEY])
    there.query = {"nonce": "n"}
    claims = {**there.usual(), **bent}
    return {name: value for name, value in claims.items() if value is not None}


def check(token, keys=(KEY,)):
    public = keys_of({"keys": [key.as_dict(private=False) for key in keys]})
    return checked_claims(token, public, PROVIDER, "n", "access", NOW_S)


def signed(**bent):
    # As JSON in ASCII, which can say what cannot be encoded.
    claims = json.dumps(usual(**bent)).encode()
    return jws.serialize_compact({"alg": "ES256", "kid": "first"}, claims, KEY)


def test_a_usual_one_is_accepted():
    assert check(signed())["sub"] == "person-1"
    assert check(signed(aud=[CLIENT, "other"], azp=CLIENT))["azp"] == CLIENT
    assert check(signed(exp=NOW_S - 30, iat=NOW_S + 30))["sub"] == "person-1"
    assert check(signed(at_hash=None))["sub"] == "person-1"
    assert check(jwt.encode({"alg": "ES256"}, usual(), KEY))["sub"] == "person-1"


@pytest.mark.parametrize(
    "bent",
    [
        {"iss": "https://id.risala.example"},
        {"iss": None},
        {"aud": "other"},
        {"aud": ["other"]},
        {"aud": None},
        {"aud": [CLIENT, "other"]},
        {"azp": "other"},
        {"nonce": "m"},
        {"nonce": None},
        {"nonce": 7},
        {"at_hash": "x"},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 256},
        {"sub": "a\ud800b"},
        {"sub": "a\0b"},
        {"sub": 10**30},
        {"name": "a\ud800b"},
        {"exp": float("nan")},
        {"iat": 10**30},
        {"exp": None},
        {"exp": "soon"},
        {"iat": None},
        {"iat": NOW_S - 700},
    ],
)
def test_each_bent_claim_is_refused(bent):
    with pytest.raises(IdentityRefused) as refused:
        check(signed(**bent))
    assert refused.value.fault is IdentityFault.INVALID


@pytest.mark.parametrize("bent", [{"exp": NOW_S - 61}, {"iat": NOW_S + 61}, {"nbf": NOW_S + 61}])
def test_clocks_that_differ_are_told_as_such(bent):
    with pytest.raises(IdentityRefused) as refused:
        check(signed(**bent))
    assert refused.value.fault is IdentityFault.CLOCK


def plain(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def test_signatures_that_anybody_can_make_are_refused():
    by_secret = OctKey.import_key("secret" * 8)
    by_public_key = f"{plain({'alg': 'HS256', 'kid': 'first'})}.{plain(usual())}"
    mark = hmac.digest(KEY.as_pem(private=False), by_public_key.encode(), "sha256")
    tokens = [
        f"{plain({'alg': 'none'})}.{plain(usual())}.",
        f"{plain({'alg': 'ES256', 'kid': 'first'})}.{plain(usual())}.",
        jwt.encode({"alg": "HS256", "kid": "first"}, usual(), by_secret),
        f"{by_public_key}.{urlsafe_b64encode(mark).decode().rstrip('=')}",
        signed()[:-8] + "AAAAAAAA",
        jwt.encode({"alg": "ES256", "kid": "first"}, usual(), new_key("first")),
        "no token",
        "",
    ]
    for token in tokens:
        with pytest.raises(IdentityRefused) as refused:
            check(token)
        assert refused.value.fault is IdentityFault.INVALID, token


def test_an_unknown_key_is_told_apart_and_a_symmetric_one_is_none():
    with pytest.raises(UnknownKey):
        check(jwt.encode({"alg": "ES256", "kid": "second"}, usual(), new_key("second")))
    with pytest.raises(UnknownKey):
        check(jwt.encode({"alg": "ES256"}, usual(), KEY), (KEY, new_key("second")))
    shared = {"kty": "oct", "k": "c2VjcmV0", "kid": "first"}
    assert keys_of({"keys": [shared, {"kty": "new"}, {"kty": "EC"}, 7]}) == []
    assert keys_of({"keys": "none"}) == keys_of({}) == []


def person(**bent):
    return identity_of(usual(**bent), PROVIDER, NOW_S)


def test_the_address_counts_when_it_is_verified_and_of_a_domain():
    assert person(email="Omar@Risala.example").email == "omar@risala.example"
    assert person(email_verified="true").email == "omar@risala.example"
    for bent in ({"email_verified": False}, {"email_verified": None}, {"email": None}):
        with pytest.raises(IdentityRefused) as refused:
            person(**bent)
        assert refused.value.fault is IdentityFault.NOT_VERIFIED
    for email in ("omar@evil.example", "omar@sub.risala.example", "omar@risala.example.org"):
        with pytest.raises(IdentityRefused) as refused:
            person(email=email)
        assert refused.value.fault is IdentityFault.DOMAIN


def test_two_factors_and_the_role_follow_from_claims():
    assert not person().two_factors
    assert not person(amr=["pwd"]).two_factors
    assert person(amr=["pwd", "otp"]).two_factors
    assert person(acr="mfa").two_factors
    assert person().role is None
    roles = OidcRolesSection(administrator=("admins",), viewer=("staff", "guests"))
    named = provider_of(
        OidcSection(issuer=ISSUER, client_id=CLIENT, domains=("risala.example",), roles=roles), ""
    )
    of = [(["staff", "admins"], OperatorRole.ADMINISTRATOR), ("guests", OperatorRole.VIEWER)]
    for groups, role in of:
        assert identity_of(usual(groups=groups), named, NOW_S).role is role
    for groups in (["cooks"], [], None, {"admins": True}):
        with pytest.raises(IdentityRefused) as refused:
            identity_of(usual(groups=groups), named, NOW_S)
        assert refused.value.fault is IdentityFault.NO_ROLE


def test_the_question_has_state_nonce_and_pkce():
    asked = authorization_query(PROVIDER, "https://x/cb", "s", "n", "v" * 43, anew=False)
    hashed = urlsafe_b64encode(sha256(b"v" * 43).digest()).decode().rstrip("=")
    assert f"code_challenge={hashed}&code_challenge_method=S256" in asked
    assert "state=s&nonce=n" in asked
    assert "prompt=" not in asked
    assert "v" * 43 not in asked
    assert "prompt=login&max_age=0" in authorization_query(PROVIDER, "u", "s", "n", "v", anew=True)
