"""Calls of a vendor's API: JSON there and back, each with a connection of its own and a bound on
everything. Redirects are not followed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, Final
from urllib.parse import urlsplit

import httpcore2

from risala.dataclass import dataclass
from risala.plugins.channel import Cause, Outcome, Uncertain, Unsent

ANSWER_BYTES_MAX: Final = 64 * 1024
"""A vendor's answer has some hundred bytes."""
STEP_S: Final = 8.0
"""Seconds for each of connecting, writing and reading."""
CALL_S: Final = 3 * STEP_S
"""The longest that a call takes."""
_LEFT: Final = "send_request_headers.started"
"""What the pool tells just before the first octet of a request leaves."""


class CallFailedError(Exception):
    """A call has no answer."""

    def __init__(self, kind: str, *, left: bool) -> None:
        super().__init__(kind)
        self.kind = kind
        self.left = left
        """Whether some of the request may have reached the vendor."""

    @property
    def outcome(self) -> Outcome:
        """What that means for a code."""
        if self.left:
            return Uncertain(self.kind, cause=Cause.NO_ANSWER)
        return Unsent(self.kind)


@dataclass(frozen=True, slots=True)
class VendorAnswer:
    """An answer: its status, and its JSON, empty where it is no object."""

    status: int
    body: Mapping[str, Any]


async def post(url: str, token: str, body: Mapping[str, object]) -> VendorAnswer:
    """The answer to a JSON body.

    Raises:
        CallFailedError: there is none, or it is too long.
    """
    return await _asked("POST", url, token, json.dumps(body).encode())


async def get(url: str, token: str) -> VendorAnswer:
    """The answer to a question.

    Raises:
        CallFailedError: there is none, or it is too long.
    """
    return await _asked("GET", url, token, b"")


async def _asked(method: str, url: str, token: str, octets: bytes) -> VendorAnswer:
    left = False

    async def trace(event: str, _info: Mapping[str, Any]) -> None:
        nonlocal left
        left = left or event.endswith(_LEFT)

    headers = [
        ("Host", urlsplit(url).netloc),
        ("Authorization", f"Bearer {token}"),
        ("Accept", "application/json"),
    ]
    if method == "POST":
        headers.append(("Content-Type", "application/json"))
        headers.append(("Content-Length", str(len(octets))))
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), STEP_S)
    try:
        async with (
            httpcore2.AsyncConnectionPool() as pool,
            pool.stream(
                method,
                url,
                headers=headers,
                content=octets,
                extensions={"timeout": timeouts, "trace": trace},
            ) as response,
        ):
            return VendorAnswer(response.status, json_object(await _bounded(response)))
    except (
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        OSError,
    ) as error:
        raise CallFailedError(type(error).__name__, left=left) from None


async def _bounded(response: httpcore2.Response) -> bytes:
    octets = bytearray()
    async with aclosing(response.aiter_stream()) as chunks:
        async for chunk in chunks:
            octets += chunk
            if len(octets) > ANSWER_BYTES_MAX:
                raise CallFailedError("TOO_LONG", left=True)
    return bytes(octets)


def json_object(octets: bytes) -> Mapping[str, Any]:
    """What a vendor says; empty: it is no JSON object, or too deep."""
    try:
        answer = json.loads(octets)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}
