"""Asks an identity provider: where its endpoints are, its keys, and whose sign-in a code is."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

import trio

from risala.dataclass import dataclass
from risala.engine.features.providers.rules import ERRORS, Provider
from risala.engine.features.providers.tokens import Key, UnknownKey, checked_claims, keys_of
from risala.engine.model.errors import IdentityFault, IdentityRefused
from risala.engine.rules.webhooks.schedule import ReceiverFault
from risala.engine.rules.webhooks.types import Fetches, WebhookCall

READ_AGAIN_MS: Final = 3_600_000
"""How long a provider's endpoints and keys are taken as read."""
KEYS_AGAIN_MS: Final = 60_000
"""The least time between two readings of its keys: anybody can send a token that names an unknown
one."""
FAILED_AGAIN_MS: Final = 10_000
"""How long a provider that did not answer is not asked again: strangers can open the page at any
rate."""
_WELL_KNOWN: Final = "/.well-known/openid-configuration"
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class ProviderEndpoints:
    """What a provider says of itself."""

    authorization: str
    token: str
    keys: str
    user_info: str | None
    takes_basic: bool
    """The client's secret goes into a header; False: into the form."""
    names_itself: bool
    """Whether the provider's answers name it (RFC 9207)."""


@dataclass(slots=True)
class _Read:
    """What was read of a provider, and when."""

    endpoints: ProviderEndpoints | None = None
    endpoints_at: int = 0
    keys: Sequence[Key] = ()
    keys_at: int | None = None
    failed_at: int | None = None


class ProviderClient:
    """One provider. What it says of itself is one document and at most
    :data:`~risala.engine.features.providers.tokens.KEYS_MAX` keys."""

    def __init__(self, provider: Provider, fetches: Fetches, now_ms: Callable[[], int]) -> None:
        self.provider = provider
        self._fetches = fetches
        self._now_ms = now_ms
        self._read = _Read()
        self._reading = trio.Lock()

    async def endpoints(self) -> ProviderEndpoints:
        """The addresses at which the provider answers.

        Raises:
            IdentityRefused: it does not answer, or is not what the settings say.
        """
        async with self._reading:
            read, now_ms = self._read, self._now_ms()
            if read.endpoints is not None and now_ms - read.endpoints_at < READ_AGAIN_MS:
                return read.endpoints
            if read.failed_at is not None and 0 <= now_ms - read.failed_at < FAILED_AGAIN_MS:
                raise IdentityRefused(IdentityFault.UNREACHABLE, "it failed a moment ago")
            url = self.provider.issuer.rstrip("/") + _WELL_KNOWN
            try:
                document = await self._document(WebhookCall(url, {}, b"", "GET"))
            except IdentityRefused:
                read.failed_at = now_ms
                raise
            read.endpoints, read.endpoints_at = self._endpoints_of(document), now_ms
            read.failed_at = None
            return read.endpoints

    def _endpoints_of(self, document: Mapping[str, Any]) -> ProviderEndpoints:
        if document.get("issuer") != self.provider.issuer:
            issuer = str(document.get("issuer"))[:200]
            raise IdentityRefused(IdentityFault.MISSET, f"it says that its issuer is {issuer}")
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        first, token, keys = (document.get(name) for name in names)
        if not (isinstance(first, str) and isinstance(token, str) and isinstance(keys, str)):
            raise IdentityRefused(IdentityFault.MISSET, "it does not say where its endpoints are")
        info = document.get("userinfo_endpoint")
        methods = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return ProviderEndpoints(
            first,
            token,
            keys,
            info if isinstance(info, str) else None,
            isinstance(methods, list) and "client_secret_basic" in methods,
            document.get("authorization_response_iss_parameter_supported") is True,
        )

    async def claims(
        self, code: str, verifier: str, redirect_uri: str, nonce: str
    ) -> dict[str, Any]:
        """What the provider says of the person whose sign-in a code is: its token, and if that
        names no address, its answer about them.

        Raises:
            IdentityRefused: it does not answer, or its answer is not valid.
        """
        endpoints = await self.endpoints()
        answer = await self._document(self._exchange(endpoints, code, verifier, redirect_uri))
        token, access = answer.get("id_token"), answer.get("access_token")
        if not isinstance(token, str) or not isinstance(access, str):
            raise IdentityRefused(IdentityFault.INVALID, "the answer has no token")
        claims = await self._checked(endpoints, token, nonce, access)
        if "email" in claims or endpoints.user_info is None:
            return claims
        headers = {"Authorization": f"Bearer {access}"}
        more = await self._document(WebhookCall(endpoints.user_info, headers, b"", "GET"))
        if more.get("sub") != claims["sub"]:
            raise IdentityRefused(IdentityFault.INVALID, "sub differs between its two answers")
        return {**more, **claims}

    def _exchange(
        self, endpoints: ProviderEndpoints, code: str, verifier: str, redirect_uri: str
    ) -> WebhookCall:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": _FORM}
        client_id, secret = self.provider.client_id, self.provider.client_secret
        if secret and endpoints.takes_basic:
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            form["client_id"] = client_id
            if secret:
                form["client_secret"] = secret
        return WebhookCall(endpoints.token, headers, urlencode(form).encode())

    async def _checked(
        self, endpoints: ProviderEndpoints, token: str, nonce: str, access: str
    ) -> dict[str, Any]:
        """Check a token; with a key that is unknown here the keys are read again, once."""
        for may_read in (True, False):
            keys = await self._keys(endpoints)
            now_s = self._now_ms() // 1000
            try:
                return checked_claims(token, keys, self.provider, nonce, access, now_s)
            except UnknownKey as error:
                if not may_read or not self._may_read_keys():
                    detail = f"the key {error} is unknown"
                    raise IdentityRefused(IdentityFault.INVALID, detail) from None
                self._read.keys = ()
        raise AssertionError("the second try answers or raises")

    async def _keys(self, endpoints: ProviderEndpoints) -> Sequence[Key]:
        async with self._reading:
            read, now_ms = self._read, self._now_ms()
            is_old = read.keys_at is None or now_ms - read.keys_at >= READ_AGAIN_MS
            if not is_old and read.keys:
                return read.keys
            if self._may_read_keys():
                read.keys_at = now_ms
                document = await self._document(WebhookCall(endpoints.keys, {}, b"", "GET"))
                read.keys = keys_of(document)
            return read.keys

    def _may_read_keys(self) -> bool:
        at = self._read.keys_at
        return at is None or not 0 <= self._now_ms() - at < KEYS_AGAIN_MS

    async def _document(self, call: WebhookCall) -> dict[str, Any]:
        """The JSON that it answers.

        Raises:
            IdentityRefused: it does not answer, or with an error.
        """
        answer = await self._fetches.fetch(call)
        if isinstance(answer, ReceiverFault):
            raise IdentityRefused(IdentityFault.UNREACHABLE, f"{call.url}: {answer.text}")
        try:
            document = json.loads(answer.body)
        except (ValueError, RecursionError):
            document = None
        if answer.status == 200 and isinstance(document, dict):
            return document
        error = str(document.get("error", ""))[:80] if isinstance(document, dict) else ""
        fault = ERRORS.get(error, IdentityFault.MISSET)
        if answer.status >= 500:
            fault = IdentityFault.UNREACHABLE
        raise IdentityRefused(fault, f"{call.url} answered {answer.status} {error}")
