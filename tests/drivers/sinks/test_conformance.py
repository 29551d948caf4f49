"""The built-in event sink passes the suite that we ship to plugin authors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from patience import HANG_S
from risala.drivers.sinks.plugin import JsonlSettings, JsonlSink
from risala.plugins.sink import EventSink
from risala.plugins.testing.sinks import SinkConformance


class TestJsonl(SinkConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S

    @pytest.fixture(autouse=True)
    def _in_folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "events"

    @asynccontextmanager
    async def open_sink(self) -> AsyncIterator[EventSink]:
        # Of a size that the many do not fit in: they go to several files.
        yield JsonlSink("events", JsonlSettings(folder=self.folder, rotate_bytes=1000))

    async def other_side_got(self) -> list[str]:
        files = sorted(self.folder.glob("events*.jsonl"), key=lambda path: len(path.name))
        aside = sorted(path for path in files if path.name != "events.jsonl")
        now = [path for path in files if path.name == "events.jsonl"]
        return [line for path in [*aside, *now] for line in path.read_text("utf-8").splitlines()]

    async def break_other_side(self) -> None:
        self.folder.write_text("no folder")
