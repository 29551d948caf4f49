"""The guarded client over real sockets: pinned, bounded, and never where it must not go."""

from __future__ import annotations

import ssl
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_address

import httpcore2
import pytest
import structlog.testing
import trio

from risala.engine.rules.webhooks.schedule import AnswerContent, ReceiverAnswer, ReceiverFault
from risala.engine.rules.webhooks.types import WebhookCall
from risala.engine.rules.webhooks.url import AddressRules, address_fault
from risala.http.outbound import client as outbound
from risala.http.outbound.client import OutboundClient, excerpt, open_outbound
from risala.http.outbound.pinned import NameUnknown, PinnedBackend

LOOSE = AddressRules(allow_insecure=True)
BODY = '{"text":"رسالة"}'.encode()


class Names:
    """A resolver whose answers a test writes; the last one stays."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): deque(each) for name, each in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int):
        await trio.lowlevel.checkpoint()
        self.asked.append(host)
        answers = self.answers.get(host)
        if answers is None:
            raise NameUnknown(f"The name {host} was not found.")
        found = answers.popleft() if len(answers) > 1 else answers[0]
        return [ip_address(text) for text in found]


def call(url: str, **headers: str) -> WebhookCall:
    return WebhookCall(url, {"webhook-id": "evt_1", **headers}, BODY)


@asynccontextmanager
async def client(rules: AddressRules = LOOSE, names: Names | None = None, **more):
    async with open_outbound(rules, 8, names, **more) as one:
        yield one


async def test_a_call_carries_exactly_its_bytes(web):
    async with web.receiver() as server, client() as one:
        answer = await one.post(call(server.url, **{"X-Mine": "1"}))
        assert answer == ReceiverAnswer(200, None, "ok")
        (request,) = server.requests
        assert request.body == BODY
        assert request.target == "/hook?a=1"
        assert request.headers == {
            "host": f"127.0.0.1:{server.port}",
            "webhook-id": "evt_1",
            "x-mine": "1",
            "accept": "*/*",
            "accept-encoding": "identity",
            "content-length": str(len(BODY)),
        }


@pytest.mark.parametrize(("cut", "target"), [(None, "/hook?a=1&"), ("?", "/hook?")])
async def test_a_query_of_any_length_goes_after_that_of_the_url(web, cut, target):
    query = f"text={'%D8%B3' * 5000}"
    async with web.receiver() as server, client() as one:
        url = server.url.partition(cut)[0] if cut else server.url
        answer = await one.post(WebhookCall(url, {"webhook-id": "evt_1"}, b"", "GET", query))
        assert answer == ReceiverAnswer(200, None, "ok")
        (request,) = server.requests
        assert (request.target, request.body) == (f"{target}{query}", b"")
        assert "content-length" not in request.headers


async def test_a_connection_serves_again(web):
    async with web.receiver() as server, client() as one:
        for _ in range(5):
            await one.post(call(server.url))
        assert (len(server.requests), server.connections) == (5, 1)


async def test_tls_keeps_the_name_and_connects_to_the_address(web):
    names = Names(hooks_example_com=[["127.0.0.1"]], other_example_com=[["127.0.0.1"]])
    trust = ssl.create_default_context(cafile=web.TLS / "cert.pem")
    async with web.receiver(tls=True) as server, client(LOOSE, names, context=trust) as one:
        url = f"https://hooks.example.com:{server.port}/x"
        assert await one.post(call(url)) == ReceiverAnswer(200, None, "ok")
        (request,) = server.requests
        assert request.server_name == "hooks.example.com"
        assert request.headers["host"] == f"hooks.example.com:{server.port}"
        wrong = await one.post(call(url.replace("hooks", "other")))
        assert isinstance(wrong, ReceiverFault)
        assert wrong.code == "TLS"
        assert len(server.requests) == 1
    async with web.receiver(tls=True) as server, client(LOOSE, names) as one:
        untrusted = await one.post(call(f"https://hooks.example.com:{server.port}/x"))
        assert isinstance(untrusted, ReceiverFault)
        assert untrusted.code == "TLS"
        assert "self" in untrusted.text


@pytest.mark.parametrize("status", [200, 204, 301, 302, 307, 400, 410, 429, 500, 503])
async def test_every_status_is_an_answer_and_no_redirect_is_followed(web, status):
    body = b"" if status == 204 else b"text"
    behave = web.answer(status, body, location="http://127.0.0.1:1/", retry_after="7")
    async with web.receiver(behave) as server, client() as one:
        assert await one.post(call(server.url)) == ReceiverAnswer(status, "7", body.decode())
        assert len(server.requests) == 1


async def test_nothing_is_asked_of_a_proxy(web, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with web.receiver() as server, client() as one:
        assert await one.post(call(server.url)) == ReceiverAnswer(200, None, "ok")


# -- addresses ---------------------------------------------------------------------------------


HOSTILE = [
    ["127.0.0.1"], ["10.0.0.1"], ["192.168.1.1"], ["172.16.0.1"], ["169.254.169.254"],
    ["100.64.0.1"], ["0.0.0.0"], ["224.0.0.1"], ["240.0.0.1"], ["::1"], ["fe80::1"],
    ["fd00:ec2::254"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["2002:7f00:1::"],
    ["2001:0:7f00:1::"], ["1.1.1.1", "127.0.0.1"], ["127.0.0.1", "1.1.1.1"],
    ["2606:4700::1111", "::1"],
]  # fmt: skip


class NoConnections(PinnedBackend):
    """Notices every attempt to connect."""

    def __init__(self, *args):
        super().__init__(*args)
        self.connected: list[str] = []
        backend = self

        class Tcp(httpcore2.AsyncNetworkBackend):
            async def connect_tcp(self, host, port, *args, **kwargs):
                backend.connected.append(host)
                raise httpcore2.ConnectError("not in this test")

        self._tcp = Tcp()


@pytest.mark.parametrize("addresses", HOSTILE, ids=str)
async def test_a_name_that_leads_inside_is_never_connected_to(addresses, monkeypatch):
    made: list[NoConnections] = []

    def make(*args):
        made.append(NoConnections(*args))
        return made[0]

    monkeypatch.setattr(outbound, "PinnedBackend", make)
    names = Names(evil_example_com=[addresses])
    async with client(AddressRules(), names) as one:
        with structlog.testing.capture_logs() as logged:
            seen = await one.post(call("https://evil.example.com/"))
    assert isinstance(seen, ReceiverFault)
    assert seen.code == "ADDRESS_REFUSED"
    # The owner of the endpoint reads that sentence; the operator reads the log.
    bad = next(text for text in addresses if address_fault(ip_address(text), AddressRules()))
    assert seen.text == "The host name leads to an address that webhooks may not use."
    assert [(entry["event"], entry["host"]) for entry in logged] == [
        ("webhook.address_refused", "evil.example.com")
    ]
    assert str(ip_address(bad)) in logged[0]["reason"]
    assert names.asked == ["evil.example.com"]
    assert made[0].connected == []


async def test_a_name_that_changes_between_check_and_connect(web, monkeypatch):
    """Rebinding: the name is looked up once for a connection, and what was checked is used."""
    made: list[NoConnections] = []
    monkeypatch.setattr(
        outbound, "PinnedBackend", lambda *a: made.append(NoConnections(*a)) or made[-1]
    )
    names = Names(rebind_example_com=[["1.1.1.1"], ["127.0.0.1"]])
    async with web.receiver() as server, client(AddressRules(), names) as one:
        first = await one.post(call("https://rebind.example.com/"))
        assert made[0].connected == ["1.1.1.1"]
        assert isinstance(first, ReceiverFault)
        assert first.code == "NOT_CONNECTED"
        # The next attempt looks again, and refuses what it finds.
        second = await one.post(call("https://rebind.example.com/"))
        assert isinstance(second, ReceiverFault)
        assert second.code == "ADDRESS_REFUSED"
        assert made[0].connected == ["1.1.1.1"]
        assert names.asked == ["rebind.example.com"] * 2
        assert server.connections == 0


async def test_the_system_is_not_asked_behind_our_back(web, monkeypatch):
    """Only the checked number reaches the socket, never the name."""
    names = Names(hooks_example_com=[["127.0.0.1"]])
    looked_up: list[str] = []
    real = trio.socket.getaddrinfo

    async def notice(host, *args, **kwargs):
        looked_up.append(host)
        return await real(host, *args, **kwargs)

    monkeypatch.setattr(trio.socket, "getaddrinfo", notice)
    async with web.receiver() as server, client(LOOSE, names) as one:
        assert await one.post(call(f"http://hooks.example.com:{server.port}/")) == ReceiverAnswer(
            200, None, "ok"
        )
    assert set(looked_up) <= {"127.0.0.1", b"127.0.0.1"}


async def test_the_next_address_is_tried(web):
    names = Names(hooks_example_com=[["127.0.0.2", "127.0.0.1"]])
    async with web.receiver() as server, client(LOOSE, names) as one:
        answer = await one.post(call(f"http://hooks.example.com:{server.port}/"))
        assert answer == ReceiverAnswer(200, None, "ok")


async def test_real_names(web):
    async with web.receiver() as server, client() as one:
        assert await one.post(call(f"http://localhost:{server.port}/")) == ReceiverAnswer(
            200, None, "ok"
        )
        seen = await one.post(call("http://no-such-name.invalid/"))
        assert isinstance(seen, ReceiverFault)
        assert seen.code == "NAME_UNKNOWN"
    async with client(AddressRules(ports=(443, server.port))) as one:
        seen = await one.post(call(f"https://127.0.0.1:{server.port}/"))
        assert isinstance(seen, ReceiverFault)
        assert seen.code == "URL_REFUSED"


# -- bounds ------------------------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch):
    """Half a second in place of fifteen."""
    monkeypatch.setattr(outbound, "LIMIT_S", 0.5)
    monkeypatch.setattr(outbound, "CONNECT_S", 0.4)


@pytest.fixture
def uninterested(monkeypatch):
    """In bodies; all the time of the world for the rest."""
    monkeypatch.setattr(outbound, "LIMIT_S", 600.0)
    monkeypatch.setattr(outbound, "BODY_S", 0.2)


HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "behaviour",
    [
        "never", "drips its head", "drips 1xx", "floods 1xx",
    ],
)  # fmt: skip
async def test_who_does_not_answer_has_a_time_limit(web, hasty, behaviour):
    behave = {
        "never": web.never,
        "drips its head": web.raw(b"HTTP/1.1 200 OK\r\n", *[b"x: y\r\n"] * 10_000, apart_s=0.1),
        "drips 1xx": web.raw(b"HTTP/1.1 103 Early\r\n\r\n", apart_s=0.05, again=True),
        "floods 1xx": web.raw(b"HTTP/1.1 103 Early\r\n\r\n" * 100, again=True),
    }[behaviour]
    async with web.receiver(behave) as server, client() as one:
        seen = await one.post(call(server.url))
        assert isinstance(seen, ReceiverFault)
        assert seen.code == "TIMEOUT"


@pytest.mark.parametrize("behaviour", ["drips", "floods", "never ends"])
async def test_an_endless_body_changes_nothing(web, uninterested, behaviour):
    behave = {
        "drips": web.raw(HEAD, *[b"1\r\nx\r\n"] * 100_000, apart_s=0.01),
        "floods": web.raw(HEAD, *[b"8000\r\n" + b"x" * 0x8000 + b"\r\n"] * 100_000),
        "never ends": web.raw(HEAD, b"2\r\nhi\r\n", apart_s=600),
    }[behaviour]
    async with web.receiver(behave) as server, client() as one:
        seen = await one.post(call(server.url))
        assert isinstance(seen, ReceiverAnswer)
        assert seen.status == 200
        assert len(seen.excerpt) <= 1024


JSON_HEAD = HEAD.replace(b"\r\n\r\n", b"\r\ncontent-type: application/json\r\n\r\n")


async def test_a_body_that_counts_is_read_to_one_byte_above_4_kib(web):
    for count, kept in ((4096, 4096), (4097, 4097), (9000, 4097)):
        behave = web.answer(200, b"x" * count, content_type="application/json")
        async with web.receiver(behave) as server, client() as one:
            seen = await one.post(replace(call(server.url), wants_content=True))
            assert seen.content == AnswerContent("application/json", b"x" * kept)
            assert len(seen.excerpt) == 1024
            assert (await one.post(call(server.url))).content is None


async def test_a_body_that_counts_is_waited_for_as_long_as_the_head(web, monkeypatch):
    monkeypatch.setattr(outbound, "BODY_S", 0.0)
    async with web.receiver(web.raw(JSON_HEAD, apart_s=600)) as server, client() as one:
        assert (await one.post(call(server.url))).status == 200
    behave = web.raw(JSON_HEAD, b"2\r\nhi\r\n0\r\n\r\n", apart_s=0.1)
    async with web.receiver(behave) as server, client() as one:
        seen = await one.post(replace(call(server.url), wants_content=True))
        assert seen.content == AnswerContent("application/json", b"hi")


@pytest.mark.parametrize("behaviour", ["drips", "never ends", "breaks off"])
async def test_a_body_that_counts_and_does_not_end_in_time_is_not_there(web, hasty, behaviour):
    behave = {
        "drips": web.raw(JSON_HEAD, *[b"1\r\nx\r\n"] * 100_000, apart_s=0.01),
        "never ends": web.raw(JSON_HEAD, b"2\r\nhi\r\n", apart_s=600),
        "breaks off": web.raw(JSON_HEAD, b"2\r\nhi\r\n"),
    }[behaviour]
    async with web.receiver(behave) as server, client() as one:
        seen = await one.post(replace(call(server.url), wants_content=True))
        assert (seen.status, seen.content) == (200, AnswerContent("application/json", None))


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "NOT_HTTP"),
        (b"HTTP/1.1 OK\r\n\r\n", "NOT_HTTP"),
        (b"", "NOT_HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 200_000 + b"\r\n\r\n", "NOT_HTTP"),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", None),
    ],
)
async def test_what_is_no_http_is_a_fault(web, sent, code):
    async with web.receiver(web.raw(sent)) as server, client() as one:
        seen = await one.post(call(server.url))
        if code is None:
            assert not (isinstance(seen, ReceiverAnswer) and 200 <= seen.status < 300)
        else:
            assert isinstance(seen, ReceiverFault)
            assert seen.code == code


async def test_nobody_there(web):
    async with web.receiver() as server:
        url = server.url
    async with client() as one:
        seen = await one.post(call(url))
        assert isinstance(seen, ReceiverFault)
        assert seen.code == "NOT_CONNECTED"


async def test_a_name_server_that_hangs_has_the_same_limit(hasty):
    class Hangs(Names):
        async def __call__(self, host, port):
            await trio.sleep_forever()

    async with client(LOOSE, Hangs()) as one:
        seen = await one.post(call("http://slow.example.com/"))
        assert isinstance(seen, ReceiverFault)
        assert seen.code == "TIMEOUT"


@pytest.mark.slow
@pytest.mark.long
async def test_no_slot_of_the_pool_is_lost(web, hasty, monkeypatch):
    """Ten times as many calls as there are slots, all of which go wrong; then one that does not."""
    async with web.receiver(web.never) as dead, web.receiver() as good, client() as one:
        for _ in range(10):
            async with trio.open_nursery() as nursery:
                for _ in range(8):
                    nursery.start_soon(one.post, call(dead.url))
        monkeypatch.setattr(outbound, "LIMIT_S", 600.0)
        assert await one.post(call(good.url)) == ReceiverAnswer(200, None, "ok")
        assert len(one._pool.pool.connections) <= 2


async def test_an_old_pool_is_replaced_when_nobody_uses_it(web, monkeypatch):
    async with web.receiver(web.after(0.1, web.answer())) as server, client() as one:
        first = one._pool
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.post, call(server.url))
            await server.wait_requests(1)
            monkeypatch.setattr(outbound, "POOL_S", -1.0)
            assert await one.post(call(server.url)) == ReceiverAnswer(200, None, "ok")
            monkeypatch.setattr(outbound, "POOL_S", 3600.0)
        assert one._pool is not first
        assert (first.calls, first.pool.connections) == (0, [])


def test_an_excerpt_is_text_whatever_came():
    assert excerpt("مرحبا\nok".encode()) == "مرحبا\nok"
    assert excerpt(b"\x00\x1b[31mred\xff") == "[31mred\ufffd"
    assert excerpt("é".encode()[:1]) == "\ufffd"


def test_a_client_holds_no_secret_in_its_repr():
    assert "BODY" not in repr(call("https://example.com"))
    assert OutboundClient.__repr__ is object.__repr__
