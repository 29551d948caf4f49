"""One guarded connection: a client's bad behaviour affects only its own connection.

``docs/discussion/hostile-clients.md`` lists what is refused, and after how long.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import TYPE_CHECKING, Any, Final, NoReturn

import structlog
import trio

from risala.http.common.problems import Problem
from risala.http.server.answer import refusal
from risala.http.server.crowd import Crowd
from risala.http.server.exchange import HttpExchange
from risala.http.server.listener_state import ListenerState, Patience
from risala.http.server.parser import Request, RequestParser

if TYPE_CHECKING:
    from hypercorn.typing import ASGIFramework, LifespanState

log = structlog.get_logger("risala.http")

READ_BYTES: Final = 16 * 1024
"""Bytes that one read takes at most, and so the most that a client can have pipelined."""
_SLICE_BYTES: Final = 16 * 1024
"""Bytes that the client must take within ``write_s``: 1.6 KiB a second, which any link does."""
_TURN_S: Final = 1.0
"""More than one turn of the loop takes."""
_GONE: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)


class GuardedConnection:
    """A connection's one task, which reads, lets the app answer, and writes.

    An idle connection is closed after ``idle_s``, one whose request's header has begun after
    ``header_s``, and one with a running request ``quiet_s`` after the last bytes sent. The face
    does that (:meth:`sweep`); it also checks whether the client of a running request is still
    connected, since nothing is read from it meanwhile.
    """

    scheme = "http"

    def __init__(
        self,
        app: ASGIFramework,
        face: ListenerState,
        state: LifespanState,
        stream: trio.SocketStream,
        crowd: Crowd | None = None,
    ) -> None:
        """
        Args:
            crowd: waits for this connection's requests, and answers usual ones; None: nobody does.
        """
        self.app = app
        self.state = state
        self.routes = face.routes
        self.patience: Patience = face.patience
        self.client: tuple[str, int] | None = None
        self.server: tuple[str, int] | None = None
        self._face = face
        self._stream = stream
        self.descriptor = stream.socket.fileno()
        self._crowd = crowd
        self._family = stream.socket.family
        self._parser = RequestParser()
        self._scope = trio.CancelScope()
        self._writing: trio.CancelScope | None = None
        self._until = trio.current_time() + self.patience.idle_s
        self._busy = self._seen_busy = self._lingers = self._was_late = False

    @property
    def stopping(self) -> bool:
        return self._face.stopping

    async def run(self) -> None:
        """Serve the connection and close it."""
        try:
            if self.stopping:
                pass
            elif self._face.admit(self):
                with self._scope:
                    await self._serve()
                await self._end()
            else:
                await self._turn_away()
        except* _GONE:
            pass  # the client has closed the connection: no answer is possible
        except* Exception as group:
            names = sorted({type(error).__name__ for error in _leaves(group)})
            # Logged without the exceptions' texts, which may repeat the client's input.
            log.warning("connection.failed", errors=names)
            log.debug("connection.failed", exc_info=group)
        finally:
            self._face.leave(self)
            await trio.aclose_forcefully(self._stream)

    def close_idle(self) -> None:
        self._scope.cancel()

    def hurry(self, until: float) -> None:
        if self._writing is not None:
            self._writing.deadline = min(self._writing.deadline, until)

    def sweep(self, now: float) -> None:
        """Close the connection if its time is over, or if the client of a running request has
        gone."""
        is_over = now > self._until and not self._is_unread()
        if is_over or (self._seen_busy and self._is_gone()):
            self._scope.cancel()
        self._seen_busy = self._busy

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        return self._busy

    def mark_busy(self) -> None:
        """A request has come, and is being answered."""
        self._busy, self._was_late = True, False
        self._until = trio.current_time() + self.patience.quiet_s
        self._face.mark_busy(self)

    def mark_heard(self) -> None:
        """Bytes were read, at which its task looks in the next turn of the loop. Only once before
        each request, as :meth:`_is_unread`."""
        if not self._was_late:
            self._was_late = True
            self._until = max(self._until, trio.current_time() + _TURN_S)

    def mark_idle(self) -> None:
        """No request is under way."""
        self._busy = self._seen_busy = False
        self._until = trio.current_time() + self.patience.idle_s
        self._face.mark_idle(self)

    async def send(self, data: bytes) -> None:
        """Write a whole part of an answer; cancels the connection if that fails."""
        self._until = trio.current_time() + self.patience.quiet_s
        try:
            # Nearly always the socket has room for all of it, and nothing is waited for.
            written = self.write_now(data)
            for start in range(written, len(data), _SLICE_BYTES):
                await trio.lowlevel.checkpoint_if_cancelled()
                await self._send_slice(memoryview(data)[start : start + _SLICE_BYTES])
        except trio.Cancelled:
            # Perhaps only a scope of the handler's was cancelled; but half an answer is out, so the
            # connection cannot go on.
            self._scope.cancel()
            raise
        except (*_GONE, trio.TooSlowError):
            await self._leave()

    async def read_more(self) -> None:
        """Read on. If the client has gone, this task is cancelled."""
        data = await self._read()
        if not data:
            await self._leave()
        self._parser.feed(data)

    async def read_body(self, request: Request) -> None:
        """Read more of a request's body, on which its handler waits."""
        await self.read_more()
        if request.fault is not None:
            await self.refuse(request, request.fault)
            await self._leave()

    async def refuse(self, request: Request, problem: Problem) -> None:
        """Answer in the app's stead. The connection ends after it."""
        self._lingers = True
        bodiless = request.method == b"HEAD"
        await self.send(
            refusal(problem, self.routes, request.path, _origin(request), bodiless=bodiless)
        )

    async def _serve(self) -> None:
        sock = self._stream.socket
        self.client = client_of(sock)
        self.server = address_of(sock.family, sock.getsockname())
        self._face.mark_idle(self)
        if not await self._begin():
            return
        while (request := await self._next()) is not None:
            self.mark_busy()
            if request.fault is not None:
                await self.refuse(request, request.fault)
                return
            exchange = HttpExchange(self, request)
            await exchange.run()
            if not exchange.keeps:
                # Closing a socket that has unread bytes sends a reset.
                unread = not request.complete or self._parser.in_head or self._parser.requests
                self._lingers = self._lingers or bool(unread)
                return
            self.mark_idle()
            if self.stopping:
                return
            if self._parser.requests:
                # Other connections get their turn between two pipelined requests.
                await trio.lowlevel.checkpoint()

    async def _begin(self) -> bool:
        """Steps before the first request; False if no request will follow."""
        return True

    async def _next(self) -> Request | None:
        """The next request whose head was read; None when the client has gone."""
        parser = self._parser
        while not parser.requests:
            if self._crowd is None or parser.in_head:
                data = await self._read()
            else:
                data = await self._crowd.unusual(self)
            # cancel_called: the connection was closed for its idleness just as a request began.
            if not data or self._scope.cancel_called:
                return None
            if not parser.in_head:
                # Empty lines before a request are passed over (RFC 9112 §2.2) and do not begin one:
                # a connection that sends nothing else stays idle.
                data = data.lstrip(b"\r\n")
                if not data:
                    continue
                self._until = trio.current_time() + self.patience.header_s
            parser.feed(data)
        return parser.requests.popleft()

    async def _read(self) -> bytes:
        """The received bytes; empty when the client sends no more, or has gone."""
        while True:
            await trio.lowlevel.wait_readable(self.descriptor)
            try:
                return os.read(self.descriptor, READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                return b""  # the connection broke: the same as a client that has gone

    async def _leave(self) -> NoReturn:
        """End the connection; the calling task is cancelled."""
        self._scope.cancel()
        await trio.sleep_forever()
        raise AssertionError("the scope holds all that a connection does")

    def write_now(self, data: bytes) -> int:
        """Write as many of the bytes as the socket has room for; how many that were."""
        try:
            return os.write(self.descriptor, data)
        except BlockingIOError:
            return 0

    async def _send_slice(self, data: memoryview) -> None:
        """Send one slice, which the client must take in time.

        It is shielded from cancellation, so that a cancelled handler leaves no half slice, and has
        a deadline for that reason.
        """
        now = trio.current_time()
        self._until = now + self.patience.quiet_s
        until = min(now + self.patience.write_s, self._face.stop_at)
        with trio.CancelScope(deadline=until, shield=True) as self._writing:
            await self._write(data)
        if self._writing.cancelled_caught:
            raise trio.TooSlowError
        self._writing = None

    async def _write(self, data: memoryview) -> None:
        await self._stream.send_all(data)

    def _is_unread(self) -> bool:
        """Whether the next request came in time, and we are late to read it. Only once before each
        request, so that a client without requests cannot use this to stay."""
        if self._busy or self._parser.in_head or self._was_late:
            return False
        self._was_late = bool(self._next_byte())
        return self._was_late

    def _is_gone(self) -> bool:
        """Whether the client has closed its side of the connection."""
        return self._next_byte() == b""

    def _next_byte(self) -> bytes | None:
        """The next unread byte; empty where the client sends no more; None: nothing has come."""
        peek = socket.socket(self._family, socket.SOCK_STREAM, 0, fileno=self.descriptor)
        try:
            return peek.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except OSError:
            return b""
        finally:
            peek.detach()

    async def _end(self) -> None:
        """End our side of the connection; if the request has not ended, read on for a moment.

        Closing a socket that has unread bytes sends a reset, which could overtake the answer.
        """
        was_cut = self._busy and self._scope.cancelled_caught
        until = min(trio.current_time() + self.patience.linger_s, self._face.stop_at)
        self._scope = trio.CancelScope(deadline=until)
        self._busy = self._seen_busy = False
        self._face.mark_idle(self)
        with self._scope:
            if not was_cut:
                await self._say_goodbye()
            if self._lingers:
                await self._stream.send_eof()
                while await self._stream.receive_some(4 * READ_BYTES):
                    pass

    async def _say_goodbye(self) -> None:
        """Signal the end of sending to the client, if the protocol below HTTP can do that."""

    async def _turn_away(self) -> None:
        problem = Problem(
            503,
            "There are too many connections. Try again in a moment.",
            headers={"Retry-After": "1"},
        )
        with trio.move_on_after(1):
            await self._stream.send_all(refusal(problem, self.routes, path=None, origin=None))


def _origin(request: Request) -> str | None:
    """The origin of the page that asks, by the request's ``Origin`` header."""
    if request.origin is not None:
        return request.origin
    value = request.value(b"origin")
    return None if value is None else value.decode("latin-1")


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves.extend(_leaves(error) if isinstance(error, BaseExceptionGroup) else [error])
    return leaves


# The other end of a connection.

USER: Final = "user"
"""The "host" of a client on a Unix socket; its "port" is the number of the user who connected."""
_CREDENTIALS: Final = struct.Struct("3i")
"""``struct ucred`` of Linux: process, user, group."""


def client_of(sock: trio.socket.SocketType) -> tuple[str, int] | None:
    """The client's address in the form of ASGI's ``client``; None if it is unknown.

    For a Unix socket it names the user who connected, as the kernel noted at that moment.
    """
    if sock.family != socket.AF_UNIX:
        return address_of(sock.family, sock.getpeername())
    if not hasattr(socket, "SO_PEERCRED"):  # other systems than Linux
        return None
    packed = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(packed)
    return USER, uid


def address_of(family: int, name: Any) -> tuple[str, int] | None:  # noqa: ANN401 -- as sockets tell it
    """The address and port in a socket's name; None for one without."""
    return (name[0], name[1]) if family in (socket.AF_INET, socket.AF_INET6) else None


def uid_of(client: object) -> int | None:
    """The number of the user that :func:`client_of` names; None for a client over TCP."""
    match client:
        case (str(kind), int(uid)) if kind == USER and uid >= 0:
            return uid
    return None
