"""An app served on a socket that we bound: its face and its worker."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final, Protocol

import trio

from risala.config.model import HttpSection
from risala.dataclass import dataclass
from risala.http.common.plain import PlainRoutes
from risala.http.server.listener_state import ListenerState, Patience
from risala.http.server.sockets import base_url, connections_room
from risala.http.server.tls import ServerTls
from risala.http.server.worker import serve_socket

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

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
