"""Octets that were written, and that the other machine has not taken yet.

They wait in the kernel, which goes on sending them after the process has ended: even after minutes,
once a cut network is whole again. By then another machine may send the same messages.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import Final

import trio

_LINGER: Final = struct.Struct("@ii")
"""``struct linger``: whether a close waits, and for how many seconds. A wait of 0 s resets the
connection and drops what was not sent."""


def drop_unsent_at_close(stream: trio.abc.Stream, *, is_on: bool) -> None:
    """Choose what happens to such octets when the connection is closed, or the process ends in any
    way: the kernel drops them (``is_on``), or sends them, as usual.

    Streams other than TCP stay as they are.
    """
    while isinstance(stream, trio.SSLStream):
        stream = stream.transport_stream
    if isinstance(stream, trio.SocketStream):
        with suppress(OSError):  # it is closed already
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER.pack(is_on, 0))
