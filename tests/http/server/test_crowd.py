"""Usual requests are answered together by one task, and whatever else by their connections' own."""

import json
import os
import re
import runpy
import socket
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from patience import HANG_S, until_true
from risala.config.model import HttpSection
from risala.engine.model.commands import Mode, Principal
from risala.engine.model.errors import Forbidden, InsufficientBalance
from risala.engine.model.records.keys import KeyType
from risala.http.common.base import JsonApp
from risala.http.common.plain import PlainAnswer
from risala.http.common.respond import json_bytes
from risala.http.server import crowd
from risala.http.server.crowd import HEADS_MAX, Crowd, KnownHeads
from risala.http.server.parser import RequestParser

PROBE = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("guard_probe.py"))))
OWN = re.compile(rb"(date|x-request-id): [^\r]*\r\n")
"""What differs from one answer to the other."""


def asked(body: bytes = b'{"n":1}', more: str = "", line: str = "POST /send HTTP/1.1") -> bytes:
    head = f"{line}\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return f"{head}{more}\r\n".encode() + body


class CrowdApp(JsonApp):
    """One path whose requests are answered together, and alone."""

    def __init__(self) -> None:
        super().__init__("crowd", body_bytes_max=10_000, body_timeout_s=300)
        self.route_plain("/send", self.alone)
        self.plain.together("/send", self)
        self.groups: list[list[int]] = []
        self.alones: list[bytes] = []
        self.go = trio.Event()
        self.go.set()
        self.fault: Exception | None = None
        self.is_asked_alone = False
        self.size = 0

    async def alone(self, request):
        self.holder(request)
        raw = b""
        while part := await request.body.next_part():
            raw += part
        self.alones.append(raw)
        return PlainAnswer(self.answer(json.loads(raw)["n"]))

    def answer(self, n: int) -> bytes:
        return json_bytes({"n": n, "more": "x" * self.size})

    # -- a handler of groups

    def takes(self, fields) -> bool:
        return fields.get(b"content-type") == [b"application/json"]

    def command(self, raw: bytes) -> int | None:
        found = json.loads(raw).get("n")
        return found if isinstance(found, int) else None

    def holder(self, request) -> Principal:
        if request.fields.get(b"x-api-key") == [b"wrong"]:
            raise Forbidden("This key is not for you.")
        principal = Principal("org_1", "key_1", Mode.LIVE, KeyType.SECRET)
        request.principal = principal
        return principal

    async def answers(self, _, commands):
        self.groups.append([*commands])
        await self.go.wait()
        if self.fault is not None:
            raise self.fault
        if self.is_asked_alone:
            return None
        return [InsufficientBalance() if n < 0 else self.answer(n) for n in commands]


@pytest.fixture
def app(monkeypatch):
    """An app that knows the crowd of its listener."""
    app = CrowdApp()
    stock = Crowd.__init__

    def begin(here: Crowd, face) -> None:
        stock(here, face)
        app.crowd = here

    monkeypatch.setattr(Crowd, "__init__", begin)
    return app


@pytest.fixture
async def address(app):
    async with PROBE.serving(app, HttpSection(graceful_stop_s=1)) as (address, stop):
        app.stop = stop
        yield address


def write(stream, request: bytes) -> None:
    """Send at once: what is written without a turn of the loop comes in the same one."""
    assert os.write(stream.socket.fileno(), request) == len(request)


async def answers_of(stream, count: int) -> list[bytes]:
    """So many answers of known length, head and body."""
    received, answers = b"", []
    with trio.fail_after(HANG_S):
        while len(answers) < count:
            head, end, body = received.partition(b"\r\n\r\n")
            length = int(re.search(rb"content-length: (\d+)", head)[1]) if end else 0
            if end and len(body) >= length:
                answers.append(head + end + body[:length])
                received = body[length:]
            else:
                more = await stream.receive_some()
                assert more, f"closed after {received!r}"
                received += more
    assert not received
    return answers


async def answer_of(stream) -> bytes:
    return (await answers_of(stream, 1))[0]


async def ask(stream, request: bytes) -> bytes:
    await stream.send_all(request)
    return await answer_of(stream)


def told(answer: bytes) -> dict:
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    return json.loads(answer.partition(b"\r\n\r\n")[2])


async def test_those_that_come_together_are_one_group(app, address):
    app.go = trio.Event()
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(await PROBE.open_raw(address)) for _ in range(9)]
        await streams[0].send_all(asked(b'{"n":0}'))
        await until_true(lambda: app.groups == [[0]])
        for n, stream in enumerate(streams[1:], 1):
            write(stream, asked(b'{"n":%d}' % (-n if n == 4 else n)))
        await trio.testing.wait_all_tasks_blocked(0.2)
        app.go.set()
        answers = [await answer_of(stream) for stream in streams]
    assert [sorted(group) for group in app.groups] == [[0], [-4, 1, 2, 3, 5, 6, 7, 8]]
    assert answers.pop(4).startswith(b"HTTP/1.1 402 ")
    assert [told(each)["n"] for each in answers] == [0, 1, 2, 3, 5, 6, 7, 8]
    assert not app.alones


async def test_what_comes_while_a_group_is_answered_is_the_next_one(app, address, monkeypatch):
    monkeypatch.setattr(crowd, "GATHER_S", HANG_S)
    app.go = trio.Event()
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(await PROBE.open_raw(address)) for _ in range(4)]
        for n, stream in enumerate(streams):
            await stream.send_all(asked(b'{"n":%d}' % n))
            await until_true(
                lambda n=n: app.groups and sum(map(len, app.crowd._gathered.values())) == n
            )
        assert app.groups == [[0]]
        app.go.set()
        assert [told(await answer_of(stream))["n"] for stream in streams] == [0, 1, 2, 3]
    assert [sorted(group) for group in app.groups] == [[0], [1, 2, 3]]
    assert not app.crowd._under_way


async def test_a_group_that_takes_long_is_not_waited_for(app, address):
    app.go = trio.Event()
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(await PROBE.open_raw(address)) for _ in range(3)]
        for n, stream in enumerate(streams):
            await stream.send_all(asked(b'{"n":%d}' % n))
            await until_true(lambda n=n: len(app.groups) == n + 1)
        app.go.set()
        assert [told(await answer_of(stream))["n"] for stream in streams] == [0, 1, 2]


async def test_the_answer_is_the_same_as_alone(app, address):
    async with await PROBE.open_raw(address) as stream:
        together = await ask(stream, asked())
        await stream.send_all(asked()[:30])
        await until_true(lambda: not app.crowd._sleeping)
        alone = await ask(stream, asked()[30:])
    assert len(app.alones) == len(app.groups) == 1
    assert OWN.sub(b"", together) == OWN.sub(b"", alone)


UNUSUAL = {
    "chunked": asked().replace(b"content-length: 7", b"transfer-encoding: chunked")[:-7]
    + b'7\r\n{"n":1}\r\n0\r\n\r\n',
    "two": asked() + asked(),
    "old": asked(line="POST /send HTTP/1.0", more="connection: keep-alive\r\n"),
    "close": asked(more="connection: close\r\n"),
    "query": asked(line="POST /send?a=1 HTTP/1.1"),
    "absolute": asked(line="POST http://x/send HTTP/1.1"),
    "charset": asked().replace(b"/json", b"/json; charset=utf-8"),
    "expects": asked(more="expect: 100-continue\r\n"),
    "long head": asked(more=f"x-filler: {'x' * 3000}\r\n"),
    "no command": asked(b'{"n":1.5}'),
    "empty line first": b"\r\n" + asked(),
}


@pytest.mark.parametrize("name", UNUSUAL)
async def test_what_is_unusual_has_its_own_task(app, address, name):
    async with await PROBE.open_raw(address) as stream:
        await stream.send_all(UNUSUAL[name])
        for answer in await answers_of(stream, 2 if name == "two" else 1):
            assert told(answer)["n"] in (1, 1.5)
    assert not app.groups
    assert len(app.alones) == (2 if name == "two" else 1)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (asked(line="GET /send HTTP/1.1"), 405),
        (asked(line="POST /nowhere HTTP/1.1"), 404),
        (asked(more="content-length: 8\r\n"), 400),
        (asked(more="x-api-key: wrong\r\n"), 403),
        (asked(b'{"n":1,"x":"%s"}' % (b"x" * 10_000)), None),
    ],
)
async def test_what_is_refused_is_refused_as_ever(app, address, request_, status):
    async with await PROBE.open_raw(address) as stream:
        answer = await ask(stream, request_)
    assert status is None or answer.startswith(b"HTTP/1.1 %d " % status)
    assert not app.groups


async def test_what_comes_meanwhile_is_answered_afterwards(app, address):
    app.go = trio.Event()
    async with await PROBE.open_raw(address) as stream:
        await stream.send_all(asked(b'{"n":1}'))
        await until_true(lambda: app.groups == [[1]])
        await stream.send_all(asked(b'{"n":2}'))
        await trio.testing.wait_all_tasks_blocked(0.1)
        app.go.set()
        assert [told(each)["n"] for each in await answers_of(stream, 2)] == [1, 2]
    assert app.groups == [[1], [2]]


async def test_an_answer_goes_to_nobody_else(app, address):
    """The client of a request goes, and the next one gets the number of its descriptor."""
    app.go = trio.Event()
    here = app.crowd
    gone = await PROBE.open_raw(address)
    await gone.send_all(asked(b'{"n":1}'))
    await until_true(lambda: app.groups == [[1]])
    (before,) = here._sleeping
    await gone.aclose()
    await until_true(lambda: not here._sleeping)
    async with AsyncExitStack() as stack:
        others = []
        while before not in here._sleeping:
            assert len(others) < 20
            others.append(await stack.enter_async_context(await PROBE.open_raw(address)))
            await until_true(lambda: len(here._sleeping) == len(others))
        app.go.set()
        await trio.testing.wait_all_tasks_blocked(0.1)
        for n, stream in enumerate(others, 10):
            assert told(await ask(stream, asked(b'{"n":%d}' % n)))["n"] == n


async def test_what_the_socket_has_no_room_for_follows(app, address):
    app.size = 3_000_000
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)
    sock = trio.socket.from_stdlib_socket(raw)
    await sock.connect(address)
    async with trio.SocketStream(sock) as stream:
        for _ in range(2):
            assert len(told(await ask(stream, asked()))["more"]) == app.size
    assert len(app.groups) == 2


async def test_keys_are_answered_apart(app, address):
    app.go = trio.Event()
    async with AsyncExitStack() as stack:
        for n, key in enumerate("aabb"):
            stream = await stack.enter_async_context(await PROBE.open_raw(address))
            await stream.send_all(asked(b'{"n":%d}' % n, more=f"x-api-key: {key}\r\n"))
        await until_true(lambda: sum(map(len, app.groups)) >= 2)
        assert {n // 2 for group in app.groups for n in group} == {0, 1}
        assert all(len({n // 2 for n in group}) == 1 for group in app.groups)
        app.go.set()


async def test_where_a_group_has_to_be_asked_alone_each_is(app, address):
    app.is_asked_alone = True
    async with await PROBE.open_raw(address) as stream:
        for n in range(3):
            assert told(await ask(stream, asked(b'{"n":%d}' % n)))["n"] == n
    assert (app.groups, len(app.alones)) == ([[0], [1], [2]], 3)


async def test_a_fault_is_the_answer_and_nothing_is_asked_again(app, address):
    app.fault = RuntimeError("a bug")
    async with await PROBE.open_raw(address) as stream:
        assert (await ask(stream, asked())).startswith(b"HTTP/1.1 500 ")
        app.fault = None
        assert told(await ask(stream, asked()))["n"] == 1
    assert not app.alones


@pytest.mark.parametrize("place", ["takes", "command"])
async def test_what_breaks_over_one_request_ends_nobody_elses(app, address, monkeypatch, place):
    async with await PROBE.open_raw(address) as stream, await PROBE.open_raw(address) as other:
        with monkeypatch.context() as broken:
            broken.setattr(app, place, lambda _: 1 / 0, raising=True)
            assert told(await ask(stream, asked()))["n"] == 1
        assert (app.groups, len(app.alones)) == ([], 1)
        assert told(await ask(other, asked(b'{"n":2}')))["n"] == 2
    assert app.groups == [[2]]


async def test_an_answer_that_breaks_ends_its_connection_alone(app, address, monkeypatch):
    async with await PROBE.open_raw(address) as stream, await PROBE.open_raw(address) as other:
        with monkeypatch.context() as broken:
            broken.setattr(app.plain, "group_answer", lambda *_: 1 / 0)
            await stream.send_all(asked())
            assert await PROBE.read_until(stream, None) == b""
        assert told(await ask(other, asked(b'{"n":2}')))["n"] == 2


async def test_nobody_has_a_body_read_without_a_key(app, address, monkeypatch):
    read = []
    monkeypatch.setattr(app, "command", read.append)
    async with await PROBE.open_raw(address) as stream:
        answer = await ask(stream, asked(more="x-api-key: wrong\r\n"))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert not read


async def test_a_stop_answers_what_has_come(app, address):
    app.go = trio.Event()
    async with await PROBE.open_raw(address) as idle, await PROBE.open_raw(address) as stream:
        await stream.send_all(asked())
        await until_true(lambda: app.groups == [[1]])
        app.stop.set()
        assert await PROBE.read_until(idle, None) == b""
        app.go.set()
        answer = await PROBE.read_until(stream, None)
    assert told(answer)["n"] == 1
    assert b"\r\nconnection: close\r\n" in answer


async def test_more_than_a_group_takes_are_two(app, address, monkeypatch):
    monkeypatch.setattr(crowd, "GROUP_MAX", 2)
    app.go = trio.Event()
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(await PROBE.open_raw(address)) for _ in range(6)]
        for n, stream in enumerate(streams):
            write(stream, asked(b'{"n":%d}' % n))
        await trio.testing.wait_all_tasks_blocked(0.2)
        app.go.set()
        assert [told(await answer_of(stream))["n"] for stream in streams] == [*range(6)]
    assert max(map(len, app.groups)) == 2


async def test_where_there_is_no_epoll_each_waits_for_itself(app, monkeypatch):
    monkeypatch.setattr(Crowd, "is_possible", staticmethod(lambda: False))
    async with (
        PROBE.serving(app, HttpSection()) as (address, _),
        await PROBE.open_raw(address) as stream,
    ):
        assert told(await ask(stream, asked()))["n"] == 1
    assert (app.groups, len(app.alones)) == ([], 1)


# -- what is remembered


def test_no_more_than_so_many_headers_are_remembered(app):
    heads = KnownHeads(app.plain)
    for n in range(HEADS_MAX + 20):
        assert heads.find(asked(more=f"x-n: {n}\r\n")[:-7]) is not None
    assert len(heads) == HEADS_MAX


def test_what_is_unusual_is_not_remembered(app):
    heads = KnownHeads(app.plain)
    for name in UNUSUAL.keys() - {"two", "no command"}:  # their headers are usual ones
        data = UNUSUAL[name]
        assert heads.find(data[: data.find(b"\r\n\r\n") + 4]) is None
    assert len(heads) == 0


FIELD = st.tuples(
    st.sampled_from(["X-Api-Key", "authorization", "Accept", "x-a", "content-length", "Expect"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
)


@given(st.lists(FIELD, max_size=4), st.sampled_from(["POST /send HTTP/1.1", "POST /send HTTP/1.0"]))
def test_a_header_says_what_the_parser_reads(fields, line):
    app = CrowdApp()
    data = asked(line=line, more="".join(f"{name}: {value}\r\n" for name, value in fields))
    head = data[: data.find(b"\r\n\r\n") + 4]
    heads = KnownHeads(app.plain)
    known = heads.find(head)
    assert heads.find(head) is known
    parser = RequestParser()
    parser.feed(head)
    (request,) = parser.requests
    if known is not None:
        assert request.fault is None
        assert request.keep
        assert (known.fields, known.length) == (request.fields, request.length)


# -- what the kernel tells once


@pytest.fixture
async def patient(app):
    """The address of a listener that would wait longer for an idle client than its tests do."""
    async with PROBE.serving(app, HttpSection(keep_alive_s=2 * HANG_S)) as (address, _):
        yield address


@pytest.mark.parametrize("count", [1, 2])
async def test_a_client_that_ends_its_side_is_answered_and_left(app, patient, count):
    app.go = trio.Event()
    async with await PROBE.open_raw(patient) as stream:
        for n in range(count - 1):
            write(stream, asked(b'{"n":%d}' % n))
            await until_true(lambda n=n: app.groups == [[n]])
        write(stream, asked())
        await stream.send_eof()
        await until_true(lambda: app.groups and (count == 1 or app.crowd._more))
        app.go.set()
        received = await PROBE.read_until(stream, None)
    assert received.count(b"HTTP/1.1 200 ") == len(app.groups) == count


async def test_what_is_behind_a_request_that_fills_a_read_is_answered(app, patient, monkeypatch):
    monkeypatch.setattr(crowd, "READ_BYTES", len(asked()))
    async with await PROBE.open_raw(patient) as stream:
        write(stream, b"".join(asked(b'{"n":%d}' % n) for n in range(3)))
        assert [told(each)["n"] for each in await answers_of(stream, 3)] == [0, 1, 2]
    assert not app.crowd._more


def test_an_empty_key_is_not_the_same_as_none(app):
    heads = KnownHeads(app.plain)
    whose = [heads.find(asked(more=more)[:-7]).who for more in ("", "x-api-key:\r\n")]
    assert whose[0] != whose[1]
