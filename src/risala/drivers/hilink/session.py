"""The session at a stick: its cookie, its tokens, and a login where the stick wants one.

Each POST needs a token, which is good for one. Its answer brings the next; a login brings several.
Whatever the stick has forgotten since, after a restart or because somebody else signed in, it says
by an error without doing anything: the session begins anew, and the request is made again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import trio

from risala.drivers.hilink.calls import StickAnswer, StickCaller
from risala.drivers.hilink.errors import (
    ALREADY_IN,
    LOCKED,
    LOCKED_OUT,
    NO_RIGHTS,
    SOMEBODY,
    STALE,
    UNNAMED,
    UNPROVED,
    UNSUPPORTED,
    WRONG_PASSWORDS,
    LinkError,
    StickError,
    UnreadyError,
)
from risala.drivers.hilink.passwords import (
    ScramChallenge,
    StrangeChallengeError,
    new_nonce,
    plain_proof,
)
from risala.drivers.hilink.settings import HilinkSettings
from risala.drivers.hilink.words import StickWords, write
from risala.plugins.contract import HealthState

TOKENS_MAX: Final = 64
"""The most tokens that are kept; a login brings some twenty."""
TRIES: Final = 3
"""How often a request is made whose session was no longer good."""
LOGIN_AGAIN_S: Final = 60.0
REFUSED_AGAIN_S: Final = 3600.0
_HEADER: Final = "__RequestVerificationToken"
_HEADERS: Final = (f"{_HEADER}one".lower(), f"{_HEADER}two".lower(), _HEADER.lower())
_OLD_TOKEN_AT: Final = 32
"""Where the token begins in the answer of some older sticks, which have twice as much."""


class StickSession:
    """Makes requests of one stick, one after the other: their tokens follow one another."""

    def __init__(self, caller: StickCaller, settings: HilinkSettings) -> None:
        self._caller = caller
        self._user = settings.user
        self._password = settings.password
        self._one_at_a_time = trio.Lock()
        self._cookie = ""
        self._tokens: deque[str] = deque(maxlen=TOKENS_MAX)
        self._is_begun = False
        self._is_in = False
        self._is_refused = False
        """Whether the stick refused the password: it is not tried again."""

    async def get(self, path: str) -> StickWords:
        """What the stick tells.

        Raises:
            StickError, LinkError, UnreadyError: why it does not.
        """
        return await self._asked(path, None)

    async def post(self, path: str, fields: Mapping[str, object]) -> StickWords:
        """What the stick answers to an order, or to a question with fields; as :meth:`get`."""
        return await self._asked(path, fields)

    async def leave(self) -> None:
        """Sign out, so that the next one is let in at once."""
        if self._is_in:
            with suppress(StickError, LinkError, UnreadyError):
                await self._asked("user/logout", {"Logout": 1})
        self._forget()

    async def _asked(self, path: str, fields: Mapping[str, object] | None) -> StickWords:
        async with self._one_at_a_time:
            for left in reversed(range(TRIES)):
                words = await self._once(path, fields)
                if words.code is None:
                    return words
                if words.code in STALE and left:
                    self._forget()
                elif words.code == NO_RIGHTS and left:
                    await self._log_in()
                else:
                    raise StickError(words.code)
        raise AssertionError  # the last try returns or raises

    async def _once(self, path: str, fields: Mapping[str, object] | None) -> StickWords:
        if not self._is_begun:
            await self._begin()
        return (await self._call(path, fields)).words

    async def _call(
        self, path: str, fields: Mapping[str, object] | None, token: str | None = None
    ) -> StickAnswer:
        headers: dict[str, str] = {"Cookie": self._cookie} if self._cookie else {}
        body = None
        if fields is not None:
            body = write(fields)
            if (token := token or await self._token()) is not None:
                headers[_HEADER] = token
        answer = await self._caller.call(path, headers, body)
        if cookie := answer.headers.get("set-cookie", "").partition(";")[0].strip():
            self._cookie = cookie
        for name in _HEADERS:
            self._tokens += [each for each in answer.headers.get(name, "").split("#") if each]
        return answer

    async def _token(self) -> str | None:
        """A token; None: the stick knows none."""
        if not self._tokens:
            await self._begin()
        return self._tokens.popleft() if self._tokens else None

    # -- the session -----------------------------------------------------------------------------

    def _forget(self) -> None:
        self._cookie = ""
        self._tokens.clear()
        self._is_begun = self._is_in = False

    async def _begin(self) -> None:
        """Get a token, and a cookie if there is none."""
        words = (await self._call("webserver/SesTokInfo", None)).words
        if words.code is None:
            cookie = words.fields.get("SesInfo", "")
            if cookie:
                self._cookie = cookie if "=" in cookie else f"SessionID={cookie}"
            token = words.fields.get("TokInfo", "")
        else:
            words = (await self._call("webserver/token", None)).words
            if words.code not in (None, UNSUPPORTED) and words.code > 0:
                raise StickError(words.code)
            token = words.fields.get("token", "")
            token = token[_OLD_TOKEN_AT:] or token
        if token:
            self._tokens.append(token)
        self._is_begun = True

    # -- signing in ------------------------------------------------------------------------------

    async def _log_in(self) -> None:
        """Sign in.

        Raises:
            UnreadyError: the stick does not let us in.
        """
        if self._password is None:
            raise UnreadyError(HealthState.SICK, UNNAMED, LOGIN_AGAIN_S)
        if self._is_refused:
            raise UnreadyError(HealthState.SICK, UNPROVED, REFUSED_AGAIN_S)
        state = (await self._call("user/state-login", None)).words
        secret = self._password.get_secret_value()
        if state.fields.get("extern_password_type") == "1":
            words = await self._by_challenge(secret)
        else:
            words = await self._by_password(secret, state.fields.get("password_type", "0"))
        if words.code is None:
            self._is_in = True
        else:
            self._judge(words.code)

    async def _by_password(self, secret: str, password_type: str) -> StickWords:
        token = await self._token() or ""
        self._tokens.clear()  # the answer brings the session's own
        fields = {
            "Username": self._user,
            "Password": plain_proof(self._user, secret, token, password_type),
            "password_type": password_type,
        }
        return (await self._call("user/login", fields, token)).words

    async def _by_challenge(self, secret: str) -> StickWords:
        nonce = new_nonce()
        fields = {"username": self._user, "firstnonce": nonce, "mode": 1}
        words = (await self._call("user/challenge_login", fields)).words
        if words.code is not None:
            return words
        try:
            challenge = ScramChallenge.read(words.fields)
        except StrangeChallengeError:
            raise StickError(UNSUPPORTED) from None
        proof = challenge.proof(secret, nonce)
        token = await self._token()
        self._tokens.clear()
        answered = {"clientproof": proof, "finalnonce": challenge.nonce}
        return (await self._call("user/authentication_login", answered, token)).words

    def _judge(self, code: int) -> None:
        """Say why nobody is let in."""
        if code in WRONG_PASSWORDS:
            self._is_refused = True
            raise UnreadyError(HealthState.SICK, UNPROVED, REFUSED_AGAIN_S)
        if code == LOCKED_OUT:
            raise UnreadyError(HealthState.SICK, LOCKED, LOGIN_AGAIN_S)
        if code == ALREADY_IN:
            raise UnreadyError(HealthState.DOWN, SOMEBODY, LOGIN_AGAIN_S)
        if code in STALE:
            self._forget()
            return  # the request is made again, and signs in again
        raise StickError(code)
