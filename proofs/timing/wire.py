"""One connection, and how long each answer on it takes to begin."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ANSWER_S: Final = 30.0
"""Far longer than any answer takes: a service that hangs must not hold the rig for ever."""
_LENGTH: Final = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_COOKIE: Final = re.compile(rb"\r\nset-cookie: ([^=;\r\n]+)=([^;\r\n]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Timed:
    """An answer."""

    status: int
    body: bytes
    cookies: Mapping[str, str]
    ns: int
    """From the request's last octet handed to the kernel to the answer's first one from it."""


class Wire:
    """A connection that stays open, and is opened again where the service closed it."""

    def __init__(self, host: str, port: int) -> None:
        self._place = (host, port)
        self._socket: socket.socket | None = None
        self._asked = 0

    def ask(self, request: bytes) -> Timed:
        """Send a request and read its answer.

        Raises:
            OSError: the service is gone.
        """
        try:
            return self._ask(request)
        except (ConnectionError, EOFError):
            self.close()
            return self._ask(request)

    def _ask(self, request: bytes) -> Timed:
        if self._socket is None:
            self._socket = socket.create_connection(self._place, timeout=ANSWER_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock = self._socket
        sock.sendall(request)
        began = time.perf_counter_ns()
        found = sock.recv(65_536)
        took = time.perf_counter_ns() - began
        while b"\r\n\r\n" not in found:
            found += self._more()
        head, _, body = found.partition(b"\r\n\r\n")
        told = _LENGTH.search(head + b"\r\n")
        length = int(told[1]) if told else 0
        while len(body) < length:
            body += self._more()
        if b"connection: close" in head.lower():
            self.close()
        cookies = {name.decode(): value.decode() for name, value in _COOKIE.findall(head + b"\r\n")}
        return Timed(int(head.split(b" ", 2)[1]), body, cookies, took)

    def _more(self) -> bytes:
        assert self._socket is not None
        found = self._socket.recv(65_536)
        if not found:
            raise EOFError("the service closed the connection in its answer")
        return found

    def from_elsewhere(self) -> dict[str, str]:
        """Header fields of a client at an address that has not asked before, so that what counts
        by address counts nothing here."""
        self._asked += 1
        high, low = divmod(self._asked, 65_536)
        address = f"10.{high % 256}.{low // 256}.{low % 256}"
        return {"x-forwarded-for": address, "x-forwarded-proto": "https"}

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def request(method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {path} HTTP/1.1", "host: risala.example"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if method != "GET":
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
