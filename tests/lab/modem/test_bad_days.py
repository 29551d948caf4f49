"""Every example scenario, played with our driver, by a mock clock."""

from pathlib import Path

import pytest
import trio
from trio.testing import memory_stream_pair

from risala.drivers.modem.driver import ModemDriver
from risala.drivers.modem.port.serial import PortError, PortFault
from risala.drivers.modem.settings import ModemSettings
from risala.lab.modem.script.scenario import Scenario, load_scenario
from risala.lab.modem.simulator import (
    InboundSent,
    MessageReceived,
    Misbehaved,
    ModemSimulator,
    ModemStarted,
    PortGone,
    ReportSent,
    SignalChanged,
    Submitted,
    Waiting,
)
from risala.plugins.contract import (
    Accepted,
    Refused,
    Scope,
    Segment,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.context import RecordingContext
from risala.sms.message import Alphabet

EXAMPLES = Path(__file__).parents[3] / "examples/modem-scenarios"
PATIENCE_S = 100_000
SENDS = 30
TO = "+22236123456"
HAPPENS = {
    "weak-hub": lambda it: any(one.kind == "hang" for one in it.of(Misbehaved)),
    "unplugged": lambda it: len(it.of(PortGone)) > 2,
    "reluctant": lambda it: {one.error for one in it.of(Submitted)} >= {None, 42},
    "late-answers": lambda it: {one.kind for one in it.of(Misbehaved)} >= {"late", "twice"},
    "lost-reports": lambda it: len(it.of(ReportSent)) != len(it.of(Submitted)),
    "always-zero": lambda it: {one.raw for one in it.outcomes} == {"+CMGS: 0"},
    "full-storage": lambda it: bool(it.of(Waiting)),
    "no-coverage": lambda it: {one.registration for one in it.of(SignalChanged)} >= {1, 2, 3, 5},
    "bad-cable": lambda it: {one.kind for one in it.of(Misbehaved)} >= {"garbage", "drop"},
    "restless": lambda it: len(it.of(ModemStarted)) > 3,
    "chatty": lambda it: len(it.of(InboundSent)) >= 4 and len(it.context.inbounds) >= 4,
    "everything": lambda it: len({one.kind for one in it.of(Misbehaved)}) > 1,
}
"""What is to be seen of each."""
FEW = ("everything", "reluctant")
"""The days of `make test`."""


class Day:
    """The driver, and the modem at the other end of a stream in memory."""

    def __init__(self, scenario: Scenario):
        self.simulator = ModemSimulator(scenario.config(), **scenario.rules)
        self.context = RecordingContext()
        pin = {"pin": scenario.modem.pin} if scenario.modem.pin else {}
        self.driver = ModemDriver(
            "sim-1",
            ModemSettings(port="/dev/simulated", **pin),
            open_port=self._open,
            is_there=lambda _: self.simulator.modem.power.is_present,
        )
        self.outcomes = []

    def of(self, kind):
        return [event for event in self.simulator.events if isinstance(event, kind)]

    async def _open(self, port, baud):
        await trio.lowlevel.checkpoint()
        if not self.simulator.modem.power.is_present:
            raise PortError(PortFault.MISSING, f"{port} is not there.")
        ours, theirs = memory_stream_pair()
        self._nursery.start_soon(self.simulator.serve_stream, theirs)
        return ours

    async def live(self):
        with trio.fail_after(PATIENCE_S):
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                await nursery.start(self.simulator.run_without_port)
                await nursery.start(self.driver.run, self.context)
                for number in range(SENDS):
                    self.outcomes.append(await self._send(number))
                await trio.sleep(300)
                nursery.cancel_scope.cancel()

    async def _send(self, number):
        text = f"message {number}"
        segment = Segment(text, 1, 1, 1, "", TO, Alphabet.GSM7, text, 7, 4_000_000_000_000)
        while True:
            outcome = await self.driver.submit(segment)
            if isinstance(outcome, Refused):
                assert text not in self.received, outcome
            if not isinstance(outcome, (Unsent, Throttled)) and not _is_for_now(outcome):
                return outcome
            await trio.sleep(2)

    @property
    def received(self):
        return [message.text for message in self.of(MessageReceived)]


def _is_for_now(outcome):
    return isinstance(outcome, Refused) and outcome.scope is Scope.NOW


def test_there_is_a_day_for_each_example():
    assert {path.stem for path in EXAMPLES.glob("*.toml")} == set(HAPPENS)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.toml`" in readme for name in HAPPENS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        each if each in FEW else pytest.param(each, marks=pytest.mark.long)
        for each in sorted(HAPPENS)
    ],
)
async def test_what_the_driver_says_of_each_message_is_true(name, autojump_clock):
    day = Day(load_scenario(EXAMPLES / f"{name}.toml"))
    await day.live()
    for number, outcome in enumerate(day.outcomes):
        assert isinstance(outcome, (Accepted, Refused, Uncertain))
        copies = day.received.count(f"message {number}")
        assert copies == 1 or not isinstance(outcome, Accepted), (number, outcome)
        assert copies <= 1, (number, outcome)
    assert sum(isinstance(outcome, Accepted) for outcome in day.outcomes) > SENDS / 2
    assert HAPPENS[name](day), name


@pytest.mark.slow
async def test_the_sick_one_gets_messages_through(autojump_clock):
    day = Day(Scenario(profile="sick"))
    await day.live()
    accepted = sum(isinstance(outcome, Accepted) for outcome in day.outcomes)
    assert accepted > SENDS / 2
    assert len({one.kind for one in day.of(Misbehaved)}) > 4
