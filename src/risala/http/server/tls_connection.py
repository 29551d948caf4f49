"""A guarded connection through TLS; the rules of HTTP and the deadlines are the same."""

from __future__ import annotations

import select
import socket
import ssl
from typing import TYPE_CHECKING, Final

import structlog
import trio

from risala.http.common.problems import Problem
from risala.http.server.answer import refusal
from risala.http.server.connection import READ_BYTES, GuardedConnection
from risala.http.server.listener_state import ListenerState

if TYPE_CHECKING:
    from hypercorn.typing import ASGIFramework, LifespanState

log = structlog.get_logger("risala.http")

_HANDSHAKE: Final = b"\x16"
"""The first octet of a TLS connection (RFC 8446 §5.1); no request of HTTP begins with it."""
_HANGS_UP: Final = getattr(select, "POLLRDHUP", 0)


class GuardedTlsConnection(GuardedConnection):
    """A connection whose handshake must end within ``header_s`` of its first octet."""

    scheme = "https"

    def __init__(
        self,
        app: ASGIFramework,
        face: ListenerState,
        state: LifespanState,
        stream: trio.SocketStream,
        context: ssl.SSLContext,
    ) -> None:
        super().__init__(app, face, state, stream)
        self._tls: trio.SSLStream[_LeftOpen] = trio.SSLStream(
            _LeftOpen(stream), context, server_side=True
        )
        self._shaken = False

    async def _begin(self) -> bool:
        first = await self._peek()
        if not first:
            return False
        self._until = trio.current_time() + self.patience.header_s
        if first != _HANDSHAKE:
            await self._answer_plain_http()
            return False
        try:
            await self._tls.do_handshake()
        except trio.BrokenResourceError as error:
            # Any scanner can cause this, so it is no warning. The reason is OpenSSL's text.
            log.debug("tls.failed", reason=getattr(error.__cause__, "reason", None))
            return False
        self._shaken = True
        self._until = trio.current_time() + self.patience.idle_s
        return True

    async def _peek(self) -> bytes:
        while True:
            await trio.lowlevel.wait_readable(self.descriptor)
            try:
                return await self._stream.socket.recv(1, socket.MSG_PEEK)
            except OSError:
                return b""

    async def _answer_plain_http(self) -> None:
        problem = Problem(400, "This address accepts only https.")
        await self._stream.send_all(refusal(problem, self.routes, path=None, origin=None))
        self._lingers = True

    async def _read(self) -> bytes:
        try:
            return bytes(await self._tls.receive_some(READ_BYTES))
        except trio.BrokenResourceError:
            return b""  # the client closed without close_notify, or sent bytes that are no TLS

    def write_now(self, data: bytes) -> int:
        return 0

    async def _write(self, data: memoryview) -> None:
        await self._tls.send_all(data)

    def _is_gone(self) -> bool:
        if not _HANGS_UP:
            return super()._is_gone()
        # A client that closes sends close_notify first, so there are bytes to peek at in any case.
        poll = select.poll()
        poll.register(self.descriptor, _HANGS_UP)
        return bool(poll.poll(0))

    async def _say_goodbye(self) -> None:
        """Send ``close_notify``: without it a client cannot distinguish the end from a cut."""
        if self._shaken:
            await self._tls.aclose()

    async def _turn_away(self) -> None:
        """Close without an answer: in a flood, handshakes would cost more than connections."""


class _LeftOpen(trio.abc.Stream):
    """A stream that :class:`trio.SSLStream` cannot close: the connection closes it itself."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        return bytes(await self._stream.receive_some(max_bytes))

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()
