"""A plugin that writes down how many tasks its service has, whenever an event passes by.

The service itself has no such number for others: this runs within it, as a sink of events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import trio
from pydantic import BaseModel, ConfigDict

from risala.plugins.hookspecs import hookimpl
from risala.plugins.sink import EventSinkFactory, SinkEvent

risala_contract = "1.1"


class PulseSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path
    """The number of tasks stands there, anew each time."""


class PulseSink:
    def __init__(self, name: str, settings: PulseSettings) -> None:
        self._path = settings.path

    async def take(self, events: Sequence[SinkEvent]) -> None:
        await trio.lowlevel.checkpoint()
        draft = self._path.with_suffix(".new")
        draft.write_text(str(trio.lowlevel.current_statistics().tasks_living), "ascii")
        draft.replace(self._path)


@hookimpl
def risala_register_event_sinks(register: Callable[[EventSinkFactory], None]) -> None:
    summary = "How many tasks the service has"
    register(EventSinkFactory("pulse", PulseSettings, PulseSink, summary))
