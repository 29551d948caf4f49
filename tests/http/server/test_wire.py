"""What goes over the wire, as a table of probes: requests in pieces, and how they are answered.

Nothing in here knows which parser serves; a piece is sent when the server has done all that it
could with the pieces before.
"""

import json
import runpy
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
import trio
import trio.testing

from risala.config.model import HttpSection, Settings
from risala.http.common.origins import EXPOSED
from risala.http.server import server
from risala.http.server.answer import http_date
from risala.http.server.listener_state import Patience

WIRE = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("wire.py"))))
request = WIRE.request

SECRET = "sk_live_" + "a" * 32
PUBLISHABLE = "pk_live_" + "b" * 32
JSON = "Content-Type: application/json"
KEY = f"x-api-key: {SECRET}"
BODY = b'{"to":"+22236123456","body":"Hello"}'
LENGTH = f"Content-Length: {len(BODY)}"
CHUNKED = "Transfer-Encoding: chunked"
EXPECT = "Expect: 100-continue"
IN_CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
BIG_CHUNK = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
SEND = "POST /api/sms HTTP/1.1"
ALIVE = request("GET /healthz HTTP/1.1")
CHECK = "POST /api/verify/check HTTP/1.1"

GOOD = request(SEND, KEY, JSON, LENGTH, body=BODY)
WRONG_KEY = request(SEND, "x-api-key: wrong", JSON, LENGTH)


@dataclass(frozen=True)
class Probe:
    pieces: list[bytes]
    statuses: list[int]
    closes: bool = False
    """Whether the last answer says that the connection ends, and it does; else it serves on."""


# By what is to be shown. In each the request is refused before its body is there.
EARLY = {
    "no key": Probe([request(SEND, JSON, LENGTH), BODY], [401]),
    "a wrong key": Probe([WRONG_KEY, BODY], [401]),
    "a wrong key, byte by byte": Probe([WRONG_KEY, *(bytes([byte]) for byte in BODY)], [401]),
    "the wrong sort of key": Probe(
        [request(SEND, f"x-api-key: {PUBLISHABLE}", JSON, LENGTH), BODY], [403]
    ),
    "no such path": Probe([request("POST /nothing HTTP/1.1", KEY, JSON, LENGTH), BODY], [404]),
    "another method": Probe([request("PUT /api/sms HTTP/1.1", KEY, JSON, LENGTH), BODY], [405]),
    "another media type": Probe([request(SEND, KEY, "Content-Type: x/y", LENGTH), BODY], [415]),
    "chunks": Probe([request(SEND, JSON, CHUNKED), IN_CHUNKS[:5], IN_CHUNKS[5:]], [401]),
    "a body to a GET": Probe([request("GET /healthz HTTP/1.1", LENGTH), BODY], [200]),
    "refused, then taken": Probe([WRONG_KEY, BODY + GOOD], [401, 200]),
    "refused three times": Probe([WRONG_KEY, BODY + WRONG_KEY, BODY + WRONG_KEY, BODY], [401] * 3),
    "a long body by its length": Probe(
        [request(SEND, "Content-Length: 1000000")], [401], closes=True
    ),
    "a long body in chunks": Probe([request(SEND, CHUNKED), *[BIG_CHUNK] * 3], [401], closes=True),
    "beyond the limit by its length": Probe(
        [request(SEND, KEY, JSON, "Content-Length: 65537")], [413], closes=True
    ),
    "beyond the limit in chunks": Probe(
        [request(SEND, KEY, JSON, CHUNKED), *[BIG_CHUNK] * 3], [413], closes=True
    ),
    "the client wants to close": Probe(
        [request(SEND, "Connection: close", LENGTH), BODY], [401], closes=True
    ),
}
# In these the rest of the body is waited for, and does not come.
LATE = {
    "the rest never comes": Probe([WRONG_KEY, BODY[:-1]], [401], closes=True),
    "a chunk never comes": Probe([request(SEND, CHUNKED), b"5\r\nab"], [401], closes=True),
    "too slow": Probe([request(SEND, KEY, JSON, LENGTH), BODY[:-1]], [408], closes=True),
}
LEAVE = {
    "asked for": Probe([request(SEND, KEY, JSON, LENGTH, EXPECT), BODY], [100, 200]),
    "asked for in chunks": Probe(
        [request(SEND, KEY, JSON, CHUNKED, EXPECT), IN_CHUNKS], [100, 200]
    ),
    "sent without waiting": Probe([request(SEND, KEY, JSON, LENGTH, EXPECT, body=BODY)], [200]),
    "no key": Probe([request(SEND, JSON, LENGTH, EXPECT)], [401], closes=True),
    "no key, sent all the same": Probe(
        [request(SEND, JSON, LENGTH, EXPECT), BODY], [401], closes=True
    ),
    "no such path": Probe([request("POST /x HTTP/1.1", LENGTH, EXPECT)], [404], closes=True),
    "not JSON": Probe([request(SEND, KEY, LENGTH, EXPECT)], [415], closes=True),
    "too long": Probe(
        [request(SEND, KEY, JSON, "Content-Length: 65537", EXPECT)], [413], closes=True
    ),
    "by an old client": Probe(
        [request("POST /api/sms HTTP/1.0", KEY, JSON, LENGTH, EXPECT), BODY], [200], closes=True
    ),
}
FRAMES = {
    "two lengths told": Probe(
        [request(SEND, KEY, JSON, LENGTH, CHUNKED, body=IN_CHUNKS)], [400], closes=True
    ),
    "in the other order": Probe(
        [request(SEND, KEY, JSON, CHUNKED, "Content-Length: 0", body=IN_CHUNKS)], [400], closes=True
    ),
    "a request hidden behind": Probe(
        [request(SEND, KEY, JSON, "Content-Length: 5", CHUNKED, body=b"0\r\n\r\n" + GOOD)],
        [400],
        closes=True,
    ),
    "chunks from an old client": Probe(
        [request("POST /api/sms HTTP/1.0", KEY, JSON, CHUNKED, body=IN_CHUNKS)], [400], closes=True
    ),
    "different lengths": Probe(
        [request(SEND, KEY, LENGTH, "Content-Length: 1", body=BODY)], [400], closes=True
    ),
    "no length": Probe([request(SEND, KEY, "Content-Length: x", body=BODY)], [400], closes=True),
    "another coding": Probe(
        [request(SEND, KEY, "Transfer-Encoding: gzip, chunked")], [400], closes=True
    ),
    "a broken chunk": Probe(
        [request(SEND, KEY, JSON, CHUNKED, body=b"zz\r\n")], [400], closes=True
    ),
    "no host": Probe([request(SEND, KEY, JSON, LENGTH, host=None, body=BODY)], [400], closes=True),
    "no colon": Probe([request(SEND, "no colon")], [400], closes=True),
    "a space before the colon": Probe([request(SEND, "x-api-key : a")], [400], closes=True),
    "a header without end": Probe([request(SEND, "x: " + "a" * 70_000)], [431], closes=True),
    "a tunnel": Probe([request("CONNECT example.com:443 HTTP/1.1")], [400], closes=True),
    "TLS": Probe([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n"], [400], closes=True),
    "one empty line before": Probe([b"\r\n" + GOOD], [200]),
    "several, in pieces": Probe([b"\r", b"\n\r\n", GOOD], [200]),
    "after a body": Probe([GOOD + b"\r\n", GOOD], [200, 200]),
    "after a body, read ahead": Probe([GOOD + b"\r\n" + GOOD + b"\r\n\r\n" + ALIVE], [200] * 3),
    "a line that is not empty": Probe([b" \r\n" + GOOD], [400], closes=True),
}
PLACES = {
    "/api/sms": 200,
    "/api/sms?a=b": 200,
    "http://x/api/sms": 200,
    "HTTP://elsewhere:81/api/sms?a": 200,
    "//api/sms": 404,
    "///api/sms": 404,
    "/api//sms": 404,
    "/api/sms/": 404,
    "/api/sms//": 404,
    "/api%2fsms": 404,
    "/api%2Fsms": 404,
    "/%61pi/sms": 404,
    "/api/sm%73": 404,
    "/api/./sms": 404,
    "/api/x/../sms": 404,
    "/api/%2e/sms": 404,
    "/API/sms": 404,
    "/api/sms;x=1": 404,
    "/api/sms%20": 404,
    "/api/sms%00": 404,
    "/api\\sms": 404,
    "http://x//api/sms": 404,
    "http://x/api%2fsms": 404,
    "http://x/api/sms%3F": 404,
    "http://x": 404,
    "*": 404,
    "api/sms": 400,
    "?a": 400,
    "http://[/api/sms": 400,
    "http:///api/sms": 400,
    "ftp://x/api/sms": 400,
}


@pytest.fixture
def patience_s():
    """For bodies, wanted or not: far longer than any probe lasts."""
    return 30.0


@pytest.fixture
def settings(patience_s, monkeypatch):
    monkeypatch.setattr(server, "Patience", partial(Patience, rest_s=patience_s))
    http = HttpSection(port=0, body_timeout_s=patience_s, graceful_stop_s=1)
    return Settings(http=http)


async def play(url, probe):
    async with WIRE.open_wire(url) as wire:
        for piece in probe.pieces:
            await wire.send(piece)
            await trio.testing.wait_all_tasks_blocked(0.002)
        answers = [await wire.answer() for _ in probe.statuses]
        assert [answer.status for answer in answers] == probe.statuses
        assert [answer.says_close for answer in answers[:-1]] == [False] * (len(answers) - 1)
        assert answers[-1].says_close == probe.closes
        if probe.closes:
            assert await wire.is_closed()
        else:
            await wire.send(ALIVE)
            assert (await wire.answer()).status == 200
    return answers


def table(rows):
    return pytest.mark.parametrize("probe", rows.values(), ids=rows)


@table(EARLY)
async def test_an_answer_before_the_body_never_spoils_the_connection(served, gateway, probe):
    for answer in await play(served, probe):
        challenged = answer.headers.get(b"www-authenticate") == b'Bearer realm="risala"'
        assert challenged == (answer.status == 401)
    assert len(gateway.accepted) == (200 in probe.statuses and b"api/sms" in probe.pieces[-1])


class TestLate:
    @pytest.fixture
    def patience_s(self):
        return 0.05

    @table(LATE)
    async def test_an_answer_that_waits_no_longer_says_that_the_connection_ends(
        self, served, gateway, probe
    ):
        await play(served, probe)
        assert gateway.accepted == []


@table(LEAVE)
async def test_leave_to_send_the_body_is_given_once_the_head_has_passed(served, gateway, probe):
    await play(served, probe)
    assert len(gateway.accepted) == probe.statuses.count(200)


@table(FRAMES)
async def test_where_a_request_begins_and_ends(served, gateway, probe):
    answers = await play(served, probe)
    for answer in answers:
        if answer.status >= 400:
            content = json.loads(answer.body)
            assert answer.headers[b"content-type"] == b"application/json"
            assert (content["status"], content["data"]) == (answer.status, {})
            assert answer.headers[b"x-request-id"].decode() == content["requestId"]
    if 200 not in probe.statuses:
        assert gateway.accepted == []


@pytest.mark.parametrize(("target", "status"), PLACES.items())
async def test_a_path_is_the_one_that_is_documented(served, gateway, target, status):
    whole = request(f"POST {target} HTTP/1.1", KEY, JSON, LENGTH, body=BODY)
    await play(served, Probe([whole], [status], closes=status == 400))
    assert len(gateway.accepted) == (status == 200)


ORIGIN = "Origin: https://app.example"
APP = b"https://app.example"
BROKEN = "no colon"
# A request that is refused below the API, and the origin whose pages may read why.
READERS = [
    (request(CHECK, ORIGIN, BROKEN), APP),
    (request(CHECK, BROKEN, ORIGIN), APP),
    (request(CHECK, "oRiGiN:https://app.example", BROKEN), APP),
    (request(CHECK.replace("check", "send?x"), ORIGIN, BROKEN), APP),
    (request(CHECK, ORIGIN, LENGTH, CHUNKED), APP),
    (request(CHECK, ORIGIN, "x: " + "a" * 70_000), APP),
    (request(CHECK, ORIGIN, CHUNKED, "x-api-key: " + SECRET, JSON, body=b"zz\r\n"), APP),
    (request(CHECK, "Upgrade: websocket", ORIGIN), APP),
    (request(CHECK, "x: " + "a" * 70_000), b"*"),
    (b"\x16\x03\x01\r\n", b"*"),
    (request(SEND, ORIGIN, BROKEN), None),
    (request(SEND, ORIGIN, LENGTH, CHUNKED), None),
    (request(SEND, ORIGIN, "x: " + "a" * 70_000), None),
    (request("GET /docs HTTP/1.1", ORIGIN, BROKEN), None),
]


@pytest.mark.parametrize(("sent", "reader"), READERS)
async def test_a_page_may_read_why_its_request_was_no_http(served, sent, reader):
    async with WIRE.open_wire(served) as wire:
        await wire.send(sent)
        answer = await wire.answer()
    assert answer.status in (400, 431)
    assert json.loads(answer.body)["code"] in ("BAD_REQUEST", "REQUEST_HEADER_FIELDS_TOO_LARGE")
    assert answer.headers.get(b"access-control-allow-origin") == reader
    exposed = None if reader is None else EXPOSED.encode()
    assert answer.headers.get(b"access-control-expose-headers") == exposed


async def test_an_answer_to_head_says_no_body_and_the_rest_is_dropped(served):
    async with WIRE.open_wire(served) as wire:
        await wire.send(request("HEAD /healthz HTTP/1.1", LENGTH))
        await trio.testing.wait_all_tasks_blocked(0.002)
        await wire.send(BODY + ALIVE)
        assert (await wire.answer(bodiless=True)).status == 200
        assert (await wire.answer()).status == 200


async def test_a_library_that_sends_head_and_body_apart_loses_no_request(served, gateway):
    async def late():
        await trio.testing.wait_all_tasks_blocked(0.002)
        yield BODY

    async with httpx2.AsyncClient(base_url=served, trust_env=False) as client:
        for _ in range(5):
            for path, key, status in (
                ("/api/sms", "wrong", 401), ("/nothing", SECRET, 404), ("/api/sms", SECRET, 200),
            ):  # fmt: skip
                for length in ({}, {"content-length": str(len(BODY))}):
                    headers = {"x-api-key": key, "content-type": "application/json", **length}
                    response = await client.post(path, headers=headers, content=late())
                    assert response.status_code == status
    assert len(gateway.accepted) == 10


@pytest.mark.parametrize("first", [0, 951_782_399, 1_798_761_599])
def test_a_date_is_written_as_the_standard_library_writes_it(first):
    """From the epoch, the end of a 28th of February in a leap year, and the end of a year, on."""
    for second in range(first, first + 366 * 86_400, 86_399):
        assert http_date(second) == formatdate(second, usegmt=True)
