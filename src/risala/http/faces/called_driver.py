"""One driver at a carrier's address, with the service's own handling of requests before it.

For drivers' tests (:mod:`risala.plugins.testing.called`): the rules that the service keeps, and no
other part of a service.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import trio

from risala.config.model import CarrierSection, HttpSection
from risala.dataclass import dataclass
from risala.engine.features.answering.calls import CallAnswerer
from risala.engine.features.answering.stored import StoredAddress
from risala.engine.model.clock import SystemClock
from risala.http.common.failed_keys import AnswerTally
from risala.http.common.plain import PlainAnswer, PlainRoutes, StreamedAnswer
from risala.http.common.request import new_request_id
from risala.http.faces.carrier_requests import CarrierRequests
from risala.http.faces.carriers import CarrierPaths
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp
from risala.plugins.answering import SendPart
from risala.plugins.contract import Driver

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

NO_PATH: Final = 404


@dataclass(slots=True)
class TrafficLines:
    """The lines of traffic that the service writes itself."""

    lines: list[str]

    def note(self, sent: bool, tell: Callable[..., str], *values: object) -> None:
        self.lines.append(tell(*values))


class OneWorker:
    """Runs one carrier: its driver is run by somebody else."""

    def __init__(
        self, carrier: CarrierSection, driver: Driver, driving: Callable[[], trio.Event | None]
    ) -> None:
        self.carrier = carrier
        self.driver = driver
        self.traffic = TrafficLines([])
        self._driving = driving

    @property
    def name(self) -> str:
        return self.carrier.name

    @property
    def driving(self) -> trio.Event | None:
        return self._driving()


class GivenBody:
    """A body that came with its head; or, without octets, one that never begins."""

    def __init__(self, octets: bytes | None) -> None:
        self._octets = octets
        self.length = 1 if octets is None else len(octets)
        self.complete = octets is not None

    async def next_part(self) -> bytes:
        if self._octets is None:
            await trio.sleep_forever()
        await trio.lowlevel.checkpoint()
        part, self._octets = self._octets or b"", b""
        return part


class CalledDriver:
    """A driver at its carrier's address.

    Args:
        driver: it answers calls (:class:`risala.plugins.answering.Answering`).
        driving: an event that is set when the driver's run ends; None while it does not run.
        secret: the secret of its address, if it has one.
    """

    def __init__(
        self, name: str, driver: Driver, driving: Callable[[], trio.Event | None], secret: str
    ) -> None:
        self.stop = trio.Event()
        self._worker = OneWorker(CarrierSection(name=name, driver="called"), driver, driving)
        address = StoredAddress(name, sha256(secret.encode()).digest(), 0)
        calls = CallAnswerer(lambda: [self._worker], {name: address}, SystemClock())
        self._http = HttpSection()
        self.plain = PlainRoutes(
            body_bytes_max=self._http.body_max_bytes,
            body_timeout_s=self._http.body_timeout_s,
            tally=AnswerTally(),
            failed_keys=None,
        )
        self.plain.mount(CarrierPaths(lambda: CarrierRequests(calls, (), self.stop)).find)

    @property
    def traffic(self) -> list[str]:
        """Lines of traffic so far."""
        return self._worker.traffic.lines

    async def call(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        address: str,
    ) -> tuple[int, bytes, Mapping[str, str]]:
        """The status, body and header fields that a request is answered with. Of a stream, nothing
        is read.

        Args:
            target: path and query.
            body: None: it never begins.
            address: the caller's IP address.
        """
        answer = await self._answer(method, target, headers, body, address)
        if answer is None:
            return NO_PATH, b"", {}
        if isinstance(answer, StreamedAnswer):
            answer.end()
        return answer.status, answer.body, dict(answer.more)

    async def stream(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes,
        address: str,
        send: SendPart,
    ) -> int | None:
        """Read the stream that a request is answered with, until its end; the status of an answer
        that is no stream.

        Args:
            send: takes each part, as the client's connection does.
        """
        answer = await self._answer(method, target, headers, body, address)
        if not isinstance(answer, StreamedAnswer):
            return NO_PATH if answer is None else answer.status
        try:
            await answer.write(send)
        finally:
            answer.end()
        return None

    async def _answer(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        address: str,
    ) -> PlainAnswer | None:
        """The answer to a request; None: there is no such path."""
        path = self.plain.find(target.encode("latin-1"))
        if path is None:
            await trio.lowlevel.checkpoint()
            return None
        fields = {
            name.lower().encode("latin-1"): (value.encode("latin-1"),)
            for name, value in headers.items()
        }
        return await self.plain.answer(
            path, method.encode(), new_request_id(), fields, (address, 0), GivenBody(body)
        )

    def listen(self) -> tuple[socket.socket, str]:
        """A socket on this machine, and its URL."""
        sock = listen_tcp("127.0.0.1", 0)
        return sock, base_url(sock)

    async def serve(
        self, sock: socket.socket, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve it until :attr:`stop`."""
        await serve_app(self, self._http, sock=sock, shutdown=self.stop, task_status=task_status)

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable, /
    ) -> None:
        """Every other path."""
        await send(
            {
                "type": "http.response.start",
                "status": NO_PATH,
                "headers": [(b"content-length", b"0")],
            }
        )
        await send({"type": "http.response.body", "body": b"", "more_body": False})
