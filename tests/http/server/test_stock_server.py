"""The same app on Hypercorn as it comes: every route answers as it does on our own server."""

import json
import runpy
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from hypercorn.config import Config
from hypercorn.trio import serve

from risala.http.api.app import create_api
from risala.http.server.server import serve_app
from risala.http.server.sockets import listen_tcp

WIRE = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("wire.py"))))
SECRET = "sk_live_" + "a" * 32
PUBLISHABLE = "pk_live_" + "b" * 32
SUSPENDED = "sk_live_" + "c" * 32
JSON = "Content-Type: application/json"
OWN = {b"date", b"x-request-id", b"connection"}
"""Headers that differ from one answer to the next."""
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
BODIES = [b"", b"{}", b"[", b'{"to":"+22236123456","body":"Hello"}', b'{"messageId":"sms_1"}']
KEYS = [[], ["x-api-key: wrong"], [f"x-api-key: {SUSPENDED}"], [f"x-api-key: {PUBLISHABLE}"]]


def request(method, path, *headers, body=b""):
    lines = [f"{method} {path} HTTP/1.1", "Host: x", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def framed(body):
    return [JSON, f"x-api-key: {SECRET}", f"Content-Length: {len(body)}"]


def asked(paths):
    """Every route by every method; every sort of key, body and framing where a body is taken."""
    for path in paths:
        for method in METHODS:
            yield request(method, path, "Origin: https://app.example")
        for key in KEYS:
            yield request("POST", path, JSON, *key, "Content-Length: 2", body=b"{}")
        for body in BODIES:
            yield request("POST", path, *framed(body), body=body)
        yield request("POST", path, f"x-api-key: {SECRET}", "Content-Length: 2", body=b"{}")
        yield request("POST", path, JSON, f"x-api-key: {SECRET}", "Content-Length: 99999999")
        yield request("POST", path, JSON, f"x-api-key: {SECRET}", "Transfer-Encoding: chunked",
                      body=b"2\r\n{}\r\n0\r\n\r\n")  # fmt: skip
        yield request("POST", path, *framed(b"{}"), "Expect: 100-continue", body=b"{}")
    for path in ("/nothing", "//api/sms", "/api%2fsms", "/api/sms/", "/api/sms?a=b", "/docs/../x"):
        yield request("POST", path, *framed(b"{}"), body=b"{}")


async def talk(address, data):
    """The final answer: its status, headers and body, without what is of one answer alone."""
    async with WIRE.open_wire("http://{}:{}".format(*address)) as wire:
        await wire.send(data)
        bodiless = data.startswith(b"HEAD")
        while (answer := await wire.answer(bodiless=bodiless)).status == 100:
            pass
    headers = {name: value for name, value in answer.headers.items() if name not in OWN}
    if not answer.body.startswith(b"{"):
        return answer.status, headers, answer.body
    return answer.status, headers, json.loads(answer.body) | {"requestId": ""}


@pytest.fixture
async def stock(gateway, settings, nursery):
    """The address of the app on Hypercorn's own worker."""
    config = Config()
    config.bind, config.errorlog, config.accesslog = ["127.0.0.1:0"], None, None
    config.include_server_header = False
    app = create_api(type(gateway)(), settings)
    stop = trio.Event()
    binds = await nursery.start(partial(serve, app, config, shutdown_trigger=stop.wait))
    yield ("127.0.0.1", int(binds[0].rpartition(":")[2]))
    stop.set()


@pytest.fixture
async def ours(gateway, settings, nursery):
    """The address of the same app on our server, and the app's paths."""
    app, stop = create_api(type(gateway)(), settings), trio.Event()
    sock = listen_tcp("127.0.0.1", 0)
    address = sock.getsockname()
    await nursery.start(partial(serve_app, app, settings.http, sock=sock, shutdown=stop))
    yield address, sorted({rule.rule for rule in app.url_map.iter_rules() if "<" not in rule.rule})
    stop.set()


@pytest.mark.slow
async def test_every_route_answers_the_same(stock, ours):
    address, paths = ours
    assert {"/api/sms", "/api/sms/batch", "/api/verify/send", "/healthz", "/docs"} <= set(paths)
    statuses = set()
    for data in asked(paths):
        mine, theirs = await talk(address, data), await talk(stock, data)
        assert mine == theirs, data[:200]
        statuses.add(mine[0])
    assert statuses >= {200, 400, 401, 403, 404, 405, 413, 415}
