"""Bodies that are too long, or never end, on a real socket: cut as soon as that is known."""

import json
from contextlib import suppress

import pytest
import trio

from patience import HANG_S
from risala.config.model import HttpSection, Settings

PATHS = {"/api/sms": 64 * 1024, "/api/sms/get": 64 * 1024, "/api/sms/batch": 256 * 1024}
CHUNK = 16 * 1024


@pytest.fixture
def body_timeout_s() -> float:
    return 300


short = pytest.mark.parametrize("body_timeout_s", [0.3])
"""For those whose body never ends."""


@pytest.fixture
def settings(body_timeout_s: float) -> Settings:
    http = HttpSection(
        port=0,
        body_timeout_s=body_timeout_s,
        body_max_bytes=PATHS["/api/sms"],
        batch_body_max_bytes=PATHS["/api/sms/batch"],
        graceful_stop_s=1,
    )
    return Settings(http=http)


async def open_request(url: str, path: str, key: str, framing: str) -> trio.SocketStream:
    host, _, port = url.removeprefix("http://").rpartition(":")
    stream = await trio.open_tcp_stream(host, int(port))
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\n"
        f"x-api-key: {key}\r\n{framing}\r\n\r\n"
    )
    await stream.send_all(head.encode())
    return stream


async def answer(stream: trio.SocketStream) -> tuple[int, dict]:
    received = b""
    with trio.fail_after(HANG_S):
        while not received.endswith(b"}"):
            chunk = await stream.receive_some()
            assert chunk, received
            received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize("path", PATHS)
async def test_a_chunked_body_is_cut_at_the_limit_and_not_awaited(served, gateway, keys, path):
    limit = PATHS[path]
    stream = await open_request(served, path, keys["secret"], "transfer-encoding: chunked")
    async with stream:
        for _ in range(limit // CHUNK):
            await stream.send_all(b"%x\r\n%s\r\n" % (CHUNK, b" " * CHUNK))
        with trio.move_on_after(0.05):
            raise AssertionError(await stream.receive_some())  # exactly the limit is allowed
        await stream.send_all(b"1\r\n \r\n")
        # The end of the body has not been sent.
        status, payload = await answer(stream)
    assert (status, payload["code"]) == (413, "PAYLOAD_TOO_LARGE")
    assert gateway.accepted == []


@pytest.mark.parametrize("path", PATHS)
async def test_a_length_beyond_the_limit_is_refused_before_a_byte_of_it(served, keys, path):
    framing = f"content-length: {PATHS[path] + 1}"
    async with await open_request(served, path, keys["secret"], framing) as stream:
        assert (await answer(stream))[0] == 413


@short
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("framing", ["transfer-encoding: chunked", "content-length: 100"])
async def test_a_body_that_does_not_end_is_408(served, gateway, keys, path, framing):
    async with await open_request(served, path, keys["secret"], framing) as stream:
        start = b'a\r\n{"to":"+22\r\n' if "chunked" in framing else b'{"to":"+22'
        await stream.send_all(start)
        status, payload = await answer(stream)
    assert (status, payload["code"]) == (408, "REQUEST_TIMEOUT")
    assert gateway.accepted == []


@short
@pytest.mark.parametrize("path", PATHS)
async def test_a_body_that_drips_for_ever_is_408_all_the_same(served, keys, path):
    framing = "transfer-encoding: chunked"

    async def drip(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                await stream.send_all(b"1\r\n \r\n")
                await trio.sleep(0.01)

    async with (
        await open_request(served, path, keys["secret"], framing) as stream,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(drip, stream)
        assert (await answer(stream))[0] == 408
        nursery.cancel_scope.cancel()
