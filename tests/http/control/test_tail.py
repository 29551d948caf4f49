"""The streams over a real control socket: their bytes, their limits, and how they end."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from functools import partial

import httpcore2
import pytest
import trio

from patience import HANG_S, until_true
from risala.cli.reach.client import NotListening, StreamEvent, connect
from risala.cli.reach.refused import CommandRefused
from risala.config.model import HttpSection
from risala.engine.model.commands import LifeEvent
from risala.engine.model.errors import NotFound
from risala.engine.model.following import Lagged, OutboxEvent, Ready, Reset, What
from risala.engine.model.lines import Kind, Line
from risala.http.common.control_path import CONTROL_NAME, unix_address
from risala.http.control import streams as live
from risala.http.control.app import serve_control
from risala.http.control.streams import Streams
from risala.http.server import server
from risala.http.server.listener_state import Patience


class Follower:
    """Tells what the test gives it."""

    def __init__(self) -> None:
        self.give, self._take = trio.open_memory_channel[object](10_000)

    async def __anext__(self) -> object:
        try:
            return await self._take.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None

    def close(self) -> None:
        self.give.close()


class Gateway:
    """What can be followed, and nothing else."""

    def __init__(self) -> None:
        self.asked: list[tuple] = []
        self.followers: list[Follower] = []

    @contextmanager
    def _follow(self):
        follower = Follower()
        follower.give.send_nowait(Ready(1_767_225_600_000))
        self.followers.append(follower)
        try:
            yield follower
        finally:
            self.followers.remove(follower)

    def follow(self, what, organization_id=None, position=None):
        if organization_id == "org_unknown":
            raise NotFound("There is no organization org_unknown.")
        self.asked.append((what, organization_id, position))
        return self._follow()

    def tell(self, *values) -> None:
        for value in values:
            self.followers[-1].give.send_nowait(value)

    async def perform(self, name, arguments, caller):
        raise AssertionError


LIFE = LifeEvent(
    1_767_225_600_001,
    "sms_1",
    "org_1",
    "+22236123456",
    "sent",
    Line(Kind.HELD_BACK, values={"note": "é\u2028\n"}),
    raw="OK",
)
EVENT = OutboxEvent(7, "evt_1", "org_1", '{"id":"evt_1","text":"مرحبا"}')
LIFE_DATA = {
    "at": "2026-01-01T00:00:00.001Z", "messageId": "sms_1", "organizationId": "org_1",
    "to": "+22236123456", "status": "sent", "text": "é\u2028\n", "carrier": None, "raw": "OK",
}  # fmt: skip


@asynccontextmanager
async def serving(data_dir, gateway):
    stop = trio.Event()
    streams = Streams(gateway, stop)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(streams.run)
        await nursery.start(
            partial(
                serve_control, gateway, HttpSection(graceful_stop_s=5), data_dir,
                streams=streams, shutdown=stop,
            )
        )  # fmt: skip
        async with connect(data_dir) as client:
            yield client, streams, stop
        stop.set()


async def raw(data_dir, path: str, wanted: bytes, **headers: str) -> tuple[dict, bytes]:
    """The answer's headers, and its body up to ``wanted``."""
    with unix_address(data_dir / CONTROL_NAME) as address, trio.fail_after(HANG_S):
        async with (
            httpcore2.AsyncConnectionPool(uds=address) as pool,
            pool.stream("GET", f"http://control{path}", headers=list(headers.items())) as answer,
            aclosing(answer.aiter_stream()) as chunks,
        ):
            body = b""
            async for chunk in chunks:
                body += chunk
                if wanted in body:
                    break
            return {name.lower(): value for name, value in answer.headers}, body


async def test_the_bytes_are_those_of_a_browsers_event_source(tmp_path):
    gateway = Gateway()
    async with serving(tmp_path, gateway), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            await until_true(lambda: gateway.followers)
            gateway.tell(EVENT, LIFE, Lagged(3), Reset("Why."))

        headers, body = await raw(tmp_path, "/tail/all", b"Why.")
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert headers[b"cache-control"] == b"no-store"
    assert headers[b"x-accel-buffering"] == b"no"
    assert body.decode() == (
        "retry: 2000\n\n"
        "id: 1767225600000\nevent: ready\ndata: {}\n\n"
        'id: evt_1\nevent: event\ndata: {"id":"evt_1","text":"مرحبا"}\n\n'
        'event: life\ndata: {"at":"2026-01-01T00:00:00.001Z","messageId":"sms_1",'
        '"organizationId":"org_1","to":"+22236123456","status":"sent","text":"é\u2028\\n",'
        '"carrier":null,"raw":"OK"}\n\n'
        'event: lagged\ndata: {"lost":3}\n\n'
        'event: reset\ndata: {"reason":"Why."}\n\n'
    )


def told_as(kind: str, data: dict, position: str | None) -> StreamEvent:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return StreamEvent(kind, data, position, text)


async def test_the_client_reads_them(tmp_path):
    gateway = Gateway()
    async with (
        serving(tmp_path, gateway) as (client, _, _),
        aclosing(client.tail("life", "org_1", "42")) as told,
    ):
        assert await anext(told) == told_as("ready", {}, "1767225600000")
        assert gateway.asked == [(What.LIFE, "org_1", "42")]
        gateway.tell(LIFE, EVENT, Lagged(2))
        assert await anext(told) == told_as("life", LIFE_DATA, "1767225600001")
        assert await anext(told) == told_as("event", {"id": "evt_1", "text": "مرحبا"}, "evt_1")
        assert await anext(told) == told_as("lagged", {"lost": 2}, None)


@pytest.mark.parametrize("position", ["x" * 65, "é"])
async def test_a_position_of_nobodys_is_no_fault(tmp_path, position):
    gateway = Gateway()
    async with serving(tmp_path, gateway):
        given = {"Last-Event-ID": position.encode()}
        _, body = await raw(tmp_path, "/tail/events", b"ready", **given)
    assert b"ready" in body
    assert len(gateway.asked[0][2]) < 65


async def test_a_quiet_stream_says_that_it_lives(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "BEAT_S", 0.05)
    gateway = Gateway()
    async with serving(tmp_path, gateway):
        _, body = await raw(tmp_path, "/tail/life", b": alive\n\n: alive\n\n")
    assert body.endswith(b"data: {}\n\n: alive\n\n: alive\n\n")


async def test_a_stop_ends_the_streams_at_once_and_begins_none(tmp_path):
    gateway = Gateway()
    async with (
        serving(tmp_path, gateway) as (client, streams, stop),
        aclosing(client.tail("life")) as told,
    ):
        await anext(told)
        stop.set()
        with trio.fail_after(HANG_S), pytest.raises(StopAsyncIteration):
            await anext(told)
        assert streams.open == 0
        with pytest.raises(Exception, match="stopping"):
            streams.response(What.LIFE, None)


async def test_who_goes_away_is_forgotten(tmp_path):
    gateway = Gateway()
    async with serving(tmp_path, gateway) as (client, streams, _):
        async with aclosing(client.tail("life")) as told:
            await anext(told)
            assert streams.open == 1
        await until_true(lambda: not gateway.followers and not streams.open)


@pytest.mark.slow
async def test_who_reads_nothing_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "Patience", partial(Patience, write_s=0.2))
    gateway = Gateway()
    async with serving(tmp_path, gateway) as (_, streams, _):
        with unix_address(tmp_path / CONTROL_NAME) as address:
            deaf = await trio.open_unix_socket(address)
            async with deaf:
                await deaf.send_all(b"GET /tail/events HTTP/1.1\r\nhost: control\r\n\r\n")
                await until_true(lambda: streams.open)
                gateway.tell(
                    *[OutboxEvent(n, f"evt_{n}", "org_1", "x" * 1000) for n in range(5000)]
                )
                await until_true(lambda: not streams.open)


async def test_an_organization_has_so_many_and_all_have_so_many(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "STREAMS_PER_ORGANIZATION_MAX", 2)
    monkeypatch.setattr(live, "STREAMS_MAX", 3)
    gateway = Gateway()
    async with serving(tmp_path, gateway) as (client, streams, _), AsyncExitStack() as open_:

        async def begin(organization_id):
            told = await open_.enter_async_context(aclosing(client.tail("life", organization_id)))
            return (await anext(told)).kind

        assert [await begin("org_1"), await begin("org_1")] == ["ready", "ready"]
        with pytest.raises(CommandRefused, match="2 such streams"):
            await begin("org_1")
        headers, body = await raw(tmp_path, "/tail/life?organization=org_1", b"}")
        assert headers[b"retry-after"] == b"30"
        assert b'"status":429' in body
        assert b'"limit":"streams"' in body
        assert await begin("org_2") == "ready"
        with pytest.raises(NotListening, match="Too many"):
            await begin("org_3")
        headers, body = await raw(tmp_path, "/tail/life?organization=org_3", b"}")
        assert b'"status":503' in body
        await open_.aclose()
        await until_true(lambda: not streams.open)
        assert await begin("org_1") == "ready"


async def test_an_unknown_organization_is_a_404(tmp_path):
    async with serving(tmp_path, Gateway()) as (client, _, _):
        with pytest.raises(CommandRefused, match="no organization org_unknown"):
            await anext(client.tail("life", "org_unknown"))


async def test_an_older_service_is_named_as_such(tmp_path):
    async with serving(tmp_path, Gateway()) as (client, _, _):
        with pytest.raises(CommandRefused, match="older"):
            await anext(client.tail("nothing"))
