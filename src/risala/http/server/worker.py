"""One listening socket and its connections: a worker of our own, on Hypercorn's public pieces.

Hypercorn's lifespan reports the app's start and stop, and Hypercorn itself could serve the app too.
This worker exists because Hypercorn's takes no class of connections as an argument.
"""

from __future__ import annotations

import socket
from functools import partial

import trio
from hypercorn.config import Config
from hypercorn.trio.lifespan import Lifespan
from hypercorn.typing import ASGIFramework, LifespanState
from hypercorn.utils import wrap_app

from risala.http.server.connection import GuardedConnection
from risala.http.server.listener_state import ListenerState
from risala.http.server.roomy_listener import RoomyListener
from risala.http.server.tls import ServerTls
from risala.http.server.tls_connection import GuardedTlsConnection


async def serve_socket(
    app: ASGIFramework,
    config: Config,
    face: ListenerState,
    sock: socket.socket,
    shutdown: trio.Event,
    *,
    tls: ServerTls | None = None,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``app`` on a listening socket, which is closed, until ``shutdown``; by ``tls``: https.

    Started when connections are taken. Returns within ``config.graceful_timeout`` seconds of
    ``shutdown``; tasks that last longer are cancelled.

    Raises:
        ExceptionGroup: of Hypercorn's LifespanFailureError, when the app reports a failed start.
    """
    state: LifespanState = {}
    lifespan = Lifespan(wrap_app(app, config.wsgi_max_body_size, "asgi"), config, state)

    async def serve_connection(stream: trio.SocketStream) -> None:
        if tls is None:
            await GuardedConnection(app, face, state, stream).run()
        else:
            await GuardedTlsConnection(app, face, state, stream, tls.context).run()

    async with trio.open_nursery() as lifespan_nursery:
        await lifespan_nursery.start(lifespan.handle_lifespan)
        await lifespan.wait_for_startup()
        lifespan_nursery.start_soon(face.keep_time)
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
                face.stop(config.graceful_timeout)
                connections.cancel_scope.deadline = face.stop_at
                accepting.cancel_scope.cancel()
        await lifespan.wait_for_shutdown()
        lifespan_nursery.cancel_scope.cancel()
