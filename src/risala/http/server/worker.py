"""One listening socket and its connections: a worker of our own, on Hypercorn's public pieces.

Hypercorn's configuration, its lifespan and its worker context are those of any ASGI server, so the
app may as well be served by Hypercorn itself. Its own worker takes no class of connections as an
argument; hence this one, which has nothing else that differs.
"""

from __future__ import annotations

import socket
from functools import partial

import trio
from hypercorn.trio.lifespan import Lifespan
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, LifespanState

from risala.http.server.face import FaceConfig
from risala.http.server.guard import GuardedServer


async def serve_socket(
    app: AppWrapper,
    config: FaceConfig,
    sock: socket.socket,
    shutdown: trio.Event,
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``app`` on a listening socket, which is closed, until ``shutdown``.

    Started when connections are taken. Returns within ``config.graceful_timeout`` seconds of
    ``shutdown``; what lasts longer is cancelled.

    Raises:
        ExceptionGroup: of Hypercorn's LifespanFailureError, when the app said that it cannot start.
    """
    state: LifespanState = {}
    lifespan = Lifespan(app, config, state)
    context = WorkerContext(max_requests=None)

    async def serve_connection(stream: trio.SocketStream) -> None:
        await GuardedServer(app, config, context, state, stream).run()

    async with trio.open_nursery() as lifespan_nursery:
        await lifespan_nursery.start(lifespan.handle_lifespan)
        await lifespan.wait_for_startup()
        async with trio.open_nursery() as connections:
            listener = trio.SocketListener(trio.socket.from_stdlib_socket(sock))
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
                config.face.stop(config.graceful_timeout)
                await context.terminated.set()
                connections.cancel_scope.deadline = config.face.stop_at
                accepting.cancel_scope.cancel()
        await lifespan.wait_for_shutdown()
        lifespan_nursery.cancel_scope.cancel()
