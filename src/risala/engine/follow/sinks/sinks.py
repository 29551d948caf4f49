"""All sinks that are configured: each runs by itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from risala.config.hooks import SinkTable
from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.engine.follow.cursors import EventCursors
from risala.engine.follow.sinks.runner import SinkRunner
from risala.engine.model.clock import Clock
from risala.plugins.sink import EventSink

POLICY: Final = RestartPolicy(restarts_max=None)
"""A sink is started again for ever: its faults must not end the sending of messages."""


class Sinks:
    """All sinks, by their configured names."""

    def __init__(
        self,
        tables: Mapping[str, SinkTable],
        sinks: Mapping[str, EventSink],
        cursors: EventCursors,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._runners = tuple(
            SinkRunner(name, tables[name], sink, cursors, clock) for name, sink in sinks.items()
        )

    @property
    def by_name(self) -> Mapping[str, EventSink]:
        """The plugins' parts, for whoever has to know whose code is running."""
        return {each.name: each.sink for each in self._runners}

    async def start(self, supervisor: Supervisor) -> None:
        """Run each for life."""
        start = partial(supervisor.start_service, policy=POLICY)
        for each in self._runners:
            await start(f"sink {each.name}", each.run)

    def standings(self) -> list[dict[str, Any]]:
        """How each does; a bounded look at the disk for each."""
        now_ms = self._clock.now_ms()
        return [each.status().wire(now_ms) for each in self._runners]
