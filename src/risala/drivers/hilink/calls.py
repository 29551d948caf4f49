"""Requests to a stick: one at a time, with a bound on everything.

The address is the operator's word, and may be a private one. Redirects are not followed: a stick
without a SIM sends every visitor to its own page.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import field
from typing import Any, Final
from urllib.parse import urlsplit

import httpcore2

from risala.dataclass import dataclass
from risala.drivers.hilink.errors import LinkError
from risala.drivers.hilink.words import StickWords, StrangeXmlError, read

ANSWER_BYTES_MAX: Final = 512 * 1024
"""The most that is read of an answer: 50 long messages have some 200 KiB."""
CONNECT_S: Final = 5.0
KEPT_S: Final = 5.0
"""How long an idle connection is kept: sticks have few, and close them soon."""
_LEFT: Final = "send_request_headers.started"
"""What the pool tells just before the first octet of a request leaves."""
_OK: Final = 200
_FAILURES: Final = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    OSError,
    ValueError,  # a token that h11 does not write, or a host that is no name
)

SILENT: Final = "The stick does not answer at its address. See whether it has power."
BROKEN: Final = "The connection to the stick was lost."
STRANGE: Final = "What answers at the address is no HiLink stick: check url."


@dataclass(frozen=True, slots=True)
class StickAnswer:
    """An answer. It prints nothing of what was pairs."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name; the first of several."""
    words: StickWords = field(repr=False)


class StickCaller:
    """The connection to one stick."""

    def __init__(self, url: str, answer_s: float) -> None:
        self._url = url
        self._host = urlsplit(url).netloc
        connect_s = min(CONNECT_S, answer_s)
        self._timeouts = {
            "connect": connect_s,
            "pool": answer_s,
            "read": answer_s,
            "write": answer_s,
        }
        self._pool = httpcore2.AsyncConnectionPool(max_connections=2, keepalive_expiry=KEPT_S)

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def call(
        self, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> StickAnswer:
        """The answer to a request; with a body it is a POST.

        Raises:
            LinkError: there is none, or it is none of a stick's.
        """
        left = False

        async def trace(event: str, _info: Mapping[str, Any]) -> None:
            nonlocal left
            left = left or event.endswith(_LEFT)

        sent = [("Host", self._host), *headers.items()]
        if body is not None:
            sent.append(("Content-Type", "application/xml"))
            sent.append(("Content-Length", str(len(body))))
        try:
            async with self._pool.stream(
                "GET" if body is None else "POST",
                f"{self._url}/api/{path}",
                headers=sent,
                content=body,
                extensions={"timeout": self._timeouts, "trace": trace},
            ) as response:
                octets = await _bounded(response)
                pairs, status = response.headers, response.status
        except _FAILURES as error:
            text = BROKEN if left and not _is_late(error) else SILENT
            raise LinkError(type(error).__name__, text, left=left) from None
        answer_headers: dict[str, str] = {}
        for name, value in pairs:
            answer_headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
        if status != _OK:
            return StickAnswer(status, answer_headers, StickWords(-status))
        try:
            return StickAnswer(status, answer_headers, read(octets))
        except StrangeXmlError:
            raise LinkError("STRANGE", STRANGE, left=True) from None


def _is_late(error: BaseException) -> bool:
    return isinstance(error, httpcore2.TimeoutException)


async def _bounded(response: httpcore2.Response) -> bytes:
    octets = bytearray()
    async with aclosing(response.aiter_stream()) as chunks:
        async for chunk in chunks:
            octets += chunk
            if len(octets) > ANSWER_BYTES_MAX:
                raise LinkError("TOO_LONG", STRANGE, left=True)
    return bytes(octets)
