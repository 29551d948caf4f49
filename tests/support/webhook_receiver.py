"""A real HTTP server that a test tells how to behave (the fixture ``web``)."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import h11
import trio

TLS = Path(__file__).parent / "webhook_receiver_tls"
"""A certificate for ``hooks.example.com`` that nothing but these tests trusts."""


@dataclass
class Request:
    target: str
    headers: dict[str, str]
    body: bytes
    server_name: str | None = None


Behave = Callable[[trio.abc.Stream, Request], Awaitable[bool]]
"""Answers a request on its stream; True keeps the connection."""


def answer(status: int = 200, body: bytes = b"ok", **headers: str) -> Behave:
    async def behave(stream: trio.abc.Stream, _: Request) -> bool:
        head = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}"]
        head += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await stream.send_all("\r\n".join([*head, "", ""]).encode() + body)
        return True

    return behave


async def never(_: trio.abc.Stream, __: Request) -> bool:
    await trio.sleep_forever()
    return False


def after(wait_s: float, then: Behave) -> Behave:
    async def behave(stream: trio.abc.Stream, request: Request) -> bool:
        await trio.sleep(wait_s)
        return await then(stream, request)

    return behave


def raw(*pieces: bytes, apart_s: float = 0.0, again: bool = False) -> Behave:
    """Sends these bytes, over and over with ``again``."""

    async def behave(stream: trio.abc.Stream, _: Request) -> bool:
        while True:
            for piece in pieces:
                await stream.send_all(piece)
                await trio.sleep(apart_s)
            if not again:
                return False

    return behave


@dataclass
class Receiver:
    behave: Behave = field(default_factory=answer)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    tls: ssl.SSLContext | None = None
    arrived: trio.Event = field(default_factory=trio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=1"

    def events(self) -> list[str]:
        return [request.headers["webhook-id"] for request in self.requests]

    async def wait_requests(self, count: int) -> None:
        while len(self.requests) < count:
            await self.arrived.wait()

    async def serve(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError):
            await self._serve(stream)

    async def _serve(self, socket_stream: trio.SocketStream) -> None:
        stream: trio.abc.Stream = socket_stream
        names: list[str] = []
        if self.tls is not None:
            self.tls.sni_callback = lambda _, name, __: names.append(name)
            stream = trio.SSLStream(stream, self.tls, server_side=True, https_compatible=True)
        connection = h11.Connection(h11.SERVER)
        while (request := await self._read(connection, stream)) is not None:
            request.server_name = names[0] if names else None
            self.requests.append(request)
            self.arrived.set()
            self.arrived = trio.Event()
            if not await self.behave(stream, request):
                break
            connection = h11.Connection(h11.SERVER)
        await trio.aclose_forcefully(stream)

    async def _read(self, connection: h11.Connection, stream: trio.abc.Stream) -> Request | None:
        head: h11.Request | None = None
        body = b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await stream.receive_some(65536))
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                headers = {name.decode(): value.decode() for name, value in head.headers}
                return Request(head.target.decode(), headers, body)
            else:
                return None


@asynccontextmanager
async def receiver(behave: Behave | None = None, *, tls: bool = False) -> AsyncIterator[Receiver]:
    one = Receiver(behave or answer())
    if tls:
        one.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        one.tls.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, one.serve, 0, host="127.0.0.1")
        (listener,) = await nursery.start(serve)
        one.port = listener.socket.getsockname()[1]
        yield one
        nursery.cancel_scope.cancel()
