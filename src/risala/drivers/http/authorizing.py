"""Proves to an API who we are: headers, fields, tokens and signatures of requests."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

import trio

from risala.drivers.http.calling import CallFailed, HttpAnswer, HttpCall, HttpCaller
from risala.drivers.http.proving import signed
from risala.drivers.http.requests import question
from risala.drivers.http.shape import AuthShape
from risala.drivers.http.sources import looked_up, source_of
from risala.drivers.http.templates import filled_text

TOKEN_SPARE_S: Final = 60.0
"""How long before its end a token is no longer used: it must last until the request is read."""
TOKEN_S: Final = 300.0
"""How long a token is used whose end the API does not tell."""
TOKEN_S_MAX: Final = 86_400.0
_OAUTH_TOKEN: Final = source_of("/access_token")
_OAUTH_LIFE: Final = source_of("/expires_in")


class AuthFailed(Exception):
    """No token could be had, so nothing was sent."""

    def __init__(self, kind: str, text: str, *, refused: bool = False) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.refused = refused
        """Whether the API refuses our credentials."""


class Authorizer:
    """Adds to each request what its API wants to see."""

    def __init__(self, shape: AuthShape, caller: HttpCaller, values: Mapping[str, str]) -> None:
        self._shape, self._caller, self._values = shape, caller, values
        self._lock = trio.Lock()
        self._token = ""
        self._token_until = 0.0

    @property
    def tokens(self) -> tuple[str, ...]:
        """The token that is in use, which is told nowhere."""
        return (self._token,) if self._token else ()

    def forget(self) -> bool:
        """Forget the token, which the API no longer takes. False: there is none."""
        had = bool(self._token)
        self._token = ""
        return had

    async def authorized(self, call: HttpCall, values: Mapping[str, str]) -> HttpCall:
        """The request with our proof in it.

        Raises:
            AuthFailed: no token could be had.
        """
        shape = self._shape
        if shape.kind == "none":
            return call
        if shape.kind == "basic":
            return _with_header(call, "Authorization", _basic(values["user"], values["password"]))
        if shape.kind == "bearer":
            return _with_header(call, "Authorization", f"Bearer {values['token']}")
        if shape.kind in ("oauth2", "login"):
            return _with_header(call, "Authorization", f"Bearer {await self._fresh_token()}")
        if shape.kind == "hmac":
            values = {**values, "signature": _signature(shape, call, values)}
        value = filled_text(shape.value, values)
        if shape.kind == "query":
            mark = "&" if "?" in call.target else "?"
            target = f"{call.target}{mark}{urlencode({shape.name: value})}"
            return HttpCall(call.method, target, call.headers, call.body)
        return _with_header(call, shape.name, value)

    async def _fresh_token(self) -> str:
        """The token; a new one where there is none, or it ends soon. Asked for once at a time."""
        async with self._lock:
            if not self._token or trio.current_time() >= self._token_until:
                self._token, life_s = await self._asked_token()
                self._token_until = trio.current_time() + life_s
            return self._token

    async def _asked_token(self) -> tuple[str, float]:
        call = self._login() if self._shape.kind == "login" else self._token_request()
        try:
            answer = await self._caller.call(call)
        except CallFailed as failed:
            raise AuthFailed(failed.kind, failed.text) from None
        return _token_in(self._shape, answer)

    def _login(self) -> HttpCall:
        shape = self._shape
        return question("POST", shape.path, self._caller.base, self._values, shape.fields)

    def _token_request(self) -> HttpCall:
        """The request for a token (RFC 6749 §4.4.2)."""
        shape, values = self._shape, self._values
        form = {"grant_type": "client_credentials"}
        if shape.scope:
            form["scope"] = shape.scope
        if shape.client == "form":
            form |= {"client_id": values["user"], "client_secret": values["password"]}
        headers = [
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Accept", "application/json"),
        ]
        if shape.client == "basic":
            pair = _basic(quote(values["user"], safe=""), quote(values["password"], safe=""))
            headers.append(("Authorization", pair))
        target = self._caller.base + filled_text(shape.path, values)
        return HttpCall("POST", target, tuple(headers), urlencode(form).encode())


def _token_in(shape: AuthShape, answer: HttpAnswer) -> tuple[str, float]:
    """The token of an answer, and how long it is used.

    Raises:
        AuthFailed: there is none.
    """
    is_login = shape.kind == "login"
    token = looked_up(shape.token if is_login else _OAUTH_TOKEN, answer.content)
    if answer.status in (400, 401, 403):
        text = "The carrier refuses our client id and secret."
        if is_login:
            text = "The carrier refuses our user and password."
        raise AuthFailed(f"TOKEN {answer.status}", text, refused=True)
    if answer.status != 200 or not _is_header_value(token):
        text = "The carrier gives no token, so nothing was sent."
        raise AuthFailed(f"TOKEN {answer.status}", text)
    return token, _life_of(looked_up(shape.life if is_login else _OAUTH_LIFE, answer.content))


def _life_of(written: str) -> float:
    """How long a token is used, of the seconds that the API tells; empty: it does not tell."""
    try:
        life_s = float(written)
    except ValueError:
        return TOKEN_S
    return min(max(life_s - TOKEN_SPARE_S, life_s / 2, 1.0), TOKEN_S_MAX)


def _with_header(call: HttpCall, name: str, value: str) -> HttpCall:
    return HttpCall(call.method, call.target, (*call.headers, (name, value)), call.body)


def _is_header_value(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable()


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _signature(shape: AuthShape, call: HttpCall, values: Mapping[str, str]) -> str:
    known: Mapping[str, bytes] = {
        "method": call.method.encode(),
        "path": call.target.encode(),
        "body": call.body,
        "time": values["time"].encode(),
        "id": values.get("id", "").encode(),
    }
    content = b"".join(
        each[1:].encode() if each.startswith("=") else known[each] for each in shape.parts
    )
    return signed(values["password"].encode(), content, shape.algorithm, shape.encoding)
