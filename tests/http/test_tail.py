"""What happens, over a real control socket: from the first line on nothing is missing silently."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from functools import partial

import pytest
import trio

from risala.cli.client import connect
from risala.cli.refused import Refused
from risala.config.model import HttpSection
from risala.engine.broadcast import Broadcast
from risala.engine.commands import LifeEvent
from risala.http import tail
from risala.http.control import serve_control


class Gateway:
    """What can be followed, and nothing else."""

    def __init__(self) -> None:
        self.life: Broadcast[LifeEvent] = Broadcast()
        self.events: Broadcast[dict] = Broadcast()

    def watch(self, events_max: int = 10):
        return self.life.subscribe(events_max)

    def watch_events(self, events_max: int = 10):
        return self.events.subscribe(events_max)

    async def perform(self, name, arguments):
        raise AssertionError


def happening(n: int) -> LifeEvent:
    return LifeEvent(
        1_767_225_600_000 + n, f"sms_{n}", "org_1", "+22236123456", "sent", "é", None, None
    )


@asynccontextmanager
async def serving(data_dir, gateway):
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        await nursery.start(
            partial(
                serve_control, gateway, HttpSection(graceful_stop_s=5), data_dir,
                watched=gateway, shutdown=stop,
            )
        )  # fmt: skip
        async with connect(data_dir) as client:
            yield client, stop
        stop.set()


async def test_each_change_is_a_line(tmp_path):
    gateway = Gateway()
    async with serving(tmp_path, gateway) as (client, _), aclosing(client.tail("life")) as lines:
        assert await anext(lines) == {"kind": "alive"}
        for n in range(3):
            gateway.life.publish(happening(n))
        seen = [await anext(lines) for _ in range(3)]
        assert [line["messageId"] for line in seen] == ["sms_0", "sms_1", "sms_2"]
        assert seen[0] == {
            "kind": "life", "at": "2026-01-01T00:00:00.000Z", "messageId": "sms_0",
            "organizationId": "org_1", "to": "+22236123456", "status": "sent", "text": "é",
            "carrier": None, "raw": None,
        }  # fmt: skip


async def test_events_are_followed_by_themselves(tmp_path):
    gateway = Gateway()
    async with serving(tmp_path, gateway) as (client, _), aclosing(client.tail("events")) as lines:
        await anext(lines)
        gateway.life.publish(happening(0))
        gateway.events.publish({"id": "evt_1", "organizationId": "org_1"})
        line = await anext(lines)
        assert (line["kind"], line["event"]["id"]) == ("event", "evt_1")


async def test_who_is_too_slow_is_told_so_and_holds_nobody_up(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "WAITING_MAX", 5)
    gateway = Gateway()
    async with serving(tmp_path, gateway) as (client, _), aclosing(client.tail("life")) as lines:
        await anext(lines)
        for n in range(100):
            gateway.life.publish(happening(n))
        seen = [await anext(lines) for _ in range(6)]
        lost = sum(line["lost"] for line in seen if line["kind"] == "lagged")
        assert lost == 95
        assert [line["messageId"] for line in seen if line["kind"] == "life"] == [
            f"sms_{n}" for n in range(95, 100)
        ]


async def test_a_quiet_stream_says_that_it_lives(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "BEAT_S", 0.1)
    monkeypatch.setattr(tail, "LOOK_S", 0.05)
    async with (
        serving(tmp_path, Gateway()) as (client, _),
        aclosing(client.tail("life")) as lines,
    ):
        with trio.fail_after(5):
            assert [await anext(lines) for _ in range(3)] == [{"kind": "alive"}] * 3


async def test_a_stop_ends_the_streams_soon(tmp_path):
    async with (
        serving(tmp_path, Gateway()) as (client, stop),
        aclosing(client.tail("life")) as lines,
    ):
        await anext(lines)
        stop.set()
        with trio.fail_after(3), pytest.raises(StopAsyncIteration):
            await anext(lines)


async def test_who_goes_away_is_forgotten(tmp_path):
    gateway = Gateway()
    async with serving(tmp_path, gateway) as (client, _):
        async with aclosing(client.tail("life")) as lines:
            await anext(lines)
            assert gateway.life.listeners == 1
        with trio.fail_after(5):
            while gateway.life.listeners:
                gateway.life.publish(happening(1))
                await trio.sleep(0.01)


async def test_an_older_service_is_named_as_such(tmp_path):
    async with (
        serving(tmp_path, Gateway()) as (client, _),
        aclosing(client.tail("nothing")) as lines,
    ):
        with pytest.raises(Refused, match="older"):
            await anext(lines)
