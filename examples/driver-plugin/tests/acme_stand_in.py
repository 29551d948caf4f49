"""A small Acme on this machine: takes whole texts by HTTP, counts their parts, and calls back.

For the tests; by itself it serves at a port, and calls a service:
``acme_stand_in.py 8091 http://127.0.0.1:8080/carriers/acme-1``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import h11
import httpx2
import trio
from risala.plugins.testing.conformance import CarrierGot

from risala_acme.api import sign
from risala_acme.driver import AcmeDriver
from risala_acme.settings import AcmeSettings

SECRET = "callback-secret"
KEY = "key-of-the-account"
PART_UNITS = {"gsm7": (160, 153), "ucs2": (70, 67)}
"""What one short message holds: alone, and as a part. Acme bills parts."""
Answer = tuple[int, dict[str, Any], dict[str, str]]
"""Status, body and headers."""


@dataclass
class AcmeStandIn:
    """Takes everything, unless :attr:`answers` says otherwise."""

    nursery: trio.Nursery
    called_at: str = ""
    """The driver's address at the service."""
    answers: list[Answer] = field(default_factory=list)
    """The next answers to submits."""
    got: list[dict[str, Any]] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """The id that each idempotency key was given."""
    mute: bool = False
    call_status: list[int] = field(default_factory=list)
    """What its calls were answered."""
    again_s: float = 0.01
    """Wait before a call that was not taken is made again."""
    url: str = ""
    open: trio.CancelScope = field(default_factory=trio.CancelScope)
    """Cancelled: nobody listens any more."""
    http: httpx2.AsyncClient = field(
        default_factory=partial(httpx2.AsyncClient, trust_env=False, verify=False)
    )
    called: trio.Event = field(default_factory=trio.Event)

    async def go_away(self, for_s: float) -> None:
        """Listen no more for a while, as a carrier that starts anew."""
        self.open.cancel()
        await trio.sleep(for_s)
        self.open = trio.CancelScope()
        await self.start(int(self.url.rpartition(":")[2]))

    async def start(self, port: int = 0) -> None:
        listeners = await trio.open_tcp_listeners(port, host="127.0.0.1", backlog=1000)
        self.url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        self.nursery.start_soon(self.listen, listeners)

    async def listen(self, listeners: list[trio.SocketListener]) -> None:
        with self.open:
            await trio.serve_listeners(self.serve, listeners)

    async def serve(self, stream: trio.SocketStream) -> None:
        async with stream:
            connection = h11.Connection(h11.SERVER)
            try:
                request, body = await read_request(connection, stream)
            except (h11.RemoteProtocolError, trio.BrokenResourceError):
                return
            answer = self.answer(request, body)
            if answer is None:
                await trio.sleep_forever()
                return
            status, told, headers = answer
            octets = json.dumps(told).encode()
            head = [*headers.items(), ("content-length", str(len(octets)))]
            head.append(("connection", "close"))
            for event in (
                h11.Response(status_code=status, headers=head),
                h11.Data(data=octets),
                h11.EndOfMessage(),
            ):
                await stream.send_all(connection.send(event) or b"")

    def answer(self, request: h11.Request, body: bytes) -> Answer | None:
        headers = dict(request.headers)
        path = request.target.decode()
        if headers.get(b"authorization") != f"Bearer {KEY}".encode():
            return 401, {"code": "unauthorized"}, {}
        if path == "/v1/account":
            return 200, {"credit": "100.00"}, {}
        if request.method == b"GET":
            carrier_id = path.rpartition("/")[2]
            if carrier_id not in self.states:
                return 404, {"code": "unknown"}, {}
            return 200, {"id": carrier_id, "state": self.states[carrier_id]}, {}
        if self.mute:
            return None
        if self.answers:
            return self.answers.pop(0)
        return self.take(headers[b"idempotency-key"].decode(), json.loads(body))

    def take(self, key: str, told: dict[str, Any]) -> Answer:
        if key not in self.keys:
            self.keys[key] = f"acme-{time.monotonic_ns()}-{len(self.keys)}"
            self.got.append(told)
            self.states[self.keys[key]] = "delivered"
            receipt = {"id": self.keys[key], "state": "delivered", "to": told["to"]}
            self.nursery.start_soon(self.call, "/receipt", receipt)
        return 202, {"id": self.keys[key], "parts": count_parts(told["text"], told["encoding"])}, {}

    async def call(self, path: str, told: dict[str, Any]) -> None:
        """Call the service until it takes what is told, as the carrier does."""
        body = json.dumps(told).encode()
        while True:
            headers = {"acme-signature": sign(SECRET.encode(), int(time.time()), body)}
            try:
                url = self.called_at + path
                answer = await self.http.post(url, content=body, headers=headers)
                self.call_status.append(answer.status_code)
                if answer.status_code == 200:
                    self.called.set()
                    return
            except httpx2.HTTPError:
                pass
            await trio.sleep(self.again_s)

    def understood(self) -> list[CarrierGot]:
        return [
            CarrierGot(
                one["from"],
                one["to"],
                one["text"],
                int(datetime.fromisoformat(one["validUntil"]).timestamp() * 1000),
            )
            for one in self.got
        ]


async def read_request(
    connection: h11.Connection, stream: trio.SocketStream
) -> tuple[h11.Request, bytes]:
    """A request and its body."""
    request: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some())
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and request is not None:
            return request, body
        else:
            raise h11.RemoteProtocolError("the connection ended")


def count_parts(text: str, encoding: str) -> int:
    """How many short messages a phone gets; a sign of the extension table counts once here."""
    units = len(text.encode("utf-16-be")) // 2 if encoding == "ucs2" else len(text)
    alone, part = PART_UNITS[encoding]
    return 1 if units <= alone else -(-units // part)


@asynccontextmanager
async def carrier_and_driver(
    **changes: object,
) -> AsyncIterator[tuple[AcmeStandIn, AcmeDriver]]:
    """A carrier that is there, and a driver for it that is not running."""
    async with trio.open_nursery() as nursery:
        carrier = AcmeStandIn(nursery)
        await carrier.start()
        given = {
            "url": carrier.url,
            "api_key": KEY,
            "callback_secret": SECRET,
            "look_s": 0.05,
            **changes,
        }
        async with carrier.http:
            settings = AcmeSettings.model_validate(given)
            yield carrier, AcmeDriver("acme", settings)
            nursery.cancel_scope.cancel()  # while its client is open: it may be calling


async def main(port: str, called_at: str) -> None:
    async with trio.open_nursery() as nursery:
        carrier = AcmeStandIn(nursery, called_at, again_s=1.0)
        await carrier.start(int(port))
        sys.stdout.write(f"Acme is at {carrier.url}\n")
        sys.stdout.flush()
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(main, *sys.argv[1:])
