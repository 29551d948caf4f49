"""What carriers of one account share: it runs as long as one of them does, and no failure of one
ends another."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio
from structlog.testing import capture_logs

from risala.config.model import DeliverySection, Settings, StorageSection
from risala.engine.wiring.connections import Connections
from risala.plugins.testing.fake_driver import FakeDriver


class Account:
    """Notes its lives, in the order of what its drivers note."""

    def __init__(self, events: list[str]) -> None:
        self.events = events
        self.breaks = trio.Event()
        self.runs = 0

    async def run(self) -> None:
        self.runs += 1
        self.events.append("account runs")
        try:
            await self.breaks.wait()
        finally:
            self.events.append("account ends")
        self.breaks = trio.Event()
        raise LookupError("the session broke")


@dataclass(slots=True)
class Line(FakeDriver):
    """A carrier of an account."""

    name: str = ""
    shared_account: Account | None = None
    breaks: trio.Event = field(default_factory=trio.Event)
    runs: int = 0

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        self.runs += 1
        self.shared_account.events.append(f"{self.name} runs")
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._break)
                await FakeDriver.run(self, context, task_status=task_status)
        finally:
            self.shared_account.events.append(f"{self.name} ends")

    async def _break(self):
        await self.breaks.wait()
        self.breaks = trio.Event()
        raise LookupError("the line broke")


@pytest.fixture
def account():
    return Account([])


@pytest.fixture
def opening(open_house, carrier, account, tmp_path):
    """A house with two carriers of one account, and the settings that it reads again."""
    both = (carrier("one"), carrier("two"))
    drivers = {each.name: Line(name=each.name, shared_account=account) for each in both}

    class File:
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path), delivery=DeliverySection(), carriers=both
        )

        def load(self):
            return self.settings

        def build(self, section):
            return Line(name=section.name, shared_account=account)

        def secrets_of(self, driver):
            return frozenset()

        def take_over(self, settings):
            pass

    file, own = File(), carrier("test", prefixes=[])
    running = {**drivers, own.name: FakeDriver()}
    return file, open_house(*both, own, drivers=running, outside=Connections(source=file))


async def change(house, file, *carriers):
    file.settings = file.settings.model_copy(update={"carriers": carriers})
    preview = await house.gateway.perform("carriers.preview", {})
    await house.gateway.perform("carriers.apply", {"hash": preview["hash"]})


async def test_it_runs_before_the_first_and_ends_after_the_last(opening, account, quick):
    _, house_opens = opening
    async with house_opens:
        await trio.testing.wait_all_tasks_blocked()
        assert account.events == ["account runs", "one runs", "two runs"]
    assert account.events[3:] == ["two ends", "one ends", "account ends"]
    assert account.runs == 1


async def test_a_line_that_fails_harms_neither_the_account_nor_the_other(opening, account, quick):
    _, house_opens = opening
    async with house_opens as house:
        with capture_logs() as lines:
            house.drivers["one"].breaks.set()
            await trio.sleep(60)
        assert [each["name"] for each in lines if each["event"] == "crashed"] == ["driver one"]
        assert (house.drivers["one"].runs, house.drivers["two"].runs, account.runs) == (2, 1, 1)


async def test_an_account_that_fails_runs_again_and_ends_no_line(opening, account, quick):
    _, house_opens = opening
    async with house_opens as house:
        with capture_logs() as lines:
            account.breaks.set()
            await trio.sleep(60)
        assert [each["event"] for each in lines] == ["crashed"]
        assert (house.drivers["one"].runs, house.drivers["two"].runs, account.runs) == (1, 1, 2)
        await house.wait_status(await house.send(), "sent")


async def test_what_other_settings_end_or_build_anew_leaves_the_rest(
    opening, account, carrier, quick
):
    file, house_opens = opening
    async with house_opens as house:
        await change(house, file, carrier("two", fake={"host": "another"}), carrier("three"))
        await trio.sleep(120)
        assert (account.runs, account.events.count("account ends")) == (1, 0)
        assert {"one ends", "two ends", "three runs"} <= set(account.events)
        assert account.events.count("two runs") == 2
        await change(house, file)
        await trio.sleep(120)
        assert account.events[-1] == "account ends"
        await change(house, file, carrier("one"))
        await trio.sleep(1)
        assert account.events[-2:] == ["account runs", "one runs"]
