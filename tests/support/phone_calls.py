"""A phone's calls without a service: straight to its driver, by the rules of the service."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import trio

from risala.lab.phone.network import NetworkLostError
from risala.plugins.answering import (
    BODY_BYTES_MAX,
    UNPROVED_BYTES_MAX,
    CarrierAnswer,
    CarrierRequest,
    CarrierStream,
    RequestRefusedError,
)
from risala.plugins.contract import NotStoredError

OWN_URL = "https://sms.example/carriers/phone"
API_URL = f"{OWN_URL}/mobile/v1"


class DirectNetwork:
    """Carries calls to a driver.

    Attributes:
        is_up: False: nothing arrives, and streams end.
    """

    def __init__(self, driver) -> None:
        self.driver = driver
        self.is_up = True
        self._cut = trio.Event()

    def cut(self) -> None:
        """End all streams."""
        self._cut.set()
        self._cut = trio.Event()

    def down(self) -> None:
        self.is_up = False
        self.cut()

    async def ask(self, method, path, headers, body) -> tuple[int, bytes]:
        answer = await self.call(method, path, headers, body)
        assert isinstance(answer, CarrierAnswer)
        return answer.status, b"" if answer.status == 204 else answer.body

    async def call(
        self, method="GET", path="/device", headers=None, body=b""
    ) -> CarrierAnswer | CarrierStream:
        await trio.lowlevel.checkpoint()
        if not self.is_up:
            raise NetworkLostError
        proved = False

        def prove() -> None:
            nonlocal proved
            proved = True

        async def read() -> bytes:
            await trio.lowlevel.checkpoint()
            if len(body) > (BODY_BYTES_MAX if proved else UNPROVED_BYTES_MAX):
                raise RequestRefusedError(413, "too large")
            return body

        whole = path if "://" in path else API_URL + path
        request = CarrierRequest(
            id="req_1",
            method=method,
            path=urlsplit(whole).path.removeprefix("/carriers/phone"),
            query={},
            headers={name.lower(): text for name, text in (headers or {}).items()},
            address="192.0.2.7",
            received_at_ms=time.time_ns() // 1_000_000,
            is_proved=lambda: proved,
            prove=prove,
            read=read,
            own_url=OWN_URL,
        )
        try:
            answer = await self.driver.answer(request)
        except RequestRefusedError as refused:
            answer = CarrierAnswer(status=refused.status)
        except NotStoredError:
            answer = CarrierAnswer(status=503)
        return answer if proved else CarrierAnswer(b"{}", 401)

    @asynccontextmanager
    async def listen(self, path, headers) -> AsyncIterator[tuple[int, AsyncIterator[bytes]]]:
        answer = await self.call("GET", path, headers)
        if isinstance(answer, CarrierAnswer):
            yield answer.status, _none()
            return
        send, receive = trio.open_memory_channel[bytes](math.inf)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write, answer, send)
            yield 200, receive
            nursery.cancel_scope.cancel()

    async def _write(self, stream: CarrierStream, send) -> None:
        cut = self._cut

        async with send, trio.open_nursery() as nursery:

            async def end() -> None:
                await cut.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(end)
            await stream.write(send.send)
            nursery.cancel_scope.cancel()


async def _none() -> AsyncIterator[bytes]:
    return
    yield b""
