"""Calls of an API: a pool of connections, with a bound on everything.

Redirects are not followed, and no address that an answer names is ever called. Errors of the
connection become :class:`CallFailed`, which says whether any of the request has left.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpcore2
import trio

from risala.dataclass import dataclass
from risala.drivers.http.sources import CarrierContent, content_of

ANSWER_BYTES_MAX: Final = 64 * 1024
"""The most that is read of an answer to a message: a real one has some hundred bytes."""
LIST_BYTES_MAX: Final = 1024 * 1024
"""The most that is read of a list of receipts or texts."""
KEPT_S: Final = 15.0
"""How long an idle connection is kept: aggregators close theirs after a minute or so, and a request
on one that is just being closed would be uncertain."""
DROP_UNSENT: Final = (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("@ii", 1, 0))
"""``SO_LINGER`` of 0 s: what the carrier's machine has not taken does not leave after the
connection or the process has ended. By then another machine may send."""
CAUSES_MAX: Final = 8
"""How far back the causes of an error are followed."""
_LEFT: Final = "send_request_headers.started"
"""What the pool tells just before the first octet of a request leaves."""


class CallFailed(Exception):
    """A call has no answer."""

    def __init__(self, kind: str, text: str, *, left: bool) -> None:
        super().__init__(text)
        self.kind = kind
        """The error's kind, for timelines."""
        self.text = text
        """A sentence for the operator. No address and no secret is in it."""
        self.left = left
        """Whether some of the request may have reached the carrier."""


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One request."""

    method: str
    target: str
    """Path and query, escaped."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer. It prints nothing of what was told."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    content: CarrierContent = field(repr=False)


class HttpCaller:
    """The connections to one API."""

    def __init__(
        self, url: str, *, connections: int, connect_s: float, answer_s: float, ca_file: Path | None
    ) -> None:
        """Blocks while certificates are read: call it in a thread.

        Raises:
            OSError: ``ca_file`` cannot be read, or is no file of certificates.
        """
        parts = urlsplit(url)
        self._host = parts.netloc
        self._hostname = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self.base = parts.path.rstrip("/")
        self._context = _context(ca_file) if parts.scheme == "https" else None
        self._connect_s, self._answer_s = connect_s, answer_s
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=self._context,
            max_connections=connections + 2,  # a question beside all submits
            max_keepalive_connections=connections,
            keepalive_expiry=KEPT_S,
            socket_options=[DROP_UNSENT],
        )

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def call(self, call: HttpCall, *, bytes_max: int = ANSWER_BYTES_MAX) -> HttpAnswer:
        """The answer to a request.

        Raises:
            CallFailed: there is none, or it is too long.
        """
        left = False

        async def trace(event: str, _info: Mapping[str, Any]) -> None:
            nonlocal left
            left = left or event.endswith(_LEFT)

        headers = [
            ("Host", self._host),
            ("Accept-Encoding", "identity"),
            *call.headers,
        ]
        if call.method != "GET":
            headers.append(("Content-Length", str(len(call.body))))
        connect, answer = self._connect_s, self._answer_s
        timeouts = {"connect": connect, "pool": connect, "read": answer, "write": answer}
        try:
            async with self._pool.stream(
                call.method,
                f"{self._origin}{call.target}",
                headers=headers,
                content=call.body,
                extensions={"timeout": timeouts, "trace": trace},
            ) as response:
                body = await _bounded(response, bytes_max)
        except _FAILURES as error:
            raise CallFailed(type(error).__name__, _sentence(error), left=left) from None
        except _TooLong:
            raise CallFailed("TOO_LONG", "The carrier's answer is too long.", left=True) from None
        answer_headers = _headers(response.headers)
        content = content_of(body, answer_headers.get("content-type", ""), answer_headers, None)
        return HttpAnswer(response.status, answer_headers, content)

    async def connects(self) -> str | None:
        """Why no connection can be made now; None: one was made, and closed again."""
        try:
            with trio.fail_after(self._connect_s):
                stream: trio.abc.Stream = await trio.open_tcp_stream(self._hostname, self._port)
                async with stream:
                    if self._context is not None:
                        secured = trio.SSLStream(
                            stream,
                            self._context,
                            server_hostname=self._hostname,
                            https_compatible=True,
                        )
                        await secured.do_handshake()
        except trio.TooSlowError:
            return "The carrier's machine does not answer in time."
        except (OSError, trio.BrokenResourceError) as error:
            return _sentence(error)
        return None


def _context(ca_file: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class _TooLong(Exception):
    """An answer has more octets than are read."""


_FAILURES: Final = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    OSError,
    ValueError,  # a header that h11 does not write, or a host that is no name
)


async def _bounded(response: httpcore2.Response, bytes_max: int) -> bytes:
    octets = bytearray()
    async with aclosing(response.aiter_stream()) as chunks:
        async for chunk in chunks:
            octets += chunk
            if len(octets) > bytes_max:
                raise _TooLong
    return bytes(octets)


def _headers(pairs: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """By lower-case name; the first of several."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return headers


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, what caused it, and what those are groups of."""
    for _ in range(CAUSES_MAX):
        if error is None:
            return
        yield error
        if isinstance(error, BaseExceptionGroup):
            yield from error.exceptions
        error = error.__cause__ or error.__context__


def _sentence(error: BaseException | None) -> str:
    """What is wrong, without the error's text: that may hold an address with a key in it."""
    seen = [*_causes(error)]
    for each in seen:
        if isinstance(each, ssl.SSLCertVerificationError):
            return (
                f"The carrier's certificate is not trusted: {each.verify_message}. Nothing is sent "
                "until it is right; `tls_ca_file` names a CA of your own."
            )
        if isinstance(each, ssl.SSLError):
            return "The carrier does not speak TLS at this address: check `url`."
        if isinstance(each, socket.gaierror):
            return "The carrier's name cannot be found: check `url`, and this machine's DNS."
        if isinstance(each, ConnectionRefusedError):
            return "The carrier refuses connections."
    if isinstance(error, httpcore2.ConnectTimeout):
        return "The carrier's machine does not answer in time."
    if isinstance(error, httpcore2.PoolTimeout):
        return "Every connection to the carrier was busy for too long."
    if isinstance(error, httpcore2.ReadTimeout | httpcore2.WriteTimeout):
        return "The carrier did not answer in time."
    if isinstance(error, httpcore2.RemoteProtocolError):
        return "The carrier closed the connection, or did not answer in HTTP."
    if isinstance(error, httpcore2.ConnectError):
        return "No connection to the carrier can be made."
    return "The connection to the carrier was lost."
