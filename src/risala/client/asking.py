"""One call over httpx2: its attempts, its waits, its deadline. Once for threads, once for tasks.

The key is handed to each request and stands in no object that prints itself.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import anyio
import httpx2

from .calls import ApiCall
from .errors import (
    LostAnswerError,
    NotReachedError,
    RisalaError,
    UnreadableAnswerError,
    keyed,
    refusal,
)
from .retrying import Retrying, Tries
from .version import VERSION

T = TypeVar("T")
USER_AGENT: Final = f"risala-client/{VERSION} Python"
_NEVER_LEFT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)
"""What httpx2 raises before it writes the first octet of a request."""
_KIND: Final = re.compile(r"[sp]k_(?:live|test)_")
"""What begins every key, and says nothing of its value."""
_chance: Final = random.SystemRandom().random


class Secret:
    """An API key that shows no more of itself than its kind."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        if not value or not value.isascii() or not value.isprintable() or " " in value:
            raise ValueError("An API key is a word of ASCII characters: sk_live_… or pk_live_…")
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        kind = _KIND.match(self._value)
        return f"{kind[0] if kind else ''}…"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("An API key is not pickled: it would be written down.")


class SyncCaller:
    """Makes calls in the thread that asks. Any number of threads may share one."""

    def __init__(
        self, url: str, key: str, retrying: Retrying, http: httpx2.Client | None = None
    ) -> None:
        self.url = _base(url)
        self.key = Secret(key)
        self.retrying = retrying
        self.http = httpx2.Client() if http is None else http
        self._is_ours = http is None

    def within(self, retrying: Retrying) -> SyncCaller:
        """A caller on the same connections, with another patience; closing it closes nothing."""
        return SyncCaller(self.url, self.key.reveal(), retrying, self.http)

    def close(self) -> None:
        if self._is_ours:
            self.http.close()

    def ask(self, call: ApiCall[T]) -> T:
        tries = Tries(
            self.retrying, time.monotonic(), is_repeatable=call.is_repeatable, chance=_chance
        )
        while True:
            try:
                return call.read(self._attempt(call, tries.limit_s(time.monotonic())))
            except RisalaError as error:
                keyed(error, call.keys, is_batch=call.is_batch)
                wait_s = _wait_s(tries, error, time.monotonic(), call)
            time.sleep(wait_s)

    def _attempt(self, call: ApiCall[Any], limit_s: float) -> Mapping[str, Any]:
        """What is answered. Its limit holds between any two pieces that come, so that an answer in
        drops ends too."""
        until = time.monotonic() + limit_s
        try:
            with self.http.stream("POST", **_request(self, call, limit_s)) as response:
                pieces = []
                for piece in response.iter_bytes():
                    pieces.append(piece)
                    if time.monotonic() > until:
                        raise httpx2.ReadTimeout("The answer did not end in time.")
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise _unanswered(error) from error
        return _read(response, b"".join(pieces))


class AsyncCaller:
    """Makes calls in the task that asks, under asyncio or Trio: whichever runs."""

    def __init__(
        self, url: str, key: str, retrying: Retrying, http: httpx2.AsyncClient | None = None
    ) -> None:
        self.url = _base(url)
        self.key = Secret(key)
        self.retrying = retrying
        self.http = httpx2.AsyncClient() if http is None else http
        self._is_ours = http is None

    def within(self, retrying: Retrying) -> AsyncCaller:
        """A caller on the same connections, with another patience; closing it closes nothing."""
        return AsyncCaller(self.url, self.key.reveal(), retrying, self.http)

    async def aclose(self) -> None:
        if self._is_ours:
            await self.http.aclose()

    async def ask(self, call: ApiCall[T]) -> T:
        tries = Tries(
            self.retrying, anyio.current_time(), is_repeatable=call.is_repeatable, chance=_chance
        )
        while True:
            try:
                return call.read(await self._attempt(call, tries.limit_s(anyio.current_time())))
            except RisalaError as error:
                keyed(error, call.keys, is_batch=call.is_batch)
                wait_s = _wait_s(tries, error, anyio.current_time(), call)
            await anyio.sleep(wait_s)

    async def _attempt(self, call: ApiCall[Any], limit_s: float) -> Mapping[str, Any]:
        """What is answered, within the limit."""
        try:
            with anyio.fail_after(limit_s):
                response = await self.http.post(**_request(self, call, limit_s))
        except (httpx2.RequestError, httpx2.InvalidURL, TimeoutError) as error:
            raise _unanswered(error) from error
        return _read(response, response.content)


def _base(url: str) -> str:
    """The service's address, without the slash at its end."""
    base = httpx2.URL(url)
    if base.scheme not in ("http", "https") or not base.host or base.userinfo:
        raise ValueError("The service's address is like https://sms.example")
    return url.rstrip("/")


def _request(asker: SyncCaller | AsyncCaller, call: ApiCall[Any], limit_s: float) -> dict[str, Any]:
    # Ends before the attempt does: then it is known that nothing was sent.
    connect_s = min(asker.retrying.connect_s, limit_s * 0.9)
    return {
        "url": asker.url + call.path,
        "content": json.dumps(call.body).encode(),
        "headers": {
            "x-api-key": asker.key.reveal(),
            "content-type": "application/json",
            "user-agent": USER_AGENT,
        },
        "timeout": httpx2.Timeout(limit_s, connect=connect_s, pool=connect_s),
        "follow_redirects": False,  # the key is for this address alone
    }


def _unanswered(error: Exception) -> RisalaError:
    """What a failure of the network means. Its text may name the address, never the key."""
    reason = f"{type(error).__name__}: {error}"
    if isinstance(error, (*_NEVER_LEFT, httpx2.InvalidURL)):
        return NotReachedError(f"The service was not reached, and nothing was sent to it. {reason}")
    return LostAnswerError(f"No answer came: whether it was carried out is not known. {reason}")


def _read(response: httpx2.Response, content: bytes) -> Mapping[str, Any]:
    """The JSON object of an answer 200; raises what any other answer means."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    if response.status_code >= 300:
        raise refusal(response.status_code, body, _retry_after_s(response))
    if response.status_code == 200 and isinstance(body, dict):
        return body
    raise UnreadableAnswerError(f"{response.status_code}, and no JSON object: not Risala's.")


def _retry_after_s(response: httpx2.Response) -> float | None:
    """`Retry-After` in seconds. The service sends no dates; a proxy's date is passed over."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None


def _wait_s(tries: Tries, error: RisalaError, now: float, call: ApiCall[Any]) -> float:
    """Seconds before the next attempt; raises what the call ends with, with the keys."""
    try:
        return tries.wait_s(error, now)
    except RisalaError as last:
        raise keyed(last, call.keys, is_batch=call.is_batch) from (
            last.__cause__ or error.__cause__
        )
