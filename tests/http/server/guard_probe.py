"""A guarded server to be tested, and ways to talk to it in bytes.

Imported by the tests, or run by them as a process of its own that prints its port and serves until
SIGTERM: ``python guard_probe.py SETTINGS_JSON``.
"""

import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import trio
from quart import request
from quart_trio.wrappers import TrioResponse

from patience import HANG_S
from risala.config.model import HttpSection
from risala.http.common.base import JsonApp
from risala.http.common.plain import PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes, json_response
from risala.http.server.server import serve_app
from risala.http.server.sockets import listen_tcp

BIG = bytes(50 * 1024 * 1024)
"""More than all buffers between a server and a client that does not read."""
FAR_S = 3600
"""How long the slow handler takes: whoever waits for it is seen to hang."""


class ProbeApp(JsonApp):
    """Handlers of every temper, and the tale of what became of them."""

    def __init__(self, body_timeout_s: float = 300) -> None:
        super().__init__("probe", body_bytes_max=100_000, body_timeout_s=body_timeout_s)
        self.told: list[str] = []
        self.go = trio.Event()
        """What `/wait` waits for."""
        for path, view in {
            "/ok": self.ok, "/big": self.big, "/slow": self.slow, "/stream": self.stream,
            "/number": self.number, "/wait": self.wait,
        }.items():  # fmt: skip
            self.route_to(path, view, method="GET")
        self.route_to("/echo", self.echo)
        self.route_to("/early", self.early)

    async def ok(self) -> TrioResponse:
        return json_response(json_bytes({"status": "ok"}))

    async def number(self) -> TrioResponse:
        await trio.lowlevel.checkpoint()
        return json_response(json_bytes({"number": request.args["n"]}))

    async def echo(self) -> TrioResponse:
        return json_response(json_bytes({"bytes": len(await request.get_data())}))

    async def early(self) -> TrioResponse:
        """Answers without having looked at the body."""
        return json_response(json_bytes({"read": False}), 401)

    async def big(self) -> TrioResponse:
        return TrioResponse(BIG)

    async def slow(self) -> TrioResponse:
        self.told.append("slow began")
        try:
            await trio.sleep(FAR_S)
        except trio.Cancelled:
            self.told.append("slow cancelled")
            raise
        return await self.ok()

    async def wait(self) -> TrioResponse:
        self.told.append("wait began")
        await self.go.wait()
        return await self.ok()

    async def stream(self) -> TrioResponse:
        async def parts() -> AsyncIterator[bytes]:
            yield b"first"
            await self.go.wait()
            yield b"second"

        return TrioResponse(parts(), content_type="text/event-stream")


class PlainProbeApp(ProbeApp):
    """The same, but that most of it is answered past Quart."""

    def __init__(self, body_timeout_s: float = 300) -> None:
        super().__init__(body_timeout_s)
        for path in ("/ok", "/slow", "/wait"):
            self.route_plain(path, self.plainly(path), method="GET")
        for path in ("/echo", "/early"):
            self.route_plain(path, self.plainly(path))

    def plainly(self, path: str):
        async def answer(request: PlainRequest) -> PlainAnswer:
            if path == "/echo":
                received = 0
                while part := await request.body.next_part():
                    received += len(part)
                return PlainAnswer(json_bytes({"bytes": received}))
            response = await getattr(self, path[1:])()
            return PlainAnswer(await response.get_data(as_text=False), response.status_code)

        return answer


@asynccontextmanager
async def serving(app: JsonApp, http: HttpSection, sock=None) -> AsyncIterator[tuple]:
    """Serve ``app``; gives its address and the order to stop. Ends when the server has."""
    sock = sock or listen_tcp("127.0.0.1", 0)
    address, shutdown = sock.getsockname(), trio.Event()
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(serve_app, app, http, sock=sock, shutdown=shutdown))
        yield address, shutdown
        shutdown.set()


async def open_raw(address):
    """A connection to a host and port, or to the path of a unix socket."""
    if isinstance(address, str):
        return await trio.open_unix_socket(address)
    return await trio.open_tcp_stream(*address)


async def read_until(stream, end):
    """Everything up to ``end``; or up to the close, for None."""
    received = bytearray()
    with trio.fail_after(HANG_S):
        while end is None or end not in received:
            chunk = await stream.receive_some()
            if not chunk:
                assert end is None, f"closed after {bytes(received)!r}"
                break
            received += chunk
    return bytes(received)


async def talk(address, request):
    """Send, and read until the server closes."""
    async with await open_raw(address) as stream:
        await stream.send_all(request)
        return await read_until(stream, None)


def problem(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head
    assert f"content-length: {len(body)}".encode() in head
    content = json.loads(body)
    assert head.startswith(f"HTTP/1.1 {content['status']} ".encode())
    assert f"x-request-id: {content['requestId']}".encode() in head
    return content["code"]


async def main(http: HttpSection) -> None:
    with trio.open_signal_receiver(signal.SIGTERM) as signals:
        async with serving(ProbeApp(), http) as (address, _):
            print(address[1], flush=True)
            await anext(aiter(signals))


if __name__ == "__main__":
    trio.run(main, HttpSection(**json.loads(sys.argv[1])))
