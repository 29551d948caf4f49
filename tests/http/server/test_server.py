"""The API on a real socket, by Hypercorn: what only bytes on a wire can show."""

import json
import socket
import stat
from functools import partial

import httpx2
import pytest
import trio
import trio.testing

from patience import HANG_S
from risala.http.api.app import create_api
from risala.http.common.control_path import unix_address
from risala.http.server.server import serve_app
from risala.http.server.sockets import ListenError, base_url, listen_control, listen_tcp

GOOD = {"to": "+22236123456", "body": "Hello"}


def address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return host, int(port)


async def exchange(url: str, request: bytes) -> tuple[bytes, bytes]:
    """Send raw bytes; the head and the body of what comes back."""
    stream = await trio.open_tcp_stream(*address(url))
    async with stream:
        await stream.send_all(request)
        received = b""
        with trio.fail_after(HANG_S):
            async for chunk in stream:
                received += chunk
                head, separator, body = received.partition(b"\r\n\r\n")
                if separator and body.endswith(b"}"):
                    break
    head, _, body = received.partition(b"\r\n\r\n")
    return head, body


async def test_a_message_over_a_real_socket(served, gateway, headers):
    async with httpx2.AsyncClient(base_url=served, trust_env=False, timeout=HANG_S) as client:
        for expected in (1, 2, 3):  # one connection, kept alive
            response = await client.post("/api/sms", headers=headers, json=GOOD)
            assert response.status_code == 200
            assert response.json()["messageId"] == f"sms_{expected}"
            assert response.headers["x-request-id"].startswith("req_")
            assert "server" not in response.headers
    assert len(gateway.accepted) == 3


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET //api/sms HTTP/1.1", 404),
        (b"OPTIONS * HTTP/1.1", 404),
        (b"GET http://elsewhere/healthz HTTP/1.1", 200),
        (b"GET /%ff%00 HTTP/1.1", 404),
        (b"GET /../../etc/passwd HTTP/1.1", 404),
        (b"BREW /api/sms HTTP/1.1", 405),
        (b"GET /healthz HTTP/1.0", 200),
    ],
)
async def test_odd_request_lines_are_answered_in_json(served, request_line, status):
    head, body = await exchange(served, request_line + b"\r\nHost: x\r\n\r\n")
    assert f" {status} ".encode() in head.splitlines()[0]
    assert b"application/json" in head
    json.loads(body)


@pytest.mark.parametrize("path", [b"/api/sms", b"/nothing"])
async def test_a_websocket_handshake_is_answered_in_json(served, path):
    head, body = await exchange(
        served,
        b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nconnection: upgrade\r\n"
        b"upgrade: websocket\r\nsec-websocket-version: 13\r\n"
        b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    assert b" 400 " in head.splitlines()[0]
    assert json.loads(body)["code"] == "BAD_REQUEST"


async def test_a_head_request_has_no_body(served):
    async with httpx2.AsyncClient(base_url=served, trust_env=False, timeout=HANG_S) as client:
        response = await client.head("/healthz")
        assert (response.status_code, response.content) == (200, b"")
        response = await client.head("/api/sms")
        assert (response.status_code, response.content) == (405, b"")


async def test_a_key_is_refused_before_the_body_is_there(served):
    # The client says that a large body comes, and sends none of it.
    head, body = await exchange(
        served,
        b"POST /api/sms HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\n"
        b"content-length: 10000000\r\nx-api-key: wrong\r\n\r\n",
    )
    assert b" 401 " in head.splitlines()[0]
    assert json.loads(body)["code"] == "UNAUTHORIZED"


@pytest.mark.parametrize("framing", [b"content-length: 10000000", b"transfer-encoding: chunked"])
async def test_a_body_too_large_is_413_without_reading_it_all(served, keys, framing):
    chunk = b"" if framing.startswith(b"content") else b"11000\r\n" + b" " * 0x11000 + b"\r\n"
    head, body = await exchange(
        served,
        b"POST /api/sms HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\n"
        + framing
        + f"\r\nx-api-key: {keys['secret']}\r\n\r\n".encode()
        + chunk,
    )
    assert b" 413 " in head.splitlines()[0]
    assert json.loads(body)["code"] == "PAYLOAD_TOO_LARGE"


async def test_a_client_that_pushes_ten_megabytes_still_reads_the_413(served, headers):
    async with httpx2.AsyncClient(base_url=served, trust_env=False, timeout=HANG_S) as client:
        response = await client.post("/api/sms", headers=headers, content=b" " * 10_000_000)
    assert response.status_code == 413


async def test_a_client_that_goes_away_before_its_body_is_whole_leaves_nothing(
    served, gateway, keys
):
    stream = await trio.open_tcp_stream(*address(served))
    await stream.send_all(
        b"POST /api/sms HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\n"
        + f"x-api-key: {keys['secret']}\r\ncontent-length: 100\r\n\r\n".encode()
        + b'{"to":"+22236123456",'
    )
    await stream.aclose()
    async with httpx2.AsyncClient(base_url=served, trust_env=False, timeout=HANG_S) as client:
        assert (await client.get("/healthz")).status_code == 200
    assert gateway.accepted == []


async def test_a_stop_lets_the_request_in_hand_end(gateway, settings, headers):
    started, finish, shutdown = trio.Event(), trio.Event(), trio.Event()

    class Slow(type(gateway)):
        async def send_message(self, principal, command):
            started.set()
            await finish.wait()
            return await super().send_message(principal, command)

    sock = listen_tcp("127.0.0.1", 0)
    url = base_url(sock)
    app = create_api(Slow(), settings)
    statuses = []

    async def send() -> None:
        async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=HANG_S) as client:
            statuses.append((await client.post("/api/sms", headers=headers, json=GOOD)).status_code)

    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(
                partial(serve_app, app, settings.http, sock=sock, shutdown=shutdown)
            )
            nursery.start_soon(send)
            await started.wait()
            shutdown.set()
            await trio.testing.wait_all_tasks_blocked()
            finish.set()
    assert statuses == [200]


class TestSockets:
    def test_a_port_in_use_is_one_sentence(self):
        with listen_tcp("127.0.0.1", 0) as first:
            port = first.getsockname()[1]
            with pytest.raises(ListenError, match=rf"^127\.0\.0\.1:{port} is in use .*--port"):
                listen_tcp("127.0.0.1", port)

    def test_an_address_that_is_not_ours(self):
        with pytest.raises(ListenError, match="does not have that address"):
            listen_tcp("192.0.2.1", 8080)

    def test_a_host_that_is_none(self):
        with pytest.raises(ListenError, match="is unknown"):
            listen_tcp("no such host", 8080)

    def test_ipv6(self):
        try:
            sock = listen_tcp("::1", 0)
        except ListenError:
            pytest.skip("no IPv6 here")
        with sock:
            assert base_url(sock) == f"http://[::1]:{sock.getsockname()[1]}"

    def test_a_wildcard_is_reached_by_loopback(self):
        with listen_tcp("0.0.0.0", 0) as sock:
            assert base_url(sock).startswith("http://127.0.0.1:")

    def test_localhost_is_ipv4(self):
        with listen_tcp("localhost", 0) as sock:
            assert base_url(sock).startswith("http://127.0.0.1:")

    @pytest.mark.parametrize("deep", ["short", "deep/" + "d" * 120])
    def test_the_control_socket_is_private_and_goes(self, tmp_path, deep):
        directory = tmp_path / deep
        directory.mkdir(parents=True)
        path = directory / "control.sock"
        path.write_text("left by a crash")
        with listen_control(directory):
            assert stat.S_ISSOCK(path.stat().st_mode)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            with unix_address(path) as place, socket.socket(socket.AF_UNIX) as client:
                client.connect(place)
        assert not path.exists()
