"""One listening socket and its connections: a worker of our own.

Hypercorn could serve our apps too, and a test does. This worker exists because Hypercorn's takes no
class of connections as an argument. It sends no lifespan events: our apps begin nothing of theirs
there, and an app may be made later than its socket is served (:mod:`risala.http.common.late`).
"""

from __future__ import annotations

import socket
from functools import partial
from typing import TYPE_CHECKING

import trio

from risala.http.server.connection import GuardedConnection
from risala.http.server.crowd import Crowd
from risala.http.server.listener_state import ListenerState
from risala.http.server.roomy_listener import RoomyListener
from risala.http.server.tls import ServerTls
from risala.http.server.tls_connection import GuardedTlsConnection

if TYPE_CHECKING:
    from hypercorn.typing import ASGIFramework, LifespanState


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
