"""Bytes to a server and back, read by hand: no library of HTTP is between a test and the wire."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

WITHIN_S = 10
"""For what must come; far more than a slow machine needs."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[bytes, bytes]
    """Names in lower case."""
    body: bytes

    @property
    def says_close(self) -> bool:
        return self.headers.get(b"connection", b"").lower() == b"close"


class Wire:
    """One connection."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._received = bytearray()

    async def send(self, data: bytes) -> None:
        await self._stream.send_all(data)

    async def answer(self, *, bodiless: bool = False) -> Answer:
        """The next answer. Fails where the connection ends before it is whole."""
        head = await self._until(b"\r\n\r\n")
        lines = head[:-4].split(b"\r\n")
        version, status = lines[0].split(b" ")[:2]
        assert version == b"HTTP/1.1", lines[0]
        pairs = (line.split(b": ", 1) for line in lines[1:])
        headers = {name.lower(): value for name, value in pairs}
        length = int(headers.get(b"content-length", b"0"))
        body = b"" if bodiless or status in (b"100", b"204") else await self._take(length)
        return Answer(int(status), headers, body)

    async def is_closed(self) -> bool:
        """Whether the server ends the connection, saying nothing more."""
        with trio.fail_after(WITHIN_S):
            try:
                return not self._received and not await self._stream.receive_some()
            except trio.BrokenResourceError:
                return not self._received

    async def _until(self, end: bytes) -> bytes:
        while end not in self._received:
            await self._more()
        return await self._take(self._received.index(end) + len(end))

    async def _take(self, length: int) -> bytes:
        while len(self._received) < length:
            await self._more()
        taken = bytes(self._received[:length])
        del self._received[:length]
        return taken

    async def _more(self) -> None:
        with trio.fail_after(WITHIN_S):
            data = await self._stream.receive_some()
        assert data, f"closed after {bytes(self._received)!r}"
        self._received += data


@asynccontextmanager
async def open_wire(url: str, comes_from: str | None = None) -> AsyncIterator[Wire]:
    """``comes_from``: the client's own address."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    async with await trio.open_tcp_stream(host, int(port), local_address=comes_from) as stream:
        yield Wire(stream)


def request(line: str, *headers: str, body: bytes = b"", host: str | None = "Host: x") -> bytes:
    """A request with exactly these headers, and the body as it is."""
    lines = [line, *([host] if host else []), *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
