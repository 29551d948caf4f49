"""The address of a driver for its tests: the service's rules, without a service."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
import trio
from tests.http.server.wire import open_wire, request

from risala.plugins.answering import BODY_BYTES_MAX, CarrierAnswer, CarrierStream
from risala.plugins.contract import NotStoredError
from risala.plugins.testing.called import CarrierCallback, open_address
from risala.plugins.testing.fake_driver import FakeDriver

TOKEN = {"x-token": "right"}


class Called(FakeDriver):
    """Echoes what the carrier says with the right token."""

    has_secret = False

    @property
    def capabilities(self):
        return replace(super().capabilities, secret_address=self.has_secret)

    async def answer(self, request):
        if request.headers.get("x-token") == "right":
            request.prove()
        body = await request.read()
        match request.path:
            case "/stored":
                raise NotStoredError
            case "/stream":
                return CarrierStream(None)
        return CarrierAnswer(body, headers=(("x-path", request.path),))


class Secret(Called):
    has_secret = True


async def test_a_call_is_answered_as_by_the_service(autojump_clock):
    async with open_address(Called()) as address:
        call = CarrierCallback("/say?a=1", b"hello", TOKEN, "PUT")
        answer = await address.call(call)
        assert (answer.status, answer.body, answer.headers) == (200, b"hello", {"x-path": "/say"})
        for odd, status in [
            (replace(call, headers={}), 401),
            (replace(call, method="BREW"), 405),
            (replace(call, path="/stored"), 503),
            (replace(call, path="/stream"), 200),
            (replace(call, path="/../other"), 404),
            (replace(call, body=b"x" * (BODY_BYTES_MAX + 1)), 413),
        ]:
            assert (await address.call(odd)).status == status
        assert (await address.call(replace(call, headers={}), body_comes=False)).status == 401
        assert (await address.call(call, body_comes=False)).status == 503
        assert [type(each).__name__ for each in address.watched.raised] == [
            *("NotStoredError", "RequestRefusedError", "RequestRefusedError")
        ]
        assert address.watched.bugs == []
        assert address.traffic[0].startswith("PUT /say 200")


async def test_a_secret_in_the_address_proves():
    async with open_address(Secret()) as address:
        call = CarrierCallback("/say", b"hello")
        statuses = [(await address.call(call, secret=each)).status for each in (None, "", "0" * 32)]
        assert statuses == [200, 401, 401]


async def test_it_is_called_while_it_runs():
    driving = None
    async with open_address(Called(), driving=lambda: driving) as address:
        call = CarrierCallback("/say", b"hello", TOKEN)
        assert (await address.call(call)).status == 503
        driving = trio.Event()
        assert (await address.call(call)).status == 200


@pytest.mark.parametrize("kind", [Called, Secret])
async def test_it_listens(kind):
    async with open_address(kind(), "acme") as address:
        url = await address.listen()
        assert url == await address.listen()
        host, path = url.removeprefix("http://").split("/", 1)
        assert path == f"carriers/acme/{address.secret}".removesuffix("/")
        async with open_wire(f"http://{host}") as wire:
            head = (f"POST /{path}/say HTTP/1.1", "x-token: right", "content-length: 2")
            await wire.send(request(*head, body=b"hi"))
            assert (await wire.answer()).body == b"hi"
            await wire.send(request("GET /other HTTP/1.1"))
            assert (await wire.answer()).status == 404
    name, _, port = host.partition(":")
    with pytest.raises(OSError, match="connect"):
        await trio.open_tcp_stream(name, int(port))


def test_the_kit_imports_the_service_only_for_a_driver_that_is_called():
    names = "risala.plugins.testing.conformance", "risala.http"
    code = f"import sys, {names[0]}; sys.exit({names[1]!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
