"""Sinks that run between events: they are begun again whatever they do, and read figures."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio

from risala.config.hooks import SinksSection
from risala.engine.features.sinks.beside import FINE_S
from risala.engine.features.sinks.service import Sinks, SinkState
from risala.engine.features.sinks.stored import ServiceFigures
from risala.engine.wiring.connections import Connections
from risala.plugins.sink import SinkEvent, SinkFigures, SinkUnavailableError
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope


class RunningSink:
    """Runs as is planned, then until it is cancelled."""

    def __init__(self, *plan: Exception | None) -> None:
        self.plan = list(plan)
        self.begun_s: list[float] = []
        self.figures: SinkFigures | None = None
        self.stays = trio.Event()

    async def take(self, events: Sequence[SinkEvent]) -> None:
        await trio.lowlevel.checkpoint()

    async def run(self, figures: SinkFigures) -> None:
        self.begun_s.append(trio.current_time())
        self.figures = figures
        if self.plan:
            fault = self.plan.pop(0)
            if fault is not None:
                raise fault
            return
        self.stays.set()
        await trio.sleep_forever()


@pytest.fixture
def opened(open_house):
    """A house with one sink of its settings."""

    def make(sink):
        section = SinksSection.model_validate({"log": {"sink": "fake"}})
        return open_house(outside=Connections(sinks={"log": sink}), sinks=section)

    return make


async def test_it_runs_beside_and_reads_figures(opened, happen, quick):
    sink = RunningSink()
    async with opened(sink) as house:
        await happen(house, 2)
        await sink.stays.wait()
        (carrier,) = [each for each in sink.figures.carriers() if each.name == "fake"]
        assert (carrier.state, carrier.signal_dbm) == ("up", None)
        (day,) = sink.figures.organizations()
        assert (day.id, day.failed_today) == (house.principal.organization_id, 0)


async def test_it_is_begun_again_after_longer_and_longer_waits(opened, quick):
    sink = RunningSink(
        SinkUnavailableError("The broker is away."), None, ValueError("+22236123456")
    )
    async with opened(sink) as house:
        await sink.stays.wait()
        (status,) = house.gateway.services.part(Sinks).runners
        now = status.status()
        assert (now.state, now.text) == (
            *(SinkState.FAILING, "It raised ValueError, which is a bug in the plugin."),
        )
        await trio.sleep(FINE_S + 1)
        assert (status.status().state, status.status().text) == (SinkState.RUNNING, "")
    first, second, third, last = sink.begun_s
    assert [second - first, third - second, last - third] == pytest.approx([1, 2, 4], abs=0.5)


async def test_figures_are_of_each_organizations_own_day(open_house, quick):
    async with open_house() as house:
        other = await house.organization()
        house.driver.answers = [Refused(Scope.FINAL, "no such", cause=Cause.UNKNOWN_NUMBER)]
        failed = await house.send()
        await house.wait_status(failed, "failed")
        figures = ServiceFigures(house.gateway.services)

        def failures() -> dict[str, int]:
            return {each.id: each.failed_today for each in figures.organizations()}

        assert failures() == {house.principal.organization_id: 1, other.organization_id: 0}
        house.pass_s(24 * 3600)
        assert set(failures().values()) == {0}
        ended = {"organization_id": other.organization_id, "name": "Test"}
        await house.gateway.perform("org.delete", ended)
        assert [*failures()] == [house.principal.organization_id]
