"""The other end of a connection."""

from __future__ import annotations

import socket
import struct
from typing import Any, Final

import trio

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
