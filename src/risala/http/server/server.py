"""An app served on a socket that we bound: its face, its configuration and its worker."""

from __future__ import annotations

import logging
import socket
from typing import Final

import trio
from hypercorn.utils import wrap_app

from risala.config.model import HttpSection
from risala.http.common.base import JsonApp
from risala.http.server.face import Face, FaceConfig, Patience
from risala.http.server.sockets import connections_room
from risala.http.server.worker import serve_socket

_KEEP_ALIVE_REQUESTS_MAX: Final = 1_000_000
"""Hypercorn's 1000 closes under a busy client, who then sees a reset now and then."""
_QUEUED_EVENTS_MAX: Final = 10
"""Body chunks read ahead of a handler."""
_CONTROL_CONNECTIONS_MAX: Final = 128
"""Commands of one operator; also what :func:`connections_room` leaves room for."""


async def serve_app(
    app: JsonApp,
    http: HttpSection,
    *,
    sock: socket.socket,
    shutdown: trio.Event,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``app`` on a listening socket until ``shutdown``; then requests may end in peace.

    Started when connections are taken. Closes the socket. Returns within ``http.graceful_stop_s``
    of ``shutdown``, whatever the clients do (:mod:`risala.http.server.guard`).
    """
    # The control socket is the way in when the public face is flooded: it has room of its own.
    public = sock.family != socket.AF_UNIX
    room = connections_room(http.connections_max) if public else _CONTROL_CONNECTIONS_MAX
    face = Face(Patience(idle_s=http.keep_alive_s), room, app.open_paths, app.tally)
    config = _config(http, face)

    await serve_socket(
        wrap_app(app, config.wsgi_max_body_size, "asgi"),
        config,
        sock,
        shutdown,
        task_status=task_status,
    )


def _config(http: HttpSection, face: Face) -> FaceConfig:
    log = logging.getLogger("risala.http.server.server")
    log.setLevel(logging.WARNING)  # "Running on …" is said by the service, once, in its own words
    config = FaceConfig(face)
    config.accesslog = None
    config.errorlog = log
    config.alpn_protocols = ["http/1.1"]
    config.include_server_header = False
    config.keep_alive_max_requests = _KEEP_ALIVE_REQUESTS_MAX
    config.graceful_timeout = http.graceful_stop_s
    config.max_app_queue_size = _QUEUED_EVENTS_MAX
    return config
