"""An identity provider in memory: it answers what Risala asks, with keys of its own."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

from risala.engine.features.providers.rules import half_hash
from risala.engine.rules.webhooks.schedule import ReceiverFault
from risala.engine.rules.webhooks.types import FetchedAnswer, WebhookCall

ISSUER, CLIENT = "https://id.risala.example/realms/staff", "risala"


def new_key(kid: str) -> ECKey:
    return ECKey.generate_key("P-256", {"kid": kid, "use": "sig", "alg": "ES256"}, private=True)


@dataclass
class IdentityProvider:
    """Signs in one person; ``claims`` and the rest can be bent."""

    now_s: Callable[[], int]
    claims: dict[str, Any] = field(default_factory=dict)
    """Over the usual ones of a token."""
    info: dict[str, Any] = field(default_factory=dict)
    """What it answers about the person, beside the token."""
    keys: list[ECKey] = field(default_factory=lambda: [new_key("first")])
    says: dict[str, Any] = field(default_factory=dict)
    """Over what it says of itself."""
    down: bool = False
    asked: list[str] = field(default_factory=list)
    """The ends of paths that were asked."""
    forms: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    token: str | None = None
    """In place of the one that it signs."""

    def authorize(self, url: str) -> dict[str, str]:
        """What a browser that is sent here brings back."""
        query = {name: value[0] for name, value in parse_qs(urlsplit(url).query).items()}
        self.query = query
        return {"code": "the-code", "state": query["state"], "iss": ISSUER}

    def sign(self, claims: dict[str, Any], key: ECKey | None = None) -> str:
        key = key or self.keys[-1]
        return jwt.encode({"alg": "ES256", "kid": key.kid}, claims, key)

    def usual(self) -> dict[str, Any]:
        """What a token says where nothing is bent."""
        now_s = self.now_s()
        return {
            "iss": ISSUER,
            "sub": "person-1",
            "aud": CLIENT,
            "exp": now_s + 300,
            "iat": now_s,
            "auth_time": now_s,
            "nonce": self.query["nonce"],
            "at_hash": half_hash("access", "ES256"),
            "email": "omar@risala.example",
            "email_verified": True,
        }

    async def fetch(self, call: WebhookCall, /) -> FetchedAnswer | ReceiverFault:
        path = urlsplit(call.url).path.removeprefix("/realms/staff")
        self.asked.append(path)
        self.headers.append(dict(call.headers))
        if self.down:
            return ReceiverFault("NOT_CONNECTED", "The connection failed.")
        if path == "/.well-known/openid-configuration":
            said: dict[str, Any] = {
                "issuer": ISSUER,
                "authorization_endpoint": f"{ISSUER}/auth",
                "token_endpoint": f"{ISSUER}/token",
                "jwks_uri": f"{ISSUER}/keys",
                "userinfo_endpoint": f"{ISSUER}/info",
                **self.says,
            }
        elif path == "/keys":
            said = {"keys": [key.as_dict(private=False) for key in self.keys]}
        elif path == "/info":
            said = self.info
        else:
            self.forms.append({k: v[0] for k, v in parse_qs(call.body.decode()).items()})
            claims = {**self.usual(), **self.claims}
            claims = {name: value for name, value in claims.items() if value is not None}
            said = {"id_token": self.token or self.sign(claims), "access_token": "access"}
        return FetchedAnswer(200, json.dumps(said).encode())


def basic(client: str, secret: str) -> str:
    """A client's header."""
    return "Basic " + b64encode(f"{client}:{secret}".encode()).decode()
