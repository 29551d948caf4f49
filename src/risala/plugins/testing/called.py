"""A driver's address, ``/carriers/NAME/…``, as the service serves it, for the driver's tests.

The service's own handling of requests is before the driver, with its bounds and its 401; nothing
else of a service runs. A stand-in of a carrier calls it over HTTP, or a test calls it directly::

    async with open_address(driver) as address:
        carrier.callback_url = await address.listen() + "/receipt"
        answer = await address.call(CarrierCallback("/receipt", b'{"id": "1"}', {"x-key": "…"}))
"""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any, Final, Protocol, cast

import trio

from risala.plugins.answering import (
    Answering,
    CarrierAnswer,
    CarrierRequest,
    CarrierStream,
    RequestRefusedError,
    SendPart,
)
from risala.plugins.contract import Capabilities, NotStoredError

CALLER: Final = "192.0.2.1"
"""The carrier's IP address (RFC 5737), unless a test says another one."""
_SERVICE: Final = "risala.http.faces.called_driver"
"""The service's handling. It stands above this room, which finds it by its name alone."""


@dataclass(frozen=True, slots=True)
class CarrierCallback:
    """A request to a carrier's address."""

    path: str = ""
    """What follows the carrier's name, and the address's secret: ``/receipt``; with its query."""
    body: bytes = field(default=b"", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class CallbackAnswer:
    """What a caller was answered."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        """Whether the caller takes it for a yes, and forgets what it told."""
        return 200 <= self.status < 300


class WatchedDriver:
    """Passes requests on to a driver, and keeps what it answers with and raises."""

    def __init__(self, driver: Any) -> None:  # noqa: ANN401 -- of whatever class, it answers
        self._driver = driver
        self.raised: list[Exception] = []
        """What it raised, in order."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the driver has
        return getattr(self._driver, name)

    @property
    def capabilities(self) -> Capabilities:
        return cast("Capabilities", self._driver.capabilities)

    @property
    def bugs(self) -> list[Exception]:
        """What it raised that is no answer."""
        return [
            each
            for each in self.raised
            if not isinstance(each, NotStoredError | RequestRefusedError)
        ]

    async def answer(self, request: CarrierRequest) -> CarrierAnswer | CarrierStream:
        try:
            answer = cast("CarrierAnswer | CarrierStream", await self._driver.answer(request))
        except Exception as error:
            self.raised.append(error)
            raise
        if isinstance(answer, CarrierStream):
            return replace(answer, write=partial(self._write, answer.write))
        return answer

    async def _write(self, write: Callable[[SendPart], Awaitable[None]], send: SendPart) -> None:
        try:
            await write(send)
        except Exception as error:
            self.raised.append(error)
            raise


class StreamClient:
    """A client that reads a stream, or does not."""

    def __init__(self) -> None:
        self.parts: list[object] = []
        """What came, in order."""
        self.refused: int | None = None
        """The status, if it was answered with no stream."""
        self.ended = trio.Event()
        """The stream is over, whoever ended it."""
        self._changed = trio.Event()
        self._room: trio.Event | None = None

    async def take(self, part: bytes) -> None:
        """What the stream sends by: it returns once the connection has taken the part."""
        await trio.lowlevel.checkpoint()
        if self._room is not None:
            await self._room.wait()
        self.parts.append(part)
        self._changed.set()

    def stop_reading(self) -> None:
        """From now on its connection takes nothing."""
        self._room = trio.Event()

    async def wait_parts(self, count: int) -> None:
        """Until so many parts have come, or the stream is over."""
        while len(self.parts) < count and not self.ended.is_set():
            self._changed = trio.Event()
            await self._changed.wait()

    def end(self) -> None:
        """The stream is over."""
        self.ended.set()
        self._changed.set()


class _Served(Protocol):
    """The service's handling, for one driver."""

    stop: trio.Event
    traffic: list[str]

    async def call(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, address: str
    ) -> tuple[int, bytes, Mapping[str, str]]: ...

    async def stream(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes,
        address: str,
        send: SendPart,
    ) -> int | None: ...

    def listen(self) -> tuple[socket.socket, str]: ...

    async def serve(
        self, sock: socket.socket, *, task_status: trio.TaskStatus[None] = ...
    ) -> None: ...


class DriverAddress:
    """A driver's address."""

    def __init__(
        self,
        carrier: str,
        watched: WatchedDriver,
        served: _Served,
        nursery: trio.Nursery,
        secret: str,
    ) -> None:
        self.watched = watched
        self.secret = secret
        """The secret in it; empty: the driver proves who calls."""
        self._served = served
        self._nursery = nursery
        self._place = f"/carriers/{carrier}"
        self._url: str | None = None

    @property
    def traffic(self) -> list[str]:
        """The lines of traffic that the service has written about calls."""
        return self._served.traffic

    async def call(
        self,
        call: CarrierCallback,
        *,
        comes_from: str = CALLER,
        body_comes: bool = True,
        secret: str | None = None,
    ) -> CallbackAnswer:
        """Call the driver, without a connection.

        Args:
            comes_from: the caller's IP address.
            body_comes: False: only the head comes.
            secret: another secret than the address's; empty: none.
        """
        body = call.body if body_comes else None
        target = self._target(call, secret)
        return CallbackAnswer(
            *await self._served.call(call.method, target, call.headers, body, comes_from)
        )

    async def read_stream(
        self, call: CarrierCallback, reader: StreamClient, *, secret: str | None = None
    ) -> None:
        """Call the driver, and read the stream that it answers with, until its end. Cancelled: the
        client is gone.

        Args:
            secret: as in :meth:`call`.
        """
        target = self._target(call, secret)
        try:
            reader.refused = await self._served.stream(
                call.method, target, call.headers, call.body, CALLER, reader.take
            )
        finally:
            reader.end()

    def _target(self, call: CarrierCallback, secret: str | None) -> str:
        word = self.secret if secret is None else secret
        return f"{self._place}/{word}{call.path}" if word else self._place + call.path

    async def listen(self) -> str:
        """Serve the address by HTTP, on a port of this machine.

        Returns:
            Its URL, which the driver's paths follow: ``http://127.0.0.1:4711/carriers/NAME``.
        """
        if self._url is None:
            sock, url = self._served.listen()
            await self._nursery.start(self._served.serve, sock)
            self._url = url + self._place + (f"/{self.secret}" if self.secret else "")
        return self._url


@asynccontextmanager
async def open_address(
    driver: Answering,
    carrier: str = "carrier",
    driving: Callable[[], trio.Event | None] | None = None,
) -> AsyncIterator[DriverAddress]:
    """A driver's address. Nobody can call any more at the end.

    Args:
        carrier: the carrier's name.
        driving: an event that is set when the driver's run ends; None while it does not run. Not
            given: it runs.
    """
    module = sys.modules.get(_SERVICE)
    if module is None:  # in a thread: the service's modules are many, and the loop would wait
        module = await trio.to_thread.run_sync(import_module, _SERVICE)
    watched, always = WatchedDriver(driver), trio.Event()
    secret = secrets.token_hex(16) if watched.capabilities.secret_address else ""
    served = module.CalledDriver(carrier, watched, driving or (lambda: always), secret)
    async with trio.open_nursery() as nursery:
        yield DriverAddress(carrier, watched, served, nursery, secret)
        nursery.cancel_scope.cancel()
