"""The client that calls webhooks, that is servers of strangers, which may do anything; identity
providers are asked by it too.

No redirects, no proxy, no cookies, no decompression; at most 15 seconds and 64 KiB an answer; only
to addresses that :mod:`risala.engine.rules.webhooks.url` allows
(:mod:`risala.http.outbound.pinned`).
"""

from __future__ import annotations

import ssl
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, nullcontext
from functools import partial
from typing import Final, TypeVar

import httpcore2
import trio

from risala.engine.rules.webhooks.schedule import (
    CONTENT_BYTES_MAX,
    AnswerContent,
    ReceiverAnswer,
    ReceiverFault,
)
from risala.engine.rules.webhooks.types import FetchedAnswer, WebhookCall
from risala.engine.rules.webhooks.url import AddressRules, Target, UrlRefused, parse_target
from risala.http.outbound.pinned import (
    AddressRefused,
    NameUnknown,
    PinnedBackend,
    Resolve,
    deadline,
)

T = TypeVar("T")

LIMIT_S: Final = 15.0
"""Seconds for a whole call, from looking the name up to the answer's head (contract §5)."""
CONNECT_S: Final = 10.0
"""Seconds of these for each step of connecting."""
BODY_S: Final = 2.0
"""Seconds for a body that decides nothing, and of which people read the beginning."""
EXCERPT_BYTES: Final = 1024
DRAIN_BYTES: Final = 64 * 1024
"""An answer's body up to this long is read to its end, so that its connection can be used again."""
FETCHED_BYTES: Final = 256 * 1024
"""An answer whose content matters is read up to here: the keys of an identity provider are some
kilobytes."""
KEPT_MAX: Final = 32
KEPT_S: Final = 30.0
"""How many idle connections are kept, and for how many seconds."""
POOL_S: Final = 3600.0
"""Seconds after which a pool of connections is replaced, in case it lost one of its slots."""

_NO_ANSWER: Final = {
    httpcore2.ConnectTimeout: ("TIMEOUT", "The connection was not made in time."),
    httpcore2.WriteTimeout: ("TIMEOUT", "The endpoint did not read the request in time."),
    httpcore2.ReadTimeout: ("TIMEOUT", f"No answer came within {LIMIT_S:.0f} seconds."),
    httpcore2.ReadError: ("BROKEN", "The connection was lost before an answer came."),
    httpcore2.WriteError: ("BROKEN", "The connection was lost before an answer came."),
    httpcore2.RemoteProtocolError: (
        "NOT_HTTP",
        "The endpoint closed the connection, or did not answer in HTTP.",
    ),
    httpcore2.LocalProtocolError: ("NOT_HTTP", "The request could not be written as HTTP."),
}


class _TooLong(Exception):
    """An answer is longer than what is read of it."""


class _Pool:
    """A pool of connections and the number of calls that use it; an old one is closed when no call
    uses it."""

    def __init__(self, backend: PinnedBackend, context: ssl.SSLContext, calls_max: int) -> None:
        self.born_s = trio.current_time()
        self.calls = 0
        self.retired = False
        self.pool = httpcore2.AsyncConnectionPool(
            ssl_context=context,
            max_connections=calls_max + KEPT_MAX,
            max_keepalive_connections=KEPT_MAX,
            keepalive_expiry=KEPT_S,
            network_backend=backend,
        )

    async def leave(self) -> None:
        self.calls -= 1
        if self.retired and not self.calls:
            await self.pool.aclose()


class OutboundClient:
    """Makes calls; see :func:`open_outbound`. Its caller must not make more than ``calls_max`` at
    once."""

    def __init__(
        self,
        rules: AddressRules,
        calls_max: int,
        resolve: Resolve | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._rules = rules
        self._calls_max = calls_max
        self._backend = PinnedBackend(rules, resolve)
        self._context = context or default_context()
        self._pool = self._new_pool()

    def _new_pool(self) -> _Pool:
        return _Pool(self._backend, self._context, self._calls_max)

    async def post(self, call: WebhookCall) -> ReceiverAnswer | ReceiverFault:
        """Make one call. The result is an answer or a fault, never an exception."""
        return await self._make(call, partial(_answer, wants_content=call.wants_content))

    async def fetch(self, call: WebhookCall) -> FetchedAnswer | ReceiverFault:
        """Make one call, and read its answer up to :data:`FETCHED_BYTES`. The result is an answer
        or a fault, never an exception."""
        return await self._make(call, _fetched)

    async def _make(
        self, call: WebhookCall, read: Callable[[httpcore2.Response], Awaitable[T]]
    ) -> T | ReceiverFault:
        try:
            target = parse_target(call.url, self._rules)
        except UrlRefused as error:
            return ReceiverFault("URL_REFUSED", str(error))
        with deadline(LIMIT_S):
            try:
                return await self._send(target, call, read)
            except _TooLong:
                return ReceiverFault("TOO_LONG", "The answer was too long.")
            except httpcore2.PoolTimeout:
                # The pool has lost slots. That was never seen, but would stop all webhooks: so the
                # pool is replaced.
                await self._replace_pool()
                return ReceiverFault("BUSY", "The service had no free connection.")
            except AddressRefused as error:
                return ReceiverFault("ADDRESS_REFUSED", str(error))
            except NameUnknown as error:
                return ReceiverFault("NAME_UNKNOWN", str(error))
            except httpcore2.ConnectError as error:
                return _not_connected(error)
            except tuple(_NO_ANSWER) as error:
                return ReceiverFault(*_NO_ANSWER[type(error)])

    async def _send(
        self,
        target: Target,
        call: WebhookCall,
        read: Callable[[httpcore2.Response], Awaitable[T]],
    ) -> T:
        if trio.current_time() - self._pool.born_s >= POOL_S:
            await self._replace_pool()
        used = self._pool
        used.calls += 1
        try:
            response = await used.pool.handle_async_request(_request(target, call))
            try:
                return await read(response)
            finally:
                await response.aclose()
        finally:
            await used.leave()

    async def _replace_pool(self) -> None:
        old, self._pool = self._pool, self._new_pool()
        old.retired = True
        if not old.calls:
            await old.pool.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.pool.aclose()


@asynccontextmanager
async def open_outbound(
    rules: AddressRules,
    calls_max: int,
    resolve: Resolve | None = None,
    context: ssl.SSLContext | None = None,
) -> AsyncIterator[OutboundClient]:
    """A client within this context; its connections are closed at the end.

    Args:
        rules: which addresses may be called.
        calls_max: the most calls at once.
        resolve: looks names up; by default the system.
        context: the trusted certificates of TLS; by default the system's.
    """
    client = OutboundClient(rules, calls_max, resolve, context)
    try:
        yield client
    finally:
        with trio.move_on_after(1, shield=True):
            await client.aclose()


def default_context() -> ssl.SSLContext:
    """Trust what the system trusts."""
    return httpcore2.default_ssl_context()


def _request(target: Target, call: WebhookCall) -> httpcore2.Request:
    headers = [
        ("Host", target.authority),
        *call.headers.items(),
        ("Accept", "*/*"),
        ("Accept-Encoding", "identity"),
    ]
    if call.body or call.method == "POST":
        headers.append(("Content-Length", str(len(call.body))))
    joint = "&" if "?" in target.path else "?"
    path = f"{target.path}{joint}{call.query}" if call.query else target.path
    timeouts = {"connect": CONNECT_S, "read": LIMIT_S, "write": LIMIT_S, "pool": CONNECT_S}
    return httpcore2.Request(
        call.method,
        httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=path),
        headers=headers,
        content=call.body,
        extensions={"timeout": timeouts},
    )


def _field(response: httpcore2.Response, lower_name: bytes) -> str | None:
    """The first header field of a name; None: there is none."""
    values = (value for name, value in response.headers if name.lower() == lower_name)
    return next((value.decode("latin-1") for value in values), None)


async def _answer(response: httpcore2.Response, *, wants_content: bool = False) -> ReceiverAnswer:
    begun, total, is_whole = bytearray(), 0, False
    with nullcontext() if wants_content else deadline(BODY_S):
        try:
            async with aclosing(response.aiter_stream()) as chunks:
                async for chunk in chunks:
                    begun += chunk[: max(0, CONTENT_BYTES_MAX + 1 - len(begun))]
                    total += len(chunk)
                    if total > DRAIN_BYTES:
                        break
                is_whole = True
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError):
            pass  # the body failed; the head, which decides, was there
    content = None
    if wants_content:
        kind = _field(response, b"content-type") or ""
        content = AnswerContent(kind, bytes(begun) if is_whole else None)
    shown = excerpt(bytes(begun[:EXCERPT_BYTES]))
    return ReceiverAnswer(response.status, _field(response, b"retry-after"), shown, content)


async def _fetched(response: httpcore2.Response) -> FetchedAnswer:
    """The whole answer.

    Raises:
        _TooLong: it is longer than :data:`FETCHED_BYTES`.
    """
    body = bytearray()
    async with aclosing(response.aiter_stream()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > FETCHED_BYTES:
                raise _TooLong
    return FetchedAnswer(response.status, bytes(body))


def excerpt(body: bytes) -> str:
    """The beginning of a body as text without control characters, fit to be stored and shown."""
    text = body.decode("utf-8", "replace")
    kept = (c if c == "\n" or unicodedata.category(c) not in ("Cc", "Cs") else " " for c in text)
    return "".join(kept).strip()


def _not_connected(error: httpcore2.ConnectError) -> ReceiverFault:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ReceiverFault(
                "TLS", f"The endpoint's certificate is not valid: {cause.verify_message}."
            )
        if isinstance(cause, ssl.SSLError):
            return ReceiverFault("TLS", "The TLS connection failed.")
        cause = cause.__cause__ or cause.__context__
    return ReceiverFault("NOT_CONNECTED", "The connection failed.")
