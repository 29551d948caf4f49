"""What a sink does between events: it is begun again whenever it ends."""

from __future__ import annotations

import math
from typing import Final

import structlog
import trio

from risala.engine.features.sinks.stored import ServiceFigures
from risala.engine.services import Services
from risala.plugins.loading import raised_at
from risala.plugins.sink import RunningSink, SinkUnavailableError

log = structlog.get_logger(__name__)

AGAIN_FIRST_S: Final = 1.0
AGAIN_MAX_S: Final = 60.0
"""Each pause is twice the one before: a broker that restarts is back within seconds."""
FINE_S: Final = 15.0
"""What has run for so long is well."""


class SinkBeside:
    """Runs what a sink does between events, again and again until cancelled."""

    def __init__(self, name: str, sink: RunningSink, services: Services) -> None:
        self._name = name
        self._sink = sink
        self._figures = ServiceFigures(services)
        self._begun_s = -math.inf
        self._fault = ""

    @property
    def fault(self) -> str:
        """Why it ended last; empty: it has run for a while since."""
        is_well = trio.current_time() - self._begun_s > FINE_S
        return "" if is_well else self._fault

    async def run(self) -> None:
        """Run it, until cancelled."""
        wait_s = AGAIN_FIRST_S
        while True:
            self._begun_s = trio.current_time()
            self._fault = await self._once()
            if trio.current_time() - self._begun_s > FINE_S:
                wait_s = AGAIN_FIRST_S
            log.warning("sink.ended", sink=self._name, reason=self._fault, again_in_s=wait_s)
            # Not well while it waits.
            self._begun_s = math.inf
            await trio.sleep(wait_s)
            wait_s = min(2 * wait_s, AGAIN_MAX_S)

    async def _once(self) -> str:
        """Run it once; returns why it ended."""
        try:
            await self._sink.run(self._figures)
        except SinkUnavailableError as error:
            return str(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- its bug, which ends nobody else
            kind = type(error).__name__
            log.error("sink.bug", sink=self._name, reason=kind, at=raised_at(error))
            return f"It raised {kind}, which is a bug in the plugin."
        return "It ended by itself."
