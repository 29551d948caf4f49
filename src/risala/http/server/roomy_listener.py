"""Accepting connections when the process may open no more files.

Trio's own loop tries again ten times a second, with a traceback in the log each time, and new
clients wait for as long as others keep their idle connections.
"""

from __future__ import annotations

import errno
import socket
from typing import Final

import trio

from risala.http.server.listener_state import ListenerState

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
