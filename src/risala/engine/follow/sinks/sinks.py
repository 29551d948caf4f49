"""All sinks that are configured: each runs separately."""

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
"""A sink is restarted without limit: its faults must not end the sending of messages."""


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
        """The plugins' parts, to find whose code is running."""
        return {each.name: each.sink for each in self._runners}

    async def start(self, supervisor: Supervisor) -> None:
        """Run each until cancelled."""
        start = partial(supervisor.start_service, policy=POLICY)
        for each in self._runners:
            await start(f"sink {each.name}", each.run)

    def standings(self) -> list[dict[str, Any]]:
        """The state of each; a bounded query on the disk for each."""
        now_ms = self._clock.now_ms()
        return [each.status().wire(now_ms) for each in self._runners]
