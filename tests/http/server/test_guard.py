"""HTTP/1 as clients know it, through the guarded connection, on real sockets."""

import inspect
import json
import runpy
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import httpx2
import hypercorn.trio.run
import hypercorn.trio.tcp_server
import pytest
from hypercorn.trio.lifespan import Lifespan

from patience import HANG_S, until_true
from risala.config.model import HttpSection
from risala.http.server.connection import GuardedConnection
from risala.http.server.parser import RequestParser

PROBE = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("guard_probe.py"))))
OK = b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"
OLD = b"GET /ok HTTP/1.0\r\n\r\n"
BAD = b"GET /ok HTTP/1.1\r\nno colon\r\n\r\n"


@pytest.fixture(params=[PROBE.ProbeApp, PROBE.PlainProbeApp], ids=["quart", "plain"])
def app(request):
    return request.param()


@pytest.fixture
def serving(app):
    return partial(PROBE.serving, app, HttpSection(graceful_stop_s=1))


@pytest.fixture
def sent(monkeypatch):
    """What the server wrote, one item for each write. The clients here are sockets' own."""
    writes = []
    stock = GuardedConnection.write_now

    def count(connection, data):
        writes.append(bytes(data))
        return stock(connection, data)

    monkeypatch.setattr(GuardedConnection, "write_now", count)
    return writes


class TestSeam:
    """Fails when Hypercorn is another than the one that we are grafted on."""

    def test_the_release(self):
        assert version("hypercorn").startswith("0.18.")

    async def test_no_module_of_its_is_changed(self, serving):
        """Whoever else serves by Hypercorn in this process gets Hypercorn's own connections."""
        async with serving() as (address, _):
            assert (await PROBE.talk(address, OLD)).endswith(b'{"status":"ok"}')
            assert hypercorn.trio.run.TCPServer is hypercorn.trio.tcp_server.TCPServer

    def test_signatures(self):
        assert list(inspect.signature(Lifespan).parameters) == ["app", "config", "state"]


class TestHttp:
    async def test_keep_alive_and_one_write_for_an_answer_of_known_length(self, serving, sent):
        async with serving() as (address, _), await PROBE.open_raw(address) as stream:
            for count in (1, 2, 3):
                await stream.send_all(OK)
                answer = await PROBE.read_until(stream, b"}")
                assert answer.startswith(b"HTTP/1.1 200 ")
                assert len(sent) == count
            assert sent[0].endswith(b'\r\n\r\n{"status":"ok"}')

    async def test_a_large_answer_arrives_whole(self, serving):
        async with serving() as (address, _):
            answer = await PROBE.talk(address, b"GET /big HTTP/1.0\r\n\r\n")
        assert len(answer.partition(b"\r\n\r\n")[2]) == len(PROBE.BIG)

    async def test_pipelined_requests_are_answered_in_order(self, serving):
        numbers = [f"GET /number?n={n} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for n in range(20)]
        async with serving() as (address, _), await PROBE.open_raw(address) as stream:
            await stream.send_all(b"".join(numbers))
            answers = await PROBE.read_until(stream, b'"19"}')
        assert [
            json.loads(part)["number"] for part in answers.split(b"\r\n\r\n")[1:-1:1] if 0
        ] == []
        bodies = [line[: line.index(b"}") + 1] for line in answers.split(b"\r\n") if b"}" in line]
        assert [json.loads(body)["number"] for body in bodies] == [str(n) for n in range(20)]

    async def test_expect_100_continue(self, serving):
        async with serving() as (address, _), await PROBE.open_raw(address) as stream:
            await stream.send_all(
                b"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                b"Content-Length: 3\r\n\r\n"
            )
            assert (await PROBE.read_until(stream, b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
            await stream.send_all(b"abc")
            assert b'{"bytes":3}' in await PROBE.read_until(stream, b"}")

    async def test_head_is_one_write_without_a_body(self, serving, sent):
        async with serving() as (address, _), await PROBE.open_raw(address) as stream:
            await stream.send_all(b"HEAD /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = await PROBE.read_until(stream, b"\r\n\r\n")
            await stream.send_all(OK)
            assert (await PROBE.read_until(stream, b"}")).startswith(b"HTTP/1.1 200 ")
        assert b"content-length: 15\r\n" in answer
        assert answer.endswith(b"\r\n\r\n")
        assert len(sent) == 2

    async def test_http_1_0_is_answered_and_closed(self, serving):
        async with serving() as (address, _):
            answer = await PROBE.talk(address, b"GET /ok HTTP/1.0\r\n\r\n")
        assert answer.endswith(b'{"status":"ok"}')
        assert b"connection: close\r\n" in answer.lower()

    async def test_a_stream_flows(self, app, serving):
        async with serving() as (address, _), await PROBE.open_raw(address) as stream:
            await stream.send_all(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            received = await PROBE.read_until(stream, b"first")
            assert b"transfer-encoding: chunked" in received.lower()
            app.go.set()
            assert b"second" in await PROBE.read_until(stream, b"0\r\n\r\n")

    async def test_a_client_that_goes_away_cancels_its_handler(self, app, serving):
        async with serving() as (address, _):
            async with await PROBE.open_raw(address) as stream:
                await stream.send_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
                await until_true(lambda: app.told == ["slow began"])
            await until_true(lambda: app.told == ["slow began", "slow cancelled"])

    async def test_an_upgrade_to_http_2_is_an_ordinary_request(self, serving):
        async with serving() as (address, _):
            answer = await PROBE.talk(
                address,
                b"GET /ok HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\n"
                b"Upgrade: h2c\r\nHTTP2-Settings: !!not base64!!\r\n\r\n",
            )
        assert answer.startswith(b"HTTP/1.1 200 ")

    async def test_an_answer_before_the_body_reaches_a_client_that_pushes_on(self, serving):
        async with (
            serving() as (address, _),
            httpx2.AsyncClient(trust_env=False, timeout=HANG_S) as client,
        ):
            url = f"http://127.0.0.1:{address[1]}/early"
            response = await client.post(url, content=bytes(10_000_000))
        assert response.status_code == 401


class TestRefusals:
    @pytest.mark.parametrize(
        ("request_bytes", "code"),
        [
            (BAD, "BAD_REQUEST"),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "BAD_REQUEST"),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), "BAD_REQUEST"),
            (b"GET ?a HTTP/1.1\r\nHost: x\r\n\r\n", "BAD_REQUEST"),
            (b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n", "BAD_REQUEST"),
            (b"GET /ok HTTP/1.1\r\n\r\n", "BAD_REQUEST"),
            (b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "BAD_REQUEST"),
            (
                b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "BAD_REQUEST",
            ),
            (
                b"GET /ok HTTP/1.1\r\nHost: x\r\nx: " + b"a" * 70_000,
                "REQUEST_HEADER_FIELDS_TOO_LARGE",
            ),
        ],
    )
    async def test_what_is_refused_below_quart_has_the_shape_of_the_api(
        self, serving, request_bytes, code
    ):
        async with serving() as (address, _):
            assert PROBE.problem(await PROBE.talk(address, request_bytes)) == code

    async def test_an_app_that_fails_altogether(self, app, serving, monkeypatch):
        async def fail(*_):
            raise RuntimeError

        monkeypatch.setattr(app, "asgi_app", fail)
        async with serving() as (address, _):
            answer = await PROBE.talk(address, b"GET /number HTTP/1.1\r\nHost: x\r\n\r\n")
        assert PROBE.problem(answer) == "INTERNAL_SERVER_ERROR"

    async def test_what_a_connection_raises_ends_that_connection_only(self, serving, monkeypatch):
        stock = RequestParser.feed

        def fail(parser, data):
            if b"break" in data:
                raise LookupError
            stock(parser, data)

        monkeypatch.setattr(RequestParser, "feed", fail)
        async with serving() as (address, _):
            assert await PROBE.talk(address, b"break") == b""
            async with await PROBE.open_raw(address) as stream:
                await stream.send_all(OK)
                assert b" 200 " in await PROBE.read_until(stream, b"}")
