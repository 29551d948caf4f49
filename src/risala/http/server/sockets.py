"""Listening sockets, bound by ourselves: a fault is one sentence, before anything starts."""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import structlog

from risala.http.common.control_path import CONTROL_NAME, unix_address

log = structlog.get_logger("risala.http")

_BACKLOG: Final = 1024
"""Connections that may wait to be accepted; the kernel limits it to ``net.core.somaxconn``."""
_USER_TIMEOUT_MS: Final = 20_000
"""A peer that acknowledges none of our bytes for this long is gone; without a limit it could hold
up a stop for ever."""
_DESCRIPTORS_SPARE: Final = 512
"""Open files that are kept free of the public face's connections: for the database, carriers,
commands and webhooks."""


class ListenError(Exception):
    """The address cannot be listened on. ``str()`` is one sentence for people."""


def listen_tcp(host: str, port: int) -> socket.socket:
    """Listen on ``host`` (a name, IPv4 or IPv6 address) and ``port`` (0: any free one).

    Raises:
        ListenError: the address cannot be used; ``str()`` is the reason, and what to do.
    """
    try:
        rows = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError):
        raise ListenError(f"The host {host!r} to listen on is unknown.") from None
    # `localhost` has an IPv4 and an IPv6 address; IPv4 is taken, which the printed address leads
    # to.
    family, kind, protocol, _, address = min(rows, key=lambda row: row[0] != socket.AF_INET)
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _USER_TIMEOUT_MS)
        sock.bind(address)
        sock.setblocking(False)
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        raise ListenError(_sentence(host, port, error)) from error
    return sock


def base_url(sock: socket.socket, scheme: str = "http") -> str:
    """The URL by which a client on this machine reaches a TCP listener."""
    host, port = sock.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 -- compared, not bound
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"  # noqa: S104
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _sentence(host: str, port: int, error: OSError) -> str:
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return (
            f"{place} is in use by another program. Choose another port with --port (0: any free "
            "port)."
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{place} cannot be listened on: this machine does not have that address."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{place} cannot be listened on: ports below 1024 need special rights."
    return f"{place} cannot be listened on: {error.strerror}."


def connections_room(connections: int) -> int:
    """How many of ``connections`` connections the process may hold.

    Raises the process's limit of open files as far as allowed. Connections beyond the limit are
    refused in order; at the kernel's limit the process could open nothing at all.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = connections + _DESCRIPTORS_SPARE
    if soft != resource.RLIM_INFINITY and soft < need:
        soft = need if hard == resource.RLIM_INFINITY else min(need, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < need:
            room = max(soft - _DESCRIPTORS_SPARE, soft // 2)
            log.warning("connections.lowered", connections_max=room, open_files_max=hard)
            return room
    return connections


@contextmanager
def listen_control(data_dir: Path) -> Iterator[socket.socket]:
    """Listen on the control socket of a data directory, whose lock the caller holds.

    Because of the lock, an existing socket belongs to no living process, and may be removed.
    """
    path = data_dir / CONTROL_NAME
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        # Set before bind(), so that the file never exists with wider rights, for any umask.
        os.fchmod(sock.fileno(), 0o600)
        with unix_address(path) as address:
            sock.bind(address)
        sock.setblocking(False)
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        raise ListenError(
            f"The control socket {path} cannot be created: {error.strerror}."
        ) from error
    try:
        yield sock
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        sock.close()
