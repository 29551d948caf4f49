"""How long a connection may last, how a stop ends all of them, and how many there may be."""

import os
import resource
import runpy
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
import trio.testing

from patience import HANG_S, until_true
from risala.config.model import HttpSection
from risala.http.server import server
from risala.http.server.listener_state import ListenerState, Patience
from risala.http.server.sockets import connections_room

PROBE = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("guard_probe.py"))))
OK = b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(params=[PROBE.ProbeApp, PROBE.PlainProbeApp], ids=["quart", "plain"])
def app(request):
    return request.param()


@pytest.fixture
def serving(app):
    return partial(PROBE.serving, app, HttpSection(graceful_stop_s=1))


@pytest.fixture
def short(monkeypatch):
    """Patience that a test can wait for."""

    def use(**seconds):
        monkeypatch.setattr(server, "Patience", partial(Patience, **seconds))

    return use


class TestDeadlines:
    async def test_an_idle_connection_is_reaped(self, app, short):
        async with PROBE.serving(app, HttpSection(keep_alive_s=1)) as (address, _):
            assert await PROBE.talk(address, b"") == b""
            assert (await PROBE.talk(address, OK)).endswith(b"}")

    async def test_a_request_that_came_in_time_is_answered_however_late(self, app, mock_clock):
        """The process stood still, not the client: who of the two tasks comes first is chance."""
        async with PROBE.serving(app, HttpSection(keep_alive_s=1)) as (address, _):
            for _ in range(20):
                async with await PROBE.open_raw(address) as stream:
                    await stream.send_all(OK)
                    await PROBE.read_until(stream, b"}")
                    os.write(stream.socket.fileno(), OK)
                    mock_clock.jump(60)
                    assert (await PROBE.read_until(stream, b"}")).startswith(b"HTTP/1.1 200 ")
            mock_clock.autojump_threshold = 0

    async def test_who_asks_nothing_is_reaped_though_something_came(self, app, mock_clock):
        """Empty lines are no request: they put the end off once, and not for ever."""

        async def send_empty_lines(stream):
            for _ in range(300):
                with suppress(BlockingIOError):  # there is always more than was read
                    while True:
                        os.write(stream.socket.fileno(), b"\r\n" * 65536)
                mock_clock.jump(60)
                await trio.lowlevel.checkpoint()

        async with PROBE.serving(app, HttpSection(keep_alive_s=1)) as (address, _):
            async with await PROBE.open_raw(address) as stream:
                with pytest.raises(OSError, match=r"Broken pipe|reset"):
                    await send_empty_lines(stream)
            mock_clock.autojump_threshold = 0

    async def test_a_header_must_end_however_it_drips(self, serving, short):
        short(header_s=0.2)

        async def drip(stream):
            while True:
                await stream.send_all(b"G")
                await trio.sleep(0.05)

        async with serving() as (address, _), await PROBE.open_raw(address) as stream:
            with trio.fail_after(HANG_S), pytest.raises(trio.BrokenResourceError):
                await drip(stream)

    async def test_a_handler_without_a_word_is_given_up(self, app, serving, short):
        short(quiet_s=0.2)
        async with serving() as (address, _):
            assert await PROBE.talk(address, b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n") == b""
        assert app.told == ["slow began", "slow cancelled"]

    async def test_a_client_that_reads_nothing_is_given_up(self, serving, short):
        short(write_s=0.2)
        async with serving() as (address, _), await PROBE.open_raw(address) as stream:
            await stream.send_all(OK)
            await PROBE.read_until(stream, b"}")
            before = trio.lowlevel.current_statistics().tasks_living
            await stream.send_all(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
            await until_true(lambda: trio.lowlevel.current_statistics().tasks_living < before)


class TestStop:
    async def test_a_request_under_way_is_answered_and_told_that_we_close(self, app, serving):
        async with serving() as (address, shutdown), await PROBE.open_raw(address) as stream:
            await stream.send_all(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n" + OK)
            await until_true(lambda: app.told == ["wait began"])
            shutdown.set()
            await trio.testing.wait_all_tasks_blocked()
            app.go.set()
            answer = await PROBE.read_until(stream, None)
        assert answer.count(b"HTTP/1.1 200 ") == 1
        assert b"connection: close\r\n" in answer.lower()

    async def test_requests_during_a_stop_are_answered_or_closed(self, app, serving):
        ends = []

        async def ask(address):
            try:
                ends.append((await PROBE.talk(address, b"GET /ok HTTP/1.0\r\n\r\n"))[:12])
            except (OSError, trio.BrokenResourceError):  # it was not accepted any more
                ends.append(b"")

        with trio.fail_after(HANG_S):
            async with serving() as (address, shutdown), trio.open_nursery() as nursery:
                for count in range(100):
                    nursery.start_soon(ask, address)
                    if count == 50:
                        await trio.sleep(0.01)
                        shutdown.set()
        assert len(ends) == 100
        assert set(ends) <= {b"HTTP/1.1 200", b""}

    async def test_idle_connections_do_not_hold_a_stop(self, app):
        async with (
            PROBE.serving(app, HttpSection(graceful_stop_s=60)) as (address, shutdown),
            await PROBE.open_raw(address) as fresh,
            await PROBE.open_raw(address) as used,
        ):
            await used.send_all(OK)
            await PROBE.read_until(used, b"}")
            shutdown.set()
            assert await PROBE.read_until(fresh, None) == b""
            assert await PROBE.read_until(used, None) == b""


class TestLimit:
    async def test_beyond_it_the_longest_idle_goes_and_busy_ones_stay(self, app):
        http = HttpSection(connections_max=16)
        async with PROBE.serving(app, http) as (address, _), trio.open_nursery() as nursery:
            streams = [await PROBE.open_raw(address) for _ in range(16)]
            for stream in streams[1:]:
                await stream.send_all(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
            await until_true(lambda: len(app.told) == 15)
            async with await PROBE.open_raw(address) as one_more:
                await one_more.send_all(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
                assert await PROBE.read_until(streams[0], None) == b""
                await until_true(lambda: len(app.told) == 16)
                answer = await PROBE.talk(address, b"")
                assert PROBE.problem(answer) == "SERVICE_UNAVAILABLE"
                assert b"retry-after: 1\r\n" in answer
                app.go.set()
                for stream in (one_more, *streams[1:]):
                    assert b" 200 " in await PROBE.read_until(stream, b"}")
            for stream in streams:
                nursery.start_soon(stream.aclose)

    @pytest.mark.parametrize(
        ("limits", "wanted", "room", "raised"),
        [
            ((1024, 4096), 400, 400, None),
            ((1024, 4096), 1000, 1000, (1512, 4096)),
            ((1024, 4096), 10_000, 3584, (4096, 4096)),
            ((1024, -1), 10_000, 10_000, (10_512, -1)),
            ((-1, -1), 10_000, 10_000, None),
            ((256, 256), 10_000, 128, (256, 256)),
        ],
    )
    def test_open_files_are_left_for_the_rest(self, monkeypatch, limits, wanted, room, raised):
        calls = []
        monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
        monkeypatch.setattr(resource, "setrlimit", lambda _, new: calls.append(new))
        assert connections_room(wanted) == room
        assert calls == ([raised] if raised else [])

    def test_a_connection_that_left_is_forgotten(self):
        class Nobody:
            def close_idle(self):
                raise AssertionError

        face, first, second = (
            ListenerState(Patience(), 1, PROBE.ProbeApp().plain),
            Nobody(),
            Nobody(),
        )
        assert face.admit(first)
        face.mark_idle(first)
        face.leave(first)
        assert face.admit(second)
        assert face.connections == 1
