"""An app served on a socket that we bound: its face and its worker."""

from __future__ import annotations

import errno
import socket
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import trio

from risala.config.model import HttpSection
from risala.dataclass import dataclass
from risala.http.common.plain import PlainRoutes
from risala.http.server.connection import GuardedConnection
from risala.http.server.crowd import Crowd
from risala.http.server.listener_state import ListenerState, Patience
from risala.http.server.sockets import base_url, connections_room
from risala.http.server.tls import ServerTls
from risala.http.server.tls_connection import GuardedTlsConnection

if TYPE_CHECKING:
    from hypercorn.typing import (
        ASGIFramework,
        ASGIReceiveCallable,
        ASGISendCallable,
        LifespanState,
        Scope,
    )

_CONTROL_CONNECTIONS_MAX: Final = 128
"""Connections to the control socket: commands of one operator. :func:`connections_room` leaves room
for them."""


class ServedApp(Protocol):
    """An ASGI app, and the paths that are answered before it."""

    @property
    def plain(self) -> PlainRoutes: ...

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable, /
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class BoundAddress:
    """An address that is listened on, and the certificate that it shows, if any."""

    sock: socket.socket
    tls: ServerTls | None = None

    @property
    def url(self) -> str:
        return base_url(self.sock, "http" if self.tls is None else "https")

    @property
    def address(self) -> str:
        """The address and port by which a client on this machine reaches it."""
        return self.url.partition("://")[2]


async def serve_app(
    app: ServedApp,
    http: HttpSection,
    *,
    sock: socket.socket,
    shutdown: trio.Event,
    tls: ServerTls | None = None,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``app`` on a listening socket until ``shutdown``; running requests may then finish.

    With ``tls`` the socket accepts only https. ``task_status`` is started when connections are
    accepted. The socket is closed at the end. Returns within ``http.graceful_stop_s`` of
    ``shutdown``, whatever the clients do (:mod:`risala.http.server.connection`).
    """
    # The control socket has a limit of its own: it must accept the operator's commands even while
    # the public face is flooded.
    public = sock.family != socket.AF_UNIX
    room = connections_room(http.connections_max) if public else _CONTROL_CONNECTIONS_MAX
    face = ListenerState(Patience(idle_s=http.keep_alive_s), room, app.plain)

    await serve_socket(
        app,
        face,
        sock,
        shutdown,
        graceful_stop_s=http.graceful_stop_s,
        tls=tls,
        task_status=task_status,
    )


# One listening socket and its connections: a worker of our own.
#
# Hypercorn could serve our apps too, and a test does. This worker exists because Hypercorn's takes
# no class of connections as an argument. It sends no lifespan events: our apps begin nothing of
# theirs there, and an app may be made later than its socket is served
# (:mod:`risala.http.common.late`).


async def serve_socket(
    app: ASGIFramework,
    face: ListenerState,
    sock: socket.socket,
    shutdown: trio.Event,
    *,
    graceful_stop_s: float,
    tls: ServerTls | None = None,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``app`` on a listening socket, which is closed, until ``shutdown``; by ``tls``: https.

    Started when connections are taken. Returns within ``graceful_stop_s`` of ``shutdown``; tasks
    that last longer are cancelled.
    """
    state: LifespanState = {}
    crowd = Crowd(face) if tls is None and Crowd.is_possible() else None

    async def serve_connection(stream: trio.SocketStream) -> None:
        if tls is None:
            await GuardedConnection(app, face, state, stream, crowd).run()
        else:
            await GuardedTlsConnection(app, face, state, stream, tls.context).run()

    async with trio.open_nursery() as keeping:
        keeping.start_soon(face.keep_time)
        if crowd is not None:
            await keeping.start(crowd.run)
        async with trio.open_nursery() as connections:
            listener = RoomyListener(sock, face)
            async with trio.open_nursery() as accepting:
                accepting.start_soon(
                    partial(
                        trio.serve_listeners,
                        serve_connection,
                        [listener],
                        handler_nursery=connections,
                    )
                )
                task_status.started()
                await shutdown.wait()
                face.stop(graceful_stop_s)
                connections.cancel_scope.deadline = face.stop_at
                accepting.cancel_scope.cancel()
        keeping.cancel_scope.cancel()


# Accepting connections when the process may open no more files.
#
# Trio's own loop tries again ten times a second, with a traceback in the log each time, and new
# clients wait for as long as others keep their idle connections.

_LACKING: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
_AGAIN_S: Final = 0.05
"""By then a connection that was asked to close has released its descriptor."""


class RoomyListener(trio.abc.Listener[trio.SocketStream]):
    """A socket's connections; for one that finds no descriptor the longest idle one is closed."""

    def __init__(self, sock: socket.socket, face: ListenerState) -> None:
        self._listener = trio.SocketListener(trio.socket.from_stdlib_socket(sock))
        self._face = face

    async def accept(self) -> trio.SocketStream:
        while True:
            try:
                return await self._listener.accept()
            except OSError as error:
                if error.errno not in _LACKING:
                    raise
                # The kernel reports this even if no client waits: then no connection is closed.
                await trio.lowlevel.wait_readable(self._listener.socket)
                self._face.make_room(error)
            await trio.sleep(_AGAIN_S)

    async def aclose(self) -> None:
        await self._listener.aclose()
