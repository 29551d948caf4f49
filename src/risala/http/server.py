"""Hypercorn's Trio worker in our own nursery, on a socket that we bound."""

from __future__ import annotations

import logging
import socket
from typing import Final

import trio
from hypercorn.config import Config, Sockets
from hypercorn.trio.run import worker_serve
from hypercorn.utils import wrap_app

from risala.config.model import HttpSection
from risala.http.base import JsonApp

_KEEP_ALIVE_REQUESTS_MAX: Final = 1_000_000
"""Hypercorn's 1000 closes under a busy client, who then sees a reset now and then."""
_QUEUED_EVENTS_MAX: Final = 10
"""Body chunks read ahead of a handler."""


async def serve_app(
    app: JsonApp,
    http: HttpSection,
    *,
    sock: socket.socket,
    shutdown: trio.Event,
    task_status: trio.TaskStatus[list[str]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``app`` on a listening socket until ``shutdown``; then requests may end in peace.

    Started when connections are taken. Closes the socket. Returns within ``http.graceful_stop_s``
    of ``shutdown``, unless a client takes no bytes (:mod:`risala.http.sockets` bounds that).
    """
    config = _config(http)
    # The public serve() takes no sockets. `hypercorn.trio.run.TCPServer`, looked up at each
    # connection, is where a guarded connection class goes in.
    await worker_serve(
        wrap_app(app, config.wsgi_max_body_size, "asgi"),
        config,
        sockets=Sockets([], [sock], []),
        shutdown_trigger=shutdown.wait,
        task_status=task_status,
    )


def _config(http: HttpSection) -> Config:
    log = logging.getLogger("risala.http.server")
    log.setLevel(logging.WARNING)  # "Running on …" is said by the service, once, in its own words
    config = Config()
    config.accesslog = None
    config.errorlog = log
    config.alpn_protocols = ["http/1.1"]
    config.include_server_header = False
    config.keep_alive_timeout = http.keep_alive_s
    config.keep_alive_max_requests = _KEEP_ALIVE_REQUESTS_MAX
    config.graceful_timeout = http.graceful_stop_s
    config.max_app_queue_size = _QUEUED_EVENTS_MAX
    return config
