from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
from risala_file import FileDriver, FileSettings

from risala.plugins.contract import Accepted, Driver, HealthState, Refused, Scope, Uncertain
from risala.plugins.testing.conformance import DriverConformance, segment
from risala.plugins.testing.context import RecordingContext


class TestConformance(DriverConformance):
    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        with TemporaryDirectory() as folder:
            yield FileDriver("notes", FileSettings(path=Path(folder) / "sms.jsonl"))


@asynccontextmanager
async def writing_to(path: Path) -> AsyncIterator[FileDriver]:
    driver = FileDriver("notes", FileSettings(path=path))
    context = RecordingContext()
    async with trio.open_nursery() as nursery:
        await nursery.start(driver.run, context)
        with trio.fail_after(5):
            await context.wait_health(HealthState.UP)
        yield driver
        nursery.cancel_scope.cancel()


async def test_a_segment_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "sms.jsonl"
    async with writing_to(path) as driver:
        outcome = await driver.submit(segment("مرحبا\nHello"))
    assert isinstance(outcome, Accepted)
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {
        "id": outcome.carrier_id,
        "from": "RISALA",
        "to": "+22236123456",
        "part": 1,
        "of": 1,
        "text": "مرحبا\nHello",
    }


async def test_a_full_disk_refuses_for_now() -> None:
    async with writing_to(Path("/dev/full")) as driver:
        outcome = await driver.submit(segment())
    assert isinstance(outcome, Refused)
    assert (outcome.scope, outcome.raw) == (Scope.NOW, "ENOSPC")


async def test_a_line_that_cannot_be_synced_is_uncertain() -> None:
    async with writing_to(Path("/dev/null")) as driver:  # takes every octet, and has no disk
        assert isinstance(await driver.submit(segment()), Uncertain)


async def test_a_folder_that_comes_late(
    tmp_path: Path, recording_context: RecordingContext, autojump_clock: trio.testing.MockClock
) -> None:
    path = tmp_path / "later" / "sms.jsonl"
    driver = FileDriver("notes", FileSettings(path=path))
    async with trio.open_nursery() as nursery:
        await nursery.start(driver.run, recording_context)
        down = await recording_context.wait_health(HealthState.DOWN)
        assert down.text == f"{path} cannot be opened: No such file or directory."
        path.parent.mkdir()
        await recording_context.wait_health(HealthState.UP)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("wrong", [{}, {"path": "x", "paht": "y"}, {"path": "x", "reopen_s": 0}])
def test_settings_that_are_faults(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        FileSettings.model_validate(wrong)
