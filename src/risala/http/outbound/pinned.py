"""Connections to strangers' servers: to the very address that was checked, and under one deadline.

This is a network backend for httpcore. httpcore's pool, TLS and HTTP/1.1 use the server's name (for
SNI, the certificate and the Host header); only the connecting is done here.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import httpcore2
import structlog
import trio
from httpcore2._backends.trio import TrioBackend  # the pool's own, behind our check

from risala.engine.rules.webhooks.url import Address, AddressRules, address_fault

log = structlog.get_logger("risala.http")

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]

RESOLVERS_MAX: Final = 256
"""Threads that look names up. A name server that hangs keeps one for each attempt, for longer than
the attempt lasts; so there are more threads than attempts, and nothing else uses them."""
ADDRESSES_TRIED: Final = 3
"""Addresses of a name that are tried, one after the other."""

_REFUSED: Final = "The host name leads to an address that webhooks may not use."

_deadline: ContextVar[float] = ContextVar("risala_outbound_deadline", default=math.inf)


@contextmanager
def deadline(seconds: float) -> Any:  # noqa: ANN401 -- a context manager
    """Within this context, everything that the task connects, reads and writes ends in time.

    It works through the library's own timeouts, because a request that is cancelled from outside
    takes its slot out of the pool for good (httpcore #1093).
    """
    token = _deadline.set(trio.current_time() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def _left(timeout: float | None) -> float:
    left = _deadline.get() - trio.current_time()
    return max(0.0, left if timeout is None else min(timeout, left))


class AddressRefused(httpcore2.ConnectError):
    """The name resolves to an address that no webhook may call. ``str()`` is a sentence."""


class NameUnknown(httpcore2.ConnectError):
    """The name has no address."""


class SystemResolver:
    """Looks names up by the system's resolver, in its own threads."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(RESOLVERS_MAX)

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        try:
            rows = await trio.to_thread.run_sync(
                socket.getaddrinfo,
                *(host, port, socket.AF_UNSPEC, socket.SOCK_STREAM),
                limiter=self._limiter,
                abandon_on_cancel=True,
            )
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise NameUnknown(f"The name {host} was not found: {reason or 'not a name'}.") from None
        return [ipaddress.ip_address(str(row[4][0])) for row in rows]


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Looks a name up, checks every address of it, connects to one of those."""

    def __init__(self, rules: AddressRules, resolve: Resolve | None = None) -> None:
        self._rules = rules
        self._resolve = resolve or SystemResolver()
        self._tcp = TrioBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await self._checked(host, port, timeout)
        fault: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        for address in addresses[:ADDRESSES_TRIED]:
            try:
                stream = await self._tcp.connect_tcp(
                    str(address), port, _left(timeout), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                fault = error
            else:
                return PinnedStream(stream)
        raise fault or NameUnknown(f"The name {host} has no address.")

    async def _checked(self, host: str, port: int, timeout: float | None) -> Sequence[Address]:
        try:
            addresses: Sequence[Address] = [ipaddress.ip_address(host)]
        except ValueError:
            with trio.move_on_after(_left(timeout)) as scope:
                addresses = await self._resolve(host, port)
            if scope.cancelled_caught:
                raise httpcore2.ConnectTimeout(f"The name {host} was not found in time.") from None
        addresses = list(dict.fromkeys(addresses))
        for address in addresses:
            # One forbidden address is enough to refuse the name: a name with both kinds is an
            # attempt to get around this check.
            if fault := address_fault(address, self._rules):
                # Only logged: the endpoint's owner must not learn how our resolver answers for
                # internal names.
                log.warning("webhook.address_refused", host=host, reason=fault)
                raise AddressRefused(_REFUSED)
        return addresses

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise AddressRefused("Webhooks are not sent to a unix socket.")

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)


class PinnedStream(httpcore2.AsyncNetworkStream):
    """A stream of the pool: each step ends by the task's deadline."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(max_bytes, _left(timeout))

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, _left(timeout))

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        return PinnedStream(
            await self._stream.start_tls(ssl_context, server_hostname, _left(timeout))
        )

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 -- the library's
        return self._stream.get_extra_info(info)
