"""Thousands of hostile connections: they cost only themselves."""

import os
import random
import runpy
import socket
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio

from cases import examples
from patience import HANG_S, until_true
from risala.config.model import HttpSection
from risala.http.server import server
from risala.http.server.listener_state import Patience
from risala.http.server.sockets import listen_control

PROBE_FILE = Path(__file__).with_name("guard_probe.py")
PROBE = SimpleNamespace(**runpy.run_path(str(PROBE_FILE)))

HEAD = b" HTTP/1.1\r\nHost: x\r\n"
OK = b"GET /ok" + HEAD + b"\r\n"
POST = b"POST /echo" + HEAD
WEBSOCKET = (
    HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
H2C = HEAD + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: "
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

AT_ONCE = 250
"""Hostile connections at one moment."""


def junk(dice, most=200):
    return dice.randbytes(dice.randint(1, most))


def half(dice, whole):
    return whole[: dice.randint(1, len(whole) - 1)]


# What each sort of client sends, piece by piece; after the last it acts by its ending.
SORTS = {
    "websocket and junk": lambda dice: [b"GET /ok" + WEBSOCKET, junk(dice)],
    "websocket and junk in one": lambda dice: [b"GET /nothing" + WEBSOCKET + junk(dice)],
    "pipelined": lambda dice: [OK * 3],
    "pipelined with bodies": lambda dice: [(POST + b"Content-Length: 3\r\n\r\nabc") * 5 + OK],
    "pipelined and junk": lambda dice: [OK * 2 + junk(dice)],
    "bad http2-settings": lambda dice: [b"GET /ok" + H2C + b"!not base64=\r\n\r\n", junk(dice)],
    "http2 upgrade": lambda dice: [b"GET /ok" + H2C + b"AAMAAABkAAQAAP__\r\n\r\n" + PREFACE],
    "http2 preface": lambda dice: [PREFACE + junk(dice)],
    "half a header": lambda dice: [half(dice, OK)],
    "a dripping header": lambda dice: [bytes([byte]) for byte in half(dice, OK)],
    "half a body": lambda dice: [POST + b"Content-Length: 1000\r\n\r\n" + junk(dice)],
    "a slow body": lambda dice: [POST + b"Content-Length: 50\r\n\r\n", b"a", b"b", b"c"],
    "random bytes": lambda dice: [junk(dice), junk(dice)],
    "a header like none": lambda dice: [b"GET /ok HTTP/1.1\r\n" + junk(dice) + b"\r\n\r\n"],
    "a huge header": lambda dice: [OK[:-2] + b"x: " + b"a" * 100_000],
    "chunks without end": lambda dice: [
        POST + b"Transfer-Encoding: chunked\r\n\r\n",
        *[b"4000\r\n" + bytes(0x4000) + b"\r\n"] * 20,
    ],
    "chunks of nonsense": lambda dice: [
        POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", junk(dice) + b"\r\n"
    ],
    "two lengths": lambda dice: [POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"],
    "expects and is silent": lambda dice: [
        POST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    ],
    "tunnel": lambda dice: [b"CONNECT x:1" + HEAD + b"\r\n" + junk(dice)],
    "odd target": lambda dice: [
        dice.choice([b"GET *", b"GET http://[", b"GET ?", b"GET //[", b"GET %00"]) + HEAD + b"\r\n"
    ],
    "a slow handler left": lambda dice: [b"GET /slow" + HEAD + b"\r\n"],
    "a stream left": lambda dice: [b"GET /stream" + HEAD + b"\r\n"],
    "nothing": lambda dice: [],
}  # fmt: skip
NEVER_READS = [b"GET /big" + HEAD + b"\r\n"]
FAR_TOO_MANY = [OK * 600]


async def close_at_once(stream):
    await trio.lowlevel.checkpoint()


async def reset(stream):
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    await trio.lowlevel.checkpoint()


async def half_close(stream):
    await stream.send_eof()
    await be_silent(stream)


async def be_silent(stream):
    """Wait for the server to have had enough."""
    while await stream.receive_some():
        pass


async def never_read(stream):
    await trio.sleep(0.5)


ENDINGS = [close_at_once, close_at_once, reset, half_close, be_silent]


async def attack(address, pieces, ending, limit):
    async with limit:
        try:
            async with await PROBE.open_raw(address) as stream:
                for piece in pieces:
                    await stream.send_all(piece)
                    await trio.sleep(0.001)
                with trio.fail_after(HANG_S):
                    await ending(stream)
        except (OSError, trio.BrokenResourceError):
            pass  # the server has closed: its right


async def attack_by(count, address, dice, done):
    """``count`` attacks of all sorts; some read nothing of 50 MB, some never end asking."""
    limit, few = trio.CapacityLimiter(AT_ONCE), trio.CapacityLimiter(4)
    sorts = [*SORTS]
    async with trio.open_nursery() as nursery:
        for number in range(count):
            if number % 200 == 0:
                sort, pieces, ending, room = "never reads", NEVER_READS, never_read, few
            elif number % 500 == 1:
                sort, pieces, ending, room = "far too many", FAR_TOO_MANY, half_close, few
            else:
                sort, room = sorts[number % len(sorts)], limit
                # Those two the server does not end within the patience of this test.
                mortal = sort not in ("a slow handler left", "a stream left")
                pieces, ending = SORTS[sort](dice), dice.choice(ENDINGS if mortal else ENDINGS[:3])
            nursery.start_soon(attack, address, pieces, ending, room)
            done[sort] += 1


async def ask_kept(address, answers, *, task_status=trio.TASK_STATUS_IGNORED):
    """An honest client that keeps its connection."""
    async with await PROBE.open_raw(address) as kept:
        task_status.started()
        while True:
            await kept.send_all(OK)
            assert (await PROBE.read_until(kept, b"}")).startswith(b"HTTP/1.1 200 ")
            answers.append("kept")
            await trio.sleep(0.01)


async def ask_anew(address, answers):
    """An honest client that opens a connection each time."""
    while True:
        answer = await PROBE.talk(address, b"GET /ok HTTP/1.0\r\n\r\n")
        assert answer.endswith(b'{"status":"ok"}')
        answers.append("anew")
        await trio.sleep(0.01)


def held():
    tasks = trio.lowlevel.current_statistics().tasks_living
    return tasks, len(os.listdir("/proc/self/fd"))


async def survive(count, address, shutdown, seed):
    answers: list[str] = []
    done: Counter[str] = Counter()
    await PROBE.talk(address, b"GET /ok HTTP/1.0\r\n\r\n")
    await trio.sleep(0.1)  # for the end of that connection's task
    before = held()
    async with trio.open_nursery() as nursery:
        await nursery.start(ask_kept, address, answers)
        nursery.start_soon(ask_anew, address, answers)
        await attack_by(count, address, random.Random(seed), done)
        nursery.cancel_scope.cancel()
    assert sum(done.values()) == count
    await until_true(lambda: held() == before)
    assert min(Counter(answers).values()) >= 20
    answer = await PROBE.talk(address, b"GET /ok HTTP/1.0\r\n\r\n")
    assert answer.endswith(b'{"status":"ok"}')
    shutdown.set()


@pytest.fixture
def impatient(monkeypatch):
    patience = partial(Patience, header_s=2, quiet_s=20, write_s=0.3, linger_s=0.3)
    monkeypatch.setattr(server, "Patience", patience)
    return HttpSection(keep_alive_s=4, graceful_stop_s=1)


APPS = pytest.mark.parametrize(
    "probe", [PROBE.ProbeApp, PROBE.PlainProbeApp], ids=["quart", "plain"]
)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("probe", "count"),
    # Each sort of client ends in each way a dozen times among 2,000, too: as many are enough where
    # less than all is asked for.
    [(PROBE.ProbeApp, 2000), (PROBE.PlainProbeApp, max(2000, examples(5000)))],
    ids=["quart", "plain"],
)
async def test_5000_hostile_connections(impatient, caplog, probe, count):
    async with PROBE.serving(probe(body_timeout_s=0.5), impatient) as (address, shutdown):
        await survive(count, address, shutdown, 1)
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.slow
@pytest.mark.long
@APPS
async def test_hundreds_on_the_control_socket(impatient, tmp_path, monkeypatch, probe):
    monkeypatch.setattr(server, "_CONTROL_CONNECTIONS_MAX", AT_ONCE + 50)
    with listen_control(tmp_path) as sock:
        async with PROBE.serving(probe(body_timeout_s=0.5), impatient, sock) as (
            address,
            shutdown,
        ):
            await survive(400, address, shutdown, 2)
