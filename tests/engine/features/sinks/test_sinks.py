"""Sinks get every event at least once and in order, whatever they do; the others go on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from risala.config.hooks import SinksSection, SinkTable
from risala.engine.features.own_data.stored import retention
from risala.engine.features.sinks.service import SinkRunner, SinkState
from risala.engine.wiring.connections import Connections
from risala.plugins.sink import SinkEvent, SinkUnavailableError


class Sink:
    """Takes what it is given, after it has done what is planned."""

    def __init__(self, *plan: Any) -> None:
        self.plan = list(plan)
        self.got: list[str] = []
        self.calls = 0
        self.closed = False
        self._came = trio.Event()
        self._got = trio.Event()

    async def take(self, events: Sequence[SinkEvent]) -> None:
        self.calls += 1
        self._came.set()
        if self.plan:
            planned = self.plan.pop(0)
            if isinstance(planned, Exception):
                raise planned
            await planned()
        self.got += [each.id for each in events]
        self._got.set()

    async def wait_got(self, count: int) -> None:
        while len(self.got) < count:
            self._got = trio.Event()
            await self._got.wait()
        await trio.testing.wait_all_tasks_blocked()

    async def wait_call(self) -> None:
        self._came = trio.Event()
        await self._came.wait()
        await trio.testing.wait_all_tasks_blocked()

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture
def runner_of():
    """Runs a sink over the events of a house that is open."""

    def make(house, sink: Any, **table: Any) -> SinkRunner:
        services = house.gateway.services
        section = SinkTable.model_validate({"sink": "fake", "begin": "start", **table})
        return SinkRunner("log", section, sink, house.engine.cursors, services.recorder.clock)

    return make


async def test_every_event_in_order_and_in_batches(open_house, runner_of, happen, quick):
    async with open_house() as house, trio.open_nursery() as nursery:
        happened = await happen(house, 5)
        sink = Sink()
        nursery.start_soon(runner_of(house, sink, batch_max=2).run)
        await sink.wait_got(5)
        happened += await happen(house, 1)
        await sink.wait_got(6)
        assert sink.got == happened
        assert sink.calls == 4
        nursery.cancel_scope.cancel()
    assert sink.closed


async def test_what_it_refused_comes_again_after_longer_and_longer_waits(
    open_house, runner_of, happen, quick
):
    async with open_house() as house, trio.open_nursery() as nursery:
        happened = await happen(house, 3)
        sink = Sink(SinkUnavailableError("The queue is full."), ValueError("+22236123456"))
        runner = runner_of(house, sink, batch_max=2)
        began_s = trio.current_time()
        nursery.start_soon(runner.run)
        await sink.wait_call()
        standing = runner.status()
        assert (standing.state, standing.text) == (SinkState.FAILING, "The queue is full.")
        assert standing.cursor is not None
        assert standing.cursor.behind == 3
        await sink.wait_call()
        assert runner.status().text == "It raised ValueError, which is a bug in the plugin."
        await sink.wait_got(3)
        assert trio.current_time() - began_s >= 3
        assert sink.got == happened
        standing = runner.status()
        assert (standing.state, standing.text, standing.taken) == (SinkState.RUNNING, "", 3)
        assert standing.last_error == "It raised ValueError, which is a bug in the plugin."
        nursery.cancel_scope.cancel()


async def test_one_that_hangs_is_cut_off_and_gets_them_again(open_house, runner_of, happen, quick):
    async with open_house() as house, trio.open_nursery() as nursery:
        happened = await happen(house, 1)
        sink = Sink(trio.sleep_forever)
        runner = runner_of(house, sink, deadline_s=7)
        nursery.start_soon(runner.run)
        await sink.wait_got(1)
        assert sink.got == happened
        assert runner.status().last_error == "It took longer than 7 s."
        nursery.cancel_scope.cancel()


async def test_one_that_swallows_its_cancellation_is_told_of(open_house, runner_of, happen, quick):
    free = trio.Event()

    async def deaf() -> None:
        with trio.CancelScope(shield=True):
            await free.wait()

    async with open_house() as house, trio.open_nursery() as nursery:
        happened = await happen(house, 1)
        sink = Sink(deaf)
        runner = runner_of(house, sink)
        nursery.start_soon(runner.run)
        await trio.sleep(36)
        standing = runner.status()
        assert standing.state is SinkState.STUCK
        assert "did not return" in standing.text
        free.set()
        await sink.wait_got(1)
        assert sink.got == happened  # it had taken them after all
        nursery.cancel_scope.cancel()


async def test_after_a_crash_it_goes_on_where_it_was(open_house, runner_of, happen, quick):
    first = Sink(trio.lowlevel.checkpoint, *(SinkUnavailableError("down") for _ in range(9)))
    async with open_house() as house, trio.open_nursery() as nursery:
        happened = await happen(house, 4)
        nursery.start_soon(runner_of(house, first, batch_max=2).run)
        await first.wait_call()
        nursery.cancel_scope.cancel()
    assert first.got == happened[:2]
    second = Sink()
    async with open_house() as house, trio.open_nursery() as nursery:
        nursery.start_soon(runner_of(house, second, begin="now").run)
        await second.wait_got(2)
        assert second.got == happened[2:]
        nursery.cancel_scope.cancel()


async def test_what_retention_overtook_is_told(open_house, runner_of, happen, quick):
    async with open_house() as house, trio.open_nursery() as nursery:
        await happen(house, 3)
        sink = Sink(*(SinkUnavailableError("down") for _ in range(3)))
        runner = runner_of(house, sink, batch_max=1)
        nursery.start_soon(runner.run)
        await sink.wait_call()
        now_ms = house.gateway.services.recorder.clock.now_ms()
        unit = partial(retention.events, after="", before_ms=now_ms + 1, limit=9, now_ms=now_ms)
        await house.gateway.services.recorder.journal.commit(unit)
        standing = runner.status().wire(now_ms)
        assert (standing["missed"], standing["behind"]) == (3, 0)
        nursery.cancel_scope.cancel()


async def test_a_sink_of_the_settings_runs_and_is_measured(open_house, happen, quick):
    sink = Sink()
    table = {"log": {"sink": "fake"}}
    outside = Connections(sinks={"log": sink})
    async with open_house(outside=outside, sinks=SinksSection.model_validate(table)) as house:
        happened = await happen(house, 2)
        await sink.wait_got(2)
        assert sink.got == happened
        page = house.gateway.metrics().decode()
        assert 'risala_sink_events_total{sink="log"} 2.0' in page
        assert 'risala_sink_behind_events{sink="log"} 0.0' in page
        assert 'risala_sink_well{sink="log"} 1.0' in page
        numbers = await house.gateway.perform("statistics", {})
        assert [each["state"] for each in numbers["sinks"]] == ["running"]
    assert sink.closed
