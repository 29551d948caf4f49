"""The same app on Hypercorn as it comes: every route answers as it does on our own server."""

import json
import re
import runpy
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from hypercorn.config import Config
from hypercorn.trio import serve

from risala.engine.model.errors import (
    Conflict,
    Draining,
    InsufficientBalance,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    RateLimited,
    SenderNotApproved,
    SpendCapReached,
)
from risala.http.api.app import create_api
from risala.http.common.failed_keys import FREE_A_MINUTE
from risala.http.common.problems import problem_of
from risala.http.server.server import serve_app
from risala.http.server.sockets import listen_tcp

WIRE = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("wire.py"))))
SECRET = "sk_live_" + "a" * 32
PUBLISHABLE = "pk_live_" + "b" * 32
SUSPENDED = "sk_live_" + "c" * 32
TEST = "sk_test_" + "d" * 32
BOUND = "pk_live_" + "e" * 32
JSON = "Content-Type: application/json"
OWN = {b"date", b"x-request-id", b"connection"}
"""Headers that differ from one answer to the next."""
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
BODIES = [
    b"", b"{}", b"[", b"\xff", b"[" * 50 + b"]" * 50, b'{"to":1,"to":2}', b'{"to":"\\ud800"}',
    b'{"to":"+22236123456"}', b'{"to":"+22236123456","body":"Hello"}',
    b'{"to":"+22256123456","body":"","validitySeconds":1e400,"metadata":{"a":1}}',
    b'{"messages":[{"to":"+22236123456","body":"Hello"},{},5]}', b'{"messages":[]}',
    b'{"messageId":"sms_1"}', b'{"messageId":"sms_2"}',
    b'{"verificationId":"ver_1","code":"000000"}', b'{"verificationId":"ver_2","code":"1"}',
]  # fmt: skip
KEYS = [
    [], ["x-api-key: wrong"], ["x-api-key: a", "x-api-key: b"], [f"x-api-key: {SUSPENDED}"],
    [f"x-api-key: {PUBLISHABLE}"], [f"Authorization: Bearer {TEST}"], ["Authorization: Basic eA=="],
    [f"x-api-key: {BOUND}", "Origin: https://app.example"],
    [f"x-api-key: {BOUND}", "Origin: https://evil.example"],
]  # fmt: skip
TYPES = [
    "application/json; charset=utf-8", 'application/json; charset="UTF8"', "APPLICATION/JSON",
    "application/json; charset=latin-1", "text/plain", "application/json, text/plain", "",
]  # fmt: skip


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
            for body in (b"{}", b'{"to":"+22236123456","body":"Hello"}'):
                yield request("POST", path, JSON, *key, f"Content-Length: {len(body)}", body=body)
        for body in BODIES:
            yield request("POST", path, *framed(body), "Origin: https://app.example", body=body)
        for kind in TYPES:
            yield request("POST", path, f"Content-Type: {kind}", *framed(b"{}")[1:], body=b"{}")
        for coding in ("gzip", "identity", " Identity "):
            yield request("POST", path, *framed(b"{}"), f"Content-Encoding: {coding}", body=b"{}")
        yield request("POST", path, f"x-api-key: {SECRET}", "Content-Length: 2", body=b"{}")
        yield request("POST", path, JSON, f"x-api-key: {SECRET}", "Content-Length: 99999999")
        for body in (b"2\r\n{}\r\n0\r\n\r\n", b"11000\r\n" + b" " * 0x11000 + b"\r\n0\r\n\r\n"):
            yield request("POST", path, JSON, f"x-api-key: {SECRET}", "Transfer-Encoding: chunked",
                          body=body)  # fmt: skip
        yield request("POST", path, *framed(b"{}"), "Expect: 100-continue", body=b"{}")
        yield request("POST", f"{path}?a=b", *framed(b"{}"), body=b"{}")
        yield request("POST", f"{path}/", *framed(b"{}"), body=b"{}")
    for path in ("/nothing", "//api/sms", "/api%2fsms", "/api/sm%73", "/docs/../x"):
        yield request("POST", path, *framed(b"{}"), body=b"{}")


async def talk(address, data, comes_from="127.0.0.1"):
    """The final answer: its status, header fields in their order and body, byte for byte; but
    what is of one answer alone."""
    async with WIRE.open_wire("http://{}:{}".format(*address), comes_from) as wire:
        await wire.send(data)
        bodiless = data.startswith(b"HEAD")
        while (answer := await wire.answer(bodiless=bodiless)).status == 100:
            pass
    fields = [pair for pair in answer.headers.items() if pair[0] not in OWN]
    assert re.fullmatch(rb"req_[0-9A-Z]{32}", answer.headers[b"x-request-id"])
    return answer.status, fields, answer.body.replace(answer.headers[b"x-request-id"], b"")


@pytest.fixture(params=[None])
def refuse(request):
    """What the engine refuses with, whatever it is asked."""
    return request.param


@pytest.fixture
async def stock(gateway, settings, nursery, refuse):
    """The address of the app on Hypercorn's own worker."""
    config = Config()
    config.bind, config.errorlog, config.accesslog = ["127.0.0.1:0"], None, None
    config.include_server_header = False
    app = create_api(type(gateway)(refuse=refuse), settings)
    stop = trio.Event()
    binds = await nursery.start(partial(serve, app, config, shutdown_trigger=stop.wait))
    yield ("127.0.0.1", int(binds[0].rpartition(":")[2]))
    stop.set()


@pytest.fixture
async def ours(gateway, settings, nursery, refuse):
    """The address of the same app on our server, and the app's paths."""
    app, stop = create_api(type(gateway)(refuse=refuse), settings), trio.Event()
    sock = listen_tcp("127.0.0.1", 0)
    address = sock.getsockname()
    await nursery.start(partial(serve_app, app, settings.http, sock=sock, shutdown=stop))
    yield address, sorted({*app.plain.paths(), *(rule.rule for rule in app.url_map.iter_rules())})
    stop.set()


@pytest.mark.slow
@pytest.mark.long
async def test_every_route_answers_the_same(stock, ours):
    address, paths = ours
    assert {"/api/sms", "/api/sms/batch", "/api/verify/send", "/healthz", "/docs"} <= set(paths)
    statuses = set()
    for number, data in enumerate(asked(paths)):
        # Whose keys are wrong too often in a minute waits for each answer: a client of its own for
        # so many requests that not so many are.
        client = f"127.0.1.{number // FREE_A_MINUTE}"
        mine, theirs = await talk(address, data, client), await talk(stock, data, client)
        assert mine == theirs, data[:200]
        statuses.add(mine[0])
    assert statuses == {200, 204, 400, 401, 403, 404, 405, 413, 415}


@pytest.mark.parametrize(
    "refuse",
    [
        InsufficientBalance(), SpendCapReached(), RateLimited("sms", 7, "Too fast."), Overloaded(),
        SenderNotApproved("Acme"), OutcomeUnknown("Perhaps.", ("key-12345",)), Conflict("No."),
        NotFound("None."), ValueError("a bug"), ExceptionGroup("", [Draining()]),
    ],
    indirect=True,
    ids=lambda error: type(error).__name__,
)  # fmt: skip
async def test_every_refusal_of_the_engine_is_the_same(stock, ours, refuse):
    address, _ = ours
    for path, body in (
        ("/api/sms", {"to": "+22236123456", "body": "Hello"}),
        ("/api/sms/batch", {"messages": [{"to": "+22236123456", "body": "Hello"}]}),
        ("/api/sms/get", {"messageId": "sms_1"}),
        ("/api/verify/send", {"to": "+22236123456"}),
        ("/api/verify/resend", {"verificationId": "ver_1"}),
        ("/api/verify/start", {"method": "inbound_sms", "to": "+22236123456"}),
    ):
        content = json.dumps(body).encode()
        data = request("POST", path, *framed(content), "Origin: https://a.example", body=content)
        mine, theirs = await talk(address, data), await talk(stock, data)
        assert mine == theirs
        assert mine[0] == problem_of(refuse).status
